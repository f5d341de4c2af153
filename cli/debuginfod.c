/* SPDX-License-Identifier: MIT */
/*
 * elfutils' client, which has the cache, the time limits and the progress that its users know. It is loaded when it is
 * asked for and not before: it brings a library for the web, which no other run should have to load or to trust.
 */
#include "debuginfod.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

typedef void *begin_fn(void);
typedef int find_fn(void *client, const unsigned char *build_id, int size, char **path);

static struct {
	void *client;
	find_fn *executable, *debuginfo;
	char *path; /* fetched last */
} fetcher;

/* C has no conversion between pointers to functions and to data, but the addresses are of one size. */
static bool find_symbol(void *library, const char *name, void *function_out)
{
	void *address = dlsym(library, name);

	memcpy(function_out, &address, sizeof(address));
	return address;
}

#ifdef STATIC_PROGRAM
static void *open_library(void)
{
	complain("--debuginfod: this is a static program, which cannot load elfutils' library");
	return NULL;
}
#else
static void *open_library(void)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		complain("--debuginfod: the library of elfutils for it is needed: %s", dlerror());
	return library;
}
#endif

bool debuginfod_open(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	begin_fn *begin = NULL;
	void *library;

	if (fetcher.client)
		return true;
	if (!urls || !urls[strspn(urls, " ")]) {
		complain("--debuginfod: DEBUGINFOD_URLS names no server");
		return false;
	}
	library = open_library();
	if (!library)
		return false;
	if (find_symbol(library, "debuginfod_begin", &begin) &&
	    find_symbol(library, "debuginfod_find_executable", &fetcher.executable) &&
	    find_symbol(library, "debuginfod_find_debuginfo", &fetcher.debuginfo))
		fetcher.client = begin();
	if (!fetcher.client)
		complain("--debuginfod: the library of elfutils for it does not work");
	return fetcher.client;
}

const char *debuginfod_fetch(void *self, const uint8_t *build_id, size_t build_id_size, bool debug)
{
	int fd;

	(void)self;
	free(fetcher.path);
	fetcher.path = NULL;
	fd = (debug ? fetcher.debuginfo : fetcher.executable)(fetcher.client, build_id, (int)build_id_size, &fetcher.path);
	if (fd < 0)
		return NULL;
	close(fd);
	return fetcher.path;
}
