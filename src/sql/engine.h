/* SPDX-License-Identifier: MIT */
/*
 * What evaluates SQL, and what it asks about tables. The engine knows nothing of recordings, and whoever has tables nothing of the
 * engine.
 */
#ifndef PD_SQL_ENGINE_H
#define PD_SQL_ENGINE_H

#include <perfdata/base.h>

enum pd_sql_kind {
	PD_SQL_NULL,
	PD_SQL_INTEGER,
	PD_SQL_REAL,
	PD_SQL_TEXT, // UTF-8
	PD_SQL_BYTES
};

struct pd_sql_value {
	enum pd_sql_kind kind;
	bool lasting; // data stays valid as long as the source
	int64_t integer;
	double real;
	const char *data;
	size_t size;
};

enum pd_sql_op {
	PD_SQL_EQUAL,
	PD_SQL_LEAST, // the column is at least the value
	PD_SQL_MOST
};

// A condition that rows have to fulfil; the engine looks at them itself, too.
struct pd_sql_bound {
	size_t column;
	enum pd_sql_op op;
	struct pd_sql_value value;
};

// By what conditions on a column reading can be narrowed.
enum pd_sql_narrows {
	PD_SQL_NARROWS_NOT,
	PD_SQL_NARROWS_EQUAL, // leaves rows out
	PD_SQL_NARROWS_KEY,   // finds one row
	PD_SQL_NARROWS_RANGE  // leaves parts of the file out
};

struct pd_sql_column {
	const char *name;
	enum pd_sql_kind kind;
	enum pd_sql_narrows narrows;
};

struct pd_sql_table {
	const char *name;
	const struct pd_sql_column *columns;
	size_t column_count;
	uint64_t rows; // about
};

struct pd_sql_function {
	const char *name;
	int least, most; // arguments
	void (*call)(void *self, const struct pd_sql_value *arguments, size_t count, struct pd_sql_value *result_out);
};

// Rows that are equal in such columns come one after another, in this order.
struct pd_sql_group {
	size_t column;
	bool descending;
};

// How the rows of a table are wanted.
struct pd_sql_order {
	const bool *wanted; // by column
	const struct pd_sql_bound *bounds;
	size_t bound_count;
	const struct pd_sql_group *groups;
	size_t group_count;
};

// Tables and functions. What functions give is valid until the next call.
struct pd_sql_source {
	void *self; // first argument of the functions
	const struct pd_sql_table *tables;
	size_t table_count;
	const struct pd_sql_function *functions; // ends with a name of NULL
	// Whether rows can be had in groups.
	bool (*can_group)(void *self, size_t table, const struct pd_sql_order *order);
	enum pd_status (*begin)(void *self, size_t table, const struct pd_sql_order *order, void **cursor_out,
				struct pd_error *error);
	enum pd_status (*next)(void *cursor, struct pd_error *error); // PD_OK: there is a row; PD_END
	void (*cell)(void *cursor, size_t column, struct pd_sql_value *value_out);
	void (*close)(void *cursor);
};

enum {
	PD_SQL_STORE_ID = 0x70647374, // of a database file that is a store, and the version of its tables
	PD_SQL_STORE_VERSION = 1
};

struct pd_sql_parameter {
	const char *name;          // ":profile"
	struct pd_sql_value value; // an integer or text
};

// Statements over tables and a database file, which they call `store`. One that gives a row ends them: with its text as the error, or
// with PD_END if it is null.
struct pd_sql_change {
	const char *path;
	bool may_be_new;
	const char *const *statements;
	size_t count;
	const struct pd_sql_parameter *parameters;
	size_t parameter_count;
};

struct pd_sql_database;
struct pd_sql_statement;

// NULL functions: it is not built in.
struct pd_sql_engine {
	const char *name;
	const char *(*version)(void);
	// The source must outlive the database. Nothing that it runs opens a file.
	enum pd_status (*begin)(const struct pd_sql_source *source, struct pd_sql_database **database_out,
				struct pd_error *error);
	void (*close)(struct pd_sql_database *database);
	// The first statement of a text that ends with a NUL, and where the next one begins; NULL if there is only white space.
	enum pd_status (*prepare)(struct pd_sql_database *database, const char *text,
				  struct pd_sql_statement **statement_out, const char **rest_out,
				  struct pd_error *error);
	enum pd_status (*step)(struct pd_sql_statement *statement, struct pd_error *error); // PD_OK: there is a row
	size_t (*column_count)(struct pd_sql_statement *statement);
	const char *(*column_name)(struct pd_sql_statement *statement, size_t column);
	// Valid until the next step.
	void (*value)(struct pd_sql_statement *statement, size_t column, struct pd_sql_value *value_out);
	void (*finish)(struct pd_sql_statement *statement);
	// Whether a text ends with the end of a statement.
	bool (*is_complete)(const char *text);
	// Copies all tables into a database of this path, which is a new or empty file.
	enum pd_status (*save)(struct pd_sql_database *database, const char *path, struct pd_error *error);
	// All of them or none.
	enum pd_status (*change)(struct pd_sql_database *database, const struct pd_sql_change *change,
				 struct pd_error *error);
	// A store, for reading.
	enum pd_status (*open_store)(const char *path, const struct pd_sql_source *source,
				     struct pd_sql_database **database_out, struct pd_error *error);
};

extern const struct pd_sql_engine pd_sql_sqlite;

#endif
