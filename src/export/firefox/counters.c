/* SPDX-License-Identifier: MIT */
/*
 * Counters of the Firefox Profiler: what each process has counted of each event that is no time, as it went. Times are measured by weights
 * and categories already.
 */
#include <inttypes.h>

#include "base/text/text.h"
#include "export/firefox/firefox.h"

static struct pd_firefox_counter *counter_of(struct pd_export *self, uint32_t pid, uint32_t event)
{
	struct pd_firefox *firefox = self->sink;
	uint64_t key = (uint64_t)pid << 32 | event, known = pd_u64_map_find(&firefox->counter_of, key);

	if (known)
		return &firefox->counters[known - 1];
	if (!PD_GROW(firefox->counters, firefox->counter_capacity, firefox->counter_count + 1) ||
	    !pd_u64_map_add(&firefox->counter_of, key, firefox->counter_count + 1)) {
		self->failed = true;
		return NULL;
	}
	firefox->counters[firefox->counter_count] = (struct pd_firefox_counter){ .pid = pid, .event = event };
	return &firefox->counters[firefox->counter_count++];
}

// It is shown with the main thread of its process, or the first that has samples.
static void choose_thread(const struct pd_firefox *firefox, struct pd_firefox_counter *counter,
			  const struct pd_track *track, const struct pd_owner *owner)
{
	bool is_main = owner->tid == owner->pid;

	if (!counter->count || (is_main && !counter->has_main))
		counter->thread = (size_t)(track - firefox->tracks.items);
	counter->has_main |= is_main;
}

void pd_firefox_count(struct pd_export *self, const struct pd_export_sample *sample, const struct pd_track *track)
{
	struct pd_firefox *firefox = self->sink;
	const struct pd_owner *owner = pd_export_thread(self, sample->thread);
	struct pd_spool *spool = &firefox->tracks.spool;
	struct pd_firefox_counter *counter;
	uint64_t step;

	if (pd_event_unit(sample->event) == PD_UNIT_NS)
		return;
	counter = counter_of(self, owner->pid, (uint32_t)sample->event->index);
	if (!counter)
		return;
	choose_thread(firefox, counter, track, owner);
	// clocks of threads without times differ
	step = track->last_ns > counter->last_ns ? track->last_ns - counter->last_ns : 0;
	counter->last_ns += step;
	counter->count++;
	pd_spool_put(spool, &counter->track, step);
	pd_spool_put(spool, &counter->track, sample->value);
	pd_tracks_check(&firefox->tracks, self);
}

static void put_column(struct pd_export *self, const struct pd_firefox_counter *counter, bool times)
{
	struct pd_firefox *firefox = self->sink;
	struct pd_spool_reader reader;
	uint64_t step, value, time_ns = 0;

	pd_firefox_key(self, times ? "time" : "count");
	pd_text_char(self->text, '[');
	pd_spool_begin(&reader, &firefox->tracks.spool, &counter->track);
	for (bool comma = false;
	     pd_spool_get(&reader, &step) && pd_spool_get(&reader, &value) && !self->text->sink_failed; comma = true) {
		time_ns += step;
		if (comma)
			pd_text_char(self->text, ',');
		if (times)
			pd_firefox_milliseconds(self, time_ns - firefox->base_ns);
		else
			pd_text_u64(self->text, value);
		pd_export_flush(self);
	}
	pd_text_char(self->text, ']');
}

static void put_counter(struct pd_export *self, const struct pd_firefox_counter *counter)
{
	const char *event = pd_file_event(self->file, counter->event)->name;
	uint32_t name = pd_tables_text(&self->tables, event);
	struct pd_text *text = self->text;

	PD_TEXT_LITERAL(text, "\n{\"name\":");
	pd_firefox_string(self, name);
	PD_TEXT_LITERAL(text, ",\"category\":\"event\",\"description\":");
	pd_firefox_string(self, name);
	pd_text_printf(text, ",\"pid\":\"%" PRId32 "\",\"mainThreadIndex\":%zu,", (int32_t)counter->pid,
		       counter->thread);
	PD_TEXT_LITERAL(text, "\"display\":{\"graphType\":\"line-rate\",\"unit\":\"\",\"color\":\"grey\","
			      "\"markerSchemaLocation\":null,\"sortWeight\":50,\"label\":");
	pd_firefox_string(self, name);
	PD_TEXT_LITERAL(text, ",\"tooltipRows\":[{\"type\":\"value\",\"source\":\"count\","
			      "\"format\":{\"unit\":\"number\"},\"label\":");
	pd_firefox_string(self, name);
	pd_text_printf(text, "}]},\"samples\":{\"length\":%" PRIu64, counter->count);
	put_column(self, counter, true);
	put_column(self, counter, false);
	PD_TEXT_LITERAL(text, "}}");
}

void pd_firefox_put_counters(struct pd_export *self)
{
	const struct pd_firefox *firefox = self->sink;

	PD_TEXT_LITERAL(self->text, ",\n\"counters\":[");
	for (size_t i = 0; i < firefox->counter_count && !self->failed; i++) {
		if (i)
			pd_text_char(self->text, ',');
		put_counter(self, &firefox->counters[i]);
	}
	pd_text_char(self->text, ']');
}

void pd_firefox_fini_counters(struct pd_export *self)
{
	struct pd_firefox *firefox = self->sink;

	for (size_t i = 0; i < firefox->counter_count; i++)
		pd_spool_track_fini(&firefox->counters[i].track);
	pd_free(firefox->counters);
	pd_u64_map_fini(&firefox->counter_of);
}
