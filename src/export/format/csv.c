/* SPDX-License-Identifier: MIT */
/*
 * A row for each sample. Cells are quoted by RFC 4180. A cell that a spreadsheet would run as a formula begins with an
 * apostrophe, which spreadsheets do not show.
 */
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "export/feed/line_texts.h"
#include "export/feed/trace.h"

struct csv {
	struct pd_export_trace trace;
	struct pd_line_texts cells, names; // by string: as a cell, and as a part of one
	uint32_t *event_of;                // by event: the string of its name and 1, or 0
	struct pd_text *harmless;          // trace data
};

static const char *const columns[] = { "time_ns", "event",    "value",  "unit", "comm", "pid",   "tid",  "cpu",
				       "ip",      "function", "object", "file", "line", "stack", "trace" };

static void put_bytes(struct pd_text *text, const char *bytes, size_t size)
{
	for (size_t at = 0, step; at < size; at += step) {
		const char *quote = memchr(bytes + at, '"', size - at);

		step = quote ? (size_t)(quote + 1 - bytes) - at : size - at;
		pd_text_put(text, bytes + at, step);
		if (quote)
			pd_text_char(text, '"');
	}
}

static void begin_cell(struct pd_text *text, char first)
{
	PD_TEXT_LITERAL(text, ",\"");
	if (first && strchr("=+-@", first))
		pd_text_char(text, '\'');
}

static bool make_cell(struct csv *csv, const struct pd_table_string *cell, uint32_t string)
{
	struct pd_text *piece = pd_line_texts_begin(&csv->cells, string);

	if (piece) {
		begin_cell(piece, cell->text[0]);
		put_bytes(piece, cell->text, cell->size);
		pd_text_char(piece, '"');
	}
	return piece && pd_line_texts_keep(&csv->cells, string);
}

static void put_cell(struct pd_export *self, uint32_t string)
{
	struct csv *csv = self->sink;

	if (!pd_line_texts_put(&csv->cells, string, self->text))
		self->failed |= !make_cell(csv, &self->tables.strings[string], string) ||
				!pd_line_texts_put(&csv->cells, string, self->text);
}

// What separates names is a colon in them, as in folded stacks.
static void put_separable(struct pd_text *text, const char *bytes, size_t size)
{
	const char *end;

	while ((end = memchr(bytes, ';', size)) != NULL) {
		put_bytes(text, bytes, (size_t)(end - bytes));
		pd_text_char(text, ':');
		size -= (size_t)(end + 1 - bytes);
		bytes = end + 1;
	}
	put_bytes(text, bytes, size);
}

// A name among others in a cell.
static void put_name(struct pd_export *self, uint32_t string)
{
	const struct pd_table_string *name = &self->tables.strings[string];
	struct csv *csv = self->sink;
	struct pd_text *piece;

	if (pd_line_texts_put(&csv->names, string, self->text))
		return;
	piece = pd_line_texts_begin(&csv->names, string);
	if (piece)
		put_separable(piece, name->text, name->size);
	if (!piece || !pd_line_texts_keep(&csv->names, string))
		self->failed = true;
	else
		pd_line_texts_put(&csv->names, string, self->text);
}

static void put_number(struct pd_text *text, uint64_t number)
{
	pd_text_char(text, ',');
	pd_text_u64(text, number);
}

// A task that has ended is -1, and so is what has no number: an empty cell.
static void put_task(struct pd_text *text, uint32_t number)
{
	if (number == UINT32_MAX)
		pd_text_char(text, ',');
	else
		put_number(text, number);
}

// Outermost first, as folded stacks.
static void put_stack(struct pd_export *self, uint32_t stack)
{
	struct pd_tables *tables = &self->tables;
	size_t count;
	const uint32_t *lines = pd_tables_expand(tables, stack, &count);

	for (size_t i = count; i--;) {
		uint32_t name = pd_tables_function_of(tables, lines[i])->name;

		if (i + 1 == count)
			begin_cell(self->text, tables->strings[name].text[0]);
		else
			pd_text_char(self->text, ';');
		put_name(self, name);
	}
	pd_text_char(self->text, '"');
}

