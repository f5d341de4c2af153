/* SPDX-License-Identifier: MIT */
/* The inside of SQL over recordings: the tables of all files as one source for the engine. */
#ifndef PD_SQL_SQL_H
#define PD_SQL_SQL_H

#include <perfdata/sql.h>

#include "sql/engine.h"
#include "table/scan.h"

// A table of all files that have it.
struct pd_sql_joined {
	const struct pd_table **tables; // by file; NULL: it has none
	size_t **columns;               // by file: column of its table, SIZE_MAX: it has none
};

struct pd_sql_file {
	struct pd_file *file;
	struct pd_table_set *set;
};

struct pd_sql {
	struct pd_sql_file *files;
	size_t file_count;
	struct pd_arena arena;
	struct pd_sql_table *tables; // the last column is `file`
	struct pd_sql_joined *joined;
	size_t table_count;
	struct pd_sql_source source;
	struct pd_sql_database *database;
	struct pd_text *text; // what a function gives
};

// Makes source of files. PD_ERROR_MEMORY.
enum pd_status pd_sql_join(struct pd_sql *sql, struct pd_error *error);
extern const struct pd_sql_function pd_sql_functions[];
enum pd_status pd_sql_run_on(struct pd_sql_database *database, const char *statements, enum pd_sql_format format,
			     struct pd_text *text, struct pd_error *error);
// Rows of a statement.
enum pd_status pd_sql_print_rows(struct pd_sql_statement *statement, enum pd_sql_format format, struct pd_text *text,
				 struct pd_error *error);

#endif
