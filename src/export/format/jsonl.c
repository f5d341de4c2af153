/* SPDX-License-Identifier: MIT */
/* One JSON object on a line for each sample. Addresses are strings, as numbers of JSON have 53 bits in most readers. */
#include <inttypes.h>

#include <perfdata/json.h>

#include "base/text/text.h"
#include "export/export.h"
#include "export/feed/line_texts.h"
#include "export/feed/trace.h"

struct jsonl {
	struct pd_export_trace trace;
	struct pd_line_texts functions;              // what follows the address of a sample, up to that in the object
	struct pd_line_texts files;                  // by string
	struct pd_line_texts events, units, threads; // members that depend on the event, and on the thread
};

static void put_string(struct pd_json *json, const struct pd_tables *tables, const char *name, uint32_t string)
{
	pd_json_name(json, name);
	pd_text_json_string(json->text, tables->strings[string].text, tables->strings[string].size);
}

static void put_hex(struct pd_text *text, uint64_t value)
{
	pd_text_char(text, '"');
	pd_text_hex(text, value);
	pd_text_char(text, '"');
}

static void put_function(struct pd_text *text, const struct pd_tables *tables, const struct pd_table_function *function)
{
	struct pd_json json = { .text = text, .comma = true };

	pd_text_char(text, '"');
	if (function->known)
		put_string(&json, tables, "function", function->name);
	if (!function->object)
		return;
	put_string(&json, tables, "object", tables->objects[function->object].path);
	PD_TEXT_LITERAL(text, ",\"addr\":\"0x");
}

// False if there is no memory.
static bool find_function(struct pd_export *self, uint32_t function, struct pd_bytes *piece_out)
{
	struct jsonl *jsonl = self->sink;
	struct pd_text *piece;

	if (pd_line_texts_get(&jsonl->functions, function, piece_out))
		return true;
	piece = pd_line_texts_begin(&jsonl->functions, function);
	if (!piece)
		return false;
	put_function(piece, &self->tables, &self->tables.functions[function]);
	return pd_line_texts_keep(&jsonl->functions, function) &&
	       pd_line_texts_get(&jsonl->functions, function, piece_out);
}

static bool make_file(struct pd_export *self, uint32_t string)
{
	struct jsonl *jsonl = self->sink;
	struct pd_text *piece = pd_line_texts_begin(&jsonl->files, string);
	struct pd_json json = { .text = piece, .comma = true };

	if (!piece)
		return false;
	put_string(&json, &self->tables, "file", string);
	return pd_line_texts_keep(&jsonl->files, string);
}

static void put_source(struct pd_export *self, const struct pd_table_line *line)
{
	struct jsonl *jsonl = self->sink;
	struct pd_json json = { .text = self->text, .comma = true };

	if (line->file && !pd_line_texts_put(&jsonl->files, line->file, self->text))
		self->failed |= !make_file(self, line->file) ||
				!pd_line_texts_put(&jsonl->files, line->file, self->text);
	if (line->line)
		pd_json_number(&json, "line", line->line);
	if (line->inlined)
		pd_json_bool(&json, "inlined", true);
}

static void put_line(struct pd_export *self, const struct pd_table_frame *frame, const struct pd_table_line *line,
		     uint64_t addr)
{
	static const char begin[] = ",{\"ip\":\"0x";
	const size_t begin_size = sizeof(begin) - 1, others_most = begin_size + 16 + 16 + 1;
	struct pd_text *text = self->text;
	struct pd_bytes piece;
	char *to;

	if (!find_function(self, line->function, &piece)) {
		self->failed = true;
		return;
	}
	if (text->capacity - text->size < others_most + piece.size && !pd_text_reserve(text, others_most + piece.size))
		return;
	to = text->data + text->size;
	memcpy(to, begin, begin_size);
	to += begin_size;
	to += pd_hex_digits(addr, to);
	memcpy(to, piece.data, piece.size);
	to += piece.size;
	if (frame->object) {
		to += pd_hex_digits(frame->place.addr, to);
		*to++ = '"';
	}
	text->size = (size_t)(to - text->data);
	if (line->file || line->line || line->inlined)
		put_source(self, line);
	pd_text_char(text, '}');
}

