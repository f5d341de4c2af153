/* SPDX-License-Identifier: MIT */
/**
 * inject.h - copies a recording and adds information: build ids, mappings of JIT-compiled code, scheduler statistics.
 *
 * Threads: one at a time for each of them and its file.
 *
 * Example:
 *
 *	const struct pd_inject_options options = { .size = sizeof(options), .build_ids = PD_INJECT_LIST };
 *	struct pd_inject *inject;
 *	struct pd_inject_result result;
 *
 *	if (pd_inject_new(file, &options, &inject, &error) == PD_OK) {
 *		pd_inject_write(inject, writer, &result, &error);
 *		pd_inject_free(inject);
 *	}
 */
#ifndef PERFDATA_INJECT_H
#define PERFDATA_INJECT_H

#include <perfdata/symbol.h>
#include <perfdata/text.h>
#include <perfdata/unwind.h>
#include <perfdata/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Which objects get a build id, and where it is stored. The first of each pair takes the objects that samples and their
 * call chains are in, for which the file is read twice: a pipe must have been opened with pd_open_options.keep. */
enum pd_inject_build_ids {
	PD_INJECT_NO_BUILD_IDS,
	PD_INJECT_LIST,     /* the list in the header of a file, or records of a pipe */
	PD_INJECT_LIST_ALL, /* the same for all mapped objects */
	PD_INJECT_MAPS,     /* MMAP2 records; those without samples are dropped */
	PD_INJECT_MAPS_ALL  /* all MMAP2 records */
};

/** A build id for a path, in place of that of the file there. */
struct pd_inject_known {
	const char *path;
	struct pd_build_id id;
};

/** Zero is the default for each member; NULL means all defaults: a plain copy. Strings and lists must remain valid. */
struct pd_inject_options {
	size_t size; /* sizeof(struct pd_inject_options); 0 is PD_ERROR_ARGUMENT */
	enum pd_inject_build_ids build_ids;
	const struct pd_inject_known *known;
	size_t known_count;
	const char *symfs;         /* look up recorded files below this directory; NULL: / */
	bool any_file;             /* use a file that may have changed since the recording */
	bool jit;                  /* read jitdump files and write an ELF file for each function */
	const char *jit_directory; /* for these files; NULL: that of the dump */
	bool sched_stat;           /* merge sched_stat and sched_switch events */
	bool drop_aux;
	/* Gets the first PD_INJECT_WARNINGS things that are not found. May be NULL, as all functions. */
	pd_warn_fn *warn;
	/* Called periodically with bytes done and in total (0 if unknown). */
	void (*progress)(void *self, uint64_t done, uint64_t total);
	/* Called after each pass over the file but the last one; the next reports the same problems again. */
	void (*pass_end)(void *self);
	/* Tells of ELF files while they are written, for programs that remove them if they are interrupted. */
	pd_unfinished_fn *unfinished;
	void *self; /* first argument of the functions */
	bool unwind; /* replace copied user stacks and registers by call chains, see unwind.h, and so what other chains are made
		      * of: LBR call stacks, deferred parts, the link register of arm64. The file is read twice: a pipe must have
		      * been opened with pd_open_options.keep */
	/* Symbols for unwinding, opened with this finalized state and owned by the caller until pd_inject_free. NULL: those of
	 * pd_symbols_new with symfs. */
	struct pd_symbols *(*symbols)(void *self, const struct pd_state *state);
	bool once; /* with unwind, and besides it only the build ids of all objects: read the file once, in rounds, as is needed while it is being recorded, see
		    * pd_recorder_open_file. Records are written as soon as what is mapped by then is known */
	bool stitch_lbr; /* with unwind: see pd_unwind_options. Records are written in the order of time, and a pipe is not read once */
};

enum {
	PD_INJECT_WARNINGS = 20
};

struct pd_inject_result {
	uint64_t sample_count, kept_sample_count;
	uint64_t other_count, kept_other_count;   /* records that are not samples */
	uint64_t added_id_count;                  /* in the list, or records */
	uint64_t present_id_count;                /* already there */
	uint64_t missing_id_count;                /* objects without one */
	uint64_t changed_map_count;               /* MMAP2 records that got one */
	uint64_t dropped_map_count;               /* without samples */
	uint64_t code_map_count, code_file_count; /* of JIT-compiled code */
	uint64_t dump_map_count;                  /* dropped mappings of jitdump files */
	uint64_t memory_map_count;                /* dropped mappings of the memory that such code is in */
	uint64_t joined_count, unjoined_count;    /* sched_stat samples with and without a switch */
	uint64_t warning_count;
	bool lost;              /* something could not be read that should be there, such as a damaged jitdump file */
	uint64_t unwound_count; /* samples with a call chain in the place of what it is made of */
};

struct pd_inject;

/** Whether a pipe can be read once with these options, see once. */
PD_API bool pd_inject_is_once(const struct pd_inject_options *options);
/** Whether all records stay as they are. */
PD_API bool pd_inject_keeps_records(const struct pd_inject_options *options);
/** Reads what must be known before anything is written. The file must remain open. Errors: PD_ERROR_MEMORY, those of
 * pd_stream_next, pd_symbols_new and pd_trace_new. */
PD_API enum pd_status pd_inject_new(struct pd_file *file, const struct pd_inject_options *options,
				    struct pd_inject **inject_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_inject_free(struct pd_inject *inject);
/** Writes the recording to an unused writer, once. The caller finishes the writer, or aborts it after an error. Errors:
 * those of pd_stream_next; PD_ERROR_OUTPUT and PD_ERROR_ARGUMENT of the writer. */
PD_API enum pd_status pd_inject_write(struct pd_inject *inject, struct pd_writer *writer,
				      struct pd_inject_result *result_out, struct pd_error *error);
/** How unwinding ended, for pd_print_unwinding; NULL if nothing was unwound. Valid until pd_inject_free. */
PD_API const struct pd_unwinder *pd_inject_unwinder(const struct pd_inject *inject);
/** What was done, in a line of words; after pd_inject_write. */
PD_API void pd_inject_text(const struct pd_inject *inject, struct pd_text *text);

/** Parses build ids for pd_inject_options.known: "ID PATH,ID PATH", or as a list a line for each, as perf buildid-list prints
 * them; lines without an id are skipped there. The caller frees *known_out. Errors: PD_ERROR_MEMORY; PD_ERROR_ARGUMENT. */
PD_API enum pd_status pd_inject_known_parse(const char *text, bool is_list, struct pd_inject_known **known_out,
					    size_t *count_out, struct pd_error *error);
/** The same for file://PATH, a list as buildid-list prints it, or else ids and paths themselves. Errors also: PD_ERROR_SYSTEM
 * for a file that cannot be read. */
PD_API enum pd_status pd_inject_known_read(const char *argument, struct pd_inject_known **known_out, size_t *count_out,
					   struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_inject_known_free(struct pd_inject_known *known);

#ifdef __cplusplus
}
#endif
#endif
