/* SPDX-License-Identifier: MIT */
/* What a store of SQLite that has one recording alone has in it, as rows for other kinds of stores. */
#ifndef PD_STORE_KINDS_ROWS_H
#define PD_STORE_KINDS_ROWS_H

#include "store/store.h"

enum pd_store_type {
	PD_STORE_U32,
	PD_STORE_S32,
	PD_STORE_U64,
	PD_STORE_S64,
	PD_STORE_NAME, // a string of which there are few
	PD_STORE_TEXT,
	PD_STORE_TIME, // seconds since 1970
	PD_STORE_CHAIN // the frames of a stack, innermost first; read as the stack
};

// Kinds of stores.
enum {
	PD_STORE_FOLDER = 1,
	PD_STORE_SERVER = 2,
	PD_STORE_ALL = 3
};

struct pd_store_column {
	const char *name, *expression;
	enum pd_store_type type;
	unsigned in;
};

struct pd_store_table {
	const char *name;
	bool by_day;
	const struct pd_store_column *columns;
	size_t column_count;
};

enum {
#define TABLE(table, BY) PD_STORE_TABLE_##table,
#include "store/kinds/rows.def"
	PD_STORE_TABLES
};
extern const struct pd_store_table pd_store_tables[PD_STORE_TABLES];

// A table, or a day of it, in a kind of store.
struct pd_store_part {
	const struct pd_store_table *table;
	unsigned in;
	int64_t day; // since 1970; only of tables by day
};

// The index-th column of a part; NULL past the end.
const struct pd_store_column *pd_store_part_column(const struct pd_store_part *part, size_t index);
// Prepares its rows, with these columns.
enum pd_status pd_store_part_open(struct pd_sql_database *database, const struct pd_store_part *part,
				  struct pd_sql_statement **row_out, struct pd_error *error);

typedef enum pd_status pd_store_part_fn(void *self, const struct pd_store_part *part, struct pd_error *error);
// Calls put for each part of each table, in their order, until it fails.
enum pd_status pd_store_each_part(struct pd_sql_database *database, unsigned in, pd_store_part_fn *put, void *self,
				  struct pd_error *error);

// The value of a column as a number: saturated, 0 if it is none.
int64_t pd_store_number(struct pd_sql_statement *row, size_t column, bool *valid_out);

#endif
