/* SPDX-License-Identifier: MIT */
/* The order of rows: all that they are sorted by as numbers, which lie together while rows are sorted. */
#include "base/sort.h"
#include "base/threads.h"
#include "report/report.h"

#include <string.h>

enum {
	WORTH_A_PART = 1 << 12, /* rows */
	ROWS_AHEAD = 16
};

/* How many bits numbers of a table have at most. */
struct measures {
	unsigned amounts, depth, keys[PD_REPORT_KEYS_MAX];
};

static unsigned bits_of(uint64_t number)
{
	return number ? 64 - (unsigned)__builtin_clzll(number) : 0;
}

static void measure(const struct pd_report *report, const struct table *table, struct measures *measures)
{
	uint64_t amounts = 0, depth = 0;

	for (size_t i = 0; i < table->head.row_count; i++) {
		for (unsigned k = COLUMN_WEIGHT1; table->accesses && k <= COLUMN_WEIGHT3; k++)
			for (size_t event = 0; event < table->head.event_count; event++)
				amounts |= pd_row_number(table, &table->rows[i], event, (enum column_kind)k);
		depth |= table->rows[i].depth;
		/* what is a row's own is not more */
		for (size_t k = 0; k < table->head.event_count; k++)
			amounts |= table->rows[i].amounts[k].children_period |
				   table->rows[i].amounts[k].children_samples | table->rows[i].amounts[k].period |
				   table->rows[i].amounts[k].samples | table->rows[i].amounts[k].children_latency |
				   table->rows[i].amounts[k].latency;
	}
	measures->amounts = bits_of(amounts);
	measures->depth = bits_of(depth);
	for (size_t i = 0; i < report->key_count; i++)
		measures->keys[i] = bits_of(report->values[i].count);
}

/* All that rows are sorted by as one number of many bits: the smaller ones come first. */
struct words {
	uint64_t *words;
	size_t count;
	unsigned free_bits; /* bits of the last one */
};

static void add_bits(struct words *to, uint64_t number, unsigned bits)
{
	if (bits > to->free_bits) {
		bits -= to->free_bits;
		if (to->free_bits)
			to->words[to->count - 1] |= number >> bits;
		to->words[to->count++] = 0;
		to->free_bits = 64;
	}
	to->free_bits -= bits;
	/* what is above went before */
	if (bits)
		to->words[to->count - 1] |= number << (64 - bits) >> (64 - bits) << to->free_bits;
}

/* Larger ones come first. */
static void add_descending(struct words *to, uint64_t number, unsigned bits)
{
	add_bits(to, bits ? ~number << (64 - bits) >> (64 - bits) : 0, bits);
}

/* As perf: where graphs are drawn, callers in a thread come before what they call if they have as much. perf compares so
 * within threads only, which is no order if there are several; here threads are distinguished first. */
static void add_depth(const struct pd_report *report, const struct row *row, const struct measures *measures,
		      struct words *to)
{
	for (size_t i = 0; i < report->key_count; i++)
		if (!report->keys[i]->of_frame && !report->keys[i]->of_chain)
			add_bits(to, report->values[i].ranks[row_value(report, row, i)], measures->keys[i]);
	if (report->graph.caller)
		add_descending(to, row->depth, measures->depth);
	else
		add_bits(to, row->depth, measures->depth);
}

/* How many events of a group count in the order. As perf: the first one does not if another one was asked for, and only it does if
 * there is no such event. */
static size_t count_events(const struct pd_report *report, const struct table *table)
{
	size_t first = report->options.sort_event, events = table->head.event_count;

	return !first || events < 2 ? events : first < events ? events - 1 : 1;
}

/* The one that counts as the index-th. */
static size_t event_at(const struct pd_report *report, const struct table *table, size_t index)
{
	size_t first = report->options.sort_event;

	if (!first || first >= table->head.event_count)
		return index;
	return index == 0 ? first : index < first ? index : index + 1;
}

static void fill_words(const struct pd_report *report, const struct table *table, const struct row *row,
		       const struct measures *measures, struct words *to)
{
	to->count = to->free_bits = 0;
	for (size_t i = 0; i < report->order.count; i++) {
		const struct column *column = &report->order.items[i];
		/* As perf: what is called counts for the leader only. */
		size_t events = counts_children(column->kind) ? 1 : count_events(report, table);

		if (column->kind == COLUMN_KEY) {
			add_bits(to, report->values[column->key].ranks[row_value(report, row, column->key)],
				 measures->keys[column->key]);
			continue;
		}
		/* What is called is not known. */
		if (counts_children(column->kind) && !report->children)
			continue;
		for (size_t k = 0; k < events; k++) {
			size_t event = counts_children(column->kind) ? 0 : event_at(report, table, k);

			add_descending(to, pd_row_number(table, row, event, column->kind), measures->amounts);
		}
		if (counts_children(column->kind) && has_graphs(report))
			add_depth(report, row, measures, to);
	}
	for (size_t i = 0; i < report->order.count; i++) {
		size_t key = report->order.items[i].key;

		if (report->order.items[i].kind == COLUMN_KEY && report->values[key].any_equivalent)
			add_bits(to, report->values[key].exact[row_value(report, row, key)], measures->keys[key]);
	}
}

