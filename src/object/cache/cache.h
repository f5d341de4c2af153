/* SPDX-License-Identifier: MIT */
/*
 * The inside of perf's cache of objects (perfdata/build_id_cache.h): cache.c lists it, add.c and remove.c change it.
 */
#ifndef PD_OBJECT_CACHE_CACHE_H
#define PD_OBJECT_CACHE_CACHE_H

#include <perfdata/build_id_cache.h>

#include "base/memory.h"

enum {
	PD_CACHE_DIGITS = 2 * PD_BUILD_ID_SIZE + 1 /* of a build id, with a NUL */
};

struct pd_build_id_cache {
	int dir; // -1: it does not exist yet
	char *path;
	struct pd_arena names;
	struct pd_cached_object *objects; // by build id
	size_t count, capacity;
	bool is_partial; // the list has what was asked for, not all
};

/** Opens a cache to add to it: nothing is listed, which takes long where there is much. Errors as of pd_build_id_cache_open. */
enum pd_status pd_cache_open_partial(const char *directory, struct pd_build_id_cache **cache_out,
				     struct pd_error *error);

void pd_cache_digits(const struct pd_build_id *id, char digits[PD_CACHE_DIGITS]);
/** Path of the link of a build id below the directory: ".build-id/ab/cdef...". */
void pd_cache_link_path(const char *digits, char path[PD_CACHE_DIGITS + 16]);
/** True if an object is there, in a list that is partial, too. */
bool pd_cache_has(struct pd_build_id_cache *cache, const struct pd_build_id *id);
/** Puts an object in its place in the list. False if there is no memory. */
bool pd_cache_insert(struct pd_build_id_cache *cache, const struct pd_build_id *id, const char *name);
void pd_cache_forget(struct pd_build_id_cache *cache, const struct pd_build_id *id);
/** Opens a folder below another, also if parts of its path are missing and create is set; never through a link. -1 with errno. */
int pd_cache_open_folder(int dir, const char *path, bool create);

#endif
