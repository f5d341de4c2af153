/* SPDX-License-Identifier: MIT */
/*
 * Trace events of Chrome. Viewers show slices with a beginning and an end, which a sample has not: the slices are made up. A
 * function begins at the first sample that has it and ends at the first that has it no more, or after a pause. The samples
 * themselves are in the sections of the format for them, with their weights.
 */
#include <inttypes.h>

#include "base/cursor.h"
#include "base/text/text.h"
#include "export/feed/line_texts.h"
#include "export/feed/rows.h"
#include "export/feed/tracks.h"

enum {
	NO_PAUSE = 0,
	PAUSE_PERIODS = 2,
	FIRST_MADE_TID = 1 << 30 // above those of Linux: a thread has one for each event but the first
};

// The functions that are open on a track.
struct open_stack {
	uint32_t *functions; // outermost first
	size_t count, capacity;
	uint64_t pause_ns; // ends them; 0: none does
	uint64_t last_ns;
	uint32_t thread; // whose name was written
};

struct chrome {
	struct pd_tracks tracks;
	struct open_stack *open; // by track
	size_t open_count, open_capacity;
	uint32_t *names; // of the present sample
	size_t name_capacity;
	struct pd_line_texts functions; // what slices have of them
	struct pd_text *moment;         // what the slices of a track have that begin or end together
	bool comma;
};

// ---- events ----

static void put_microseconds(struct pd_text *text, uint64_t ns)
{
	pd_text_u64(text, ns / 1000);
	pd_text_char(text, '.');
	pd_text_digits(text, ns % 1000, 3);
}

static void begin_event(struct pd_export *self)
{
	struct chrome *chrome = self->sink;

	if (chrome->comma)
		pd_text_char(self->text, ',');
	chrome->comma = true;
	pd_text_char(self->text, '\n');
}

static void put_name(struct pd_export *self, uint32_t string)
{
	const struct pd_table_string *name = &self->tables.strings[string];

	pd_text_json_string(self->text, name->text, name->size);
}

static bool make_function(struct pd_export *self, uint32_t function)
{
	struct chrome *chrome = self->sink;
	const struct pd_table_string *name = &self->tables.strings[self->tables.functions[function].name];
	struct pd_text *piece = pd_line_texts_begin(&chrome->functions, function);

	if (piece) {
		PD_TEXT_LITERAL(piece, ",\"name\":");
		pd_text_json_string(piece, name->text, name->size);
		pd_text_char(piece, '}');
	}
	return piece && pd_line_texts_keep(&chrome->functions, function);
}

static void set_moment(struct pd_export *self, const struct pd_track *track, uint64_t ns)
{
	struct chrome *chrome = self->sink;

	pd_text_clear(chrome->moment);
	PD_TEXT_LITERAL(chrome->moment, "\",\"pid\":");
	pd_text_s64(chrome->moment, (int32_t)pd_export_thread(self, track->thread)->pid);
	PD_TEXT_LITERAL(chrome->moment, ",\"tid\":");
	pd_text_u64(chrome->moment, track->number);
	PD_TEXT_LITERAL(chrome->moment, ",\"ts\":");
	put_microseconds(chrome->moment, ns);
	self->failed |= chrome->moment->failed;
}

// At the moment that was set.
static void put_slice(struct pd_export *self, char phase, uint32_t function)
{
	struct chrome *chrome = self->sink;

	begin_event(self);
	PD_TEXT_LITERAL(self->text, "{\"ph\":\"");
	pd_text_char(self->text, phase);
	pd_text_put(self->text, chrome->moment->data, chrome->moment->size);
	if (!pd_line_texts_put(&chrome->functions, function, self->text))
		self->failed |= !make_function(self, function) ||
				!pd_line_texts_put(&chrome->functions, function, self->text);
	pd_export_flush(self);
}

static void put_metadata(struct pd_export *self, const struct pd_track *track, const char *what, bool event)
{
	const struct pd_owner *owner = pd_export_thread(self, track->thread);

	begin_event(self);
	PD_TEXT_LITERAL(self->text, "{\"ph\":\"M\",\"pid\":");
	pd_text_s64(self->text, (int32_t)owner->pid);
	PD_TEXT_LITERAL(self->text, ",\"tid\":");
	pd_text_u64(self->text, track->number);
	PD_TEXT_LITERAL(self->text, ",\"name\":\"");
	pd_text_add(self->text, what);
	PD_TEXT_LITERAL(self->text, "\",\"args\":{\"name\":");
	put_name(self, pd_export_track_name(self, track->thread, event ? track->event : UINT32_MAX));
	PD_TEXT_LITERAL(self->text, "}}");
}

