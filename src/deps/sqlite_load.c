/* SPDX-License-Identifier: MIT */
/*
 * SQLite is loaded when the first question is asked: most commands ask none, and loading takes a third of a millisecond. A program
 * without shared libraries has it linked.
 *
 * Its functions are those that SQLite hands to its own extensions, in one table: an extension is registered, and the next database
 * that is opened calls it.
 */
#include "deps/sqlite.h"

#ifdef STATIC_PROGRAM

enum pd_status pd_sqlite_load(struct pd_error *error)
{
	(void)error;
	return PD_OK;
}

#else

#include <dlfcn.h>
#include <string.h>

enum {
	LEAST_VERSION = 3038000 // older tables end before sqlite3_vtab_in
};

struct calls {
	int (*auto_extension)(void (*extension)(void));
	int (*cancel_auto_extension)(void (*extension)(void));
	int (*open_db)(const char *name, sqlite3 **db_out);
	int (*close_db)(sqlite3 *db);
	int (*version)(void);
};

const sqlite3_api_routines *pd_sqlite_functions;

// Written once: who has seen it reads it without another look.
static int note_functions(sqlite3 *db, char **message, const sqlite3_api_routines *functions)
{
	const sqlite3_api_routines *none = NULL;

	(void)db;
	(void)message;
	__atomic_compare_exchange_n(&pd_sqlite_functions, &none, functions, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	return SQLITE_OK;
}

// C has no conversion between pointers to functions and to data, but the addresses are of one size.
static bool find_call(void *library, const char *name, void *function_out)
{
	void *address = dlsym(library, name);

	memcpy(function_out, &address, sizeof(address));
	return address;
}

static bool find_calls(void *library, struct calls *calls)
{
	return find_call(library, "sqlite3_auto_extension", &calls->auto_extension) &&
	       find_call(library, "sqlite3_cancel_auto_extension", &calls->cancel_auto_extension) &&
	       find_call(library, "sqlite3_open", &calls->open_db) &&
	       find_call(library, "sqlite3_close", &calls->close_db) &&
	       find_call(library, "sqlite3_libversion_number", &calls->version);
}

// Code of the extension's own type goes through one without arguments, as SQLite wants it.
static int ask_for_functions(const struct calls *calls)
{
	void (*extension)(void) = (void (*)(void))note_functions;
	sqlite3 *db = NULL;
	int code = calls->auto_extension(extension);

	if (code == SQLITE_OK) {
		code = calls->open_db(":memory:", &db);
		calls->close_db(db);
		calls->cancel_auto_extension(extension);
	}
	return code;
}

enum pd_status pd_sqlite_load(struct pd_error *error)
{
	struct calls calls;
	void *library;
	int code;

	if (__atomic_load_n(&pd_sqlite_functions, __ATOMIC_ACQUIRE))
		return PD_OK;
	library = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!library)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "SQL needs libsqlite3: %s", dlerror());
	if (!find_calls(library, &calls) || calls.version() < LEAST_VERSION) {
		dlclose(library);
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "SQL needs libsqlite3 of 3.38 or newer");
	}
	code = ask_for_functions(&calls);
	dlclose(library);
	if (code == SQLITE_NOMEM)
		return pd_fail_memory(error);
	if (code != SQLITE_OK)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "libsqlite3 opens no database: error %d",
			       code);
	if (!__atomic_load_n(&pd_sqlite_functions, __ATOMIC_ACQUIRE))
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "this libsqlite3 takes no extensions");
	return PD_OK;
}

#endif
