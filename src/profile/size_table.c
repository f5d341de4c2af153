/* SPDX-License-Identifier: MIT */
/*
 * Sizes of a profile that is read in several ways, side by side: what a frame for each address costs, and what is saved
 * where addresses without a function are one.
 */
#include <perfdata/json.h>
#include <perfdata/profile.h>

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* Ways to read the same samples. */
static const struct way {
	const char *name;
	uint32_t by;
	bool unnamed_as_one;
} ways[] = {
	{ "by address", PD_BY_ADDRESS, false },
	{ "by function", 0, false },
	{ "unnamed as one", 0, true },
};

enum {
	WAYS = sizeof(ways) / sizeof(ways[0]),
	MOST_TABLES = 1, /* the way that has all of them */
	NAME_WIDTH = 28,
	WIDTH = 16
};

struct column {
	struct pd_profile_sizes sizes;
	struct pd_profile_table *tables; /* copies of those of sizes */
};

struct pd_size_table {
	struct column columns[WAYS];
	size_t count;
};

static const struct count {
	const char *name, *json;
	size_t offset;
} counts[] = {
#define COUNT(name, member)                                              \
	{                                                                \
		name, #member, offsetof(struct pd_profile_sizes, member) \
	}
	COUNT("samples", samples),           COUNT("buckets", buckets),
	COUNT("distinct stacks", stacks),    COUNT("nodes of the tree of stacks", nodes),
	COUNT("distinct frames", frames),    COUNT("functions", functions),
	COUNT("names of functions", names),  COUNT("frames without a function", unnamed_frames),
	COUNT("bytes of all tables", bytes), COUNT("bytes of stacks", stack_bytes),
#undef COUNT
};

/* Bytes of stacks for each of these. */
static const struct count shares[] = {
	{ "for each stack", "bytes_per_stack", offsetof(struct pd_profile_sizes, stacks) },
	{ "for each node", "bytes_per_node", offsetof(struct pd_profile_sizes, nodes) },
	{ "for each bucket", "bytes_per_bucket", offsetof(struct pd_profile_sizes, buckets) },
};

static uint64_t number_of(const struct column *column, const struct count *count)
{
	uint64_t number;

	memcpy(&number, (const char *)&column->sizes + count->offset, sizeof(number));
	return number;
}

static double share_of(const struct column *column, const struct count *count)
{
	uint64_t number = number_of(column, count);

	return number ? (double)column->sizes.stack_bytes / (double)number : 0;
}

/* ---- measuring ---- */

enum pd_status pd_size_table_new(struct pd_size_table **table_out, struct pd_error *error)
{
	struct pd_size_table *table = pd_alloc(sizeof(*table));

	if (!table)
		return pd_fail_memory(error);
	*table_out = table;
	return PD_OK;
}

void pd_size_table_free(struct pd_size_table *table)
{
	for (size_t i = 0; table && i < table->count; i++)
		pd_free(table->columns[i].tables);
	pd_free(table);
}

bool pd_size_table_ask(const struct pd_size_table *table, struct pd_profile_options *options)
{
	if (table->count == WAYS)
		return false;
	options->by |= ways[table->count].by;
	options->unnamed_as_one = ways[table->count].unnamed_as_one;
	if (ways[table->count].by & PD_BY_ADDRESS)
		options->merge_below = 0;
	return true;
}

enum pd_status pd_size_table_add(struct pd_size_table *table, struct pd_profile *profile,
				 const struct pd_symbols *symbols, struct pd_error *error)
{
	const struct pd_profile_sizes *sizes;
	struct column *column = &table->columns[table->count];
	enum pd_status status;

	if (table->count == WAYS)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "all ways are measured");
	status = pd_profile_measure(profile, symbols, &sizes, error);
	if (status < 0)
		return status;
	column->sizes = *sizes;
	column->tables = pd_alloc((sizes->tables.count + 1) * sizeof(*column->tables));
	if (!column->tables)
		return pd_fail_memory(error);
	for (size_t i = 0; i < sizes->tables.count; i++)
		column->tables[i] = *PD_ITEM(pd_profile_table, sizes->tables, i);
	table->count++;
	return PD_OK;
}

