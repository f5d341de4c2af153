/* SPDX-License-Identifier: MIT */
#include "unwind/rules/saved.h"

#include <string.h>

#include "unwind/rules/arch.h"

enum {
	VARIANT = 7 // changes with what tables say
};

// Then rows, rules, pages, expressions.
struct packed {
	uint64_t base, row_count, rule_count, page_count, page_shift, expression_count;
};

// ---- writing ----

size_t pd_unwind_packed_size(const struct pd_unwind_table *table)
{
	return sizeof(struct packed) + table->row_count * sizeof(*table->rows) +
	       table->rule_count * sizeof(*table->rules) + table->page_count * sizeof(*table->pages) +
	       table->expression_count;
}

static uint8_t *put_bytes(uint8_t *at, const void *data, size_t size)
{
	if (size)
		memcpy(at, data, size);
	return at + size;
}

void pd_unwind_pack(const struct pd_unwind_table *table, uint8_t *data)
{
	const struct packed packed = { table->base,       table->row_count,  table->rule_count,
				       table->page_count, table->page_shift, table->expression_count };

	data = put_bytes(data, &packed, sizeof(packed));
	data = put_bytes(data, table->rows, table->row_count * sizeof(*table->rows));
	data = put_bytes(data, table->rules, table->rule_count * sizeof(*table->rules));
	data = put_bytes(data, table->pages, table->page_count * sizeof(*table->pages));
	put_bytes(data, table->expressions, table->expression_count);
}

void pd_unwind_save_table(const char *index, const struct pd_object_id *id, const struct pd_file_origin *origin,
			  const struct pd_unwind_table *table)
{
	const struct pd_index_key key = { id, PD_INDEX_UNWIND, VARIANT, origin };
	struct pd_index_part part = { .size = pd_unwind_packed_size(table) };
	uint8_t *data;

	if (!index || !origin->place || part.size > pd_index_file_limit())
		return;
	data = pd_realloc(NULL, (size_t)part.size);
	if (!data)
		return;
	pd_unwind_pack(table, data);
	part.data = data;
	pd_index_write(index, &key, &part, 1);
	pd_free(data);
}

// ---- what was read is checked ----

static bool is_expression(const struct pd_unwind_table *table, int32_t number)
{
	uint32_t size;

	if (number < 0 || (size_t)number > table->expression_count ||
	    table->expression_count - (size_t)number < sizeof(size))
		return false;
	memcpy(&size, table->expressions + number, sizeof(size));
	return size <= table->expression_count - (size_t)number - sizeof(size);
}

static bool is_saved(const struct pd_unwind_table *table, const struct pd_saved *saved)
{
	if (saved->number >= PD_UNWIND_REGISTERS || saved->kind > PD_SAVED_EXPRESSION)
		return false;
	if (saved->kind == PD_SAVED_REGISTER)
		return saved->value >= 0 && saved->value < PD_UNWIND_REGISTERS;
	return saved->kind < PD_SAVED_AT_EXPRESSION || is_expression(table, saved->value);
}

// The words of a rule; 0 if it is none.
static size_t size_of_rule(const struct pd_unwind_table *table, size_t at)
{
	const struct pd_unwind_rule *rule = pd_unwind_table_at(table, (uint32_t)at);

	if (rule->count > table->rule_count - at - 1 || rule->cfa_register >= PD_UNWIND_REGISTERS ||
	    rule->ra >= PD_UNWIND_REGISTERS)
		return 0;
	if (rule->kind != PD_CFA_REGISTER && (rule->kind != PD_CFA_EXPRESSION || !is_expression(table, rule->cfa)))
		return 0;
	for (size_t i = 0; i < rule->count; i++)
		if (!is_saved(table, &rule->saved[i]))
			return 0;
	return (size_t)rule->count + 1;
}

static bool mark_rules(const struct pd_unwind_table *table, uint8_t *begins)
{
	size_t size;

	begins[0] = 1;
	for (size_t at = 1; at < table->rule_count; at += size) {
		size = size_of_rule(table, at);
		if (!size)
			return false;
		begins[at / 8] |= (uint8_t)(1 << at % 8);
	}
	return true;
}

// Rows are by far the most; each is checked when it is found.
static bool is_good(const struct pd_unwind_table *table, uint8_t *begins)
{
	if (table->rules[0] != 0 || !mark_rules(table, begins))
		return false;
	for (size_t i = 0; i < table->page_count; i++)
		if (table->pages[i] > table->row_count)
			return false;
	return true;
}

// ---- reading ----

static bool is_size(const struct packed *p, size_t size)
{
	const struct pd_unwind_table *t = NULL;

	return p->rule_count && p->row_count <= size / sizeof(*t->rows) && p->rule_count <= size / sizeof(*t->rules) &&
	       p->page_count <= size / sizeof(*t->pages) && p->expression_count <= size && p->page_shift < 64;
}

bool pd_unwind_unpack(struct pd_unwind_table *table_out, void *block, uint8_t *data, size_t size)
{
	struct pd_unwind_table table = { .block = block };
	struct packed packed;

	if (size < sizeof(packed))
		return false;
	memcpy(&packed, data, sizeof(packed));
	if (!is_size(&packed, size - sizeof(packed)))
		return false;
	table.base = packed.base;
	table.row_count = table.row_capacity = (size_t)packed.row_count;
	table.rule_count = table.rule_capacity = (size_t)packed.rule_count;
	table.page_count = (size_t)packed.page_count;
	table.page_shift = (unsigned)packed.page_shift;
	table.expression_count = table.expression_capacity = (size_t)packed.expression_count;
	if (pd_unwind_packed_size(&table) != size)
		return false;
	table.rows = (struct pd_unwind_row *)(void *)(data + sizeof(packed));
	table.rules = (uint64_t *)(void *)(table.rows + table.row_count);
	table.pages = (uint32_t *)(void *)(table.rules + table.rule_count);
	table.expressions = (uint8_t *)(table.pages + table.page_count);
	table.begins = pd_alloc(table.rule_count / 8 + 1);
	if (table.begins && is_good(&table, table.begins)) {
		*table_out = table;
		return true;
	}
	pd_free(table.begins);
	return false;
}

bool pd_unwind_load_table(const char *index, const struct pd_object_id *id, const struct pd_file_origin *origin,
			  size_t limit, struct pd_unwind_table *table_out)
{
	const struct pd_index_key key = { id, PD_INDEX_UNWIND, VARIANT, origin };
	struct pd_index_content content;
	struct pd_image image;
	bool done = false;

	if (!index || !origin->place || !pd_index_open(index, &key, &image))
		return false;
	if (pd_index_first(&image, &key, limit, &content)) {
		uint8_t *data = (uint8_t *)content.block + (content.data - (uint8_t *)content.block);

		done = pd_unwind_unpack(table_out, content.block, data, content.size);
		if (!done)
			pd_free(content.block);
	}
	pd_image_close(&image);
	return done;
}
