/* SPDX-License-Identifier: MIT */
/**
 * summary.h - what a file is, where and how it was recorded and what is in it, on one screen or as JSON.
 *
 * Threads: one at a time for each of them.
 *
 * Example:
 *
 *	struct pd_summary *summary;
 *
 *	if (pd_summary_read(file, NULL, &summary, &error) == PD_OK) {
 *		pd_print_summary(text, summary, "perf.data");
 *		pd_summary_free(summary);
 *	}
 */
#ifndef PERFDATA_SUMMARY_H
#define PERFDATA_SUMMARY_H

#include <perfdata/header.h>
#include <perfdata/record_stats.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What one pass over all records tells, beside their counts. */
struct pd_summary_numbers {
	uint64_t first_ns, last_ns; /* times of the samples, else of all records; PD_NO_TIME if unknown */
	uint64_t lost_records, lost_samples;
	uint64_t throttle_count;
	uint64_t compressed_bytes; /* in compressed records */
	uint64_t inflated_bytes;   /* of the records in them */
	uint64_t aux_bytes;
};

/** Zero is the default for each member; NULL means all defaults. */
struct pd_summary_options {
	size_t size; /* sizeof(struct pd_summary_options); 0 is PD_ERROR_ARGUMENT */
	/* Called periodically with bytes done and in total (0 if unknown). May be NULL. */
	void (*progress)(void *self, uint64_t done, uint64_t total);
	void *self; /* first argument of progress */
};

struct pd_summary;

/** Reads all records of a file, which must remain open. If reading ends with an error, *summary_out is a summary of what was
 * read, else NULL after PD_ERROR_MEMORY or PD_ERROR_ARGUMENT; it must be freed in any case. Errors: those of
 * pd_stream_next. */
PD_API enum pd_status pd_summary_read(struct pd_file *file, const struct pd_summary_options *options,
				      struct pd_summary **summary_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_summary_free(struct pd_summary *summary);
/** Owned by the summary. */
PD_API const struct pd_summary_numbers *pd_summary_numbers(const struct pd_summary *summary);
PD_API const struct pd_stats *pd_summary_stats(const struct pd_summary *summary);
/** The index-th thing that is missing in the file, in words; NULL past the end. */
PD_API const char *pd_summary_missing(const struct pd_summary *summary, size_t index);
/** Wall clock in ns since 1970 of a time of the file; PD_NO_TIME if the file does not say. */
PD_API uint64_t pd_file_wall_clock(struct pd_file *file, uint64_t time_ns);
/** Name of the clock of the times: "perf", "monotonic" ... */
PD_API const char *pd_file_clock_name(struct pd_file *file);
/** The index-th thing worth knowing about how an event was set up, such as "call chains"; NULL past the end. */
PD_API const char *pd_event_trait(const struct pd_event *event, size_t index);

/** Prints it for people; name is that of the file. */
PD_API void pd_print_summary(struct pd_text *text, const struct pd_summary *summary, const char *name);
/** The same as one JSON object. */
PD_API void pd_json_summary(struct pd_text *text, const struct pd_summary *summary, const char *name);

#ifdef __cplusplus
}
#endif
#endif
