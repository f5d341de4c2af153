/* SPDX-License-Identifier: MIT */
/**
 * record_stats.h - counts of records by type and of samples by event, as perf report --stats shows them.
 *
 * A sample that reads a group of counters counts for each counter of the group that has moved, not for the event that fired.
 *
 * Threads: one at a time for each of them.
 *
 * Example:
 *
 *	struct pd_stats *stats;
 *
 *	if (pd_stats_new(file, &stats, &error) == PD_OK) {
 *		while (pd_stream_next(stream, &record, &error) == PD_OK)
 *			pd_stats_count(stats, record);
 *		pd_print_stats(text, stats);
 *		pd_stats_free(stats);
 *	}
 */
#ifndef PERFDATA_RECORD_STATS_H
#define PERFDATA_RECORD_STATS_H

#include <perfdata/stream.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pd_stats;

/** Counts for records of a file, which must remain open. Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_stats_new(struct pd_file *file, struct pd_stats **stats_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_stats_free(struct pd_stats *stats);
/** Counts a record. */
PD_API void pd_stats_count(struct pd_stats *stats, const struct pd_record *record);
/** Also counts the samples that follow the current record of a stream, if they need not be decoded, and passes over them. */
PD_API void pd_stats_count_following(struct pd_stats *stats, struct pd_stream *stream, const struct pd_record *record);
/** True if memory ran out: counts are too low. */
PD_API bool pd_stats_failed(const struct pd_stats *stats);

/** Number of records. */
PD_API uint64_t pd_stats_total(const struct pd_stats *stats);
/** Number of records of a type. */
PD_API uint64_t pd_stats_of_type(const struct pd_stats *stats, uint32_t type);
/** The index-th type that occurred, ascending; false past the end. At most 1024 types from 128 on are counted. */
PD_API bool pd_stats_type_at(const struct pd_stats *stats, size_t index, uint32_t *type_out);
/** Name of a type in these counts: without HEADER_ in front, "UNKNOWN(200)" if it has none. The result is a constant or
 * buffer, which has size bytes. */
PD_API const char *pd_stats_type_name(uint32_t type, char *buffer, size_t size);
/** Samples of the index-th event of the file, and those that LOST_SAMPLES records report; 0 past the end. */
PD_API uint64_t pd_stats_samples(const struct pd_stats *stats, size_t event);
PD_API uint64_t pd_stats_lost_samples(const struct pd_stats *stats, size_t event);

/** The text of perf report --stats (6.1). */
PD_API void pd_print_stats(struct pd_text *text, const struct pd_stats *stats);
/** One JSON object with total, types and events. */
PD_API void pd_json_stats(struct pd_text *text, const struct pd_stats *stats);

/** What each thread counted until it ended, from READ records (attr flag inherit_stat), as perf report -T (6.1) prints it. Reads all
 * records of a file. Errors: PD_ERROR_MEMORY, PD_ERROR_LIMIT, and those of pd_stream_next. */
PD_API enum pd_status pd_print_thread_counts(struct pd_text *text, struct pd_file *file, struct pd_error *error);
/** The same as perf report -T --pretty raw prints it: each event of each thread with its number, and no end of a line between them. */
PD_API enum pd_status pd_print_thread_counts_raw(struct pd_text *text, struct pd_file *file, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