static void put_stack(struct pd_export *self, const struct pd_export_sample *sample)
{
	const struct pd_table_frame *frame;
	struct pd_chain_walk walk;
	struct pd_text *text = self->text;
	size_t begin;
	uint64_t addr;

	PD_TEXT_LITERAL(text, ",\"stack\":");
	begin = text->size;
	pd_chain_walk_begin(&walk, &self->tables, sample);
	while (pd_chain_walk_next(&walk, &frame, &addr) && !self->failed)
		for (uint32_t i = 0; i < frame->line_count; i++)
			put_line(self, frame, &self->tables.lines[frame->first_line + i], addr);
	// in the place of the first comma
	if (text->size > begin)
		text->data[begin] = '[';
	else
		pd_text_char(text, '[');
	PD_TEXT_LITERAL(text, "]}\n");
}

static void put_signed(struct pd_json *json, const char *name, uint32_t value)
{
	pd_json_name(json, name);
	pd_text_s64(json->text, (int32_t)value);
}

static void put_trace(struct pd_json *json, struct pd_export *self, const struct pd_export_sample *sample)
{
	struct jsonl *jsonl = self->sink;
	const struct pd_text *trace = pd_export_trace_of(&jsonl->trace, self, sample);

	if (!trace)
		return;
	pd_json_name(json, "trace");
	pd_text_json_string(json->text, trace->data, trace->size);
}

static bool make_event(struct pd_export *self, const struct pd_event *event, bool name)
{
	struct jsonl *jsonl = self->sink;
	struct pd_line_texts *pieces = name ? &jsonl->events : &jsonl->units;
	struct pd_text *piece = pd_line_texts_begin(pieces, event->index);
	struct pd_json json = { .text = piece, .comma = true };

	if (piece && name)
		put_string(&json, &self->tables, "event", pd_tables_text(&self->tables, event->name));
	else if (piece)
		pd_json_string(&json, "unit", pd_export_unit(event));
	return piece && pd_line_texts_keep(pieces, event->index);
}

static bool make_thread(struct pd_export *self, uint32_t thread)
{
	const struct pd_owner *owner = pd_export_thread(self, thread);
	struct jsonl *jsonl = self->sink;
	struct pd_text *piece = pd_line_texts_begin(&jsonl->threads, thread);
	struct pd_json json = { .text = piece, .comma = true };

	if (!piece)
		return false;
	put_string(&json, &self->tables, "comm", pd_export_comm(self, thread));
	put_signed(&json, "pid", owner->pid);
	put_signed(&json, "tid", owner->tid);
	return pd_line_texts_keep(&jsonl->threads, thread);
}

static void put_event(struct pd_export *self, const struct pd_event *event, bool name)
{
	struct jsonl *jsonl = self->sink;
	const struct pd_line_texts *pieces = name ? &jsonl->events : &jsonl->units;

	if (!pd_line_texts_put(pieces, event->index, self->text))
		self->failed |= !make_event(self, event, name) || !pd_line_texts_put(pieces, event->index, self->text);
}

static void put_thread(struct pd_export *self, uint32_t thread)
{
	struct jsonl *jsonl = self->sink;

	if (!pd_line_texts_put(&jsonl->threads, thread, self->text))
		self->failed |= !make_thread(self, thread) || !pd_line_texts_put(&jsonl->threads, thread, self->text);
}

static void take_sample(struct pd_export *self, const struct pd_export_sample *sample)
{
	struct pd_json json = { .text = self->text };

	pd_json_open(&json, NULL, '{');
	pd_json_offset(&json, "time_ns", sample->time_ns);
	put_event(self, sample->event, true);
	put_thread(self, sample->thread);
	if (sample->brief->cpu != UINT32_MAX)
		pd_json_number(&json, "cpu", sample->brief->cpu);
	pd_json_number(&json, "value", sample->value);
	put_event(self, sample->event, false);
	if (sample->event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_ADDR)) {
		pd_json_name(&json, "data_addr");
		put_hex(self->text, sample->brief->addr);
	}
	put_trace(&json, self, sample);
	put_stack(self, sample);
	pd_export_flush(self);
}

static void end(struct pd_export *self)
{
	(void)self;
}

static void fini(struct pd_export *self)
{
	struct jsonl *jsonl = self->sink;

	pd_export_trace_fini(&jsonl->trace);
	pd_line_texts_fini(&jsonl->functions);
	pd_line_texts_fini(&jsonl->files);
	pd_line_texts_fini(&jsonl->events);
	pd_line_texts_fini(&jsonl->units);
	pd_line_texts_fini(&jsonl->threads);
}

const struct pd_export_sink pd_export_sink_jsonl = {
	.size = sizeof(struct jsonl),
	.each_value = true,
	.frames = PD_FRAMES_MAPPED,
	.no_stacks = true,
	.sample = take_sample,
	.end = end,
	.fini = fini,
};
