/* SPDX-License-Identifier: MIT */
/* One JSON object on a line for each sample. Addresses are strings, as numbers of JSON have 53 bits in most readers. */
#include <inttypes.h>
#include <stdio.h>

#include <perfdata/json.h>

#include "base/text/text.h"
#include "export/export.h"

static void put_string(struct pd_json *json, const struct pd_tables *tables, const char *name, uint32_t string)
{
	pd_json_name(json, name);
	pd_text_json_string(json->text, tables->strings[string].text, tables->strings[string].size);
}

static void put_address(struct pd_json *json, const char *name, uint64_t addr)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "0x%" PRIx64, addr);
	pd_json_string(json, name, digits);
}

static void put_frame(struct pd_json *json, const struct pd_tables *tables, const struct pd_table_frame *frame,
		      uint64_t addr, const struct pd_table_line *line)
{
	const struct pd_table_function *function = &tables->functions[line->function];
	const struct pd_table_object *object = &tables->objects[frame->object];

	pd_json_open(json, NULL, '{');
	put_address(json, "ip", addr);
	if (function->known)
		put_string(json, tables, "function", function->name);
	if (frame->object) {
		put_string(json, tables, "object", object->path);
		put_address(json, "addr", frame->place.addr);
	}
	if (line->file)
		put_string(json, tables, "file", line->file);
	if (line->line)
		pd_json_number(json, "line", line->line);
	if (line->inlined)
		pd_json_bool(json, "inlined", true);
	pd_json_close(json, '}');
}

static void put_stack(struct pd_json *json, const struct pd_tables *tables, const struct pd_export_sample *sample)
{
	const struct pd_table_frame *frame;
	struct pd_chain_walk walk;
	uint64_t addr;

	pd_json_open(json, "stack", '[');
	pd_chain_walk_begin(&walk, tables, sample);
	while (pd_chain_walk_next(&walk, &frame, &addr))
		for (uint32_t i = 0; i < frame->line_count; i++)
			put_frame(json, tables, frame, addr, &tables->lines[frame->first_line + i]);
	pd_json_close(json, ']');
}

static void put_signed(struct pd_json *json, const char *name, uint32_t value)
{
	pd_json_name(json, name);
	pd_text_s64(json->text, (int32_t)value);
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
	if (sample->event->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_ADDR))
		put_address(&json, "data_addr", sample->brief->addr);
	put_stack(&json, &self->tables, sample);
	pd_json_close(&json, '}');
	pd_text_char(self->text, '\n');
	pd_export_flush(self);
}

static void end(struct pd_export *self)
{
	(void)self;
}

const struct pd_export_sink pd_export_sink_jsonl = { .sample = take_sample, .end = end };
