/* SPDX-License-Identifier: MIT */
/* Values in the order of their strings, once all are known; and what rows show of them. */
#include "base/sort.h"
#include "base/threads.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
	WORTH_A_PART = 1 << 12, /* values */
	LEVEL_BYTES = 4,        /* "[.] " */
	ADDRESS_DIGITS = 16
};

void pd_values_prefetch(const struct pd_report *report, const struct row *row, unsigned stage)
{
	for (size_t i = 0; i < report->key_count; i++) {
		const struct value *value;

		if (!stage) {
			__builtin_prefetch(report->keys[i]->of_frame ?
						   &report->places.values[row->place * report->key_count] :
						   &report->whos.values[row->who * report->key_count]);
			continue;
		}
		value = &report->values[i].items[row_value(report, row, i)];
		__builtin_prefetch(stage == 1 || value->is_addr ? (const void *)value : value->text);
	}
}

/* As C prints %#018lx: nothing has no 0x. */
static void print_address(char *at, uint64_t addr)
{
	if (addr) {
		*at++ = '0';
		*at++ = 'x';
	}
	for (int shift = 4 * (ADDRESS_DIGITS - 1); shift >= 0; shift -= 4)
		*at++ = "0123456789abcdef"[addr >> shift & 15];
	*at = 0;
}

uint32_t pd_value_addr_length(uint64_t addr)
{
	return LEVEL_BYTES + ADDRESS_DIGITS + (addr ? 2 : 0);
}

static void put_level(char *text, char level)
{
	text[0] = '[';
	text[1] = level;
	text[2] = ']';
	text[3] = ' ';
}

const char *pd_value_text(const struct pd_report *report, size_t key, const struct row *row, char *cell)
{
	const struct value *value = &report->values[key].items[row_value(report, row, key)];

	if (value->is_addr) {
		put_level(cell, value->level);
		print_address(cell + LEVEL_BYTES, value->addr);
	} else if (!report->keys[key]->times_samples) {
		return value->text;
	} else {
		snprintf(cell, PD_REPORT_CELL_BYTES, "%" PRIu64, value->a * row->amounts->samples);
	}
	return cell;
}

bool pd_values_find(struct pd_report *report, const struct key_context *context, bool of_frame, uint32_t *number_out)
{
	uint32_t values[PD_REPORT_KEYS_MAX] = { 0 };
	size_t last = 0;

	for (size_t i = 0; i < report->key_count; i++) {
		if (report->keys[i]->of_frame != of_frame)
			continue;
		if (!report->keys[i]->find(report, i, context, &values[i]))
			return false;
		last = i;
	}
	return pd_value_set_find(of_frame ? &report->places : &report->whos, values, report->key_count, last,
				 number_out);
}

/* ---- texts of functions ---- */

/* False if there is no memory. */
static bool make_text(struct value *value, struct pd_arena *texts)
{
	size_t length = strlen(value->text);
	char *text = length < UINT32_MAX - LEVEL_BYTES ? pd_arena_alloc(texts, LEVEL_BYTES + length + 1) : NULL;

	if (!text)
		return false;
	put_level(text, value->level);
	memcpy(text + LEVEL_BYTES, value->text, length + 1);
	value->text = text;
	value->length = (uint32_t)(LEVEL_BYTES + length);
	value->unsorted = LEVEL_BYTES;
	value->level = 0;
	if (!value->by_addr)
		value->word = pd_value_word(text + LEVEL_BYTES);
	return true;
}

static bool needs_text(const struct value *value)
{
	return value->level && !value->is_addr;
}

struct texting {
	struct value_table *table;
	size_t parts;
	bool failed[PD_PARTS_MOST];
};

static void make_texts_part(void *self, size_t part)
{
	enum {
		AHEAD = 8
	};
	struct texting *texting = self;
	struct value_table *table = texting->table;
	struct pd_arena texts = { 0 }; /* not between those of other threads */
	size_t end = pd_part_begin(table->count, texting->parts, part + 1);
	bool failed = false;

	for (size_t i = pd_part_begin(table->count, texting->parts, part); !failed && i < end; i++) {
		if (i + AHEAD < end && needs_text(&table->items[i + AHEAD]))
			__builtin_prefetch(table->items[i + AHEAD].text);
		failed = needs_text(&table->items[i]) && !make_text(&table->items[i], &texts);
	}
	table->part_texts[part] = texts;
	texting->failed[part] = failed;
}

