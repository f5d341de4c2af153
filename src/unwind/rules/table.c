/* SPDX-License-Identifier: MIT */
#include "unwind/rules/table.h"

#include <string.h>

#include "base/radix.h"

enum {
	RULES_MOST = UINT32_MAX,
	EXPRESSIONS_MOST = INT32_MAX,
	PAGE_SHIFT = 9,    // of the smallest pages
	ROWS_OF_A_PAGE = 8 // at least so many, on average
};

bool pd_unwind_table_init(struct pd_unwind_table *table, uint64_t base)
{
	*table = (struct pd_unwind_table){ .base = base };
	// 0 is no rule
	if (!PD_GROW(table->rules, table->rule_capacity, 1))
		return false;
	table->rules[0] = 0;
	table->rule_count = 1;
	return true;
}

void pd_unwind_table_fini(struct pd_unwind_table *table)
{
	pd_unwind_table_finish(table);
	if (!table->block) {
		pd_free(table->rows);
		pd_free(table->pages);
		pd_free(table->rules);
		pd_free(table->expressions);
	}
	pd_free(table->block);
	pd_free(table->begins);
	*table = (struct pd_unwind_table){ 0 };
}

void pd_unwind_table_finish(struct pd_unwind_table *table)
{
	pd_index_fini(&table->rule_index);
	pd_index_fini(&table->expression_index);
}

uint32_t pd_unwind_table_rule(struct pd_unwind_table *table, const uint64_t *words, size_t count)
{
	uint64_t hash = pd_hash(0, words, count * sizeof(*words));
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&table->rule_index, hash, &at)) != PD_INDEX_END;)
		if (count <= table->rule_count - i && memcmp(table->rules + i, words, count * sizeof(*words)) == 0)
			return i;
	if (table->rule_count > RULES_MOST - count - 1 ||
	    !PD_GROW(table->rules, table->rule_capacity, table->rule_count + count) ||
	    !pd_index_add(&table->rule_index, hash, (uint32_t)table->rule_count))
		return 0;
	memcpy(table->rules + table->rule_count, words, count * sizeof(*words));
	table->rule_count += count;
	return (uint32_t)(table->rule_count - count);
}

static bool is_expression(const struct pd_unwind_table *table, uint32_t number, const uint8_t *data, size_t size)
{
	const uint8_t *at = table->expressions + number;
	uint32_t own;

	memcpy(&own, at, sizeof(own));
	return own == size && memcmp(at + sizeof(own), data, size) == 0;
}

bool pd_unwind_table_expression(struct pd_unwind_table *table, const uint8_t *data, size_t size, int32_t *number_out)
{
	uint64_t hash = pd_hash(0, data, size);
	size_t at = (uint32_t)hash, count = table->expression_count;
	uint32_t own = (uint32_t)size;

	for (uint32_t i; (i = pd_index_next(&table->expression_index, hash, &at)) != PD_INDEX_END;) {
		if (!is_expression(table, i, data, size))
			continue;
		*number_out = (int32_t)i;
		return true;
	}
	if (size > EXPRESSIONS_MOST - sizeof(own) || count > EXPRESSIONS_MOST - sizeof(own) - size ||
	    !PD_GROW(table->expressions, table->expression_capacity, count + sizeof(own) + size) ||
	    !pd_index_add(&table->expression_index, hash, (uint32_t)count))
		return false;
	memcpy(table->expressions + count, &own, sizeof(own));
	memcpy(table->expressions + count + sizeof(own), data, size);
	table->expression_count = count + sizeof(own) + size;
	*number_out = (int32_t)count;
	return true;
}

bool pd_unwind_table_add(struct pd_unwind_table *table, uint64_t addr, uint32_t rule)
{
	if (addr < table->base || addr - table->base > UINT32_MAX)
		return true;
	if (table->row_count >= UINT32_MAX - 1 || !PD_GROW(table->rows, table->row_capacity, table->row_count + 1))
		return false;
	table->rows[table->row_count++] = (struct pd_unwind_row){ (uint32_t)(addr - table->base), rule };
	return true;
}

// ---- sorting ----

static uint64_t addr_of(const void *row)
{
	return ((const struct pd_unwind_row *)row)->addr;
}

static bool sort_rows(struct pd_unwind_table *table)
{
	size_t count = table->row_count;
	struct pd_unwind_row *spare, *sorted;

	if (pd_radix_is_sorted(table->rows, count, sizeof(*table->rows), addr_of))
		return true;
	spare = pd_realloc(NULL, count * sizeof(*spare));
	if (!spare)
		return false;
	sorted = pd_radix_sort(table->rows, spare, count, sizeof(*spare), addr_of);
	pd_free(sorted == spare ? table->rows : spare);
	table->rows = sorted;
	table->row_capacity = count;
	return true;
}

// Where a function ends another may begin: then its rule holds. What says the same as the row before is dropped.
static void merge_rows(struct pd_unwind_table *table)
{
	struct pd_unwind_row *rows = table->rows;
	size_t kept = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		struct pd_unwind_row row = rows[i];

		for (; i + 1 < table->row_count && rows[i + 1].addr == row.addr; i++)
			if (!row.rule)
				row.rule = rows[i + 1].rule;
		if (kept ? rows[kept - 1].rule != row.rule : row.rule != 0)
			rows[kept++] = row;
	}
	table->row_count = kept;
}

static bool index_pages(struct pd_unwind_table *table)
{
	uint64_t last = table->row_count ? table->rows[table->row_count - 1].addr : 0;
	size_t row = 0;

	pd_free(table->pages);
	table->pages = NULL;
	table->page_count = 0;
	if (!table->row_count)
		return true;
	table->page_shift = PAGE_SHIFT;
	while (last >> table->page_shift > table->row_count / ROWS_OF_A_PAGE + 1)
		table->page_shift++;
	// one more, for where the last one ends
	table->page_count = (size_t)(last >> table->page_shift) + 2;
	table->pages = pd_realloc(NULL, table->page_count * sizeof(*table->pages));
	if (!table->pages)
		return false;
	for (size_t i = 0; i < table->page_count; i++) {
		while (row < table->row_count && table->rows[row].addr >> table->page_shift < i)
			row++;
		table->pages[i] = (uint32_t)row;
	}
	return true;
}

bool pd_unwind_table_sort(struct pd_unwind_table *table)
{
	if (!sort_rows(table))
		return false;
	merge_rows(table);
	return index_pages(table);
}

static bool mark_plain(struct pd_unwind_rule *rule, unsigned word, unsigned sp)
{
	int32_t lowest = 0;
	bool has_ra = false;

	if (rule->kind != PD_CFA_REGISTER || rule->is_signal)
		return false;
	for (size_t i = 0; i < rule->count; i++) {
		const struct pd_saved *saved = &rule->saved[i];

		if (saved->kind != PD_SAVED_AT_CFA || saved->number == sp || saved->value > -(int32_t)word ||
		    saved->value < -UINT16_MAX)
			return false;
		lowest = saved->value < lowest ? saved->value : lowest;
		has_ra |= saved->number == rule->ra;
	}
	if (has_ra)
		rule->saved[0].reach = (uint16_t)-lowest;
	return has_ra;
}

void pd_unwind_table_mark(struct pd_unwind_table *table, unsigned word, unsigned sp)
{
	for (size_t at = 1; at < table->rule_count;) {
		struct pd_unwind_rule *rule = (struct pd_unwind_rule *)(void *)(table->rules + at);

		rule->is_plain = mark_plain(rule, word, sp);
		at += (size_t)rule->count + 1;
	}
}
