/* SPDX-License-Identifier: MIT */
/**
 * merge.h - merges several recordings into one, sorted by time.
 *
 * Equal events become one event. Where ids, sample fields or tracepoint numbers conflict, records are rewritten. Files
 * that are pieces of one recording are reassembled: records found in several of them are written once. Recordings of
 * different machines or boots get different process numbers, clocks that are aligned, and kernel addresses that do not
 * overlap.
 *
 * Threads: one at a time for each merge and its files. After an error a merge can only be freed.
 *
 * Example:
 *
 *	struct pd_merge *merge;
 *	struct pd_merge_result result;
 *
 *	if (pd_merge_new(NULL, &merge, &error) == PD_OK) {
 *		pd_merge_add(merge, file, &error);
 *		pd_merge_add(merge, other, &error);
 *		pd_merge_compare(merge, &error);
 *		pd_merge_plan(merge, &error);
 *		pd_merge_write(merge, writer, &result, &error);
 *		pd_merge_free(merge);
 *	}
 */
#ifndef PERFDATA_MERGE_H
#define PERFDATA_MERGE_H

#include <perfdata/file.h>
#include <perfdata/text.h>
#include <perfdata/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How recordings of different machines or boots are distinguished. */
enum pd_merge_machines {
	PD_MERGE_MACHINES_AUTO,     /* by host name, kernel release, architecture and kernel address */
	PD_MERGE_MACHINES_SAME,     /* all are of one boot of one machine */
	PD_MERGE_MACHINES_DIFFERENT /* none are */
};

/** What happens to different kernels, and kernels at different addresses. */
enum pd_merge_kernels {
	PD_MERGE_KERNELS_MOVE,   /* one address space: equal ones onto the first, others to free addresses */
	PD_MERGE_KERNELS_REFUSE, /* PD_ERROR_ARGUMENT */
	PD_MERGE_KERNELS_KEEP    /* unchanged, which gives wrong function names */
};

/** How clocks are aligned with that of the first file. */
enum pd_merge_clocks {
	PD_MERGE_CLOCKS_AUTO,  /* by CLOCK_DATA where clocks differ and have it */
	PD_MERGE_CLOCKS_WALL,  /* by CLOCK_DATA; PD_ERROR_ARGUMENT without */
	PD_MERGE_CLOCKS_FIRST, /* all start at the same time */
	PD_MERGE_CLOCKS_NONE
};

/** Zero is the default for each member; NULL means all defaults. */
struct pd_merge_options {
	size_t size; /* sizeof(struct pd_merge_options); 0 is PD_ERROR_ARGUMENT */
	enum pd_merge_machines machines;
	enum pd_merge_kernels kernels;
	enum pd_merge_clocks clocks;
	bool keep_pids; /* processes of other machines are not renumbered */
	bool drop_aux;
	bool quiet;       /* no warnings about decisions, such as that a kernel is moved */
	pd_warn_fn *warn; /* gets warnings; may be NULL */
	/* Called periodically with the index of the file that is being read, and its bytes done and in total (0 if
	 * unknown). May be NULL. */
	void (*progress)(void *self, size_t file, uint64_t done, uint64_t total);
	void *self; /* first argument of both functions */
};

/** Number of records. */
struct pd_merge_result {
	uint64_t sample_count;
	uint64_t other_count;     /* records that are not samples */
	uint64_t repeated_count;  /* found in several pieces and written once */
	uint64_t aux_count;       /* AUX data, dropped on request */
	uint64_t single_count;    /* THREAD_MAP, CPU_MAP and TIME_CONV of other recordings than the first: dropped */
	uint64_t undecoded_count; /* cannot be decoded: dropped */
	uint64_t undecoded_sample_count; /* samples among these */
	size_t event_count;              /* events of the output */
};

struct pd_merge;

/** Errors: PD_ERROR_MEMORY, PD_ERROR_ARGUMENT. */
PD_API enum pd_status pd_merge_new(const struct pd_merge_options *options, struct pd_merge **merge_out,
				   struct pd_error *error);
/** Frees the merge, but not the files. NULL is ignored. */
PD_API void pd_merge_free(struct pd_merge *merge);
/** Why the recordings cannot be merged, in full: with long names of files it does not fit into struct pd_error. NULL for
 * other errors. Valid until pd_merge_free. */
PD_API const char *pd_merge_failure(const struct pd_merge *merge);
/** Adds a file and reads it once. It must be a file that can be read twice (pd_open_options.keep), and remain open until
 * the writer is finished. Its index is the number of files added before. Errors: those of pd_run. */
PD_API enum pd_status pd_merge_add(struct pd_merge *merge, struct pd_file *file, struct pd_error *error);
/** Finds out which files are of one machine, boot or recording, and aligns kernel addresses and clocks. Errors:
 * PD_ERROR_MEMORY; PD_ERROR_ARGUMENT for recordings that cannot be merged, or not with these options;
 * PD_ERROR_UNSUPPORTED if there is no room for another kernel. */
PD_API enum pd_status pd_merge_compare(struct pd_merge *merge, struct pd_error *error);
/** Adds ns to all times of a file, between pd_merge_compare and pd_merge_plan. */
PD_API void pd_merge_shift(struct pd_merge *merge, size_t file, int64_t ns);
/** The same by a text, FILE=SECONDS, for all files of a name. Errors: PD_ERROR_ARGUMENT. */
PD_API enum pd_status pd_merge_shift_parse(struct pd_merge *merge, const char *text, struct pd_error *error);
/** Creates the list of events and of tracepoint formats. Errors: PD_ERROR_MEMORY; PD_ERROR_ARGUMENT for recordings that
 * cannot be merged. */
PD_API enum pd_status pd_merge_plan(struct pd_merge *merge, struct pd_error *error);
/** Writes everything to an unused writer, whose packing is not PD_PACK_KEEP. The caller finishes the writer, or aborts it
 * after an error. Errors: those of pd_stream_next; PD_ERROR_OUTPUT and PD_ERROR_ARGUMENT of the writer. */
PD_API enum pd_status pd_merge_write(struct pd_merge *merge, struct pd_writer *writer,
				     struct pd_merge_result *result_out, struct pd_error *error);
/** A result in words, one or more lines. */
PD_API void pd_merge_result_text(const struct pd_merge *merge, const struct pd_merge_result *result,
				 struct pd_text *text);

#ifdef __cplusplus
}
#endif
#endif
