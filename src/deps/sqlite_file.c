/* SPDX-License-Identifier: MIT */
/* Databases that are files: tables copied into a new one, changes of one that grows, and reading it. */
#include "deps/sqlite.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

enum {
	PATIENCE_MS = 30000, // while others write
	HEAD_BYTES = 100,    // which no change of the file leaves as they are
	HEAD_VERSION = 18,   // place in them
	VERSION_OF_LOGS = 2
};

// Of a file that somebody else may have made: what it would run by itself.
static void distrust(sqlite3 *db)
{
	static const int off[] = { SQLITE_DBCONFIG_ENABLE_TRIGGER, SQLITE_DBCONFIG_ENABLE_VIEW,
				   SQLITE_DBCONFIG_TRUSTED_SCHEMA };

	for (size_t i = 0; i < sizeof(off) / sizeof(off[0]); i++)
		sqlite3_db_config(db, off[i], 0, NULL);
}

// ---- a plain file ----

static int copy_table(struct pd_sql_database *database, const char *name)
{
	struct pd_text text = { 0 };
	int code;

	PD_TEXT_LITERAL(&text, "CREATE TABLE saved.");
	pd_sqlite_put_name(&text, name);
	PD_TEXT_LITERAL(&text, " AS SELECT * FROM main.");
	pd_sqlite_put_name(&text, name);
	pd_text_char(&text, 0);
	code = text.failed ? SQLITE_NOMEM : sqlite3_exec(database->db, text.data, NULL, NULL, NULL);
	pd_free(text.data);
	return code;
}

static int copy_tables(struct pd_sql_database *database)
{
	int code = sqlite3_exec(database->db, "BEGIN", NULL, NULL, NULL);

	for (size_t i = 0; code == SQLITE_OK && i < database->source->table_count; i++)
		code = copy_table(database, database->source->tables[i].name);
	return code == SQLITE_OK ? sqlite3_exec(database->db, "COMMIT", NULL, NULL, NULL) : code;
}

// The file has another name until it is complete: no journal is needed.
enum pd_status pd_sqlite_save(struct pd_sql_database *database, const char *path, struct pd_error *error)
{
	char *attach = sqlite3_mprintf("ATTACH %Q AS saved", path);
	enum pd_status status = PD_OK;
	int code = attach ? SQLITE_OK : SQLITE_NOMEM;

	sqlite3_set_authorizer(database->db, NULL, NULL);
	if (code == SQLITE_OK)
		code = sqlite3_exec(database->db, attach, NULL, NULL, NULL);
	sqlite3_free(attach);
	if (code == SQLITE_OK)
		code = sqlite3_exec(
			database->db,
			"PRAGMA saved.journal_mode = OFF; PRAGMA saved.synchronous = OFF; PRAGMA saved.user_version = 1",
			NULL, NULL, NULL);
	if (code == SQLITE_OK)
		code = copy_tables(database);
	if (code != SQLITE_OK)
		status = pd_sqlite_fail(database, code, error);
	if (!sqlite3_get_autocommit(database->db))
		sqlite3_exec(database->db, "ROLLBACK", NULL, NULL, NULL);
	sqlite3_exec(database->db, "DETACH saved", NULL, NULL, NULL);
	sqlite3_set_authorizer(database->db, pd_sqlite_authorize, database);
	return status;
}

// ---- a file that grows ----

// What keeps a file from being changed is about the output.
static enum pd_status fail_change(struct pd_sql_database *database, const char *path, int code, struct pd_error *error)
{
	int kind = code & 0xff;

	if (kind == SQLITE_NOTADB)
		return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: it is no store of perfdata", path);
	if (kind == SQLITE_READONLY || kind == SQLITE_CANTOPEN || kind == SQLITE_BUSY || kind == SQLITE_FULL ||
	    kind == SQLITE_IOERR)
		return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s: %s", path, pd_sqlite_message(database));
	return pd_sqlite_fail(database, code, error);
}

// A path is no URI and no name with a meaning.
static enum pd_status attach_file(struct pd_sql_database *database, const char *path, struct pd_error *error)
{
	char *attach = sqlite3_mprintf("ATTACH '%s%q' AS store", *path == '/' ? "" : "./", path);
	int code = attach ? sqlite3_exec(database->db, attach, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(attach);
	return code == SQLITE_OK ? PD_OK : fail_change(database, path, code, error);
}

static int read_number(sqlite3 *db, const char *statement, int64_t *number_out)
{
	sqlite3_stmt *row = NULL;
	int code = sqlite3_prepare_v2(db, statement, -1, &row, NULL);

	if (code == SQLITE_OK && sqlite3_step(row) == SQLITE_ROW)
		*number_out = sqlite3_column_int64(row, 0);
	if (row)
		code = sqlite3_finalize(row);
	return code;
}

static enum pd_status check_kind(struct pd_sql_database *database, const char *path, bool may_be_new,
				 struct pd_error *error)
{
	static const char mark[] = "PRAGMA store.application_id = 1885631348; PRAGMA store.user_version = 1";
	int64_t count = 0, id = 0, version = 0;
	int code = read_number(database->db, "SELECT count(*) FROM store.sqlite_schema", &count);

