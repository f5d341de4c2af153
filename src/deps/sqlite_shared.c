/* SPDX-License-Identifier: MIT */
/* What databases in memory and in files have in common: errors, names, and what may be run. */
#include "deps/sqlite.h"

const char *pd_sqlite_plain(struct pd_sql_database *database, const char *said)
{
	size_t length = strlen(said), at = 0, plain;

	for (size_t i = 0; i < length; i += plain ? plain : 1) {
		plain = pd_text_plain(said + i, length - i);
		if (at + plain + 1 >= sizeof(database->message))
			break;
		memcpy(database->message + at, plain ? said + i : "?", plain ? plain : 1);
		at += plain ? plain : 1;
	}
	database->message[at] = 0;
	return database->message;
}

const char *pd_sqlite_message(struct pd_sql_database *database)
{
	return pd_sqlite_plain(database, sqlite3_errmsg(database->db));
}

// As SQLite has it.
static bool is_overflow(struct pd_sql_database *database, int code)
{
	return code == SQLITE_ERROR && database->db && !strcmp(sqlite3_errmsg(database->db), "integer overflow");
}

enum pd_status pd_sqlite_fail(struct pd_sql_database *database, int code, struct pd_error *error)
{
	enum pd_status status = database->status;

	database->status = PD_OK;
	if (status < 0) {
		if (error)
			*error = database->error;
		return status;
	}
	if (code == SQLITE_NOMEM)
		return pd_fail_memory(error);
	if (is_overflow(database, code))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "integer overflow: sum() has 63 bits; total() adds up floating point numbers");
	return pd_fail(error, code == SQLITE_FULL || code == SQLITE_IOERR ? PD_ERROR_OUTPUT : PD_ERROR_ARGUMENT,
		       PD_NO_OFFSET, "%s", database->db ? pd_sqlite_message(database) : "out of memory");
}

void pd_sqlite_put_name(struct pd_text *text, const char *name)
{
	pd_text_char(text, '"');
	for (; *name; name++) {
		if (*name == '"')
			pd_text_char(text, '"');
		pd_text_char(text, *name);
	}
	pd_text_char(text, '"');
}

// ---- what may be run ----

static bool is_harmless_pragma(const char *name)
{
	static const char *const harmless[] = {
		"table_info",    "table_xinfo",     "table_list",  "function_list",
		"database_list", "compile_options", "module_list", "case_sensitive_like"
	};

	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (sqlite3_stricmp(harmless[i], name) == 0)
			return true;
	return false;
}

// Nothing reaches a file but what the program itself opens. VACUUM INTO attaches one, too.
int pd_sqlite_authorize(void *self, int action, const char *first, const char *second, const char *database,
			const char *trigger)
{
	(void)self;
	(void)database;
	(void)trigger;
	switch (action) {
	case SQLITE_ATTACH:
	case SQLITE_DETACH:
	case SQLITE_CREATE_VTABLE:
	case SQLITE_DROP_VTABLE:
		return SQLITE_DENY;
	case SQLITE_PRAGMA:
		return is_harmless_pragma(first) ? SQLITE_OK : SQLITE_DENY;
	case SQLITE_FUNCTION:
		return sqlite3_stricmp(second, "load_extension") == 0 ? SQLITE_DENY : SQLITE_OK;
	default:
		return SQLITE_OK;
	}
}

int pd_sqlite_confine(sqlite3 *db)
{
	int code = sqlite3_exec(db, "PRAGMA temp_store = MEMORY; PRAGMA cell_size_check = ON", NULL, NULL, NULL);

	if (code == SQLITE_OK)
		code = sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	return code;
}
