/* SPDX-License-Identifier: MIT */
/*
 * Functions that a run lacks because the compiler put them into their callers: a function of the baseline without samples in the
 * run whose name is that of code inlined into functions that have some. Only the symbols of the run can say so, so it is asked while
 * they are there.
 */
#include "diff/diff.h"

#include <string.h>

#include "base/text/text.h"
#include "report/keys/values.h"
#include "report/report.h"

enum {
	INLINED = 16,
	LEAST_SHARE = 200, /* one part of so many: what is smaller is not looked for, nor in what is a tenth of it */
	PROBES = 4096,     /* addresses of a function that are asked */
	VANISHED_MOST = 32
};

struct vanished {
	struct diff_row *row;
	const char *name; /* plain */
	uint64_t most;    /* period of the function it was found in */
};

struct search {
	struct pd_diff *diff;
	const struct pd_report *report;
	struct vanished items[VANISHED_MOST];
	size_t count;
	bool failed;
};

static const char *plain_of(struct search *search, const char *name)
{
	struct pd_text *scratch = search->diff->scratch;
	struct pd_bytes text;

	pd_text_clear(scratch);
	pd_diff_plain_function(scratch, name);
	text = pd_text_bytes(scratch);
	return pd_text_failed(scratch) ? NULL : pd_arena_text(&search->diff->texts, text.data, text.size);
}

static const char *function_cell(const struct pd_diff *diff, const struct diff_row *row)
{
	for (size_t i = 0; i < diff->key_count; i++)
		if (diff->keys[i]->has_level && strlen(row->cells[i]) >= 4 && *row->identity != '\1')
			return row->cells[i] + 4;
	return NULL;
}

static bool is_large(const struct pd_diff *diff, const struct diff_event *event, size_t row)
{
	for (size_t run = 0; run < diff->run_count; run++) {
		uint64_t total = event->runs[run].total.period;

		if (!diff->runs[run].side && total && run_sum(event, run, row).period > total / LEAST_SHARE)
			return true;
	}
	return false;
}

static void find_vanished(struct search *search, const struct diff_event *event)
{
	const struct pd_diff *diff = search->diff;

	for (size_t i = 0; i < event->row_count && search->count < VANISHED_MOST; i++) {
		struct diff_row *row = &event->rows[i];
		const char *name = function_cell(diff, row);

		if (!name || row->inlined_into || run_sum(event, diff->run_count - 1, i).present ||
		    !is_large(diff, event, i))
			continue;
		search->items[search->count] = (struct vanished){ .row = row, .name = plain_of(search, name) };
		search->failed |= !search->items[search->count].name;
		search->count++;
	}
}

static void meet(struct search *search, const char *inlined, const struct pd_function *into, uint64_t period)
{
	for (size_t i = 0; i < search->count; i++) {
		struct vanished *item = &search->items[i];

		/* the name of who calls costs memory only once */
		if (period <= item->most || strncmp(item->name, inlined, 2) != 0)
			continue;
		pd_text_clear(search->diff->scratch);
		pd_diff_plain_function(search->diff->scratch, inlined);
		pd_text_char(search->diff->scratch, 0);
		if (pd_text_failed(search->diff->scratch) ||
		    strcmp(item->name, (const char *)pd_text_bytes(search->diff->scratch).data) != 0)
			continue;
		item->most = period;
		item->row->inlined_into = pd_arena_text(&search->diff->texts, into->name, strlen(into->name));
		search->failed |= !item->row->inlined_into;
	}
}

static void search_function(struct search *search, const struct pd_function *function, uint64_t period)
{
	uint64_t step = (function->end - function->start) / PROBES + 1;
	const struct pd_function *last = NULL;

	for (uint64_t addr = function->start; addr < function->end; addr += step) {
		const struct pd_place place = { function->dso, function, addr, addr };
		struct pd_line lines[INLINED];
		size_t count = pd_symbols_lines(search->report->symbols, &place, lines, INLINED);

		count = count < INLINED ? count : INLINED;
		if (!count || lines[0].function == last)
			continue;
		last = lines[0].function;
		for (size_t i = 0; i < count && lines[i].inlined; i++)
			meet(search, lines[i].function->name, function, period);
	}
}

bool pd_diff_find_inlined(struct pd_diff *diff, const struct diff_event *event, const struct pd_report *report,
			  size_t table)
{
	const struct pd_report_table *rows = pd_report_table(report, table);
	struct search search = { .diff = diff, .report = report };

	if (!diff->options.join_names || !diff->runs[diff->run_count - 1].side)
		return true;
	find_vanished(&search, event);
	for (size_t i = 0; search.count && i < rows->row_count && !search.failed; i++) {
		const struct pd_function *function = pd_diff_function_of(diff, report, &report->tables[table].rows[i]);
		uint64_t period = pd_report_row(report, table, i)->period;

		if (function && period > rows->totals[0] / LEAST_SHARE / 10)
			search_function(&search, function, period);
	}
	return !search.failed;
}