	if (code == SQLITE_OK)
		code = read_number(database->db, "PRAGMA store.application_id", &id);
	if (code == SQLITE_OK)
		code = read_number(database->db, "PRAGMA store.user_version", &version);
	if (code == SQLITE_OK && !count && may_be_new)
		code = sqlite3_exec(database->db, mark, NULL, NULL, NULL);
	else if (code == SQLITE_OK && id != PD_SQL_STORE_ID)
		return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: it is no store of perfdata", path);
	else if (code == SQLITE_OK && version != PD_SQL_STORE_VERSION)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "%s: a store of version %" PRId64, path,
			       version);
	return code == SQLITE_OK ? PD_OK : fail_change(database, path, code, error);
}

// What a file has to be like until the first page is written, which is when all changes are: who changes it has its lock.
struct untouched {
	uint8_t head[HEAD_BYTES]; // of an empty file zeros
	sqlite3_int64 size;
};

// By the descriptor of SQLite: to close another one would end the lock. False if it cannot be read or has another name by now.
static bool check_file(sqlite3 *db, struct untouched *now)
{
	sqlite3_file *file = NULL;
	int moved = 0, code = sqlite3_file_control(db, "store", SQLITE_FCNTL_FILE_POINTER, &file);

	if (code != SQLITE_OK || !file || !file->pMethods)
		return false;
	*now = (struct untouched){ .size = 0 };
	code = file->pMethods->xRead(file, now->head, HEAD_BYTES, 0);
	if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ)
		return false;
	return file->pMethods->xFileSize(file, &now->size) == SQLITE_OK &&
	       sqlite3_file_control(db, "store", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK && !moved;
}

// It may have grown: what does not fit into memory is written before all else. From a write-ahead log, which somebody has chosen, pages
// are moved at any time.
static bool is_untouched(sqlite3 *db, const struct untouched *before)
{
	struct untouched now;

	if (!check_file(db, &now))
		return false;
	return before->head[HEAD_VERSION] == VERSION_OF_LOGS ||
	       (!memcmp(now.head, before->head, HEAD_BYTES) && now.size >= before->size);
}

static int bind(sqlite3_stmt *statement, const struct pd_sql_change *change)
{
	int code = SQLITE_OK;

	for (size_t i = 0; code == SQLITE_OK && i < change->parameter_count; i++) {
		const struct pd_sql_parameter *parameter = &change->parameters[i];
		int at = sqlite3_bind_parameter_index(statement, parameter->name);

		if (at && parameter->value.kind == PD_SQL_INTEGER)
			code = sqlite3_bind_int64(statement, at, parameter->value.integer);
		else if (at)
			code = sqlite3_bind_text64(statement, at, parameter->value.data, parameter->value.size,
						   SQLITE_STATIC, SQLITE_UTF8);
	}
	return code;
}

static enum pd_status end_by_row(struct pd_sql_database *database, sqlite3_stmt *statement, const char *path,
				 struct pd_error *error)
{
	const char *why = (const char *)sqlite3_column_text(statement, 0);

	return why ? pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: %s", path, pd_sqlite_plain(database, why)) :
		     PD_END;
}

static enum pd_status run_statement(struct pd_sql_database *database, const struct pd_sql_change *change, size_t index,
				    struct pd_error *error)
{
	sqlite3_stmt *statement = NULL;
	enum pd_status status = PD_OK;
	int code = sqlite3_prepare_v2(database->db, change->statements[index], -1, &statement, NULL);

	if (code == SQLITE_OK)
		code = bind(statement, change);
	if (code == SQLITE_OK)
		code = sqlite3_step(statement);
	if (code == SQLITE_ROW)
		status = end_by_row(database, statement, change->path, error);
	else if (code != SQLITE_DONE)
		status = fail_change(database, change->path, code, error);
	sqlite3_finalize(statement);
	return status;
}

