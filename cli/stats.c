/* SPDX-License-Identifier: MIT */
/*
 * Counts records and samples. What is frequent is counted in stats.h; here is what is rare: types
 * above 127, events seen for the first time, lost samples, and samples that read counters.
 */
#include "stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AUX_REMARK " (excludes AUX area (e.g. instruction trace) decoded / synthesized events)"

enum {
	OTHERS_MOST = 1024 /* a hostile file could have a type for each record */
};

/* What an id has counted when it was last read. A free place has used false. */
struct stats_counter {
	uint64_t id;
	uint64_t value;
	bool used;
};

void stats_init(struct stats *stats, struct pd_file *file)
{
	struct timespec now = { 0 };

	memset(stats, 0, sizeof(*stats));
	stats->file = file;
	/* Ids come from the file: nobody shall be able to choose ones that collide. */
	clock_gettime(CLOCK_MONOTONIC, &now);
	stats->seed = ((uint64_t)now.tv_nsec << 32) ^ (uint64_t)(uintptr_t)stats;
}

void stats_fini(struct stats *stats)
{
	free(stats->others);
	free(stats->events);
	free(stats->counters);
	memset(stats, 0, sizeof(*stats));
}

/* Index of the first type in the list that is not below. */
static size_t other_place(const struct stats *stats, uint32_t type)
{
	size_t low = 0, high = stats->other_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (stats->others[middle].type < type)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void count_other(struct stats *stats, uint32_t type)
{
	size_t place = other_place(stats, type);

	if (place < stats->other_count && stats->others[place].type == type) {
		stats->others[place].count++;
		return;
	}
	if (stats->other_count == OTHERS_MOST) {
		stats->uncounted++;
		return;
	}
	if (!stats->others) {
		stats->others = malloc(OTHERS_MOST * sizeof(*stats->others));
		if (!stats->others) {
			stats->failed = true;
			return;
		}
	}
	memmove(&stats->others[place + 1], &stats->others[place],
		(stats->other_count - place) * sizeof(*stats->others));
	stats->others[place] = (struct stats_other){ .type = type, .count = 1 };
	stats->other_count++;
}

/* The line of an event, or NULL if there is no memory. */
static struct stats_event *event_line(struct stats *stats, const struct pd_event *event)
{
	struct stats_event *line;

	if (event->index >= stats->event_count) {
		size_t count = event->index + 1 > 16 ? (event->index + 1) * 2 : 16;
		struct stats_event *events = NULL;

		if (count <= SIZE_MAX / sizeof(*events))
			events = realloc(stats->events, count * sizeof(*events));
		if (!events) {
			stats->failed = true;
			return NULL;
		}
		memset(events + stats->event_count, 0, (count - stats->event_count) * sizeof(*events));
		stats->events = events;
		stats->event_count = count;
	}
	line = &stats->events[event->index];
	if (!line->known) {
		line->known = true;
		line->reads = event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_READ);
	}
	return line;
}

static size_t counter_place(const struct stats *stats, uint64_t id)
{
	uint64_t mixed = (id ^ stats->seed) * UINT64_C(0x9e3779b97f4a7c15);
	size_t place;

	mixed = (mixed ^ (mixed >> 32)) * UINT64_C(0xd6e8feb86659fd93);
	place = (size_t)(mixed ^ (mixed >> 32)) & (stats->counter_room - 1);
	while (stats->counters[place].used && stats->counters[place].id != id)
		place = (place + 1) & (stats->counter_room - 1);
	return place;
}

static bool counters_grow(struct stats *stats)
{
	struct stats_counter *old = stats->counters;
	size_t old_room = stats->counter_room;
	size_t room = old_room ? old_room * 2 : 64;
	struct stats_counter *counters = calloc(room, sizeof(*counters));

	if (!counters) {
		stats->failed = true;
		return false;
	}
	stats->counters = counters;
	stats->counter_room = room;
	for (size_t i = 0; i < old_room; i++) {
		if (old[i].used)
			counters[counter_place(stats, old[i].id)] = old[i];
	}
	free(old);
	return true;
}

/* Keeps the value of an id; true if it is another one than last time. */
static bool counter_moved(struct stats *stats, uint64_t id, uint64_t value)
{
	struct stats_counter *counter;
	bool moved;

	if ((stats->counter_count + 1) * 2 > stats->counter_room && !counters_grow(stats))
		return false;
	counter = &stats->counters[counter_place(stats, id)];
	moved = counter->value != value;
	if (!counter->used) {
		counter->used = true;
		counter->id = id;
		stats->counter_count++;
	}
	counter->value = value;
	return moved;
}

