/* SPDX-License-Identifier: MIT */
/**
 * scrub.h - anonymizes a recording: values that say who, where and what are replaced by others that a key makes of them.
 *
 * Names are replaced by a keyed hash (HMAC-SHA256) of themselves, so equal names stay equal, also in other recordings with
 * the same key; anyone with the key can test guesses. Raw data, registers, stack copies and AUX data are dropped. Addresses
 * move together with the mapping that they are in. docs/scrubbing.md says what each level does to each kind of value, and
 * what a result still reveals. pd_scrub_search searches a result for what it should not say.
 *
 * Threads: one at a time for each scrub and its file.
 *
 * Example:
 *
 *	const uint8_t key[16] = { 1, 2, 3 }; // a secret
 *	const struct pd_scrub_options options = { .size = sizeof(options), .key = key, .key_size = sizeof(key) };
 *	struct pd_scrub *scrub;
 *	struct pd_scrub_result result;
 *
 *	if (pd_scrub_new(file, &options, &scrub, &error) == PD_OK) {
 *		pd_scrub_write(scrub, writer, &result, &error);
 *		pd_scrub_free(scrub);
 *	}
 */
#ifndef PERFDATA_SCRUB_H
#define PERFDATA_SCRUB_H

#include <perfdata/file.h>
#include <perfdata/json.h>
#include <perfdata/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Each hides what the one before does, and more. */
enum pd_scrub_level {
	PD_SCRUB_NAMES,     /* of threads, files, functions, hosts, cgroups, and arguments */
	PD_SCRUB_ADDRESSES, /* and addresses */
	PD_SCRUB_ALL        /* and PIDs, CPUs, times, build ids, the machine */
};

/** What is done with a class of values. */
enum pd_scrub_action {
	PD_SCRUB_KEEP,
	PD_SCRUB_REPLACE,
	PD_SCRUB_MOVE, /* addresses, with the mapping that they are in */
	PD_SCRUB_ZERO,
	PD_SCRUB_DROP
};

/** A distinct name and what takes its place; neither ends with a NUL. class_name as in pd_scrub_class. */
typedef void pd_scrub_name_fn(void *self, const char *class_name, struct pd_bytes from, struct pd_bytes to);

/** Zero is the default for each member. */
struct pd_scrub_options {
	size_t size; /* sizeof(struct pd_scrub_options); 0 is PD_ERROR_ARGUMENT */
	enum pd_scrub_level level;
	const void *key; /* at least one byte, better 16 or more; copied */
	size_t key_size;
	const char *const *keep; /* names that stay: shell patterns, all or with CLASS= in front ("dso=libc.so*") */
	size_t keep_count;       /* strings must remain valid until pd_scrub_free */
	bool keep_raw, keep_regs, keep_stack, keep_aux; /* data that may contain anything are not dropped */
	pd_scrub_name_fn *name;                         /* called for each distinct name of the output; may be NULL */
	/* Called periodically with bytes done and in total (0 if unknown). May be NULL. */
	void (*progress)(void *self, uint64_t done, uint64_t total);
	void *self; /* first argument of both functions */
};

/** Number of records. */
struct pd_scrub_result {
	uint64_t sample_count, other_count; /* written */
	uint64_t dropped_sample_count;
	uint64_t dropped_known_count;   /* other records, of types that may contain anything */
	uint64_t dropped_unknown_count; /* of unknown types */
	uint64_t dropped_damaged_count; /* that cannot be decoded, or became too long */
	uint64_t dropped_aux_bytes;
	uint64_t large_map_count; /* mappings too large to be moved with what is in them: addresses are replaced */
};

/** What was done with a class of values. */
struct pd_scrub_class {
	const char *name; /* "COMM"; static */
	const char *text; /* "names of threads"; static; "" for those that are of no interest */
	enum pd_scrub_action action;
	uint64_t value_count;
	uint64_t distinct_count; /* of names */
	uint64_t kept_count;     /* distinct names that everybody may know, or that options.keep kept */
};

/** Record types that pd_scrub_dropped_records has counters for; the last is for all others. */
enum {
	PD_SCRUB_TYPES = 128,
	PD_SCRUB_OTHER_TYPES = PD_SCRUB_TYPES - 1
};

struct pd_scrub;

/** "names", "addresses", "all"; NULL for other values. */
PD_API const char *pd_scrub_level_name(enum pd_scrub_level level);
/** False if there is no such level. */
PD_API bool pd_scrub_level_parse(const char *name, enum pd_scrub_level *level_out);
/** Sets the members keep_... of the options that a list names: "raw", "regs", "stack", "aux", with commas between. Errors:
 * PD_ERROR_ARGUMENT. */
PD_API enum pd_status pd_scrub_keep_data_parse(const char *list, struct pd_scrub_options *options,
					       struct pd_error *error);
/** Whether such a pattern for names, CLASS=PATTERN or PATTERN, names a class that there is. */
PD_API bool pd_scrub_knows_class(const char *keep);
struct pd_scrub_keep;
/** Patterns for names that stay: one after another, or those of a file, one on a line, without empty ones and those after #.
 * Patterns that are added must remain valid. Errors: PD_ERROR_MEMORY; PD_ERROR_ARGUMENT for a class that is none; for files also
 * PD_ERROR_SYSTEM, and PD_ERROR_LIMIT above 1 MiB, with the path in the message. */
