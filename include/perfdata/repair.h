/* SPDX-License-Identifier: MIT */
/**
 * repair.h - recovers the readable part of a damaged perf.data file as a file that perf can read.
 *
 * Open the file with pd_open_options.recover, open a writer, and call pd_repair. Intact records are copied unchanged;
 * data that cannot be records are skipped, and each decision is reported to the problem function of the file. Nothing
 * is guessed: what is added is derived from other parts of the file.
 *
 * Example:
 *
 *	const struct pd_open_options recover = { .size = sizeof(recover), .recover = true };
 *	struct pd_repair_result result;
 *
 *	if (pd_file_open("broken.data", &recover, &file, &error) == PD_OK)
 *		pd_repair(file, writer, NULL, &result, &error);
 *	pd_file_close(file);
 */
#ifndef PERFDATA_REPAIR_H
#define PERFDATA_REPAIR_H

#include <perfdata/json.h>
#include <perfdata/stream.h>
#include <perfdata/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Result of a repair. Bit n % 64 of element n / 64 is feature n. */
struct pd_repair_result {
	uint64_t record_count;   /* copied records, including those inside compressed ones; not the latter, nor events
				 * and features of a pipe */
	uint64_t sample_count;   /* samples among these */
	struct pd_losses losses; /* of records; samples without an event are counted in losses.records */
	uint64_t kept_features[4];
	uint64_t dropped_features[4]; /* damaged, or listed in the header but absent */
	uint64_t made_features[4];    /* added: SAMPLE_TIME; EVENT_DESC; STAT; TRACING_DATA, which perf requires, with
				       * the common tracepoint fields. Damaged formats that are kept, and missing CPU
				       * and thread maps of perf stat counts, are problems of the file */
};

/** Called periodically during a repair; pd_stream_progress returns the progress. */
typedef void pd_repair_progress_fn(void *self, const struct pd_stream *stream);

struct pd_repair_options {
	size_t size;                     /* sizeof(struct pd_repair_options) */
	pd_repair_progress_fn *progress; /* may be NULL */
	void *self;                      /* first argument of progress */
};

/**
 * Copies the readable part of a file to an unused writer. The caller finishes the writer, or aborts it after an
 * error. If writer is NULL, nothing is written, and *result_out is what a repair would do. The writer's packing
 * should not be PD_PACK_KEEP: after damaged compressed records the rest is recompressed. options may be NULL. Errors:
 * those of pd_stream_next, pd_writer_copy_metadata and pd_writer_pass.
 */
PD_API enum pd_status pd_repair(struct pd_file *file, struct pd_writer *writer, const struct pd_repair_options *options,
				struct pd_repair_result *result_out, struct pd_error *error);

/** A result in a line of words. written: whether there was a writer. corrected_count: how many problems of the code "recovered"
 * the problem function of the file got. */
PD_API void pd_repair_text(const struct pd_repair_result *result, bool written, uint64_t corrected_count,
			   struct pd_text *text);
/** Adds a problem to an array of JSON: severity, code, offset, field and message. */
PD_API void pd_repair_problem_json(const struct pd_problem *problem, struct pd_json *list);
/** Adds a result as members of a JSON object: "records" and "features". */
PD_API void pd_repair_json(const struct pd_repair_result *result, struct pd_json *json);
/** One object with all of it: the names of both files (output may be NULL), the problems as pd_repair_problem_json has put them into a
 * text, how many there were, and how many were corrected. */
PD_API void pd_repair_print_json(struct pd_text *text, const struct pd_repair_result *result, const char *file,
				 const char *output, const struct pd_text *problems, uint64_t problem_count,
				 uint64_t corrected_count);

#ifdef __cplusplus
}
#endif
#endif
