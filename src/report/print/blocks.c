/* SPDX-License-Identifier: MIT */
/* Basic blocks by their share of all cycles, as perf report --total-cycles prints them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/path.h"
#include "base/text/text.h"
#include "blocks/blocks.h"
#include "report/print/print.h"

enum {
	PREFIX = 4, /* "[.] " */
	RANGE_WIDTH = 70,
	OBJECT_WIDTH = 20
};

struct choosing {
	const struct pd_report *report;
	const struct table *table;
};

/* Blocks of the events of a table, with the filters of the report. */
static enum pd_choice choose_event(const void *filter, const struct pd_candidate *candidate)
{
	const struct choosing *choosing = filter;
	const struct table *table = choosing->table;
	const struct pd_report_options *options = &choosing->report->options;

	for (size_t i = 0; i < table->head.event_count; i++)
		if (pd_file_event(choosing->report->file, table->head.first_event + i) == candidate->event)
			return options->choose ? options->choose(options->filter, candidate) : PD_CHOICE_TAKE;
	return PD_CHOICE_LEAVE;
}

/* How many rows of the usual table have branches to a function, "[.] name": perf adds up averages by them, and shows no others. */
static uint64_t count_rows(const struct pd_report *report, const struct table *table, size_t key,
			   const struct pd_function *function)
{
	const struct value *values = report->values[key].items;
	size_t length = strlen(function->name);
	uint64_t count = 0;

	for (size_t i = 0; i < table->head.row_count; i++) {
		const struct value *value = &values[row_value(report, &table->rows[i], key)];

		count += !value->is_addr && value->length == length + PREFIX &&
			 memcmp(value->text + PREFIX, function->name, length) == 0;
	}
	return count;
}

static size_t key_of(const struct pd_report *report, const char *name)
{
	size_t key = 0;

	while (key < report->key_count && strcmp(report->keys[key]->head.name, name) != 0)
		key++;
	return key;
}

static uint64_t average_of(const struct pd_block *block)
{
	return block->timed ? block->cycles / block->timed : 0;
}