/* False if there is no memory. */
static bool make_texts(struct value_table *table, size_t threads)
{
	struct texting texting = { .table = table };
	bool done = true;

	texting.parts = pd_part_count(threads, table->count, WORTH_A_PART);
	table->part_texts = pd_alloc(texting.parts * sizeof(*table->part_texts));
	if (!table->part_texts)
		return false;
	table->part_count = texting.parts;
	pd_in_parts(texting.parts, make_texts_part, &texting);
	for (size_t i = 0; i < texting.parts; i++)
		done = done && !texting.failed[i];
	return done;
}

/* ---- order ---- */

static int compare_parts(const struct value *x, const struct value *y)
{
	uint32_t size = x->sorted < y->sorted ? x->sorted : y->sorted;
	int order = memcmp(x->text + x->unsorted, y->text + y->unsorted, size);

	return order ? order : x->sorted < y->sorted ? -1 : x->sorted > y->sorted;
}

/* Texts that agree in their first bytes, and what has the same address. */
static int compare_values(const void *self, uint32_t a, uint32_t b)
{
	const struct value_table *table = self;
	const struct value *x = &table->items[a], *y = &table->items[b];
	int order = 0;

	if (!x->by_addr && !y->by_addr)
		order = x->sorted && y->sorted ? compare_parts(x, y) :
						 strcmp(x->text + x->unsorted, y->text + y->unsorted);
	return order ? order : x->a < y->a ? -1 : x->a > y->a;
}

static void set_ranks(struct value_table *table, const struct pd_sorted *sorted, bool descending)
{
	enum {
		AHEAD = 16
	};

	for (size_t i = 0; i < table->count; i++) {
		const struct value *value = &table->items[sorted[i].number];
		const struct value *before = i ? &table->items[sorted[i - 1].number] : NULL;
		bool equivalent = before && value->equivalent && before->equivalent && value->order == before->order;
		uint32_t rank = (uint32_t)(descending ? table->count - 1 - i : i);

		if (i + AHEAD < table->count)
			__builtin_prefetch(&table->items[sorted[i + AHEAD].number]);
		if (table->any_equivalent)
			table->exact[sorted[i].number] = rank;
		table->ranks[sorted[i].number] = equivalent ? table->ranks[sorted[i - 1].number] : rank;
	}
}

static bool rank_values(struct value_table *table, bool descending, size_t threads)
{
	struct pd_sorted *sorted = pd_alloc((table->count + 1) * sizeof(*sorted));
	bool done;

	table->ranks = pd_alloc((table->count + 1) * sizeof(*table->ranks));
	if (table->any_equivalent)
		table->exact = pd_alloc((table->count + 1) * sizeof(*table->exact));
	done = sorted && table->ranks && (table->exact || !table->any_equivalent);
	for (size_t i = 0; done && i < table->count; i++)
		sorted[i] = (struct pd_sorted){ table->items[i].order, table->items[i].word, (uint32_t)i };
	done = done && pd_sort(sorted, table->count, compare_values, table, threads);
	if (done)
		set_ranks(table, sorted, descending);
	pd_free(sorted);
	return done;
}

/* Rows refer to values by their numbers. */
static void close_values(struct pd_report *report)
{
	for (size_t i = 0; i < report->key_count; i++)
		pd_value_table_close(&report->values[i]);
	pd_value_sets_close(&report->whos);
	pd_value_sets_close(&report->places);
}

bool pd_values_rank(struct pd_report *report)
{
	close_values(report);
	for (size_t i = 0; i < report->key_count; i++)
		if (!make_texts(&report->values[i], report->options.threads) ||
		    !rank_values(&report->values[i], report->keys[i]->descending, report->options.threads))
			return false;
	return true;
}
