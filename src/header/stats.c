/* SPDX-License-Identifier: MIT */
// Counts records and samples. Most records are samples of an event that is known: that is one addition.
#include <perfdata/record_stats.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/lookup/search.h"
#include "base/lookup/last_values.h"
#include "base/memory.h"
#include "base/text/json.h"
#include "file/file.h"
#include "header/stats.h"

#define AUX_REMARK " (excludes AUX area (e.g. instruction trace) decoded / synthesized events)"

enum {
	TYPES = 128,      // types below are counted in an array, others in a list
	OTHERS_MAX = 1024 // a hostile file could have a type for each record
};

struct stats_event {
	uint64_t samples, lost_samples;
	bool known; // the line is in use
	bool reads; // its samples carry counter values
};

struct stats_other {
	uint32_t type;
	uint64_t count;
};

struct pd_stats {
	struct pd_file *file;
	uint64_t total;
	uint64_t types[TYPES];
	struct stats_other *others; // in the order of their type
	size_t other_count, other_capacity;
	uint64_t uncounted;         // records whose type is one too many for the list
	struct stats_event *events; // by index of the event
	size_t event_count, event_capacity;
	struct pd_last_values counters; // of group reads
	bool failed;
};

enum pd_status pd_stats_new(struct pd_file *file, struct pd_stats **stats_out, struct pd_error *error)
{
	struct pd_stats *stats = pd_alloc(sizeof(*stats));

	if (!stats)
		return pd_fail_memory(error);
	stats->file = file;
	stats->counters.places.seed = pd_file_secret(file);
	*stats_out = stats;
	return PD_OK;
}

void pd_stats_free(struct pd_stats *stats)
{
	if (!stats)
		return;
	pd_free(stats->others);
	pd_free(stats->events);
	pd_last_values_fini(&stats->counters);
	pd_free(stats);
}

bool pd_stats_failed(const struct pd_stats *stats)
{
	return stats->failed;
}

// ---- types ----

// Index of the first type in the list that is not below.
static size_t find_other(const struct pd_stats *stats, uint32_t type)
{
	size_t at;

	PD_SEARCH(at, (size_t)0, stats->other_count, i, stats->others[i].type < type);
	return at;
}

static void count_other(struct pd_stats *stats, uint32_t type)
{
	size_t at = find_other(stats, type);

	if (at < stats->other_count && stats->others[at].type == type) {
		stats->others[at].count++;
		return;
	}
	if (stats->other_count == OTHERS_MAX) {
		stats->uncounted++;
		return;
	}
	if (!PD_GROW(stats->others, stats->other_capacity, stats->other_count + 1)) {
		stats->failed = true;
		return;
	}
	memmove(&stats->others[at + 1], &stats->others[at], (stats->other_count - at) * sizeof(*stats->others));
	stats->others[at] = (struct stats_other){ .type = type, .count = 1 };
	stats->other_count++;
}

// ---- events ----

// The line of an event, or NULL if there is no memory.
static struct stats_event *line_of(struct pd_stats *stats, const struct pd_event *event)
{
	struct stats_event *line;

	if (event->index >= stats->event_count) {
		if (!PD_GROW(stats->events, stats->event_capacity, event->index + 1)) {
			stats->failed = true;
			return NULL;
		}
		memset(stats->events + stats->event_count, 0,
		       (event->index + 1 - stats->event_count) * sizeof(*stats->events));
		stats->event_count = event->index + 1;
	}
	line = &stats->events[event->index];
	if (!line->known) {
		line->known = true;
		line->reads = event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_READ);
	}
	return line;
}

static void count_value(struct pd_stats *stats, uint64_t id, uint64_t value)
{
	const struct pd_event *event = pd_file_event_by_id(stats->file, id);
	struct stats_event *line;
	uint64_t gain = 0;

	if (event && !pd_last_values_gain(&stats->counters, id, value, &gain))
		stats->failed = true;
	if (!gain)
		return;
	line = line_of(stats, event);
	if (line)
		line->samples++;
}

static void count_reads(struct pd_stats *stats, const struct pd_record *record)
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

static void count_sample(struct pd_stats *stats, const struct pd_record *record)
{
	struct stats_event *line = record->event ? line_of(stats, record->event) : NULL;

	if (line && line->reads)
		count_reads(stats, record);
	else if (line)
		line->samples++;
}

static void count_lost(struct pd_stats *stats, const struct pd_record *record)
{
	const struct pd_lost_samples *lost = pd_as_lost_samples(record);
	struct stats_event *line = lost && record->event ? line_of(stats, record->event) : NULL;

	if (line)
		line->lost_samples += lost->lost;
}

void pd_stats_count(struct pd_stats *stats, const struct pd_record *record)
{
	stats->total++;
	if (record->type >= TYPES) {
		count_other(stats, record->type);
		return;
	}
	stats->types[record->type]++;
	if (record->type == PD_RECORD_SAMPLE)
		count_sample(stats, record);
	else if (record->type == PD_RECORD_LOST_SAMPLES)
		count_lost(stats, record);
}