static int compare_blocks(const void *a, const void *b)
{
	const struct pd_block *x = a, *y = b;

	if (x->cycles != y->cycles)
		return x->cycles > y->cycles ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

/* Those that perf shows: it knows cycles of their longest form. averages: what theirs are shares of. */
static struct pd_block *join_blocks(const struct pd_report *report, const struct table *table,
				    const struct pd_blocks *blocks, size_t *count_out, uint64_t *averages_out)
{
	size_t key = key_of(report, "symbol_to");
	const struct pd_block_count *counts;
	size_t count, most = 0;
	struct pd_block *joined;
	uint64_t rows;

	counts = pd_blocks_all(blocks, &count);
	joined = pd_alloc((count + 1) * sizeof(*joined));
	for (size_t at = 0; joined && at < count;) {
		at += pd_block_join(counts + at, count - at, &joined[most]);
		if (!joined[most].own_timed || !joined[most].own_cycles)
			continue;
		rows = key < report->key_count ? count_rows(report, table, key, joined[most].function) : 1;
		*averages_out += average_of(&joined[most]) * rows;
		most += rows != 0;
	}
	*count_out = most;
	return joined;
}

/* ---- printing ---- */

static bool put_line(const struct pd_report *report, struct pd_text *text, const struct pd_function *function,
		     uint64_t addr)
{
	const struct pd_place place = { .dso = function->dso, .function = function, .addr = addr, .recorded = addr };
	struct pd_line line;

	if (pd_symbols_lines(report->symbols, &place, &line, 1) && line.file && line.line)
		pd_text_printf(text, "%s:%" PRIu32, pd_path_leaf(line.file), line.line);
	else
		pd_text_printf(text, "%s+%" PRIu64, function->name, addr - function->start);
	return !text->failed;
}

static void add_cycles(struct pd_text *out, uint64_t cycles, int width)
{
	char text[32];

	if (cycles >= 1000000)
		snprintf(text, sizeof(text), "%.1fM", (double)cycles / 1000000);
	else if (cycles >= 1000)
		snprintf(text, sizeof(text), "%.1fK", (double)cycles / 1000);
	else
		snprintf(text, sizeof(text), "%" PRIu64, cycles);
	pd_text_printf(out, "%*s", width, text);
}

static bool add_block(const struct pd_report *report, const struct pd_block *block, uint64_t all, uint64_t averages)
{
	const struct pd_function *function = block->function;
	uint64_t start = block->start == PD_BLOCK_NO_START ? function->start : block->start;
	const char *object = function->dso->name;
	struct pd_text range = { .data = NULL };
	bool ok;

	pd_text_char(&range, '[');
	ok = put_line(report, &range, function, start);
	pd_text_add(&range, " -> ");
	ok = ok && put_line(report, &range, function, block->end);
	pd_text_char(&range, ']');
	pd_text_printf(report->out, "  %14.2f%%  ", pd_percent(block->cycles, all));
	add_cycles(report->out, block->cycles, 14);
	pd_text_printf(report->out, "  %10.2f%%  ", pd_percent(average_of(block), averages));
	add_cycles(report->out, average_of(block), 10);
	pd_text_add(report->out, "  ");
	for (size_t i = range.size; i < RANGE_WIDTH; i++)
		pd_text_char(report->out, ' ');
	pd_text_cell(report, report->out, range.data, range.size);
	pd_text_add(report->out, "  ");
	for (size_t i = strlen(object); i < OBJECT_WIDTH; i++)
		pd_text_char(report->out, ' ');
	pd_text_cell(report, report->out, object, strlen(object));
	pd_text_char(report->out, '\n');
	pd_free(range.data);
	return ok;
}

static void add_header(struct pd_text *out)
{
	static const struct {
		const char *name;
		int width;
	} columns[] = { { "Sampled Cycles%", 15 },
			{ "Sampled Cycles", 14 },
			{ "Avg Cycles%", 11 },
			{ "Avg Cycles", 10 },
			{ "[Program Block Range]", RANGE_WIDTH },
			{ "Shared Object", OBJECT_WIDTH } };

	for (int dots = 0; dots < 2; dots++) {
		pd_text_char(out, '#');
		for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
			pd_text_printf(out, "%*s", i ? 2 : 1, "");
			for (int k = 0; dots && k < columns[i].width; k++)
				pd_text_char(out, '.');
			if (!dots)
				pd_text_printf(out, "%*s", columns[i].width, columns[i].name);
		}
		pd_text_char(out, '\n');
	}
	pd_text_add(out, "#\n");
}

static enum pd_status add_blocks(struct pd_report *report, const struct table *table, const struct pd_blocks *blocks)
{
	uint64_t averages = 0;
	size_t count;
	struct pd_block *joined = join_blocks(report, table, blocks, &count, &averages);
	bool ok = joined != NULL;

	if (count && joined)
		qsort(joined, count, sizeof(*joined), compare_blocks);
	if (!report->print.quiet)
		add_header(report->out);
	for (size_t i = 0; ok && i < count; i++)
		ok = add_block(report, &joined[i], pd_blocks_all_cycles(blocks), averages);
	pd_free(joined);
	return ok ? PD_OK : PD_ERROR_MEMORY;
}

enum pd_status pd_text_blocks(struct pd_report *report, const struct table *table)
{
	const struct choosing choosing = { report, table };
	const struct pd_blocks_options options = { .file = report->file,
						   .symbols = report->symbols,
						   .state = pd_profile_state(report->profile),
						   .choose = choose_event,
						   .filter = &choosing };
	struct pd_blocks *blocks = NULL;
	enum pd_status status = pd_blocks_read(&options, &blocks, NULL);

	if (status == PD_OK)
		status = add_blocks(report, table, blocks);
	pd_blocks_free(blocks);
	return status;
}