static void count_value(struct stats *stats, uint64_t id, uint64_t value)
{
	const struct pd_event *event = pd_file_event_by_id(stats->file, id);
	struct stats_event *line;

	if (!event || !counter_moved(stats, id, value))
		return;
	line = event_line(stats, event);
	if (line)
		line->samples++;
}

static void count_reads(struct stats *stats, const struct pd_record *record)
{
	const struct pd_sample *sample = pd_as_sample(record);
	const struct pd_counts *counts = sample ? sample->read : NULL;

	if (!counts)
		return;
	if (!(record->event->attr->read_format & PD_MASK(PD_READ_FORMAT_GROUP))) {
		count_value(stats, counts->id, counts->value);
		return;
	}
	for (size_t i = 0; i < counts->members.count; i++) {
		const struct pd_count *count = PD_ITEM(pd_count, counts->members, i);

		count_value(stats, count->id, count->value);
	}
}

static void count_sample(struct stats *stats, const struct pd_record *record)
{
	struct stats_event *line;

	if (!record->event)
		return;
	line = event_line(stats, record->event);
	if (!line)
		return;
	if (line->reads)
		count_reads(stats, record);
	else
		line->samples++;
}

static void count_lost(struct stats *stats, const struct pd_record *record)
{
	const struct pd_lost_samples *lost = pd_as_lost_samples(record);
	struct stats_event *line;

	if (!lost || !record->event)
		return;
	line = event_line(stats, record->event);
	if (line)
		line->lost_samples += lost->lost;
}

void stats_count_rare(struct stats *stats, const struct pd_record *record)
{
	if (record->type >= STATS_TYPES) {
		count_other(stats, record->type);
		return;
	}
	stats->types[record->type]++;
	if (record->type == PD_RECORD_SAMPLE)
		count_sample(stats, record);
	else if (record->type == PD_RECORD_LOST_SAMPLES)
		count_lost(stats, record);
}

uint64_t stats_type(const struct stats *stats, uint32_t type)
{
	size_t place;

	if (type < STATS_TYPES)
		return stats->types[type];
	place = other_place(stats, type);
	if (place < stats->other_count && stats->others[place].type == type)
		return stats->others[place].count;
	return 0;
}

bool stats_type_at(const struct stats *stats, size_t index, uint32_t *type_out)
{
	for (uint32_t type = 0; type < STATS_TYPES; type++) {
		if (stats->types[type] && index-- == 0) {
			*type_out = type;
			return true;
		}
	}
	if (index >= stats->other_count)
		return false;
	*type_out = stats->others[index].type;
	return true;
}

const char *stats_type_name(uint32_t type, char *room, size_t size)
{
	const char *name = pd_record_name(type);

	if (name)
		return strncmp(name, "HEADER_", 7) == 0 ? name + 7 : name;
	snprintf(room, size, "UNKNOWN(%" PRIu32 ")", type);
	return room;
}

/* perf says so of files; of a pipe it does not know yet. */
static bool has_aux(const struct pd_file *file)
{
	const struct pd_header *header = pd_file_header(file);

	return header->mode != PD_MODE_PIPE &&
	       header->feature_bits[PD_FEATURE_AUXTRACE / 64] >> PD_FEATURE_AUXTRACE % 64 & 1;
}

void stats_print(const struct stats *stats, struct pd_text *text)
{
	char room[32];
	uint32_t type;

	pd_text_printf(text, "\nAggregated stats:%s\n%16s events: %10" PRIu64 "\n",
		       has_aux(stats->file) ? AUX_REMARK : "", "TOTAL", stats->total);
	for (size_t i = 0; stats_type_at(stats, i, &type); i++) {
		uint64_t count = stats_type(stats, type);

		pd_text_printf(text, "%16s events: %10" PRIu64 "  (%4.1f%%)\n",
			       stats_type_name(type, room, sizeof(room)), count,
			       100.0 * (double)count / (double)stats->total);
	}
	if (stats->uncounted)
		pd_text_printf(text, "%16s events: %10" PRIu64 "  (%4.1f%%)\n", "UNKNOWN", stats->uncounted,
			       100.0 * (double)stats->uncounted / (double)stats->total);
	for (size_t i = 0; i < stats->event_count; i++) {
		const struct stats_event *line = &stats->events[i];
		const char *name;

		if (!line->samples && !line->lost_samples)
			continue;
		name = pd_file_event(stats->file, i)->name;
		pd_text_escaped(text, name, strlen(name));
		pd_text_add(text, " stats:\n");
		if (line->samples)
			pd_text_printf(text, "%16s events: %10" PRIu64 "\n", "SAMPLE", line->samples);
		if (line->lost_samples)
			pd_text_printf(text, "%16s events: %10" PRIu64 "\n", "LOST_SAMPLES", line->lost_samples);
	}
}