PD_API enum pd_status pd_scrub_keep_new(struct pd_scrub_keep **keep_out, struct pd_error *error);
PD_API enum pd_status pd_scrub_keep_add(struct pd_scrub_keep *keep, const char *pattern, struct pd_error *error);
PD_API enum pd_status pd_scrub_keep_add_file(struct pd_scrub_keep *keep, const char *path, struct pd_error *error);
/** Sets keep and keep_count of the options, which are valid until something is added. */
PD_API void pd_scrub_keep_set(const struct pd_scrub_keep *keep, struct pd_scrub_options *options);
/** NULL is ignored. */
PD_API void pd_scrub_keep_free(struct pd_scrub_keep *keep);

enum {
	PD_SCRUB_KEY_MIN_BYTES = 16
};

/** Reads a key: text itself; without it (NULL) hex:DIGITS, or the contents of a file, whose last newline does not count, or
 * random bytes if source is NULL, too. To be given back with pd_scrub_key_free. Errors: PD_ERROR_ARGUMENT for one that is too
 * short; PD_ERROR_MEMORY; those of files, as above. */
PD_API enum pd_status pd_scrub_key_read(const char *source, const char *text, struct pd_bytes *key_out,
					struct pd_error *error);
PD_API void pd_scrub_key_free(struct pd_bytes *key);
/** Reads the file once if level is not PD_SCRUB_NAMES; then it must be one that can be read twice (pd_open_options.keep).
 * It must remain open. Errors: PD_ERROR_MEMORY; PD_ERROR_ARGUMENT; PD_ERROR_FORMAT for an event table that cannot be
 * trusted; those of pd_stream_next. */
PD_API enum pd_status pd_scrub_new(struct pd_file *file, const struct pd_scrub_options *options,
				   struct pd_scrub **scrub_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_scrub_free(struct pd_scrub *scrub);
/** Writes everything to an unused writer, once; its packing must not be PD_PACK_KEEP. The caller finishes the writer, or
 * aborts it after an error. Errors: those of pd_stream_next; PD_ERROR_FORMAT for an event whose samples cannot be
 * anonymized; PD_ERROR_OUTPUT and PD_ERROR_ARGUMENT of the writer. */
PD_API enum pd_status pd_scrub_write(struct pd_scrub *scrub, struct pd_writer *writer,
				     struct pd_scrub_result *result_out, struct pd_error *error);
/** What was done with the index-th class. False past the end. */
PD_API bool pd_scrub_class_at(const struct pd_scrub *scrub, size_t index, struct pd_scrub_class *class_out);
/** Number of dropped records of a type below PD_SCRUB_TYPES. */
PD_API uint64_t pd_scrub_dropped_records(const struct pd_scrub *scrub, uint32_t type);
/** Whether a header feature was dropped, and its size. */
PD_API bool pd_scrub_dropped_feature(const struct pd_scrub *scrub, unsigned feature, uint64_t *bytes_out);
/** Adds all of this as members of a JSON object. */
PD_API void pd_scrub_json(const struct pd_scrub *scrub, struct pd_json *json);
/** The same in words, a few lines; after pd_scrub_write. */
PD_API void pd_scrub_text(const struct pd_scrub *scrub, struct pd_text *text);
/** A line of a map: class, new and old name. */
PD_API void pd_scrub_print_name(struct pd_text *text, const char *class_name, struct pd_bytes from, struct pd_bytes to);

/** One JSON object with the level, whether the key was given or is random, and all of pd_scrub_json, on a line. */
PD_API void pd_scrub_print_json(const struct pd_scrub *scrub, bool random_key, struct pd_text *text);

/** A name of the original that the result still has. */
struct pd_scrub_find {
	const char *class_name;
	struct pd_bytes name; /* ends with a NUL */
	uint64_t count;
	const char *where; /* a file, or "compressed records" */
	uint64_t offset;   /* of the first */
};

struct pd_scrub_search_result {
	size_t name_count;        /* searched for */
	size_t find_count;        /* of these, found */
	uint64_t excused_count;   /* found only inside words that everybody may know */
	uint64_t too_short_count; /* shorter than min_length, and not searched for */
	uint64_t searched_bytes;
	size_t min_length;
};

struct pd_scrub_search;

/** Searches the bytes of a result, a file or a directory, and its compressed records for every name of the original and for
 * every part of one. Of the options, key and keep must be those of the result. min_length: at least 4. Errors:
 * PD_ERROR_MEMORY; PD_ERROR_ARGUMENT, also for a result that is not a plain file or directory; PD_ERROR_SYSTEM; those of
 * pd_file_open and pd_stream_next. */
PD_API enum pd_status pd_scrub_search_new(const char *original, const char *result,
					  const struct pd_scrub_options *options, size_t min_length,
					  struct pd_scrub_search **search_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_scrub_search_free(struct pd_scrub_search *search);
/** How much was searched and found. */
PD_API void pd_scrub_search_count(const struct pd_scrub_search *search, struct pd_scrub_search_result *result_out);
/** The index-th name that was found. False past the end. Owned by the search. */
PD_API bool pd_scrub_search_at(const struct pd_scrub_search *search, size_t index, struct pd_scrub_find *find_out);
/** A line for each name that was found, and one with the counts. */
PD_API void pd_scrub_search_text(const struct pd_scrub_search *search, struct pd_text *text);
/** Adds the same as members of a JSON object. */
PD_API void pd_scrub_search_json(const struct pd_scrub_search *search, struct pd_json *json);
/** One JSON object with these, on a line. */
PD_API void pd_scrub_search_print_json(const struct pd_scrub_search *search, struct pd_text *text);

#ifdef __cplusplus
}
#endif
#endif
