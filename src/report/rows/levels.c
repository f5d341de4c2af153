/* SPDX-License-Identifier: MIT */
/* Rows with the same values up to a level are one there. Each level is sorted as a table is; what is below a row keeps that order. */
#include "report/rows/levels.h"

#include <string.h>

#include "report/keys/field_keys.h"

/* What is built. */
struct leveling {
	const struct pd_report *report;
	const struct table *table;
	size_t keys[PD_REPORT_KEYS_MAX]; /* those up to the level */
	size_t key_count;
	uint32_t *numbers; /* by row of the table: number of its row in the level before */
};

static bool count_levels(struct levels *levels, const struct pd_report *report, const struct table *table)
{
	const struct column_list *columns = &report->columns;

	levels->items = pd_alloc((columns->count + 1) * sizeof(*levels->items));
	for (size_t i = 0; levels->items && i < columns->count; i++) {
		struct level *last = levels->count ? &levels->items[levels->count - 1] : NULL;

		if (columns->items[i].kind != COLUMN_KEY || !pd_column_is_there(report, table, &columns->items[i]))
			continue;
		if (last && columns->items[i].level == columns->items[last->first_column].level)
			last->end_column = i + 1;
		else
			levels->items[levels->count++] = (struct level){ .first_column = i, .end_column = i + 1 };
	}
	return levels->items;
}

static void add_keys(struct leveling *leveling, const struct level *level)
{
	const struct column *columns = leveling->report->columns.items;

	for (size_t i = level->first_column; i < level->end_column; i++)
		if (pd_column_is_there(leveling->report, leveling->table, &columns[i]))
			leveling->keys[leveling->key_count++] = columns[i].key;
}

/* Rows and sums have room for as many as the table has. */
static bool allocate(struct level *level, const struct table *table)
{
	size_t count = table->head.row_count, events = table->head.event_count;

	level->table.head = table->head;
	level->table.head.row_count = 0;
	level->table.totals = table->totals;
	level->table.samples = table->samples;
	level->table.latencies = table->latencies;
	level->table.rows = pd_alloc((count + 1) * sizeof(*level->table.rows));
	level->table.amounts = pd_alloc((count * events + 1) * sizeof(*level->table.amounts));
	level->parents = pd_alloc((count + 1) * sizeof(*level->parents));
	level->below = pd_alloc((count + 1) * sizeof(*level->below));
	return level->table.rows && level->table.amounts && level->parents && level->below;
}

/* The row of a level that a row of the table belongs to, which is added if it is new. */
static void add_row(struct leveling *leveling, struct level *level, size_t index, uint32_t number)
{
	size_t events = leveling->table->head.event_count;
	const struct row *from = &leveling->table->rows[index];
	struct row *row = &level->table.rows[number];

	if (number == level->table.head.row_count) {
		*row = *from;
		row->amounts = &level->table.amounts[number * events];
		row->first_link = number;
		level->parents[number] = leveling->numbers[index];
		level->table.head.row_count++;
	}
	pd_amounts_add(row->amounts, from->amounts, events);
	leveling->numbers[index] = number;
}

static bool fill_level(struct leveling *leveling, struct level *level, uint32_t *own)
{
	struct value_sets sets = { 0 };
	uint32_t values[PD_REPORT_KEYS_MAX], number;
	bool done = true;

	for (size_t i = 0; done && i < leveling->table->head.row_count; i++) {
		for (size_t k = 0; k < leveling->key_count; k++)
			values[k] = row_value(leveling->report, &leveling->table->rows[i], leveling->keys[k]);
		done = pd_value_set_find(&sets, values, leveling->key_count, 0, &number);
		if (!done)
			break;
		add_row(leveling, level, i, number);
		if (own)
			own[number] = (uint32_t)i;
	}
	pd_value_sets_fini(&sets);
	return done;
}

/* Numbers of the report come first, then the keys of this level and of those above, which all below a row share. */
static bool sort_level(const struct leveling *leveling, struct level *level)
{
	struct pd_report view = *leveling->report;

	view.order.count = 0;
	for (size_t i = 0; i < leveling->report->order.count; i++) {
		const struct column *column = &leveling->report->order.items[i];
		bool known = column->kind != COLUMN_KEY;

		for (size_t k = 0; k < leveling->key_count; k++)
			known |= column->key == leveling->keys[k];
		if (known)
			view.order.items[view.order.count++] = *column;
	}
	return pd_rows_sort(&view, &level->table);
}

static bool link_level(struct level *level, size_t above)
{
	size_t begin = 0, count = level->table.head.row_count;

	level->starts = pd_alloc((above + 2) * sizeof(*level->starts));
	if (!level->starts)
		return false;
	for (size_t i = 0; i < count; i++)
		level->starts[level->parents[i] + 1]++;
	for (size_t i = 0; i <= above; i++)
		begin = level->starts[i] += begin;
	/* each begin moves to its end, which is the begin of the next one */
	for (size_t i = 0; i < count; i++)
		level->below[level->starts[level->parents[level->table.rows[i].first_link]]++] = (uint32_t)i;
	memmove(level->starts + 1, level->starts, above * sizeof(*level->starts));
	level->starts[0] = 0;
	return true;
}

static bool build_level(struct leveling *leveling, struct levels *levels, size_t index)
{
	struct level *level = &levels->items[index];
	bool last = index + 1 == levels->count;
	size_t above = index ? level[-1].table.head.row_count : 1;

	add_keys(leveling, level);
	return allocate(level, leveling->table) && fill_level(leveling, level, last ? levels->own : NULL) &&
	       sort_level(leveling, level) && link_level(level, above);
}

bool pd_levels_build(struct levels *levels, const struct pd_report *report, const struct table *table)
{
	struct leveling leveling = { .report = report, .table = table };
	bool done;

	*levels = (struct levels){ 0 };
	leveling.numbers = pd_alloc((table->head.row_count + 1) * sizeof(*leveling.numbers));
	levels->own = pd_alloc((table->head.row_count + 1) * sizeof(*levels->own));
	done = leveling.numbers && levels->own && count_levels(levels, report, table);
	for (size_t i = 0; done && i < levels->count; i++)
		done = build_level(&leveling, levels, i);
	pd_free(leveling.numbers);
	return done;
}

void pd_levels_fini(struct levels *levels)
{
	for (size_t i = 0; i < levels->count; i++) {
		pd_free(levels->items[i].table.rows);
		pd_free(levels->items[i].table.amounts);
		pd_free(levels->items[i].parents);
		pd_free(levels->items[i].starts);
		pd_free(levels->items[i].below);
	}
	pd_free(levels->items);
	pd_free(levels->own);
}