static enum pd_status run_all(struct pd_sql_database *database, const struct pd_sql_change *change,
			      struct pd_error *error)
{
	struct untouched before;
	enum pd_status status;
	int code = sqlite3_exec(database->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	bool was_there = code == SQLITE_OK && check_file(database->db, &before);

	if (code != SQLITE_OK)
		return fail_change(database, change->path, code, error);
	status = check_kind(database, change->path, change->may_be_new, error);
	for (size_t i = 0; status == PD_OK && i < change->count; i++)
		status = run_statement(database, change, i, error);
	// or what went wrong is that
	if (status != PD_END && !(was_there && is_untouched(database->db, &before)))
		status = pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET,
				 "%s: somebody else changed it without its lock meanwhile", change->path);
	if (status == PD_OK) {
		code = sqlite3_exec(database->db, "COMMIT", NULL, NULL, NULL);
		status = code == SQLITE_OK ? PD_OK : fail_change(database, change->path, code, error);
	}
	if (!sqlite3_get_autocommit(database->db))
		sqlite3_exec(database->db, "ROLLBACK", NULL, NULL, NULL);
	return status;
}

enum pd_status pd_sqlite_change(struct pd_sql_database *database, const struct pd_sql_change *change,
				struct pd_error *error)
{
	enum pd_status status;

	if (!change->may_be_new && access(change->path, F_OK) != 0)
		return pd_fail(error, PD_ERROR_SYSTEM, PD_NO_OFFSET, "%s: there is no such store", change->path);
	sqlite3_set_authorizer(database->db, NULL, NULL);
	sqlite3_busy_timeout(database->db, PATIENCE_MS);
	distrust(database->db);
	status = attach_file(database, change->path, error);
	if (status >= 0)
		status = run_all(database, change, error);
	sqlite3_exec(database->db, "DETACH store", NULL, NULL, NULL);
	sqlite3_set_authorizer(database->db, pd_sqlite_authorize, database);
	return status;
}

// ---- reading ----

static int open_with(struct pd_sql_database *database, const char *path, int flags, int64_t *id, int64_t *version)
{
	int code = sqlite3_open_v2(path, &database->db, flags, NULL);

	if (code == SQLITE_OK)
		code = pd_sqlite_confine(database->db);
	if (code == SQLITE_OK) {
		distrust(database->db);
		code = sqlite3_busy_timeout(database->db, PATIENCE_MS);
	}
	if (code == SQLITE_OK)
		code = read_number(database->db, "PRAGMA application_id", id);
	return code == SQLITE_OK ? read_number(database->db, "PRAGMA user_version", version) : code;
}

// A journal may end with the name of a file that is deleted when it is undone; ours do not. https://www.sqlite.org/fileformat.html
static bool is_plain_journal(const char *path)
{
	static const uint8_t magic[] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
	char *name = sqlite3_mprintf("%s-journal", path);
	int fd = name ? open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW) : -1;
	uint8_t tail[sizeof(magic)];
	off_t end = fd < 0 ? -1 : lseek(fd, -(off_t)sizeof(tail), SEEK_END);
	bool is_plain = end >= 0 && pread(fd, tail, sizeof(tail), end) == (ssize_t)sizeof(tail) &&
			memcmp(tail, magic, sizeof(tail)) != 0;

	if (fd >= 0)
		close(fd);
	sqlite3_free(name);
	return is_plain;
}

// What a program left that was killed while it changed the file has to be undone, by whoever comes next.
static int open_undone(struct pd_sql_database *database, const char *path, int64_t *id, int64_t *version)
{
	int code;

	sqlite3_close_v2(database->db);
	code = open_with(database, path, SQLITE_OPEN_READWRITE, id, version);
	return code == SQLITE_OK ? sqlite3_exec(database->db, "PRAGMA query_only = ON", NULL, NULL, NULL) : code;
}

static enum pd_status open_file(struct pd_sql_database *database, const char *path, struct pd_error *error)
{
	int64_t id = 0, version = 0;
	int code = open_with(database, path, SQLITE_OPEN_READONLY, &id, &version);

	if ((code & 0xff) == SQLITE_READONLY && is_plain_journal(path))
		code = open_undone(database, path, &id, &version);
	if (code != SQLITE_OK && code != SQLITE_NOMEM)
		return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: %s", path, pd_sqlite_message(database));
	if (code != SQLITE_OK)
		return pd_fail_memory(error);
	if (id != PD_SQL_STORE_ID || version != PD_SQL_STORE_VERSION)
		return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: it is no store of perfdata", path);
	sqlite3_set_authorizer(database->db, pd_sqlite_authorize, database);
	return PD_OK;
}

enum pd_status pd_sqlite_open(const char *path, const struct pd_sql_source *source,
			      struct pd_sql_database **database_out, struct pd_error *error)
{
	enum pd_status status = pd_sqlite_load(error);
	struct pd_sql_database *database;

	if (status < 0)
		return status;
	database = pd_alloc(sizeof(*database));
	if (!database)
		return pd_fail_memory(error);
	database->source = source;
	status = open_file(database, path, error);
	if (status >= 0) {
		*database_out = database;
		return PD_OK;
	}
	sqlite3_close_v2(database->db);
	pd_free(database);
	return status;
}
