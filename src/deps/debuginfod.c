/* SPDX-License-Identifier: MIT */
// The client of elfutils, loaded when it is asked for.
#include <perfdata/debuginfod.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

typedef int progress_fn(void *client, long done, long total);

enum {
	USUAL_LIMIT_MIB = 2048,
	PATIENCE_SECONDS = 60,
	LEAST_SPEED = 16 << 10 // bytes a second, after that time
};

// What the client is asked for, by the names of its functions.
struct calls {
	void *(*begin)(void);
	void (*end)(void *client);
	void (*set_progress)(void *client, progress_fn *progress);
	void (*set_self)(void *client, void *self);
	void *(*self)(void *client);
	int (*executable)(void *client, const unsigned char *build_id, int size, char **path);
	int (*debuginfo)(void *client, const unsigned char *build_id, int size, char **path);
};

struct pd_debuginfod {
	struct calls calls;
	void *client;
	char *path; // fetched last
	uint64_t limit;
	struct timespec begin;
	const char *refused; // why the last one was not fetched
	pd_warn_fn *warn;
	void *self;
};

#ifdef STATIC_PROGRAM
static enum pd_status load(struct pd_debuginfod *d, struct pd_error *error)
{
	(void)d;
	return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET,
		       "this is a static program, which cannot load libdebuginfod");
}
#else
// C has no conversion between pointers to functions and to data, but the addresses are of one size.
static bool find_call(void *library, const char *name, void *function_out)
{
	void *address = dlsym(library, name);

	memcpy(function_out, &address, sizeof(address));
	return address;
}

// The client tells its progress function of itself alone, so whose it is has to be asked.
static struct pd_debuginfod *owner_of(void *client)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	struct calls calls = { .self = NULL };
	struct pd_debuginfod *owner = NULL;

	if (library && find_call(library, "debuginfod_get_user_data", &calls.self))
		owner = calls.self(client);
	if (library)
		dlclose(library);
	return owner;
}

// The client asks again and again whether to go on. Without a total from the server, done is what came so far; before
// anything comes it counts the calls.
static int check_progress(void *client, long done, long total)
{
	struct pd_debuginfod *d = owner_of(client);
	struct timespec now;
	uint64_t seconds;

	if (!d)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &now);
	seconds = (uint64_t)(now.tv_sec - d->begin.tv_sec);
	if ((done > 0 && (uint64_t)done > d->limit) || (total > 0 && (uint64_t)total > d->limit))
		d->refused = "it is larger than --debuginfod-limit";
	else if (seconds > PATIENCE_SECONDS && (uint64_t)(done > 0 ? done : 0) / seconds < LEAST_SPEED)
		d->refused = "the server is too slow";
	return d->refused != NULL;
}

static enum pd_status load(struct pd_debuginfod *d, struct pd_error *error)
{
	void *library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	struct calls *calls = &d->calls;

	if (!library)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "libdebuginfod (elfutils) is needed: %s",
			       dlerror());
	if (find_call(library, "debuginfod_begin", &calls->begin) &&
	    find_call(library, "debuginfod_end", &calls->end) &&
	    find_call(library, "debuginfod_set_progressfn", &calls->set_progress) &&
	    find_call(library, "debuginfod_set_user_data", &calls->set_self) &&
	    find_call(library, "debuginfod_find_executable", &calls->executable) &&
	    find_call(library, "debuginfod_find_debuginfo", &calls->debuginfo))
		d->client = calls->begin();
	if (!d->client)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "libdebuginfod cannot be initialized");
	calls->set_self(d->client, d);
	calls->set_progress(d->client, check_progress);
	return PD_OK;
}
#endif

enum pd_status pd_debuginfod_open(uint64_t limit_bytes, pd_warn_fn *warn, void *self,
				  struct pd_debuginfod **debuginfod_out, struct pd_error *error)
{
	struct pd_debuginfod *d = pd_alloc(sizeof(*d));
	enum pd_status status;

	if (!d)
		return pd_fail_memory(error);
	d->limit = limit_bytes ? limit_bytes : (uint64_t)USUAL_LIMIT_MIB << 20;
	d->warn = warn;
	d->self = self;
	status = load(d, error);
	if (status == PD_OK)
		*debuginfod_out = d;
	else
		pd_free(d);
	return status;
}

void pd_debuginfod_close(struct pd_debuginfod *debuginfod)
{
	if (!debuginfod)
		return;
	debuginfod->calls.end(debuginfod->client);
	free(debuginfod->path);
	pd_free(debuginfod);
}

static void warn_not_fetched(const struct pd_debuginfod *d, const uint8_t *build_id, size_t build_id_size)
{
	char hex[2 * 64 + 1] = "", sentence[256];

	for (size_t i = 0; i < build_id_size && i < 64; i++)
		snprintf(hex + 2 * i, 3, "%02x", build_id[i]);
	snprintf(sentence, sizeof(sentence), "%s: download failed: %s", hex, d->refused);
	if (d->warn)
		d->warn(d->self, sentence);
}

const char *pd_debuginfod_fetch(void *debuginfod, const uint8_t *build_id, size_t build_id_size, bool debug)
{
	struct pd_debuginfod *d = debuginfod;
	int fd;

	free(d->path);
	d->path = NULL;
	d->refused = NULL;
	clock_gettime(CLOCK_MONOTONIC, &d->begin);
	fd = (debug ? d->calls.debuginfo : d->calls.executable)(d->client, build_id, (int)build_id_size, &d->path);
	if (fd < 0 && d->refused)
		warn_not_fetched(d, build_id, build_id_size);
	if (fd < 0)
		return NULL;
	close(fd);
	return d->path;
}