void pd_stats_count_following(struct pd_stats *stats, struct pd_stream *stream, const struct pd_record *record)
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

// ---- results ----

uint64_t pd_stats_total(const struct pd_stats *stats)
{
	return stats->total;
}

uint64_t pd_stats_of_type(const struct pd_stats *stats, uint32_t type)
{
	size_t at;

	if (type < TYPES)
		return stats->types[type];
	at = find_other(stats, type);
	return at < stats->other_count && stats->others[at].type == type ? stats->others[at].count : 0;
}

bool pd_stats_type_at(const struct pd_stats *stats, size_t index, uint32_t *type_out)
{
	for (uint32_t type = 0; type < TYPES; type++) {
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

const char *pd_stats_type_name(uint32_t type, char *buffer, size_t size)
{
	const char *name = pd_record_name(type);

	if (name)
		return strncmp(name, "HEADER_", 7) == 0 ? name + 7 : name;
	snprintf(buffer, size, "UNKNOWN(%" PRIu32 ")", type);
	return buffer;
}

uint64_t pd_stats_samples(const struct pd_stats *stats, size_t event)
{
	return event < stats->event_count ? stats->events[event].samples : 0;
}

uint64_t pd_stats_lost_samples(const struct pd_stats *stats, size_t event)
{
	return event < stats->event_count ? stats->events[event].lost_samples : 0;
}

// ---- text ----

// perf says so of files; of a pipe it does not know yet.
static bool has_aux(const struct pd_file *file)
{
	const struct pd_header *header = pd_file_header(file);

	return header->mode != PD_MODE_PIPE &&
	       header->feature_bits[PD_FEATURE_AUXTRACE / 64] >> PD_FEATURE_AUXTRACE % 64 & 1;
}

static void print_share(struct pd_text *text, const struct pd_stats *stats, const char *name, uint64_t count)
{
	pd_text_printf(text, "%16s events: %10" PRIu64 "  (%4.1f%%)\n", name, count,
		       100.0 * (double)count / (double)stats->total);
}

static void print_event(struct pd_text *text, const struct pd_event *event, const struct stats_event *line, bool lost)
{
	lost = lost && line->lost_samples;
	if (!line->samples && !lost)
		return;
	pd_text_escaped(text, event->name, strlen(event->name));
	pd_text_add(text, " stats:\n");
	if (line->samples)
		pd_text_printf(text, "%16s events: %10" PRIu64 "\n", "SAMPLE", line->samples);
	if (lost)
		pd_text_printf(text, "%16s events: %10" PRIu64 "\n", "LOST_SAMPLES", line->lost_samples);
}

void pd_stats_print(struct pd_text *text, const struct pd_stats *stats, bool lost)
{
	char buffer[32];
	uint32_t type;

	pd_text_printf(text, "\nAggregated stats:%s\n%16s events: %10" PRIu64 "\n",
		       has_aux(stats->file) ? AUX_REMARK : "", "TOTAL", stats->total);
	for (size_t i = 0; pd_stats_type_at(stats, i, &type); i++)
		print_share(text, stats, pd_stats_type_name(type, buffer, sizeof(buffer)),
			    pd_stats_of_type(stats, type));
	if (stats->uncounted)
		print_share(text, stats, "UNKNOWN", stats->uncounted);
	for (size_t i = 0; i < stats->event_count; i++)
		print_event(text, pd_file_event(stats->file, i), &stats->events[i], lost);
}

void pd_print_stats(struct pd_text *text, const struct pd_stats *stats)
{
	pd_stats_print(text, stats, true);
}

void pd_json_stats(struct pd_text *text, const struct pd_stats *stats)
{
	struct pd_json json = { .text = text };
	char buffer[32];
	uint32_t type;

	pd_json_open(&json, NULL, '{');
	pd_json_number(&json, "total", stats->total);
	pd_json_open(&json, "types", '{');
	for (size_t i = 0; pd_stats_type_at(stats, i, &type); i++)
		pd_json_number(&json, pd_stats_type_name(type, buffer, sizeof(buffer)), pd_stats_of_type(stats, type));
	pd_json_close(&json, '}');
	pd_json_open(&json, "events", '[');
	for (size_t i = 0; i < pd_file_event_count(stats->file); i++) {
		pd_json_open(&json, NULL, '{');
		pd_json_number(&json, "index", i);
		pd_json_string(&json, "name", pd_file_event(stats->file, i)->name);
		pd_json_number(&json, "samples", pd_stats_samples(stats, i));
		pd_json_number(&json, "lost_samples", pd_stats_lost_samples(stats, i));
		pd_json_close(&json, '}');
	}
	pd_json_close(&json, ']');
	pd_json_close(&json, '}');
}
