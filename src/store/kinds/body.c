/* SPDX-License-Identifier: MIT */
/* Rows as RowBinary of ClickHouse, whose columns are those of the statement that inserts them: none is null. */
#include "store/kinds/body.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/proto.h"
#include "base/text/text.h"
#include "table/file/format.h"

enum {
	MOST_DEPTH = 4096
};

struct link {
	uint64_t parent, frame;
	bool has_parent;
};

// The stacks of a recording, to go from each to its callers.
struct chains {
	struct pd_u64_map number_of; // by stack: its link, and 1
	struct link *links;
	size_t count, capacity;
};

// ---- chains ----

static bool add_link(struct chains *chains, struct pd_sql_statement *row)
{
	struct link link;
	bool valid;
	uint64_t stack = (uint64_t)pd_store_number(row, 0, &valid);

	link.parent = (uint64_t)pd_store_number(row, 1, &link.has_parent);
	link.frame = (uint64_t)pd_store_number(row, 2, &valid);
	if (!PD_GROW(chains->links, chains->capacity, chains->count + 1))
		return false;
	chains->links[chains->count++] = link;
	return pd_u64_map_add(&chains->number_of, stack, chains->count);
}

static enum pd_status read_chains(struct chains *chains, struct pd_sql_database *database, struct pd_error *error)
{
	struct pd_sql_statement *row = NULL;
	const char *rest;
	enum pd_status status =
		pd_sql_sqlite.prepare(database, "SELECT stack, parent, frame FROM stacks", &row, &rest, error);

	chains->number_of.seed = pd_hash_secret();
	while (status >= 0 && (status = pd_sql_sqlite.step(row, error)) == PD_OK)
		if (!add_link(chains, row))
			status = pd_fail_memory(error);
	pd_sql_sqlite.finish(row);
	return status;
}

static void put_chain(const struct chains *chains, uint64_t stack, struct pd_text *text)
{
	uint64_t frames[MOST_DEPTH], number;
	size_t count = 0;

	while (count < MOST_DEPTH && (number = pd_u64_map_find(&chains->number_of, stack)) != 0) {
		const struct link *link = &chains->links[number - 1];

		frames[count++] = link->frame;
		if (!link->has_parent)
			break;
		stack = link->parent;
	}
	pd_proto_varint(text, count);
	for (size_t i = 0; i < count; i++)
		pd_put_le(text, frames[i], 8);
}

// ---- rows ----

static void put_value(struct pd_sql_statement *row, size_t index, enum pd_store_type type, const struct chains *chains,
		      struct pd_text *text)
{
	struct pd_sql_value value;
	bool valid;
	uint64_t number = (uint64_t)pd_store_number(row, index, &valid);

	switch (type) {
	case PD_STORE_NAME:
	case PD_STORE_TEXT:
		pd_sql_sqlite.value(row, index, &value);
		valid = value.kind == PD_SQL_TEXT;
		pd_proto_varint(text, valid ? value.size : 0);
		if (valid)
			pd_text_put(text, value.data, value.size);
		break;
	case PD_STORE_CHAIN:
		put_chain(chains, number, text);
		break;
	case PD_STORE_U64:
	case PD_STORE_S64:
		pd_put_le(text, number, 8);
		break;
	default:
		pd_put_le(text, number, 4);
	}
}

static bool is_left_out(const struct pd_store_part *part, struct pd_sql_statement *row,
			const struct pd_u64_map *without)
{
	const struct pd_store_column *column;
	bool valid;

	for (size_t i = 0; without && (column = pd_store_part_column(part, i)) != NULL; i++)
		if (!strcmp(column->name, "stack"))
			return pd_u64_map_find(without, (uint64_t)pd_store_number(row, i, &valid));
	return false;
}

static bool has_chains(const struct pd_store_part *part)
{
	const struct pd_store_column *column;

	for (size_t i = 0; (column = pd_store_part_column(part, i)) != NULL; i++)
		if (column->type == PD_STORE_CHAIN)
			return true;
	return false;
}

static void put_row(const struct pd_store_part *part, struct pd_sql_statement *row, const struct chains *chains,
		    struct pd_text *text)
{
	const struct pd_store_column *column;

	for (size_t i = 0; (column = pd_store_part_column(part, i)) != NULL; i++)
		put_value(row, i, column->type, chains, text);
}

enum pd_status pd_store_put_body(struct pd_sql_database *database, const struct pd_store_part *part,
				 const struct pd_u64_map *without, struct pd_text *text, uint64_t *rows_out,
				 struct pd_error *error)
{
	struct chains chains = { .count = 0 };
	struct pd_sql_statement *row = NULL;
	enum pd_status status = has_chains(part) ? read_chains(&chains, database, error) : PD_OK;

	if (status >= 0)
		status = pd_store_part_open(database, part, &row, error);
	*rows_out = 0;
	while (status >= 0 && (status = pd_sql_sqlite.step(row, error)) == PD_OK) {
		if (is_left_out(part, row, without))
			continue;
		put_row(part, row, &chains, text);
		++*rows_out;
	}
	pd_sql_sqlite.finish(row);
	pd_u64_map_fini(&chains.number_of);
	pd_free(chains.links);
	return status >= 0 && text->failed ? pd_fail_memory(error) : status;
}
