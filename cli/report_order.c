/* SPDX-License-Identifier: MIT */
/* The order of rows: all that they are sorted by as numbers, which lie together while rows are sorted. */
#include "report.h"

#include <stdlib.h>
#include <string.h>

/* What rows are sorted by, as numbers: the smaller ones come first. */
struct words {
	uint64_t *words;
	size_t count;
	bool half; /* the last one has room for a small number */
};

static void add_word(struct words *to, uint64_t word)
{
	to->words[to->count++] = word;
	to->half = false;
}

static void add_small(struct words *to, uint32_t number)
{
	if (to->half)
		to->words[to->count - 1] |= number;
	else
		to->words[to->count++] = (uint64_t)number << 32;
	to->half = !to->half;
}

/* As perf: where graphs are drawn, callers in a thread come before what they call if they have as much. perf compares so
 * within threads only, which is no order if there are several; here threads are told apart first. */
static void add_depth(const struct report *report, const struct row *row, struct words *to)
{
	for (size_t i = 0; i < report->key_count; i++)
		if (!report->keys[i]->of_frame)
			add_small(to, report->values[i].ranks[row_value(report, row, i)]);
	add_word(to, report->graph.caller ? ~(uint64_t)row->depth : row->depth);
}

static void fill_words(const struct report *report, const struct table *table, const struct row *row, struct words *to)
{
	for (size_t i = 0; i < report->order_count; i++) {
		const struct column *column = &report->order[i];
		/* As perf: what is called counts for the leader only. */
		size_t events = column->kind == COLUMN_CHILDREN ? 1 : table->event_count;

		if (column->kind == COLUMN_KEY) {
			add_small(to, report->values[column->key].ranks[row_value(report, row, column->key)]);
			continue;
		}
		/* What is called is not known. */
		if (column->kind == COLUMN_CHILDREN && !report->children)
			continue;
		for (size_t k = 0; k < events; k++)
			add_word(to, ~(column->kind == COLUMN_SAMPLES ? row->amounts[k].samples :
									period_in(&row->amounts[k], column->kind)));
		if (column->kind == COLUMN_CHILDREN && report->graph.kind != GRAPH_NONE)
			add_depth(report, row, to);
	}
	for (size_t i = 0; i < report->order_count; i++) {
		const struct value_table *values = &report->values[report->order[i].key];

		if (report->order[i].kind == COLUMN_KEY && values->any_alike)
			add_small(to, values->fine[row_value(report, row, report->order[i].key)]);
	}
}

/* Words of rows behind those that nearly everything is decided by. */
struct rest {
	uint64_t *words;
	size_t count; /* of a row */
};

static int compare_rest(const void *self, uint32_t a, uint32_t b)
{
	const struct rest *rest = self;
	const uint64_t *s = rest->words + a * rest->count, *t = rest->words + b * rest->count;

	for (size_t i = 0; i < rest->count; i++)
		if (s[i] != t[i])
			return s[i] < t[i] ? -1 : 1;
	return 0;
}

/* The order of all rows. The caller frees it; NULL if there is no memory. */
static struct sorted *order_rows(const struct report *report, const struct table *table)
{
	enum { WORDS_MOST = 3 * COLUMNS_MOST + KEYS_MOST, AT_ONCE = 2 };
	size_t most = WORDS_MOST + COLUMNS_MOST * table->event_count;
	struct sorted *sorted = malloc((table->row_count + 1) * sizeof(*sorted));
	struct words one = { .words = calloc(most, sizeof(*one.words)) };
	struct rest rest = { NULL, 0 };
	bool done = sorted && one.words;

	for (size_t i = 0; done && i < table->row_count; i++) {
		one.count = 0;
		one.half = false;
		fill_words(report, table, &table->rows[i], &one);
		if (!i) {
			rest.count = one.count > AT_ONCE ? one.count - AT_ONCE : 0;
			rest.words = malloc((table->row_count * rest.count + 1) * sizeof(*rest.words));
			done = rest.words;
		}
		sorted[i] = (struct sorted){ one.words[0], one.words[1], (uint32_t)i };
		if (done)
			memcpy(rest.words + i * rest.count, one.words + AT_ONCE, rest.count * sizeof(*rest.words));
	}
	done = done && sort_all(sorted, table->row_count, compare_rest, &rest, report->threads);
	free(one.words);
	free(rest.words);
	if (done)
		return sorted;
	free(sorted);
	return NULL;
}

bool rows_sort(const struct report *report, struct table *table)
{
	struct sorted *order = order_rows(report, table);
	struct row *rows = malloc((table->row_count + 1) * sizeof(*rows));
	bool done = order && rows;

	for (size_t i = 0; done && i < table->row_count; i++)
		rows[i] = table->rows[order[i].number];
	free(order);
	if (!done) {
		free(rows);
		return false;
	}
	free(table->rows);
	table->rows = rows;
	return true;
}
