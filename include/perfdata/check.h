/* SPDX-License-Identifier: MIT */
/**
 * check.h - reads all of a file and tells every problem.
 */
#ifndef PERFDATA_CHECK_H
#define PERFDATA_CHECK_H

#include <perfdata/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a check saw. */
struct pd_check_result {
	uint64_t record_count;  /* outside and inside of compressed records */
	uint64_t sample_count;
	uint64_t lost_records;  /* by LOST */
	uint64_t lost_samples;  /* by LOST_SAMPLES */
	uint64_t throttle_count;
	uint64_t undecoded_count; /* records that could not be taken apart, unknown types included */
	uint64_t problem_count[4]; /* by enum pd_severity */
};

/** Takes every record and every feature apart and checks what the format promises; problems go to the
 * problem function that the file was opened with. Damage is no error here: PD_OK then, and counts in
 * *result_out. Errors: as pd_stream_next. */
PD_API enum pd_status pd_check(struct pd_file *file, struct pd_check_result *result_out,
			       struct pd_error *error);

/** Called now and then during a check; pd_stream_progress says how far it is. */
typedef void pd_check_progress_fn(void *self, const struct pd_stream *stream);

/** The same as pd_check, with somebody who watches. */
PD_API enum pd_status pd_check_watched(struct pd_file *file, pd_check_progress_fn *progress, void *self,
				       struct pd_check_result *result_out, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