struct ordering {
	const struct pd_report *report;
	const struct table *table;
	struct measures measures;
	struct pd_sorted *sorted;
	uint64_t *rest;          /* words after the first two, by row */
	size_t most, rest_count; /* words of a row */
	size_t parts;
	bool failed[PD_PARTS_MOST];
};

enum {
	WORDS_SORTED = 2
}; /* of struct pd_sorted */

static int compare_rest(const void *self, uint32_t a, uint32_t b)
{
	const struct ordering *ordering = self;
	const uint64_t *s = ordering->rest + a * ordering->rest_count, *t = ordering->rest + b * ordering->rest_count;

	for (size_t i = 0; i < ordering->rest_count; i++)
		if (s[i] != t[i])
			return s[i] < t[i] ? -1 : 1;
	return 0;
}

static void fill_part(void *self, size_t part)
{
	struct ordering *ordering = self;
	const struct table *table = ordering->table;
	size_t end = pd_part_begin(table->head.row_count, ordering->parts, part + 1);
	struct words one = { .words = pd_alloc(ordering->most * sizeof(*one.words)) };

	ordering->failed[part] = !one.words;
	for (size_t i = pd_part_begin(table->head.row_count, ordering->parts, part); one.words && i < end; i++) {
		fill_words(ordering->report, table, &table->rows[i], &ordering->measures, &one);
		ordering->sorted[i] = (struct pd_sorted){ one.words[0], one.words[1], (uint32_t)i };
		memcpy(ordering->rest + i * ordering->rest_count, one.words + WORDS_SORTED,
		       ordering->rest_count * sizeof(*ordering->rest));
	}
	pd_free(one.words);
}

/* How many words a row has after those that are sorted. */
static size_t count_rest(const struct ordering *ordering)
{
	struct words one = { .words = pd_alloc(ordering->most * sizeof(*one.words)) };

	if (one.words && ordering->table->head.row_count)
		fill_words(ordering->report, ordering->table, ordering->table->rows, &ordering->measures, &one);
	pd_free(one.words);
	return one.count > WORDS_SORTED ? one.count - WORDS_SORTED : 0;
}

static bool fill_all(struct ordering *ordering)
{
	size_t count = ordering->table->head.row_count;
	bool done = true;

	measure(ordering->report, ordering->table, &ordering->measures);
	ordering->most = 2 * PD_REPORT_COLUMNS_MAX + 2 * PD_REPORT_KEYS_MAX + WORDS_SORTED +
			 PD_REPORT_COLUMNS_MAX * ordering->table->head.event_count;
	ordering->rest_count = count_rest(ordering);
	ordering->parts = pd_part_count(ordering->report->options.threads, count, WORTH_A_PART);
	ordering->sorted = pd_alloc((count + 1) * sizeof(*ordering->sorted));
	ordering->rest = pd_alloc((count * ordering->rest_count + 1) * sizeof(*ordering->rest));
	if (!ordering->sorted || !ordering->rest)
		return false;
	pd_in_parts(ordering->parts, fill_part, ordering);
	for (size_t i = 0; i < ordering->parts; i++)
		done = done && !ordering->failed[i];
	return done;
}

bool pd_rows_sort(const struct pd_report *report, struct table *table)
{
	struct ordering ordering = { .report = report, .table = table };
	struct row *rows = NULL;

	bool sorted = fill_all(&ordering) &&
		      pd_sort(ordering.sorted, table->head.row_count, compare_rest, &ordering, report->options.threads);

	pd_free(ordering.rest);
	if (sorted)
		rows = pd_alloc((table->head.row_count + 1) * sizeof(*rows));
	for (size_t i = 0; rows && i < table->head.row_count; i++) {
		if (i + ROWS_AHEAD < table->head.row_count)
			__builtin_prefetch(&table->rows[ordering.sorted[i + ROWS_AHEAD].number]);
		rows[i] = table->rows[ordering.sorted[i].number];
	}
	pd_free(ordering.sorted);
	if (!rows)
		return false;
	pd_free(table->rows);
	table->rows = rows;
	return true;
}
