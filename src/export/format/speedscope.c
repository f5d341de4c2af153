/* SPDX-License-Identifier: MIT */
/*
 * speedscope: a "sampled" profile for each thread and event. Its time axis is the sum of the weights. A frame is a function;
 * samples are written with all their frames, outermost first, as there is no table of stacks.
 */
#include <stdio.h>

#include <perfdata/json.h>

#include "base/text/text.h"
#include "export/feed/tracks.h"

static void begin(struct pd_export *self)
{
	struct pd_tracks *tracks = self->sink;

	pd_tracks_init(tracks, self);
	tracks->by_name = true;
}

static void take_sample(struct pd_export *self, const struct pd_export_sample *sample)
{
	pd_tracks_add(self->sink, self, sample);
}

// ---- frames ----

static void put_string(struct pd_json *json, const struct pd_tables *tables, const char *name, uint32_t string)
{
	pd_json_name(json, name);
	pd_text_json_string(json->text, tables->strings[string].text, tables->strings[string].size);
}

static void put_frames(struct pd_export *self, struct pd_json *json)
{
	const struct pd_tables *tables = &self->tables;

	pd_json_open(json, "shared", '{');
	pd_json_open(json, "frames", '[');
	for (size_t i = 0; i < tables->function_count; i++) {
		const struct pd_table_function *function = &tables->functions[i];
		uint32_t file = function->file ? function->file : tables->objects[function->object].path;

		pd_text_char(json->text, i ? ',' : '\n');
		json->comma = false;
		pd_json_open(json, NULL, '{');
		put_string(json, tables, "name", function->name);
		if (file)
			put_string(json, tables, "file", file);
		pd_json_close(json, '}');
		pd_export_flush(self);
	}
	pd_json_close(json, ']');
	pd_json_close(json, '}');
}

// ---- profiles ----

static void put_stack(struct pd_export *self, uint32_t stack)
{
	size_t count;
	const uint32_t *lines = pd_tables_expand(&self->tables, stack, &count);

	pd_text_char(self->text, '[');
	for (size_t i = count; i--;) {
		pd_text_u64(self->text, self->tables.lines[lines[i]].function);
		if (i)
			pd_text_char(self->text, ',');
	}
	pd_text_char(self->text, ']');
}

static void put_samples(struct pd_export *self, const struct pd_track *track, bool weights)
{
	struct pd_tracks *tracks = self->sink;
	struct pd_tracked_sample sample;
	struct pd_spool_reader reader;
	bool comma = false;

	pd_spool_begin(&reader, &tracks->spool, &track->samples);
	while (pd_track_next(&reader, &sample) && !self->tables.failed && !self->text->sink_failed) {
		if (comma)
			pd_text_char(self->text, ',');
		comma = true;
		if (weights)
			pd_text_u64(self->text, sample.value);
		else
			put_stack(self, sample.stack);
		pd_export_flush(self);
	}
}

static void put_profile(struct pd_export *self, struct pd_json *json, const struct pd_track *track)
{
	const struct pd_event *event = pd_file_event(self->file, track->event);
	uint32_t event_number = self->events_used > 1 ? track->event : UINT32_MAX;

	pd_text_char(json->text, '\n');
	pd_json_open(json, NULL, '{');
	pd_json_string(json, "type", "sampled");
	put_string(json, &self->tables, "name", pd_export_track_name(self, track->thread, event_number));
	pd_json_string(json, "unit", pd_event_unit(event) == PD_UNIT_NS ? "nanoseconds" : "none");
	pd_json_number(json, "startValue", 0);
	pd_json_number(json, "endValue", track->value);
	pd_json_open(json, "samples", '[');
	put_samples(self, track, false);
	pd_json_close(json, ']');
	pd_json_open(json, "weights", '[');
	put_samples(self, track, true);
	pd_json_close(json, ']');
	pd_json_close(json, '}');
}

static void end(struct pd_export *self)
{
	struct pd_tracks *tracks = self->sink;
	struct pd_json json = { .text = self->text };
	const char *name = pd_export_name(self);
	char exporter[64];

	snprintf(exporter, sizeof(exporter), "perfdata@%s", pd_version());
	pd_json_open(&json, NULL, '{');
	pd_json_string(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	put_string(&json, &self->tables, "name", pd_tables_text(&self->tables, name));
	pd_json_string(&json, "exporter", exporter);
	pd_json_number(&json, "activeProfileIndex", pd_tracks_largest(tracks));
	put_frames(self, &json);
	pd_json_open(&json, "profiles", '[');
	for (size_t i = 0; i < tracks->count && !self->failed; i++)
		put_profile(self, &json, &tracks->items[i]);
	pd_json_close(&json, ']');
	pd_json_close(&json, '}');
	pd_text_char(self->text, '\n');
	pd_tracks_check(tracks, self);
}

static void fini(struct pd_export *self)
{
	pd_tracks_fini(self->sink);
}

const struct pd_export_sink pd_export_sink_speedscope = {
	.size = sizeof(struct pd_tracks),
	.begin = begin,
	.frames = PD_FRAMES_LINES,
	.whole_stacks = true,
	.sample = take_sample,
	.end = end,
	.fini = fini,
};
