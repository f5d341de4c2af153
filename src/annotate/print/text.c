/* SPDX-License-Identifier: MIT */
/* Annotations as perf annotate --stdio prints them, version 6.1. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "annotate/print/loops.h"
#include "annotate/print/text.h"

enum {
	WIDTH = 8,
	PERIOD_WIDTH = 12,
	RULE_MOST = 207,
	BYTES = 7, // of an instruction on a line
	NEAR = 6   // lines around a hot instruction
};

// ---- columns ----

size_t pd_annotate_column_width(enum pd_annotate_show show)
{
	return show == PD_ANNOTATE_SHOW_PERIOD ? PERIOD_WIDTH : WIDTH;
}

size_t pd_annotate_width(const struct pd_annotate_printing *p)
{
	return pd_annotate_column_width(p->options.show) * p->events + p->cycles_width;
}

static const char *color_of(double percent)
{
	return percent >= 5 ? "\033[31m" : percent >= 0.5 ? "\033[32m" : NULL;
}

void pd_annotate_put_column(struct pd_text *out, const struct pd_annotate_text_options *options,
			    const struct pd_annotate_sum *sum, double percent)
{
	const char *color = options->color ? color_of(percent) : NULL;

	if (color)
		pd_text_add(out, color);
	if (options->show == PD_ANNOTATE_SHOW_PERIOD)
		pd_text_printf(out, " %11" PRIu64, sum->period);
	else if (options->show == PD_ANNOTATE_SHOW_SAMPLES)
		pd_text_printf(out, " %7" PRIu64, sum->samples);
	else
		pd_text_printf(out, " %7.2f", percent);
	if (color)
		pd_text_add(out, "\033[m");
}

static void put_column(struct pd_annotate_printing *p, const struct pd_annotate_sum *sum, size_t event)
{
	pd_annotate_put_column(p->out, &p->options, sum,
			       pd_annotate_share(p->part, p->local, sum, event, p->options.percent));
}

void pd_annotate_put_columns(struct pd_annotate_printing *p, const struct pd_annotate_sum *sums)
{
	for (size_t i = 0; i < p->events; i++)
		put_column(p, &sums[i], i);
}

const char *pd_annotate_column_word(enum pd_annotate_show show)
{
	static const char *const words[] = { "Percent", "Samples", "Period" };

	return words[show];
}

// ---- the head ----

const char *pd_annotate_percent_word(const struct pd_annotate_printing *p)
{
	static const char *const types[] = { "local period", "global period", "local hits", "global hits" };

	return types[p->options.percent];
}

void pd_annotate_put_rule(struct pd_annotate_printing *p, size_t begin)
{
	size_t length = p->out->failed ? 0 : p->out->size - begin;

	for (size_t i = 0; i < length; i++)
		pd_text_char(p->out, i < RULE_MOST ? '-' : ' ');
	pd_text_add(p->out, "----\n");
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void put_head(struct pd_annotate_printing *p)
{
	const char *path = p->code->object->path, *name = p->options.full_paths ? path : base_name(path);
	size_t begin = p->out->size;

	pd_text_printf(p->out, " %-*s%s|\tSource code & Disassembly of ", (int)(pd_annotate_width(p) - p->cycles_width),
		       pd_annotate_column_word(p->options.show), p->cycles_width ? PD_ANNOTATE_CYCLES : "");
	pd_annotate_put_name(p, name, strlen(name));
	pd_text_add(p->out, " for ");
	pd_annotate_put_name(p, p->code->part->name, strlen(p->code->part->name));
	pd_text_printf(p->out, " (%" PRIu64 " samples, percent: %s)\n", p->code->entry->head.sums[0].samples,
		       pd_annotate_percent_word(p));
	pd_annotate_put_rule(p, begin);
}

// ---- lines ----

static bool is_space(char c)
{
	return c && strchr(" \t\r\n\f\v", c);
}

void pd_annotate_put_indented(struct pd_annotate_printing *p, const char *text, size_t length)
{
	size_t column = 0;

	while (length && is_space(text[length - 1]))
		length--;
	for (size_t i = 0; i < length;) {
		const char *tab = memchr(text + i, '\t', length - i);
		size_t part = tab ? (size_t)(tab - text) - i : length - i;

		pd_annotate_put_name(p, text + i, part);
		column += part;
		i += part;
		if (i == length)
			break;
		do {
			pd_text_char(p->out, ' ');
		} while (++column % 8);
		i++;
	}
}

// As perf: without blanks at the ends, tabs as blanks.
static void put_source(struct pd_annotate_printing *p, const char *text)
{
	while (is_space(*text))
		text++;
	pd_annotate_put_indented(p, text, strlen(text));
}

static bool is_blank(const char *text)
{
	return !text[strspn(text, " \t\r\n\f\v")];
}

static void put_text_line(struct pd_annotate_printing *p, const char *text)
{
	pd_text_printf(p->out, " %*s:", (int)pd_annotate_width(p), "");
	if (!is_blank(text)) {
		pd_text_printf(p->out, " %-*" PRIu64 " ", (int)p->addr_width, p->counter);
		put_source(p, text);
	}
	pd_text_char(p->out, '\n');
	p->counter++;
}

// Returns the number of bytes that are printed, which are as many as fit into the column.
static size_t put_bytes(struct pd_annotate_printing *p, const struct pd_annotate_line *line, size_t from)
{
	size_t count = line->bytes.size - from < BYTES ? line->bytes.size - from : BYTES;

	for (size_t i = 0; i < count; i++)
		pd_text_printf(p->out, i ? " %02x" : "%02x", line->bytes.data[from + i]);
	return count;
}

static void put_addr(struct pd_annotate_printing *p, uint64_t addr)
{
	char place[32];
	size_t column = (size_t)snprintf(place, sizeof(place), "%" PRIx64 ":", addr);

	pd_text_add(p->out, " : ");
	pd_text_printf(p->out, p->options.color ? "\033[35m  %*" PRIx64 ":\033[m\033[34m" : "  %*" PRIx64 ":",
		       (int)p->addr_width, addr);
	// what follows a tab after the address
	pd_text_printf(p->out, "%*s", (int)(8 - column % 8), "");
}

// Bytes that did not fit have lines of their own, which have no samples.
static void put_more_bytes(struct pd_annotate_printing *p, const struct pd_annotate_line *line, size_t from)
{
	static const struct pd_annotate_sum nothing;

	while (from < line->bytes.size) {
		for (size_t i = 0; i < p->events; i++)
			put_column(p, &nothing, i);
		if (p->cycles_width)
			pd_annotate_put_cycles(p->out, NULL);
		put_addr(p, line->addr + from);
		from += put_bytes(p, line, from);
		pd_text_add(p->out, p->options.color ? "\033[m\n" : "\n");
		p->counter++;
	}
}

static void put_instruction(struct pd_annotate_printing *p, size_t index)
{
	const struct pd_annotate_line *line = pd_annotate_line(p->code, index);
	const struct pd_annotate_sum *sums = pd_annotate_line_sums(p->code, index);
	const struct pd_annotate_branch *branch = pd_annotate_line_branch(p->code, index);
	size_t count = 0;

	pd_annotate_put_columns(p, sums);
	if (p->cycles_width)
		pd_annotate_put_cycles(p->out, branch);
	put_addr(p, line->addr);
	if (p->jumps)
		pd_text_printf(p->out, "%.*s ", PD_ANNOTATE_JUMP_WIDTH, p->jumps + index * PD_ANNOTATE_JUMP_WIDTH);
	if (p->options.raw) {
		count = put_bytes(p, line, 0);
		pd_text_printf(p->out, "%*s", (int)(3 * BYTES + 4 - 3 * count), "");
	}
	pd_annotate_put_name(p, line->text, strlen(line->text));
	if (p->options.color)
		pd_text_add(p->out, "\033[m");
	pd_annotate_put_flow(p->out, branch);
	if (p->options.lines && pd_annotate_is_hot(p, sums))
		pd_annotate_put_place(p, line);
	pd_text_char(p->out, '\n');
	p->counter++;
	if (p->options.raw)
		put_more_bytes(p, line, count);
}

static void put_line(struct pd_annotate_printing *p, size_t index)
{
	const struct pd_annotate_line *line = pd_annotate_line(p->code, index);

	switch (line->kind) {
	case PD_ANNOTATE_INSTRUCTION:
		put_instruction(p, index);
		break;
	case PD_ANNOTATE_PLACE:
		if (line->file && line->file[0] == '/')
			p->counter = line->line;
		else
			put_text_line(p, line->text);
		break;
	case PD_ANNOTATE_SOURCE:
		if (!p->options.no_source)
			put_text_line(p, line->text);
		break;
	case PD_ANNOTATE_LABEL:
		put_text_line(p, "");
		put_text_line(p, line->text);
		break;
	default:
		put_text_line(p, line->text);
	}
}

static size_t addr_width_of(const struct pd_annotate_code *code)
{
	uint64_t addr = code->start;
	char text[24];

	for (size_t i = 0; i < code->line_count; i++)
		if (code->lines[i].kind == PD_ANNOTATE_INSTRUCTION)
			addr = code->lines[i].addr;
	return (size_t)snprintf(text, sizeof(text), "%" PRIx64, addr);
}

// Marks the instructions that are hot, and what is near them. NULL without memory.
static bool *find_shown(const struct pd_annotate_printing *p)
{
	const struct pd_annotate_code *code = p->code;
	bool *shown = pd_alloc(code->line_count + 1);

	for (size_t i = 0; shown && i < code->line_count; i++) {
		const struct pd_annotate_sum *sums = pd_annotate_line_sums(code, i);
		size_t from = i > NEAR ? i - NEAR : 0,
		       to = i + NEAR < code->line_count ? i + NEAR : code->line_count - 1;

		if (code->lines[i].kind == PD_ANNOTATE_LABEL)
			shown[i] = true;
		if (sums && pd_annotate_is_hot(p, sums))
			memset(shown + from, true, to - from + 1);
	}
	return shown;
}

// Loops that begin at a line.
static void put_loops(struct pd_annotate_printing *p, size_t line)
{
	for (; p->loop < p->loop_count && p->loops[p->loop].first <= line; p->loop++) {
		const struct pd_annotate_loop *loop = &p->loops[p->loop];

		if (loop->first == line && loop->sum.samples)
			pd_text_printf(p->out, " %*s: loop to %" PRIx64 ": %.2f%%, %zu instructions\n",
				       (int)pd_annotate_width(p), "", p->code->lines[loop->last].addr,
				       pd_annotate_share(p->part, p->local, &loop->sum, 0, p->options.percent),
				       loop->instructions);
	}
}

static enum pd_status put_lines(struct pd_annotate_printing *p, const bool *shown, struct pd_error *error)
{
	bool gap = false;

	for (size_t i = 0; i < p->code->line_count; i++) {
		if (shown && !shown[i]) {
			gap = true;
			continue;
		}
		if (gap)
			pd_text_printf(p->out, " %*s: ...\n", (int)pd_annotate_width(p), "");
		gap = false;
		put_loops(p, i);
		put_line(p, i);
		if (!pd_text_flush_large(p->out))
			return p->out->failed ? pd_fail_memory(error) :
						pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output failed");
	}
	return p->out->failed ? pd_fail_memory(error) : PD_OK;
}

// With loops and jumps, for people.
static enum pd_status put_hot(struct pd_annotate_printing *p, struct pd_error *error)
{
	struct pd_annotate_loop *loops = NULL;
	struct pd_annotate_jumps jumps = { 0 };
	bool *shown = find_shown(p);
	enum pd_status status = PD_ERROR_MEMORY;

	p->loop = 0;
	if (shown && pd_annotate_find_loops(p->code, &loops, &p->loop_count) &&
	    pd_annotate_draw_jumps(p->code, shown, &jumps)) {
		p->loops = loops;
		p->jumps = jumps.cells;
		status = put_lines(p, shown, error);
	} else {
		pd_fail_memory(error);
	}
	p->loop_count = 0;
	p->jumps = NULL;
	pd_free(shown);
	pd_free(loops);
	pd_free(jumps.cells);
	return status;
}

static enum pd_status print_code(struct pd_annotate_printing *p, struct pd_error *error)
{
	enum pd_status status = p->options.lines ? pd_annotate_put_summary(p) ? PD_OK : pd_fail_memory(error) : PD_OK;

	if (status != PD_OK)
		return status;
	p->part = p->code->part;
	p->local = p->code->entry->head.sums;
	p->cycles_width = p->options.cycles && p->code->branches ? PD_ANNOTATE_CYCLES_WIDTH : 0;
	if (p->cycles_width)
		pd_annotate_put_blocks(p);
	put_head(p);
	p->counter = 0;
	p->addr_width = addr_width_of(p->code);
	if (!p->options.hot_only) {
		put_text_line(p, "");
		put_text_line(p, "");
		put_text_line(p, "");
		return put_lines(p, NULL, error);
	}
	return put_hot(p, error);
}

// What is the same for all functions of an object is said once.
static void report_missing(struct pd_annotate_printing *p, struct pd_annotate *annotate,
			   const struct pd_annotate_function *function, const struct pd_error *why)
{
	struct pd_object_code *object = pd_annotate_object(annotate, function->function->dso);
	bool known = object && object->reported;

	if (object && !object->disassembler)
		object->reported = true;
	if (p->options.warn && !known)
		p->options.warn(p->options.self, why->message);
}

enum pd_status pd_annotate_text(struct pd_annotate *annotate, const struct pd_annotate_text_options *options,
				struct pd_text *text, struct pd_error *error)
{
	struct pd_annotate_printing p = { .out = text };
	const struct pd_annotate_table *table;
	enum pd_status status = PD_OK;
	struct pd_error why;

	if (options)
		memcpy(&p.options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	for (size_t t = 0; status == PD_OK && (table = pd_annotate_table(annotate, t)) != NULL; t++) {
		p.events = table->event_count;
		if (p.options.hot_only && p.options.warn && table->function_count &&
		    pd_annotate_has_skid(annotate, &annotate->parts[t]))
			p.options.warn(p.options.self, PD_ANNOTATE_SKID);
		for (size_t i = 0; status == PD_OK && i < table->function_count; i++) {
			enum pd_status opened = pd_annotate_open(annotate, t, i, &p.code, &why);

			if (opened == PD_ERROR_MEMORY)
				return pd_fail_memory(error);
			if (opened != PD_OK) {
				report_missing(&p, annotate, pd_annotate_function(annotate, t, i), &why);
				continue;
			}
			status = print_code(&p, error);
			pd_annotate_close(p.code);
		}
	}
	return status;
}
