/* SPDX-License-Identifier: MIT */
#include "store/kinds/rows.h"

#include <inttypes.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"

enum {
	ONCE,
	DAY,
	SECONDS = 86400 // of a day
};

#define TABLE(table, BY) static const struct pd_store_column table##_columns[] = {
#define COLUMN(table, name, expression, TYPE, IN) { #name, expression, PD_STORE_##TYPE, PD_STORE_##IN },
#define END(table) \
	}          \
	;
#include "store/kinds/rows.def"

const struct pd_store_table pd_store_tables[PD_STORE_TABLES] = {
#define TABLE(table, BY) { #table, BY == DAY, table##_columns, sizeof(table##_columns) / sizeof(table##_columns[0]) },
#include "store/kinds/rows.def"
};

const struct pd_store_column *pd_store_part_column(const struct pd_store_part *part, size_t index)
{
	for (size_t i = 0; i < part->table->column_count; i++)
		if (part->table->columns[i].in & part->in && !index--)
			return &part->table->columns[i];
	return NULL;
}

enum pd_status pd_store_part_open(struct pd_sql_database *database, const struct pd_store_part *part,
				  struct pd_sql_statement **row_out, struct pd_error *error)
{
	const struct pd_store_column *column;
	struct pd_text text = { 0 };
	const char *rest;
	enum pd_status status;

	for (size_t i = 0; (column = pd_store_part_column(part, i)) != NULL; i++)
		pd_text_printf(&text, "%s%s", i ? ", " : "SELECT ", column->expression);
	pd_text_printf(&text, " FROM %s", part->table->name);
	if (part->table->by_day)
		pd_text_printf(&text, " WHERE time / %d = %" PRId64, SECONDS, part->day);
	else if (part->in == PD_STORE_SERVER && part->table == &pd_store_tables[PD_STORE_TABLE_stacks])
		PD_TEXT_LITERAL(&text, " WHERE stack IN (SELECT stack FROM samples)"); // the others are parts of these
	pd_text_char(&text, 0);
	status = text.failed ? pd_fail_memory(error) :
			       pd_sql_sqlite.prepare(database, text.data, row_out, &rest, error);
	pd_free(text.data);
	return status;
}

int64_t pd_store_number(struct pd_sql_statement *row, size_t column, bool *valid_out)
{
	struct pd_sql_value value;

	pd_sql_sqlite.value(row, column, &value);
	*valid_out = value.kind == PD_SQL_INTEGER;
	return *valid_out ? value.integer : 0;
}

static enum pd_status each_day(struct pd_sql_database *database, struct pd_store_part *part, pd_store_part_fn *put,
			       void *self, struct pd_error *error)
{
	struct pd_sql_statement *row = NULL;
	const char *rest;
	bool valid;
	enum pd_status status = pd_sql_sqlite.prepare(database, "SELECT DISTINCT time / 86400 FROM samples ORDER BY 1",
						      &row, &rest, error);

	while (status >= 0 && (status = pd_sql_sqlite.step(row, error)) == PD_OK) {
		part->day = pd_store_number(row, 0, &valid);
		status = put(self, part, error);
	}
	pd_sql_sqlite.finish(row);
	return status < 0 ? status : PD_OK;
}

enum pd_status pd_store_each_part(struct pd_sql_database *database, unsigned in, pd_store_part_fn *put, void *self,
				  struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t i = 0; status >= 0 && i < PD_STORE_TABLES; i++) {
		struct pd_store_part part = { .table = &pd_store_tables[i], .in = in };

		status = part.table->by_day ? each_day(database, &part, put, self, error) : put(self, &part, error);
	}
	return status < 0 ? status : PD_OK;
}
