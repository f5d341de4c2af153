/* SPDX-License-Identifier: MIT */
/* What the files about SQLite share: databases in memory with virtual tables, and databases that are files. */
#ifndef PD_DEPS_SQLITE_H
#define PD_DEPS_SQLITE_H

#ifdef STATIC_PROGRAM
#include <sqlite3.h>
#else
// sqlite3_step(...) and all others are then functions of this table.
#define sqlite3_api pd_sqlite_functions
#include <sqlite3ext.h>
SQLITE_EXTENSION_INIT3
#endif

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"
#include "sql/engine.h"

struct pd_sql_database {
	sqlite3 *db;
	const struct pd_sql_source *source;
	enum pd_status status; // of a cursor that failed
	struct pd_error error;
	char message[400]; // of pd_sqlite_plain
};

// Before any other function of SQLite. Several threads may call it.
enum pd_status pd_sqlite_load(struct pd_error *error);
// A text for a message, valid until the next one. It may have names of a file in it, which are any bytes: those that are not printable
// are question marks.
const char *pd_sqlite_plain(struct pd_sql_database *database, const char *said);
// The same of what went wrong last.
const char *pd_sqlite_message(struct pd_sql_database *database);
enum pd_status pd_sqlite_fail(struct pd_sql_database *database, int code, struct pd_error *error);
// A name between quotes.
void pd_sqlite_put_name(struct pd_text *text, const char *name);
// Refuses what reaches a file.
int pd_sqlite_authorize(void *self, int action, const char *first, const char *second, const char *database,
			const char *trigger);
// Nothing goes to temporary files, and what a database file says is not run.
int pd_sqlite_confine(sqlite3 *db);

// ---- virtual tables ----

extern const sqlite3_module pd_sqlite_module; // of databases in memory; its self is the database
// A table of a database's source, by its number, in the database's connection.
int pd_sqlite_connect(struct pd_sql_database *database, size_t number, sqlite3_vtab **table_out);
struct pd_sql_database *pd_sqlite_database_of(const sqlite3_vtab *table);

// ---- databases that are files; see engine.h ----

enum pd_status pd_sqlite_save(struct pd_sql_database *database, const char *path, struct pd_error *error);
enum pd_status pd_sqlite_change(struct pd_sql_database *database, const struct pd_sql_change *change,
				struct pd_error *error);
enum pd_status pd_sqlite_open(const char *path, const struct pd_sql_source *source,
			      struct pd_sql_database **database_out, struct pd_error *error);

#endif