static void put_place(struct pd_export *self, uint32_t ip, uint64_t addr)
{
	const struct pd_tables *tables = &self->tables;
	const struct pd_table_frame *frame = &tables->frames[ip];
	const struct pd_table_line *line = &tables->lines[frame->first_line];

	pd_text_char(self->text, ',');
	pd_text_hex(self->text, addr);
	put_cell(self, tables->functions[line->function].name);
	put_cell(self, tables->objects[frame->object].path);
	put_cell(self, line->file);
	if (line->line)
		put_number(self->text, line->line);
	else
		pd_text_char(self->text, ',');
}

// As recorded, but for what the tables make harmless in all other strings.
static void put_trace(struct pd_export *self, const struct pd_export_sample *sample)
{
	struct csv *csv = self->sink;
	const struct pd_text *trace = pd_export_trace_of(&csv->trace, self, sample);
	struct pd_text *text = self->text;

	if (!trace) {
		pd_text_char(text, ',');
		return;
	}
	begin_cell(text, trace->size ? trace->data[0] : 0);
	pd_text_clear(csv->harmless);
	pd_text_harmless_bytes(csv->harmless, trace->data, trace->size);
	put_bytes(text, csv->harmless->data, csv->harmless->size);
	self->failed |= csv->harmless->failed;
	pd_text_char(text, '"');
}

static uint32_t event_name(struct pd_export *self, const struct pd_event *event)
{
	struct csv *csv = self->sink;
	uint32_t *known = &csv->event_of[event->index];

	if (!*known)
		*known = pd_tables_text(&self->tables, event->name) + 1;
	return *known - 1;
}

static void begin(struct pd_export *self)
{
	struct csv *csv = self->sink;

	csv->event_of = pd_alloc((self->event_count + 1) * sizeof(*csv->event_of));
	csv->harmless = pd_text_new();
	self->failed |= !csv->event_of || !csv->harmless;
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		pd_text_printf(self->text, "%s%s", i ? "," : "", columns[i]);
	PD_TEXT_LITERAL(self->text, "\r\n");
}

static void take_sample(struct pd_export *self, const struct pd_export_sample *sample)
{
	const struct pd_owner *owner = pd_export_thread(self, sample->thread);
	struct pd_text *text = self->text;

	if (sample->time_ns != PD_NO_TIME)
		pd_text_u64(text, sample->time_ns);
	put_cell(self, event_name(self, sample->event));
	put_number(text, sample->value);
	// words of our own, which nothing has to be done for
	PD_TEXT_LITERAL(text, ",\"");
	pd_text_add(text, pd_export_unit(sample->event));
	pd_text_char(text, '"');
	put_cell(self, pd_export_comm(self, sample->thread));
	put_task(text, owner->pid);
	put_task(text, owner->tid);
	put_task(text, sample->brief->cpu);
	put_place(self, sample->ip, sample->brief->ip);
	put_stack(self, sample->stack);
	put_trace(self, sample);
	PD_TEXT_LITERAL(text, "\r\n");
	pd_export_flush(self);
}

static void end(struct pd_export *self)
{
	(void)self;
}

static void fini(struct pd_export *self)
{
	struct csv *csv = self->sink;

	pd_export_trace_fini(&csv->trace);
	pd_line_texts_fini(&csv->cells);
	pd_line_texts_fini(&csv->names);
	pd_free(csv->event_of);
	pd_text_free(csv->harmless);
}

const struct pd_export_sink pd_export_sink_csv = {
	.size = sizeof(struct csv),
	.begin = begin,
	.each_value = true,
	.frames = PD_FRAMES_LINES,
	.whole_stacks = true,
	.sample = take_sample,
	.end = end,
	.fini = fini,
};
