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
	struct pd_line_texts pieces; // by line: what follows its address
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

static void put_function(struct pd_text *text, const struct pd_tables *tables, const struct pd_table_frame *frame,
			 const struct pd_table_line *line)
{
	const struct pd_table_function *function = &tables->functions[line->function];
	struct pd_json json = { .text = text, .comma = true };

	if (function->known)
		put_string(&json, tables, "function", function->name);
	if (frame->object) {
		put_string(&json, tables, "object", tables->objects[frame->object].path);
		pd_json_name(&json, "addr");
		put_hex(text, frame->place.addr);
	}
	if (line->file)
		put_string(&json, tables, "file", line->file);
	if (line->line)
		pd_json_number(&json, "line", line->line);
	if (line->inlined)
		pd_json_bool(&json, "inlined", true);
	pd_text_char(text, '}');
}

static void put_line(struct pd_export *self, const struct pd_table_frame *frame, uint32_t line)
{
	struct jsonl *jsonl = self->sink;
	struct pd_text *piece;

	if (pd_line_texts_put(&jsonl->pieces, line, self->text))
		return;
	piece = pd_line_texts_begin(&jsonl->pieces, line);
	if (piece)
		put_function(piece, &self->tables, frame, &self->tables.lines[line]);
	if (!piece || !pd_line_texts_keep(&jsonl->pieces, line))
		self->failed = true;
	else
		pd_line_texts_put(&jsonl->pieces, line, self->text);
}

static void put_stack(struct pd_export *self, const struct pd_export_sample *sample)
{
	const struct pd_table_frame *frame;
	struct pd_chain_walk walk;
	bool comma = false;
	uint64_t addr;

	PD_TEXT_LITERAL(self->text, ",\"stack\":[");
	pd_chain_walk_begin(&walk, &self->tables, sample);
	while (pd_chain_walk_next(&walk, &frame, &addr) && !self->failed) {
		for (uint32_t i = 0; i < frame->line_count; i++) {
			if (comma)
				pd_text_char(self->text, ',');
			comma = true;
			PD_TEXT_LITERAL(self->text, "{\"ip\":");
			put_hex(self->text, addr);
			put_line(self, frame, frame->first_line + i);
		}
	}
	PD_TEXT_LITERAL(self->text, "]}\n");
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

static void take_sample(struct pd_export *self, const struct pd_export_sample *sample)
{
	const struct pd_owner *owner = pd_export_thread(self, sample->thread);
	struct pd_json json = { .text = self->text };

	pd_json_open(&json, NULL, '{');
	pd_json_offset(&json, "time_ns", sample->time_ns);
	put_string(&json, &self->tables, "event", pd_tables_text(&self->tables, sample->event->name));
	put_string(&json, &self->tables, "comm", pd_export_comm(self, sample->thread));
	put_signed(&json, "pid", owner->pid);
	put_signed(&json, "tid", owner->tid);
	if (sample->brief->cpu != UINT32_MAX)
		pd_json_number(&json, "cpu", sample->brief->cpu);
	pd_json_number(&json, "value", sample->value);
	pd_json_string(&json, "unit", pd_export_unit(sample->event));
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
	pd_line_texts_fini(&jsonl->pieces);
}

const struct pd_export_sink pd_export_sink_jsonl = {
	.size = sizeof(struct jsonl),
	.frames = PD_FRAMES_MAPPED,
	.no_stacks = true,
	.sample = take_sample,
	.end = end,
	.fini = fini,
};
