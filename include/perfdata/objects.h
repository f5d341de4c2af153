/* SPDX-License-Identifier: MIT */
/**
 * objects.h - the objects of a file with their build ids, as perf buildid-list (6.1) lists them.
 *
 * Example:
 *
 *	const struct pd_objects_options options = { .size = sizeof(options) };
 *	struct pd_objects *objects;
 *
 *	if (pd_objects_read(file, &options, &objects, &error) == PD_OK) {
 *		pd_print_objects(text, objects, false);
 *		pd_objects_free(objects);
 *	}
 */
#ifndef PERFDATA_OBJECTS_H
#define PERFDATA_OBJECTS_H

#include <perfdata/build_id_cache.h>
#include <perfdata/file.h>
#include <perfdata/stream.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** An object under one of its names. */
struct pd_listed_object {
	const char *name;      /* ends with a NUL; owned by the list */
	struct pd_build_id id; /* size 0: unknown */
	uint32_t machine;      /* as in struct pd_object */
	bool hit;              /* a sample is in it; only where all samples were looked at, see pd_objects_are_hits */
};

struct pd_objects_options {
	size_t size; /* sizeof(struct pd_objects_options) */
	bool only_hits; /* only objects with samples. So it is without this where the header has no build ids, except that samples
			 * of files with AUX data are never looked at because of this option */
	/* Called periodically while records are read. May be NULL. */
	void (*progress)(void *self, const struct pd_stream *stream);
	/* The file is about to be read a second time. May be NULL. */
	void (*again)(void *self);
	void *self; /* first argument of progress and again */
};

struct pd_objects;

/** Lists the objects of a file that can be read twice. Errors: PD_ERROR_MEMORY, and those of pd_stream_next. */
PD_API enum pd_status pd_objects_read(struct pd_file *file, const struct pd_objects_options *options,
				      struct pd_objects **objects_out, struct pd_error *error);
PD_API void pd_objects_free(struct pd_objects *objects);
/** The index-th object; NULL past the end. */
PD_API const struct pd_listed_object *pd_objects_at(const struct pd_objects *objects, size_t index);
/** True if samples were looked at, and only objects with some are listed. */
PD_API bool pd_objects_are_hits(const struct pd_objects *objects);

/** Takes out of the list what is in a cache, and what has no build id. */
PD_API void pd_objects_keep_missing(struct pd_objects *objects, const struct pd_build_id_cache *cache);
/** Adds those objects of the list to a cache whose files are still what was recorded. Returns how many there are in it then. */
PD_API size_t pd_objects_add_to_cache(const struct pd_objects *objects, struct pd_build_id_cache *cache);
/** Adds the objects of a recording that have samples, or all, to the cache in a directory. Errors: those of pd_file_open,
 * pd_objects_read and pd_build_id_cache_open; PD_ERROR_SYSTEM if something cannot be written there, whatever else is added. */
PD_API enum pd_status pd_objects_cache(const char *recording, bool all, const char *directory, struct pd_error *error);

/** Prints a line for each object: build id and name; escape: as a terminal needs it. */
PD_API void pd_print_objects(struct pd_text *text, const struct pd_objects *objects, bool escape);
/** Prints a JSON object for each object, a line each. */
PD_API void pd_json_objects(struct pd_text *text, const struct pd_objects *objects);

/** True if the file begins as ELF does. */
PD_API bool pd_is_elf(const char *path);
/** Build id of an ELF file; size 0 if it has none or is damaged. */
PD_API struct pd_build_id pd_elf_build_id(const char *path);

/** Prints the build id of the running kernel. Errors: PD_ERROR_NO_MATCH: it is not readable. */
PD_API enum pd_status pd_print_running_kernel(struct pd_text *text, struct pd_error *error);
/** Prints build id, first and last address and name of the running kernel and of its modules. Errors: PD_ERROR_NO_MATCH: the
 * kernel hides its addresses; PD_ERROR_MEMORY. */
PD_API enum pd_status pd_print_running_modules(struct pd_text *text, struct pd_error *error);
/** Prints the addresses of symbols of the running kernel, or of a copy of /proc/kallsyms, as perf kallsyms does: a line for each,
 * also for those that are not found. Errors: PD_ERROR_NO_MATCH: some were not found, or addresses are hidden; those of reading
 * the file. */
PD_API enum pd_status pd_print_kernel_symbols(struct pd_text *text, const char *path, const char *const *names,
					      size_t count, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