// ---- slices ----

static void close_to(struct pd_export *self, const struct pd_track *track, struct open_stack *open, size_t count,
		     uint64_t ns)
{
	if (open->count > count)
		set_moment(self, track, ns);
	while (open->count > count)
		put_slice(self, 'E', open->functions[--open->count]);
}

// When functions end that no sample ends.
static uint64_t end_of(const struct open_stack *open)
{
	uint64_t more = open->pause_ns / PAUSE_PERIODS;

	return more < UINT64_MAX - open->last_ns ? open->last_ns + more : UINT64_MAX;
}

static size_t shared_count(const struct open_stack *open, const uint32_t *names, size_t count)
{
	size_t shared = 0;

	while (shared < open->count && shared < count && open->functions[shared] == names[shared])
		shared++;
	return shared;
}

// The functions of a sample, outermost first. False if there is no memory.
static bool find_names(struct pd_export *self, uint32_t stack, size_t *count_out)
{
	struct chrome *chrome = self->sink;
	const uint32_t *lines = pd_tables_expand(&self->tables, stack, count_out);

	if (!PD_GROW(chrome->names, chrome->name_capacity, *count_out)) {
		self->failed = true;
		return false;
	}
	for (size_t i = 0; i < *count_out; i++)
		chrome->names[i] = self->tables.lines[lines[*count_out - 1 - i]].function;
	return !self->tables.failed;
}

static void change_slices(struct pd_export *self, const struct pd_track *track, struct open_stack *open, uint32_t stack)
{
	struct chrome *chrome = self->sink;
	size_t count, shared;

	if (!find_names(self, stack, &count))
		return;
	if (!PD_GROW(open->functions, open->capacity, count)) {
		self->failed = true;
		return;
	}
	if (open->pause_ns && track->last_ns - open->last_ns > open->pause_ns)
		close_to(self, track, open, 0, end_of(open));
	shared = shared_count(open, chrome->names, count);
	close_to(self, track, open, shared, track->last_ns);
	if (shared < count)
		set_moment(self, track, track->last_ns);
	for (; shared < count; shared++) {
		open->functions[open->count++] = chrome->names[shared];
		put_slice(self, 'B', chrome->names[shared]);
	}
	open->last_ns = track->last_ns;
}

// How long nothing must be sampled until the functions have ended.
static uint64_t pause_of(const struct pd_event *event)
{
	const struct pd_attr *attr = event->attr;

	if (PD_BITS(attr->flags, PD_ATTR_FREQ))
		return attr->sample_period ? PAUSE_PERIODS * UINT64_C(1000000000) / attr->sample_period : NO_PAUSE;
	return pd_event_unit(event) == PD_UNIT_NS && attr->sample_period < UINT64_MAX / PAUSE_PERIODS ?
		       PAUSE_PERIODS * attr->sample_period :
		       NO_PAUSE;
}

// What is open on a track, which is new if it has none. NULL if there is no memory.
static struct open_stack *open_of(struct pd_export *self, struct pd_track *track)
{
	struct chrome *chrome = self->sink;
	size_t number = (size_t)(track - chrome->tracks.items);

	if (number < chrome->open_count)
		return &chrome->open[number];
	if (!PD_GROW(chrome->open, chrome->open_capacity, number + 1)) {
		self->failed = true;
		return NULL;
	}
	chrome->open[number] = (struct open_stack){ .pause_ns = pause_of(pd_file_event(self->file, track->event)) };
	chrome->open_count = number + 1;
	track->number = track->first_of_thread ? pd_export_thread(self, track->thread)->tid : FIRST_MADE_TID + number;
	chrome->open[number].thread = UINT32_MAX;
	return &chrome->open[number];
}