/* ---- printing ---- */

static void print_numbers(struct pd_text *text, const struct column *columns)
{
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		pd_text_printf(text, "%-*s", NAME_WIDTH, counts[i].name);
		for (size_t k = 0; k < WAYS; k++)
			pd_text_printf(text, "%*" PRIu64, WIDTH, number_of(&columns[k], &counts[i]));
		pd_text_printf(text, "\n");
	}
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
		pd_text_printf(text, "  %-*s", NAME_WIDTH - 2, shares[i].name);
		for (size_t k = 0; k < WAYS; k++)
			pd_text_printf(text, "%*.1f", WIDTH, share_of(&columns[k], &shares[i]));
		pd_text_printf(text, "\n");
	}
}

/* NULL if a profile does not have the table. */
static const struct pd_profile_table *find_table(const struct column *column, const char *name)
{
	for (size_t i = 0; i < column->sizes.tables.count; i++)
		if (strcmp(column->tables[i].name, name) == 0)
			return &column->tables[i];
	return NULL;
}

static void print_tables(struct pd_text *text, const struct column *columns, const char *title, bool while_reading)
{
	const struct column *first = &columns[MOST_TABLES];

	pd_text_printf(text, "\n%s\n", title);
	for (size_t i = 0; i < first->sizes.tables.count; i++) {
		const struct pd_profile_table *table = &first->tables[i], *other;

		if (table->while_reading != while_reading)
			continue;
		pd_text_printf(text, "%-*s", NAME_WIDTH, table->name);
		for (size_t k = 0; k < WAYS; k++) {
			other = find_table(&columns[k], table->name);
			pd_text_printf(text, "%*" PRIu64, WIDTH, other ? other->bytes : 0);
		}
		pd_text_printf(text, "  %s\n", table->doc);
	}
}

void pd_size_table_text(const struct pd_size_table *table, struct pd_text *text)
{
	const struct column *columns = table->columns;

	pd_text_printf(text, "%-*s", NAME_WIDTH, "");
	for (size_t k = 0; k < WAYS; k++)
		pd_text_printf(text, "%*s", WIDTH, ways[k].name);
	pd_text_printf(text, "\n");
	print_numbers(text, columns);
	print_tables(text, columns, "bytes, while samples are read", true);
	print_tables(text, columns, "bytes, until the end", false);
}

static void print_json_tables(struct pd_json *json, const struct column *column)
{
	pd_json_open(json, "tables", '[');
	for (size_t i = 0; i < column->sizes.tables.count; i++) {
		const struct pd_profile_table *table = &column->tables[i];

		pd_json_open(json, NULL, '{');
		pd_json_string(json, "name", table->name);
		pd_json_number(json, "count", table->count);
		pd_json_number(json, "bytes", table->bytes);
		pd_json_bool(json, "stacks", table->stacks);
		pd_json_bool(json, "while_reading", table->while_reading);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
}

void pd_size_table_json(const struct pd_size_table *table, struct pd_text *text)
{
	const struct column *columns = table->columns;
	struct pd_json json = { .text = text };

	pd_json_open(&json, NULL, '{');
	pd_json_open(&json, "profiles", '[');
	for (size_t k = 0; k < WAYS; k++) {
		pd_json_open(&json, NULL, '{');
		pd_json_string(&json, "way", ways[k].name);
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
			pd_json_number(&json, counts[i].json, number_of(&columns[k], &counts[i]));
		for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
			pd_json_double(&json, shares[i].json, share_of(&columns[k], &shares[i]));
		print_json_tables(&json, &columns[k]);
		pd_json_close(&json, '}');
	}
	pd_json_close(&json, ']');
	pd_json_close(&json, '}');
	pd_text_printf(text, "\n");
}
