/* SPDX-License-Identifier: MIT */
/* The footer of a file of Parquet: which columns there are, and where each of their parts is. */
#include <string.h>

#include "table/file/parquet.h"
#include "table/file/thrift.h"

struct element {
	struct pd_bytes name;
	int64_t type, repetition, children;
};

// ---- columns ----

static void take_element(struct pd_cursor *c, struct element *element)
{
	uint32_t id = 0;
	unsigned type;

	*element = (struct element){ .type = -1 };
	while ((type = pd_thrift_next(c, &id)) != 0)
		switch (id) {
		case 1:
			element->type = pd_thrift_take(c, type);
			break;
		case 3:
			element->repetition = pd_thrift_take(c, type);
			break;
		case 4:
			element->name = pd_thrift_take_bytes(c, type);
			break;
		case 5:
			element->children = pd_thrift_take(c, type);
			break;
		default:
			pd_thrift_skip(c, type);
		}
}

static void note_column(struct pd_parquet_footer *footer, struct pd_cursor *c, const struct pd_table *table,
			const struct element *element)
{
	if (element->children)
		pd_cursor_fail(c, "a column has columns of its own");
	for (size_t i = 0; i < table->column_count && !c->failed; i++) {
		const struct pd_table_column *column = &table->columns[i];

		if (element->name.size != strlen(column->name) ||
		    memcmp(element->name.data, column->name, element->name.size) != 0)
			continue;
		if (element->type != pd_parquet_kinds[column->type].type ||
		    (element->repetition != PD_PARQUET_OPTIONAL && element->repetition != PD_PARQUET_REQUIRED))
			pd_cursor_fail(c, "a column is of another type");
		footer->columns[i] = footer->file_columns;
		footer->optional[i] = element->repetition == PD_PARQUET_OPTIONAL;
	}
	footer->file_columns++;
}

static void take_schema(struct pd_parquet_footer *footer, struct pd_cursor *c, const struct pd_table *table,
			unsigned type)
{
	uint64_t count = pd_thrift_take_list(c, type, PD_THRIFT_STRUCT);
	struct element element;

	if (footer->file_columns)
		pd_cursor_fail(c, "there are two schemas");
	for (uint64_t i = 0; i < count && !c->failed; i++) {
		take_element(c, &element);
		if (i)
			note_column(footer, c, table, &element);
	}
}

// ---- groups ----

static void take_meta(struct pd_cursor *c, struct pd_parquet_chunk *chunk)
{
	uint64_t data = 0, dictionary = 0;
	uint32_t id = 0;
	unsigned type;

	while ((type = pd_thrift_next(c, &id)) != 0)
		switch (id) {
		case 1:
			chunk->type = (uint32_t)pd_thrift_take(c, type);
			break;
		case 4:
			chunk->codec = (uint32_t)pd_thrift_take(c, type);
			break;
		case 5:
			chunk->values = (uint64_t)pd_thrift_take(c, type);
			break;
		case 7:
			chunk->size = (uint64_t)pd_thrift_take(c, type);
			break;
		case 9:
			data = (uint64_t)pd_thrift_take(c, type);
			break;
		case 11:
			dictionary = (uint64_t)pd_thrift_take(c, type);
			break;
		default:
			pd_thrift_skip(c, type);
		}
	chunk->at = dictionary && dictionary < data ? dictionary : data;
}

static void take_chunk(struct pd_cursor *c, struct pd_parquet_chunk *chunk)
{
	uint32_t id = 0;
	unsigned type;

	*chunk = (struct pd_parquet_chunk){ 0 };
	while ((type = pd_thrift_next(c, &id)) != 0)
		if (id == 3 && type == PD_THRIFT_STRUCT)
			take_meta(c, chunk);
		else
			pd_thrift_skip(c, type);
}

static void take_chunks(struct pd_parquet_footer *footer, struct pd_cursor *c, unsigned type)
{
	uint64_t count = pd_thrift_take_list(c, type, PD_THRIFT_STRUCT);

	if (count != footer->file_columns)
		pd_cursor_fail(c, "a group has not the columns of the schema");
	for (uint64_t i = 0; i < count && !c->failed; i++)
		if (!PD_GROW(footer->chunks, footer->chunk_capacity, footer->chunk_count + 1))
			pd_cursor_fail_memory(c);
		else
			take_chunk(c, &footer->chunks[footer->chunk_count++]);
}

static void take_group(struct pd_parquet_footer *footer, struct pd_cursor *c)
{
	struct pd_parquet_group group = { .first = footer->chunk_count };
	uint32_t id = 0;
	unsigned type;

	while ((type = pd_thrift_next(c, &id)) != 0)
		if (id == 1 && footer->chunk_count == group.first)
			take_chunks(footer, c, type);
		else if (id == 3)
			group.rows = (uint64_t)pd_thrift_take(c, type);
		else
			pd_thrift_skip(c, type);
	if (footer->chunk_count != group.first + footer->file_columns)
		pd_cursor_fail(c, "a group has no columns");
	if (!PD_GROW(footer->groups, footer->group_capacity, footer->group_count + 1))
		pd_cursor_fail_memory(c);
	else
		footer->groups[footer->group_count++] = group;
}

static void take_groups(struct pd_parquet_footer *footer, struct pd_cursor *c, unsigned type)
{
	uint64_t count = pd_thrift_take_list(c, type, PD_THRIFT_STRUCT);

	for (uint64_t i = 0; i < count && !c->failed; i++)
		take_group(footer, c);
}

// ---- all ----

static bool begin(struct pd_parquet_footer *footer, const struct pd_table *table)
{
	*footer = (struct pd_parquet_footer){ .column_count = table->column_count };
	footer->columns = pd_alloc((table->column_count + 1) * sizeof(*footer->columns));
	footer->optional = pd_alloc(table->column_count + 1);
	for (size_t i = 0; footer->columns && i < table->column_count; i++)
		footer->columns[i] = SIZE_MAX;
	return footer->columns && footer->optional;
}

enum pd_status pd_parquet_read_footer(struct pd_parquet_footer *footer, struct pd_cursor *c,
				      const struct pd_table *table)
{
	uint32_t id = 0;
	unsigned type;

	if (!begin(footer, table))
		pd_cursor_fail_memory(c);
	while ((type = pd_thrift_next(c, &id)) != 0)
		switch (id) {
		case 2:
			take_schema(footer, c, table, type);
			break;
		case 4:
			take_groups(footer, c, type);
			break;
		default:
			pd_thrift_skip(c, type);
		}
	for (size_t i = 0; i < table->column_count && !c->failed; i++)
		if (footer->columns[i] == SIZE_MAX)
			pd_cursor_fail(c, "a column is missing");
	return c->failed ? c->status : PD_OK;
}

void pd_parquet_footer_fini(struct pd_parquet_footer *footer)
{
	pd_free(footer->groups);
	pd_free(footer->chunks);
	pd_free(footer->columns);
	pd_free(footer->optional);
}