static void begin(struct pd_export *self)
{
	struct chrome *chrome = self->sink;

	pd_tracks_init(&chrome->tracks, self);
	chrome->moment = pd_text_new();
	self->failed |= !chrome->moment;
	PD_TEXT_LITERAL(self->text, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
}

static void take_sample(struct pd_export *self, const struct pd_export_sample *sample)
{
	struct chrome *chrome = self->sink;
	struct pd_track *track = pd_tracks_add(&chrome->tracks, self, sample);
	struct open_stack *open = track ? open_of(self, track) : NULL;

	if (!open || self->failed)
		return;
	if (open->thread != sample->thread) {
		put_metadata(self, track, "process_name", false);
		put_metadata(self, track, "thread_name", !track->first_of_thread);
	}
	open->thread = sample->thread;
	change_slices(self, track, open, sample->stack);
}

// ---- the other sections ----

static void put_stack_frames(struct pd_export *self, const struct pd_rows *rows)
{
	const struct pd_tables *tables = &self->tables;
	struct pd_row_walk walk;
	struct pd_row row;

	PD_TEXT_LITERAL(self->text, "],\n\"stackFrames\":{");
	pd_rows_walk(rows, &walk);
	for (uint32_t i = 0; pd_rows_next(&walk, &row) && !self->text->sink_failed; i++) {
		if (i)
			pd_text_char(self->text, ',');
		PD_TEXT_LITERAL(self->text, "\n\"");
		pd_text_u64(self->text, i);
		PD_TEXT_LITERAL(self->text, "\":{\"name\":");
		put_name(self, pd_tables_function_of(tables, row.line)->name);
		PD_TEXT_LITERAL(self->text, ",\"category\":");
		put_name(self, tables->objects[tables->frames[row.frame].object].name);
		if (row.parent != PD_NO_ROW) {
			PD_TEXT_LITERAL(self->text, ",\"parent\":\"");
			pd_text_u64(self->text, row.parent);
			pd_text_char(self->text, '"');
		}
		pd_text_char(self->text, '}');
		pd_export_flush(self);
	}
	pd_text_char(self->text, '}');
}

static void put_samples_of(struct pd_export *self, const struct pd_track *track, const struct pd_rows *rows)
{
	struct chrome *chrome = self->sink;
	const char *event = pd_file_event(self->file, track->event)->name;
	uint32_t event_string = pd_tables_text(&self->tables, event);
	struct pd_spool_reader reader;
	struct pd_tracked_sample sample;

	pd_spool_begin(&reader, &chrome->tracks.spool, &track->samples);
	while (pd_track_next(&reader, &sample) && !self->text->sink_failed) {
		begin_event(self);
		PD_TEXT_LITERAL(self->text, "{\"tid\":");
		pd_text_u64(self->text, track->number);
		PD_TEXT_LITERAL(self->text, ",\"ts\":");
		put_microseconds(self->text, sample.time_ns);
		PD_TEXT_LITERAL(self->text, ",\"name\":");
		put_name(self, event_string);
		PD_TEXT_LITERAL(self->text, ",\"sf\":\"");
		pd_text_u64(self->text, rows->last[sample.stack]);
		PD_TEXT_LITERAL(self->text, "\",\"weight\":");
		pd_text_u64(self->text, sample.value);
		pd_text_char(self->text, '}');
		pd_export_flush(self);
	}
}

static void put_samples(struct pd_export *self, const struct pd_rows *rows)
{
	struct chrome *chrome = self->sink;

	PD_TEXT_LITERAL(self->text, ",\n\"samples\":[");
	chrome->comma = false;
	for (size_t i = 0; i < chrome->tracks.count; i++)
		put_samples_of(self, &chrome->tracks.items[i], rows);
	PD_TEXT_LITERAL(self->text, "],\n\"otherData\":{\"note\":\"slices are reconstructed from samples\"}}\n");
}

static void end(struct pd_export *self)
{
	struct chrome *chrome = self->sink;
	struct pd_rows rows;

	for (size_t i = 0; i < chrome->open_count; i++) {
		struct open_stack *open = &chrome->open[i];

		close_to(self, &chrome->tracks.items[i], open, 0, end_of(open));
	}
	if (pd_rows_init(&rows, &self->tables)) {
		put_stack_frames(self, &rows);
		put_samples(self, &rows);
	} else {
		self->failed = true;
	}
	pd_rows_fini(&rows);
	pd_tracks_check(&chrome->tracks, self);
}

static void fini(struct pd_export *self)
{
	struct chrome *chrome = self->sink;

	for (size_t i = 0; i < chrome->open_count; i++)
		pd_free(chrome->open[i].functions);
	pd_free(chrome->open);
	pd_free(chrome->names);
	pd_line_texts_fini(&chrome->functions);
	pd_text_free(chrome->moment);
	pd_tracks_fini(&chrome->tracks);
}

const struct pd_export_sink pd_export_sink_chrome = {
	.size = sizeof(struct chrome),
	.begin = begin,
	.frames = PD_FRAMES_LINES,
	.sample = take_sample,
	.end = end,
	.fini = fini,
};
