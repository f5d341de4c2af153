/* SPDX-License-Identifier: MIT */
/**
 * split.h - splits a recording into several: by event, process, thread name, CPU, cgroup, time or size.
 *
 * Each piece is a complete recording with all that its samples need: tasks, mappings, and the description of machine and
 * events. Pieces by process, thread name or cgroup omit what is known about other processes. Pieces by event also contain the
 * first event of the recording and those that task records belong to. Time slices begin with the first sample.
 *
 * Threads: one at a time for each split and its file.
 *
 * Example:
 *
 *	const struct pd_split_options options = { .size = sizeof(options), .by = PD_SPLIT_PID };
 *	struct pd_split *split;
 *
 *	if (pd_split_new(file, &options, &split, &error) == PD_OK) {
 *		for (size_t i = 0; i < pd_split_piece_count(split); i++)
 *			printf("%s\n", pd_split_piece(split, i)->name); // pd_split_write copies it to a writer
 *		pd_split_free(split);
 *	}
 */
#ifndef PERFDATA_SPLIT_H
#define PERFDATA_SPLIT_H

#include <perfdata/file.h>
#include <perfdata/outfile.h>
#include <perfdata/text.h>
#include <perfdata/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

enum pd_split_by {
	PD_SPLIT_EVENT,
	PD_SPLIT_PID,
	PD_SPLIT_COMM,
	PD_SPLIT_CPU,
	PD_SPLIT_CGROUP,
	PD_SPLIT_TIME, /* slices of `amount` ns */
	PD_SPLIT_SIZE  /* at most `amount` bytes each */
};

/** Limits. */
enum {
	PD_SPLIT_AT_ONCE = 64,      /* pieces that one call of pd_split_write writes */
	PD_SPLIT_MAX_PIECES = 4096, /* the file is read once for each call */
	PD_SPLIT_MAX_ANCESTORS = 64 /* of a process, whose mappings its piece has */
};

/** Zero is the default for each member; NULL means all defaults. */
struct pd_split_options {
	size_t size; /* sizeof(struct pd_split_options); 0 is PD_ERROR_ARGUMENT */
	enum pd_split_by by;
	uint64_t amount; /* for PD_SPLIT_TIME and PD_SPLIT_SIZE: at least 1 */
	/* Called periodically with bytes done and in total (0 if unknown). May be NULL. */
	void (*progress)(void *self, uint64_t done, uint64_t total);
	void *self; /* first argument of progress */
};

struct pd_split_piece {
	const char *name; /* unique; of letters, digits and -.+=:,@_ only: a PID, CPU, number from 0000, or the name of an
			   * event, thread or cgroup; "unknown" for samples that lack it */
	uint64_t sample_count;
	uint64_t first_ns, last_ns; /* of the samples; 0: none has a time */
};

struct pd_split_result {
	uint64_t sample_count;  /* in a piece */
	uint64_t unknown_count; /* of these, in the piece "unknown" */
	uint64_t lost_count;    /* in no piece: damaged, or of an unknown event */
	size_t deep_count;      /* processes with more than PD_SPLIT_MAX_ANCESTORS ancestors, so far */
};

struct pd_split;

/** Sets by and amount to what users write: "event", "pid", "comm", "cpu", "cgroup", "time=10s" (ns, us, ms, s, m, h) or
 * "size=64M" (K, M, G). Errors: PD_ERROR_ARGUMENT. */
PD_API enum pd_status pd_split_parse(const char *text, struct pd_split_options *options, struct pd_error *error);
/** Reads the file, which must be one that can be read twice (pd_open_options.keep), and remain open. Errors: those of pd_run;
 * PD_ERROR_ARGUMENT for an amount of bytes that is too small, or more than PD_SPLIT_MAX_PIECES pieces; PD_ERROR_NO_SAMPLES;
 * PD_ERROR_NO_MATCH if no sample says what it is split by. */
PD_API enum pd_status pd_split_new(struct pd_file *file, const struct pd_split_options *options,
				   struct pd_split **split_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_split_free(struct pd_split *split);
/** Number of pieces. */
PD_API size_t pd_split_piece_count(const struct pd_split *split);
/** The index-th piece, in ascending order of what it is split by; NULL past the end. Owned by the split. */
PD_API const struct pd_split_piece *pd_split_piece(const struct pd_split *split, size_t index);
/** Why samples are in the piece "unknown", and how it is recorded. */
PD_API const char *pd_split_unknown_reason(const struct pd_split *split);
/** Counts of the whole split. */
PD_API void pd_split_count(const struct pd_split *split, struct pd_split_result *result_out);
/** The same in words, a few lines. */
PD_API void pd_split_text(const struct pd_split *split, struct pd_text *text);

/** A line for each piece: its samples, and the file that it was written to; as JSON also the size of that. */
PD_API void pd_split_print_pieces(const struct pd_split *split, const struct pd_outfiles *files, bool json,
				  struct pd_text *text);

/** Reads the file again and writes pieces first to first + count - 1 to unused writers, whose packing is not PD_PACK_KEEP.
 * count is at most PD_SPLIT_AT_ONCE. The caller finishes the writers, or aborts them after an error. Errors: those of
 * pd_stream_next; PD_ERROR_ARGUMENT; PD_ERROR_OUTPUT of a writer, or if what all pieces have in common would take more than
 * 512 MiB and 64 times of what it takes in the file. */
PD_API enum pd_status pd_split_write(struct pd_split *split, size_t first, struct pd_writer *const *writers,
				     size_t count, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
