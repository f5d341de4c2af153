/* SPDX-License-Identifier: MIT */
/**
 * build_id_cache.h - perf's cache of objects by build id, such as ~/.debug: objects are found there after they were rebuilt
 * or removed. The layout is that of perf (6.1), which uses the same directory:
 *
 *   .build-id/ab/cdef...            a link to ../../usr/bin/x/abcdef...
 *   usr/bin/x/abcdef.../elf         the object; debug beside it may be its debug file
 *   [kernel.kallsyms]/abcdef.../kallsyms
 *
 * pd_symbols_options.build_id_cache names the directory for symbols. Nothing is read or written through a link that leads out of
 * it. Threads: one at a time for each cache; several processes may add at once.
 *
 * Example:
 *
 *	struct pd_build_id_cache *cache;
 *	const struct pd_cached_object *object;
 *
 *	if (pd_build_id_cache_open("/home/me/.debug", &cache, &error) == PD_OK) {
 *		for (size_t i = 0; (object = pd_build_id_cache_at(cache, i)) != NULL; i++)
 *			puts(object->name);
 *		pd_build_id_cache_close(cache);
 *	}
 */
#ifndef PERFDATA_BUILD_ID_CACHE_H
#define PERFDATA_BUILD_ID_CACHE_H

#include <perfdata/file.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pd_cached_object {
	struct pd_build_id id;
	const char *name; /* path, or a name in brackets; ends with a NUL; owned by the cache */
};

struct pd_build_id_cache;

/** Lists a cache; a directory that does not exist is an empty one. Errors: PD_ERROR_MEMORY, PD_ERROR_SYSTEM. */
PD_API enum pd_status pd_build_id_cache_open(const char *directory, struct pd_build_id_cache **cache_out,
					     struct pd_error *error);
PD_API void pd_build_id_cache_close(struct pd_build_id_cache *cache);
/** The index-th object, by build id; NULL past the end. Valid until the cache is changed or closed. */
PD_API const struct pd_cached_object *pd_build_id_cache_at(const struct pd_build_id_cache *cache, size_t index);
/** The object of a build id; NULL if it is not there. */
PD_API const struct pd_cached_object *pd_build_id_cache_find(const struct pd_build_id_cache *cache,
							     const struct pd_build_id *id);

/** Adds a copy of an ELF file, or of the running kernel's symbols if path is "[kernel.kallsyms]". id_out: its build id, may be
 * NULL. What is there already is not copied again. Errors: PD_ERROR_FORMAT: no ELF file; PD_ERROR_NO_MATCH: it has no build
 * id, or the kernel hides its addresses; PD_ERROR_SYSTEM; PD_ERROR_MEMORY. */
PD_API enum pd_status pd_build_id_cache_add(struct pd_build_id_cache *cache, const char *path,
					    struct pd_build_id *id_out, struct pd_error *error);
/** The same, after all objects that were added from that path before are removed. */
PD_API enum pd_status pd_build_id_cache_update(struct pd_build_id_cache *cache, const char *path,
					       struct pd_build_id *id_out, struct pd_error *error);
/** Removes an object with all its files. Errors: PD_ERROR_NO_MATCH: it is not there; PD_ERROR_SYSTEM: it could not be
 * removed. */
PD_API enum pd_status pd_build_id_cache_remove(struct pd_build_id_cache *cache, const struct pd_build_id *id,
					       struct pd_error *error);

/** Removes the object with the build id of an ELF file. Errors: those of pd_build_id_cache_add and _remove. */
PD_API enum pd_status pd_build_id_cache_remove_file(struct pd_build_id_cache *cache, const char *path,
						    struct pd_error *error);
/** Removes all objects that were added from a path, which need not exist any more. Errors: those of
 * pd_build_id_cache_remove. */
PD_API enum pd_status pd_build_id_cache_remove_path(struct pd_build_id_cache *cache, const char *path,
						    struct pd_error *error);
/** Removes all objects. Errors: those of pd_build_id_cache_remove. */
PD_API enum pd_status pd_build_id_cache_clear(struct pd_build_id_cache *cache, struct pd_error *error);

/** Does "add", "remove", "purge" (all that were added from the paths) or "update" with each of a list of paths, parted by commas. All
 * are tried; done is called after each, with a word for what was done, or NULL and the error. done may be NULL. Returns the first error:
 * those of the functions above; PD_ERROR_ARGUMENT for another action; PD_ERROR_MEMORY. */
PD_API enum pd_status pd_build_id_cache_change(struct pd_build_id_cache *cache, const char *action, const char *paths,
					       void (*done)(void *self, const char *path, const char *what,
							    const struct pd_error *error),
					       void *self, struct pd_error *error);

/** Prints a line for each object: build id and name; escape: as a terminal needs it. */
PD_API void pd_print_build_id_cache(struct pd_text *text, const struct pd_build_id_cache *cache, bool escape);
/** Prints a JSON object for each object, a line each: build_id and name. */
PD_API void pd_json_build_id_cache(struct pd_text *text, const struct pd_build_id_cache *cache);

#ifdef __cplusplus
}
#endif
#endif
