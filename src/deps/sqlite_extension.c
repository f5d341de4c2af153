/* SPDX-License-Identifier: MIT */
/*
 * An extension for programs that have SQLite: .load libperfdata_sqlite, then
 *   CREATE VIRTUAL TABLE temp.samples USING perfdata('perf.data', 'samples')
 * The functions of SQLite are those of that program.
 */
#include "deps/sqlite.h"

#include <perfdata/file.h>

#include <string.h>

#include "sql/sql.h"

enum {
	LEAST_VERSION = 3038000
};

// A recording that a table reads.
struct opened {
	struct pd_sql_database database; // first
	struct pd_file *file;
	struct pd_sql *sql;
};

static void close_opened(struct opened *opened)
{
	if (!opened)
		return;
	pd_sql_free(opened->sql);
	pd_file_close(opened->file);
	pd_free(opened);
}

// An argument as it was meant: without quotes. To be freed.
static char *take_argument(const char *argument)
{
	char quote = *argument == '\'' || *argument == '"' ? *argument : 0, *text = pd_alloc(strlen(argument) + 1);
	size_t size = 0;

	if (!text)
		return NULL;
	for (const char *at = argument + (quote != 0); *at; at++) {
		if (quote && *at == quote && at[1] != quote)
			break;
		at += quote && *at == quote;
		text[size++] = *at;
	}
	text[size] = 0;
	return text;
}

static enum pd_status open_recording(struct opened *opened, const char *path, struct pd_error *error)
{
	enum pd_status status = pd_file_open(path, NULL, &opened->file, error);

	if (status >= 0)
		status = pd_sql_new(&opened->file, 1, NULL, &opened->sql, error);
	if (status >= 0)
		opened->database.source = &opened->sql->source;
	return status;
}

static enum pd_status find_table(const struct opened *opened, const char *name, size_t *number_out,
				 struct pd_error *error)
{
	for (*number_out = 0; *number_out < opened->sql->table_count; ++*number_out)
		if (sqlite3_stricmp(opened->sql->tables[*number_out].name, name) == 0)
			return PD_OK;
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the recording has no table '%s'", name);
}

static int connect_named(sqlite3 *db, const char *path, const char *name, sqlite3_vtab **table_out, char **error_out)
{
	struct opened *opened = pd_alloc(sizeof(*opened));
	struct pd_error error = { .message = "out of memory" };
	size_t number = 0;
	int code = SQLITE_ERROR;
	enum pd_status status = opened && path && name ? open_recording(opened, path, &error) : PD_ERROR_MEMORY;

	if (status >= 0)
		status = find_table(opened, name, &number, &error);
	if (status < 0)
		*error_out = sqlite3_mprintf("%s", error.message);
	if (status >= 0) {
		opened->database.db = db;
		code = pd_sqlite_connect(&opened->database, number, table_out);
	}
	if (code != SQLITE_OK)
		close_opened(opened);
	return code;
}

// It opens a file that SQL names, which a database that somebody else made may not do.
static int connect_table(sqlite3 *db, void *self, int argc, const char *const *argv, sqlite3_vtab **table_out,
			 char **error_out)
{
	char *path = argc > 3 ? take_argument(argv[3]) : NULL, *name = take_argument(argc > 4 ? argv[4] : "samples");
	int code = argc == 4 || argc == 5 ? sqlite3_vtab_config(db, SQLITE_VTAB_DIRECTONLY) : SQLITE_MISUSE;

	(void)self;
	if (code == SQLITE_MISUSE)
		*error_out = sqlite3_mprintf("perfdata('FILE', 'TABLE')");
	else if (code == SQLITE_OK)
		code = connect_named(db, path, name, table_out, error_out);
	pd_free(path);
	pd_free(name);
	return code;
}

static int disconnect_table(sqlite3_vtab *table)
{
	struct pd_sql_database *database = pd_sqlite_database_of(table);

	sqlite3_free(table);
	close_opened((struct opened *)database);
	return SQLITE_OK;
}

static sqlite3_module module; // filled once

__attribute__((visibility("default"))) int sqlite3_extension_init(sqlite3 *db, char **error_out,
								  const sqlite3_api_routines *functions);

int sqlite3_extension_init(sqlite3 *db, char **error_out, const sqlite3_api_routines *functions)
{
	pd_sqlite_functions = functions;
	if (sqlite3_libversion_number() < LEAST_VERSION) {
		*error_out = sqlite3_mprintf("SQLite is older than 3.38");
		return SQLITE_ERROR;
	}
	module = pd_sqlite_module;
	module.xCreate = module.xConnect = connect_table;
	module.xDisconnect = module.xDestroy = disconnect_table;
	return sqlite3_create_module(db, "perfdata", &module, NULL);
}
