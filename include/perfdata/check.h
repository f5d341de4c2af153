/* SPDX-License-Identifier: MIT */
/**
 * check.h - reads a whole file and reports every problem.
 *
 * Example:
 *
 *	struct pd_check_result result;
 *
 *	if (pd_check(file, &result, &error) == PD_OK && result.problem_count[PD_DAMAGE])
 *		printf("%u problems\n", (unsigned)result.problem_count[PD_DAMAGE]);
 */
#ifndef PERFDATA_CHECK_H
#define PERFDATA_CHECK_H

#include <perfdata/stream.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Result of a check. */
struct pd_check_result {
	uint64_t record_count; /* including those inside compressed records */
	uint64_t sample_count;
	uint64_t lost_records; /* from LOST */
	uint64_t lost_samples; /* from LOST_SAMPLES */
	uint64_t throttle_count;
	uint64_t undecoded_count;  /* records that could not be decoded, including unknown types */
	uint64_t problem_count[4]; /* by enum pd_severity */
};

/** Decodes every record and feature and validates it against the format; problems are reported to the problem
 * function of the file. Damage is not an error: the result is PD_OK, and *result_out has the counts. Errors: those of
 * pd_stream_next. */
PD_API enum pd_status pd_check(struct pd_file *file, struct pd_check_result *result_out, struct pd_error *error);

/** Prints the counts of a check of the file of that name as one line, or as a JSON object {"summary":{...}} on a line. */
PD_API void pd_print_check(struct pd_text *text, const char *name, const struct pd_check_result *result);
PD_API void pd_json_check(struct pd_text *text, const char *name, const struct pd_check_result *result);

enum {
	PD_PROBLEM_KINDS = 128
};

/** A kind of problem. */
struct pd_problem_kind {
	const char *code;
	uint64_t count;
};

/** How often each kind of problem has come, for programs that report each a few times only: a damaged file can have millions.
 * All zero is ready for use. */
struct pd_problem_counts {
	struct pd_problem_kind kinds[PD_PROBLEM_KINDS]; /* what is more counts as the last one */
	size_t kind_count, old_count;
};

/** Counts a problem, and returns how often its kind has come before: UINT64_MAX for an old one, which is not counted. */
PD_API uint64_t pd_problem_count(struct pd_problem_counts *counts, const char *code);
/** All kinds so far are old: in a second pass over a file its problems come again. */
PD_API void pd_problem_count_again(struct pd_problem_counts *counts);

/** Called periodically during a check; pd_stream_progress returns the progress. */
typedef void pd_check_progress_fn(void *self, const struct pd_stream *stream);

/** pd_check with a progress callback. */
PD_API enum pd_status pd_check_with_progress(struct pd_file *file, pd_check_progress_fn *progress, void *self,
					     struct pd_check_result *result_out, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
