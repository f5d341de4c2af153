/* SPDX-License-Identifier: MIT */
/**
 * repair.h - writes again what can be read of a damaged perf.data, so that perf reads it too.
 *
 * Open the file with pd_open_options.mend, a writer over it, and call pd_repair. Records that are whole are passed as
 * they are; what cannot be a record of the file is left out, and each decision is told to the problem function of
 * the file. Nothing is guessed: what is added is only what other parts of the file say.
 */
#ifndef PERFDATA_REPAIR_H
#define PERFDATA_REPAIR_H

#include <perfdata/stream.h>
#include <perfdata/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a repair did. Bit n of word n / 64 stands for feature n. */
struct pd_repair_result {
	uint64_t record_count;  /* that were passed; those inside of compressed ones, not these themselves, and not events and
				 * features of a pipe */
	uint64_t sample_count;  /* of these */
	struct pd_losses losses; /* of records; samples that come without any event are among losses.records */
	uint64_t kept_features[4];
	uint64_t dropped_features[4]; /* damaged, or promised by the header and not there */
	uint64_t made_features[4];    /* that were missing: SAMPLE_TIME; EVENT_DESC; STAT; TRACING_DATA, of which perf wants one, with
				       * the fields that all tracepoints have. Damaged formats in one that is kept, and sets of CPUs
				       * and threads that counts of perf stat lack, are problems of the file */
};

/** Called now and then during a repair; pd_stream_progress says how far it is. */
typedef void pd_repair_progress_fn(void *self, const struct pd_stream *stream);

struct pd_repair_options {
	size_t size; /* sizeof(struct pd_repair_options) */
	pd_repair_progress_fn *progress; /* may be NULL */
	void *self;                      /* first argument of progress */
};

/**
 * Carries a file over into a writer that nothing was carried into, and passes its records. The caller finishes the
 * writer, or aborts it after a failure. writer may be NULL: then nothing is written, and *result_out says what would be.
 * The writer's packing should not be PD_PACK_KEEP: where compressed records are damaged, those behind are compressed
 * anew. options may be NULL. Errors: as pd_stream_next, pd_writer_carry and pd_writer_pass.
 */
PD_API enum pd_status pd_repair(struct pd_file *file, struct pd_writer *writer, const struct pd_repair_options *options,
				struct pd_repair_result *result_out, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
