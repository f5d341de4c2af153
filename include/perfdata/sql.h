/* SPDX-License-Identifier: MIT */
/**
 * sql.h - questions about recordings in SQL: the tables of table.h, evaluated by SQLite.
 *
 * The tables are read while a statement runs; conditions on time, event, process, thread, CPU and type of record narrow what is read.
 * Statements open no file: databases cannot be attached, extensions not loaded. Several recordings are one: each table has a column
 * `file`. Unsigned numbers of 64 bits above 2^63 are negative, as SQLite has signed ones only; address(x) prints them.
 *
 * Functions: symbol(ip [, pid [, time_ns [, file]]]) and object(the same), stack_text(stack), wall_clock(time_ns [, file]),
 * address(number).
 *
 * Example:
 *
 *	struct pd_sql *sql;
 *
 *	if (pd_sql_new(&file, 1, NULL, &sql, &error) == PD_OK) {
 *		pd_sql_run(sql, "select event, count(*) from samples group by event", PD_SQL_CSV, text, &error);
 *		pd_sql_free(sql);
 *	}
 */
#ifndef PERFDATA_SQL_H
#define PERFDATA_SQL_H

#include <perfdata/table.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

enum pd_sql_format {
	PD_SQL_COLUMNS, /* for people: aligned, with a header */
	PD_SQL_CSV,     /* with a header */
	PD_SQL_JSONL    /* an object for each row */
};

struct pd_sql;

/** Zero is the default for each member; NULL means all defaults. */
struct pd_sql_options {
	size_t size;                    /* sizeof(struct pd_sql_options) */
	struct pd_table_options tables; /* tables.size may be 0: all defaults */
	size_t self_stride;             /* bytes */
	/* See pd_table_choose_place. May be NULL. */
	bool (*choose_place)(const void *self, const struct pd_place *place);
};
/** Opens tables over files, which must outlive it. options are those of each set of tables; self of its functions is
 * options->self + i * self_stride for the i-th file. Errors: PD_ERROR_UNSUPPORTED if SQLite is not built in or cannot be loaded; those of
 * pd_table_set_new. */
PD_API enum pd_status pd_sql_new(struct pd_file *const *files, size_t count, const struct pd_sql_options *options,
				 struct pd_sql **sql_out, struct pd_error *error);
/** NULL is fine. */
PD_API void pd_sql_free(struct pd_sql *sql);
/** Runs the statements of a text, which ends with a NUL, and prints their rows. The text's sink is called now and then.
 * Errors: PD_ERROR_ARGUMENT: the statement is wrong, or not allowed; PD_ERROR_MEMORY; PD_ERROR_OUTPUT; those of reading. */
PD_API enum pd_status pd_sql_run(struct pd_sql *sql, const char *statements, enum pd_sql_format format,
				 struct pd_text *text, struct pd_error *error);
/** Whether a text ends with the end of a statement, so that it can be run. */
PD_API bool pd_sql_is_complete(const char *statements);
/** Copies all tables into a plain SQLite file, which is new or empty. Errors: as pd_sql_run. */
PD_API enum pd_status pd_sql_save(struct pd_sql *sql, const char *path, struct pd_error *error);
/** Prints the tables, or the columns of one (NULL: of all), as a shell does. */
PD_API void pd_sql_print_tables(const struct pd_sql *sql, struct pd_text *text);
PD_API void pd_sql_print_schema(const struct pd_sql *sql, const char *table, struct pd_text *text);

/** A query that is there already. The strings are constants. */
struct pd_sql_query {
	const char *name; /* "top-functions" */
	const char *doc;
	const char *text;
	const char *needs; /* a table that a recording may lack, or NULL */
};
/** The index-th query; false past the end. */
PD_API bool pd_sql_query_at(size_t index, struct pd_sql_query *query_out);

/** Prints the names of all queries, with what they are about. */
PD_API void pd_sql_print_queries(struct pd_text *text);

/** Prints the tables that all recordings have, with their columns, and the queries, as a page in Markdown. */
PD_API void pd_sql_print_manual(struct pd_text *text);

/* ---- what people type ---- */

/** Whether an argument is a statement for pd_sql_ask, and not the name of a file. */
PD_API bool pd_sql_is_statement(const char *word);
/** Runs statements, a query ("@top-functions"), or ".tables" and ".schema". Errors: as pd_sql_run; PD_ERROR_ARGUMENT: there is no such
 * query. */
PD_API enum pd_status pd_sql_ask(struct pd_sql *sql, const char *statement, enum pd_sql_format format,
				 struct pd_text *text, struct pd_error *error);

struct pd_sql_shell;

struct pd_sql_shell_options {
	enum pd_sql_format format;
	pd_warn_fn *warn; /* gets commands that there are not; may be NULL */
	void *self;
};

/** A shell over tables, which must outlive it, as the text that it prints into. options may be NULL. Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_sql_shell_new(struct pd_sql *sql, const struct pd_sql_shell_options *options,
				       struct pd_text *text, struct pd_sql_shell **shell_out, struct pd_error *error);
/** NULL is fine. */
PD_API void pd_sql_shell_free(struct pd_sql_shell *shell);
/** Takes a line, without its end: a part of a statement, which is run when it is complete, a query, or a command such as ".help".
 * PD_END: the user leaves. Errors: as pd_sql_ask; the shell can go on. */
PD_API enum pd_status pd_sql_shell_line(struct pd_sql_shell *shell, const char *line, struct pd_error *error);
/** Whether a statement has begun and is not complete. */
PD_API bool pd_sql_shell_waits(const struct pd_sql_shell *shell);
/** What to show before the next line. A constant. */
PD_API const char *pd_sql_shell_prompt(const struct pd_sql_shell *shell);
/** Keeps what is asked in a file, whose folders are made, for ".history" and for "!NUMBER", which asks it again; otherwise it is known
 * until the shell ends. Errors: PD_ERROR_SYSTEM. */
PD_API enum pd_status pd_sql_shell_remember(struct pd_sql_shell *shell, const char *path, struct pd_error *error);
/** Runs a statement that has begun: there are no more lines. Errors: as pd_sql_ask. */
PD_API enum pd_status pd_sql_shell_end(struct pd_sql_shell *shell, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
