/* SPDX-License-Identifier: MIT */
/*
 * elfutils' client, which has the cache, the time limits and the progress that its users know. It is loaded when it is
 * asked for and not before: it brings a library for the web, which no other run should have to load or to trust.
 */
#include "front/debuginfod.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "front/cli.h"

typedef void *begin_fn(void);
typedef int find_fn(void *client, const unsigned char *build_id, int size, char **path);
typedef int progress_fn(void *client, long done, long total);
typedef void set_progress_fn(void *client, progress_fn *progress);

enum {
	USUAL_LIMIT_MIB = 2048,
	PATIENCE_SECONDS = 60,
	LEAST_SPEED = 16 << 10 /* bytes a second, after that time */
};

static struct {
	void *client;
	find_fn *executable, *debuginfo;
	char *path;     /* fetched last */
	uint64_t limit; /* bytes */
	struct timespec begin;
	const char *refused; /* why the last one was not fetched */
} fetcher;

/* C has no conversion between pointers to functions and to data, but the addresses are of one size. */
static bool find_symbol(void *library, const char *name, void *function_out)
{
	void *address = dlsym(library, name);

	memcpy(function_out, &address, sizeof(address));
	return address;
}

/* The library asks again and again whether to go on. Without a total from the server, done is what came so far; before
 * anything comes it counts the calls. */
static int watch(void *client, long done, long total)
{
	struct timespec now;
	uint64_t seconds;

	(void)client;
	clock_gettime(CLOCK_MONOTONIC, &now);
	seconds = (uint64_t)(now.tv_sec - fetcher.begin.tv_sec);
	if ((done > 0 && (uint64_t)done > fetcher.limit) || (total > 0 && (uint64_t)total > fetcher.limit))
		fetcher.refused = "it is larger than --debuginfod-limit";
	else if (seconds > PATIENCE_SECONDS && (uint64_t)(done > 0 ? done : 0) / seconds < LEAST_SPEED)
		fetcher.refused = "the server is too slow";
	return fetcher.refused != NULL;
}

#ifdef STATIC_PROGRAM
static void *open_library(void)
{
	print_error("--debuginfod: this is a static program, which cannot load libdebuginfod");
	return NULL;
}
#else
static void *open_library(void)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		print_error("--debuginfod: libdebuginfod (elfutils) is needed: %s", dlerror());
	return library;
}
#endif

bool debuginfod_open(uint64_t limit_mib)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	set_progress_fn *set_progress = NULL;
	begin_fn *begin = NULL;
	void *library;

	limit_mib = limit_mib ? limit_mib : USUAL_LIMIT_MIB;
	fetcher.limit = limit_mib < UINT64_MAX >> 20 ? limit_mib << 20 : UINT64_MAX;
	if (fetcher.client)
		return true;
	if (!urls || !urls[strspn(urls, " ")]) {
		print_error("--debuginfod: DEBUGINFOD_URLS names no server");
		return false;
	}
	library = open_library();
	if (!library)
		return false;
	if (find_symbol(library, "debuginfod_begin", &begin) &&
	    find_symbol(library, "debuginfod_set_progressfn", &set_progress) &&
	    find_symbol(library, "debuginfod_find_executable", &fetcher.executable) &&
	    find_symbol(library, "debuginfod_find_debuginfo", &fetcher.debuginfo))
		fetcher.client = begin();
	if (fetcher.client)
		set_progress(fetcher.client, watch);
	if (!fetcher.client)
		print_error("--debuginfod: libdebuginfod cannot be initialized");
	return fetcher.client;
}

static void print_error_not_fetched(const uint8_t *build_id, size_t build_id_size)
{
	char hex[2 * 64 + 1] = "";

	for (size_t i = 0; i < build_id_size && i < 64; i++)
		snprintf(hex + 2 * i, 3, "%02x", build_id[i]);
	print_error("--debuginfod: %s: download failed: %s", hex, fetcher.refused);
}

const char *debuginfod_fetch(void *self, const uint8_t *build_id, size_t build_id_size, bool debug)
{
	int fd;

	(void)self;
	free(fetcher.path);
	fetcher.path = NULL;
	fetcher.refused = NULL;
	clock_gettime(CLOCK_MONOTONIC, &fetcher.begin);
	fd = (debug ? fetcher.debuginfo : fetcher.executable)(fetcher.client, build_id, (int)build_id_size,
							      &fetcher.path);
	if (fd < 0 && fetcher.refused)
		print_error_not_fetched(build_id, build_id_size);
	if (fd < 0)
		return NULL;
	close(fd);
	return fetcher.path;
}
