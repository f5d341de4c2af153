/* SPDX-License-Identifier: MIT */
/*
 * Counts of records by type and of samples by event, as perf report --stats shows them.
 *
 * A sample that reads a group of counters counts for each counter of the group that has moved, not
 * for the event that fired; that alone needs the sample taken apart.
 */
#ifndef CLI_STATS_H
#define CLI_STATS_H

#include <perfdata/perfdata.h>

enum {
	STATS_TYPES = 128 /* types below are counted in an array, others in a list */
};

struct stats_event {
	uint64_t samples;
	uint64_t lost_samples; /* what LOST_SAMPLES records say of the event */
	bool known;            /* the line is in use */
	bool reads;            /* its samples carry counter values */
};

struct stats_other {
	uint32_t type;
	uint64_t count;
};

struct stats_counter;

struct stats {
	struct pd_file *file;
	uint64_t total;
	uint64_t types[STATS_TYPES];
	struct stats_other *others; /* in the order of their type */
	size_t other_count;
	uint64_t uncounted;         /* records whose type is one too many for the list */
	struct stats_event *events; /* by index of the event */
	size_t event_count;
	struct stats_counter *counters; /* last value of each id in group reads */
	size_t counter_count, counter_room;
	uint64_t seed;
	bool failed; /* memory ran out: counts are too low */
};

/* Counts for records of file, which must stay open. */
void stats_init(struct stats *stats, struct pd_file *file);
void stats_fini(struct stats *stats);

void stats_count_rare(struct stats *stats, const struct pd_record *record);

static inline void stats_count(struct stats *stats, const struct pd_record *record)
{
	const struct pd_event *event = record->event;

	stats->total++;
	if (record->type == PD_RECORD_SAMPLE && event && event->index < stats->event_count &&
	    stats->events[event->index].known && !stats->events[event->index].reads) {
		stats->types[PD_RECORD_SAMPLE]++;
		stats->events[event->index].samples++;
		return;
	}
	stats_count_rare(stats, record);
}

/* Counts the samples that follow a counted record, where they can be passed over. */
static inline void stats_count_following(struct stats *stats, const struct pd_record *record, struct pd_stream *stream)
{
	const struct pd_event *event = record->event;
	uint64_t passed;

	if (record->type != PD_RECORD_SAMPLE || !event || event->index >= stats->event_count ||
	    stats->events[event->index].reads)
		return;
	passed = pd_stream_pass(stream);
	stats->total += passed;
	stats->types[PD_RECORD_SAMPLE] += passed;
	stats->events[event->index].samples += passed;
}

/* Count of a type. */
uint64_t stats_type(const struct stats *stats, uint32_t type);
/* The index-th type that was met, ascending; false past the end. */
bool stats_type_at(const struct stats *stats, size_t index, uint32_t *type_out);
/* Name of a type as in these counts: without HEADER_ in front, "UNKNOWN(200)" if it has none. */
const char *stats_type_name(uint32_t type, char *room, size_t size);

/* The text of perf report --stats. */
void stats_print(const struct stats *stats, struct pd_text *text);

#endif
