/* SPDX-License-Identifier: MIT */
/* Annotations as JSON: an object for each function, with its instructions and their sums by event. */
#include <inttypes.h>
#include <stdio.h>

#include <perfdata/json.h>

#include "annotate/print/text.h"

void pd_annotate_json_sums(struct pd_json *json, const char *name, const struct pd_annotate_sum *sums, size_t count)
{
	pd_json_open(json, name, '[');
	for (size_t i = 0; i < count; i++) {
		pd_json_open(json, NULL, '{');
		pd_json_number(json, "samples", sums[i].samples);
		pd_json_number(json, "period", sums[i].period);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
}

void pd_annotate_json_head(struct pd_json *json, const struct pd_annotate *annotate,
			   const struct pd_annotate_part *part)
{
	const struct pd_annotate_table *table = &part->head;

	pd_json_string(json, "name", table->name);
	pd_json_open(json, "events", '[');
	for (size_t i = 0; i < table->event_count; i++)
		pd_json_string(json, NULL, pd_file_event(annotate->file, table->first_event + i)->name);
	pd_json_close(json, ']');
	pd_annotate_json_sums(json, "sums", table->totals, table->event_count);
}

static void add_instruction(struct pd_json *json, const struct pd_annotate_code *code, size_t index)
{
	static const char *const flows[] = { "next", "branch", "jump", "call", "return" };
	const struct pd_annotate_line *line = &code->lines[index];
	const struct pd_annotate_sum *sums = pd_annotate_line_sums(code, index);
	bool has_samples = false;

	pd_json_open(json, NULL, '{');
	pd_annotate_json_addr(json, "addr", line->addr);
	pd_json_number(json, "size", line->bytes.size);
	pd_json_string(json, "text", line->text);
	if (line->flow != PD_FLOW_NEXT)
		pd_json_string(json, "flow", flows[line->flow]);
	if (line->has_target)
		pd_annotate_json_addr(json, "target", line->target);
	if (line->file && line->line) {
		pd_json_string(json, "file", line->file);
		pd_json_number(json, "line", line->line);
	}
	for (size_t i = 0; i < code->part->head.event_count; i++)
		has_samples |= sums[i].samples != 0;
	if (has_samples)
		pd_annotate_json_sums(json, "sums", sums, code->part->head.event_count);
	pd_annotate_json_branch(json, pd_annotate_line_branch(code, index));
	pd_json_close(json, '}');
}

static void add_function(struct pd_json *json, struct pd_annotate *annotate, size_t table, size_t index)
{
	const struct pd_annotate_function *function = pd_annotate_function(annotate, table, index);
	struct pd_annotate_code *code = NULL;
	struct pd_error why;

	pd_json_open(json, NULL, '{');
	pd_json_string(json, "name", function->function->name);
	pd_json_string(json, "dso", function->function->dso->long_name);
	pd_annotate_json_addr(json, "start", function->function->start);
	pd_annotate_json_addr(json, "end", function->function->end);
	pd_annotate_json_sums(json, "sums", function->sums, annotate->parts[table].head.event_count);
	if (pd_annotate_open(annotate, table, index, &code, &why) == PD_OK) {
		pd_json_open(json, "code", '[');
		for (size_t i = 0; i < code->line_count; i++)
			if (code->lines[i].kind == PD_ANNOTATE_INSTRUCTION)
				add_instruction(json, code, i);
		pd_json_close(json, ']');
		pd_annotate_json_blocks(json, code);
	} else {
		pd_json_string(json, "missing", why.message);
	}
	pd_annotate_close(code);
	pd_json_close(json, '}');
}

enum pd_status pd_annotate_json(struct pd_annotate *annotate, struct pd_text *text, struct pd_error *error)
{
	struct pd_json json = { .text = text };

	pd_json_open(&json, NULL, '{');
	pd_json_open(&json, "tables", '[');
	for (size_t t = 0; t < annotate->part_count; t++) {
		const struct pd_annotate_table *table = &annotate->parts[t].head;

		pd_json_open(&json, NULL, '{');
		pd_annotate_json_head(&json, annotate, &annotate->parts[t]);
		pd_json_open(&json, "functions", '[');
		for (size_t i = 0; i < table->function_count; i++) {
			add_function(&json, annotate, t, i);
			if (!pd_text_flush_large(text))
				return text->failed ?
					       pd_fail_memory(error) :
					       pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output failed");
		}
		pd_json_close(&json, ']');
		pd_json_close(&json, '}');
	}
	pd_json_close(&json, ']');
	pd_json_close(&json, '}');
	pd_text_char(text, '\n');
	return text->failed ? pd_fail_memory(error) : PD_OK;
}
