/* SPDX-License-Identifier: MIT */
/* Recordings are added by SQL: what is read of one and the store are one database meanwhile. */
#include "store/file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "sql/sql.h"

enum {
	NS_PER_SECOND = 1000000000,
	ID_AT = 68, // of PD_SQL_STORE_ID, in the header of SQLite's files
	ID_END = 72
};

static const char *const add_statements[] = {
#define TABLE(statement) statement,
#define LIST(statement) statement,
#define ADD(statement) statement,
#include "store/statements.def"
};

static const char *const list_statements[] = {
#define TABLE(statement) statement,
#define LIST(statement) statement,
#include "store/statements.def"
};

static const char *const make_statements[] = {
#define TABLE(statement) statement,
#include "store/statements.def"
};

static const char *const prune_statements[] = {
#define PRUNE(statement) statement,
#include "store/statements.def"
};

// Each need has some more than the one before.
static const char *const load_statements[] = {
#define TABLE(statement) statement,
#define LOAD(NEED, statement) statement,
#include "store/statements.def"
};

static const enum pd_store_need load_needs[] = {
#define TABLE(statement) PD_STORE_NEED_SAMPLES,
#define LOAD(NEED, statement) PD_STORE_NEED_##NEED,
#include "store/statements.def"
};

static const struct pd_sql_function no_functions[1];
static const struct pd_sql_source no_source = { .functions = no_functions };

// ---- what is there ----

bool pd_store_file_is(const char *path)
{
	static const char magic[] = "SQLite format 3";
	uint8_t head[ID_END];
	struct stat about;
	FILE *file = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? fopen(path, "rbe") : NULL;
	size_t size = file ? fread(head, 1, sizeof(head), file) : 0;

	if (file)
		fclose(file);
	return size == sizeof(head) && !memcmp(head, magic, sizeof(magic)) && !memcmp(head + ID_AT, "pdst", 4);
}

enum pd_status pd_store_check_engine(struct pd_error *error)
{
	return pd_sql_sqlite.begin ? PD_OK :
				     pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET,
					     "this build has no SQLite (see docs/dependencies.md)");
}

enum pd_status pd_store_file_open(const char *path, struct pd_sql_database **database_out, struct pd_error *error)
{
	enum pd_status status = pd_store_check_engine(error);

	return status < 0 ? status : pd_sql_sqlite.open_store(path, &no_source, database_out, error);
}

enum pd_status pd_store_file_has(const char *path, const char *hash, bool *has_out, struct pd_error *error)
{
	struct pd_sql_database *database;
	struct pd_sql_statement *row = NULL;
	char statement[128];
	const char *rest;
	enum pd_status status = pd_store_file_open(path, &database, error);

	if (status < 0)
		return status;
	snprintf(statement, sizeof(statement), "SELECT 1 FROM profiles WHERE profile = '%s'", hash);
	status = pd_sql_sqlite.prepare(database, statement, &row, &rest, error);
	if (status >= 0)
		status = pd_sql_sqlite.step(row, error);
	*has_out = status == PD_OK;
	pd_sql_sqlite.finish(row);
	pd_sql_sqlite.close(database);
	return status < 0 ? status : PD_OK;
}

// ---- changes ----

static enum pd_status change_with(const struct pd_sql_source *source, const struct pd_sql_change *change,
				  struct pd_error *error)
{
	struct pd_sql_database *database;
	enum pd_status status = pd_store_check_engine(error);

	if (status >= 0)
		status = pd_sql_sqlite.begin(source, &database, error);
	if (status < 0)
		return status;
	status = pd_sql_sqlite.change(database, change, error);
	pd_sql_sqlite.close(database);
	return status;
}

enum pd_status pd_store_file_make(const char *path, struct pd_error *error)
{
	const struct pd_sql_change change = { path, true, make_statements, sizeof(make_statements) / sizeof(char *),
					      NULL, 0 };

	return change_with(&no_source, &change, error);
}

enum pd_status pd_store_file_load(const char *path, const struct pd_sql_source *source, enum pd_store_need need,
				  struct pd_error *error)
{
	struct pd_sql_change change = { path, true, load_statements, 0, NULL, 0 };

	while (change.count < sizeof(load_needs) / sizeof(load_needs[0]) && load_needs[change.count] <= need)
		change.count++;
	return change_with(source, &change, error);
}

enum pd_status pd_store_file_add(const char *path, const struct pd_store_recording *recording, bool list_only,
				 struct pd_error *error)
{
	const struct pd_sql_parameter parameters[] = {
		{ ":profile", { .kind = PD_SQL_TEXT, .data = recording->hash, .size = strlen(recording->hash) } },
		{ ":name", { .kind = PD_SQL_TEXT, .data = recording->name, .size = strlen(recording->name) } },
		{ ":service", { .kind = PD_SQL_TEXT, .data = recording->service, .size = strlen(recording->service) } },
		{ ":labels",
		  { .kind = PD_SQL_TEXT,
		    .data = (const char *)recording->labels.data,
		    .size = recording->labels.size } },
		{ ":clock", { .kind = PD_SQL_INTEGER, .integer = recording->clock } },
	};
	const struct pd_sql_change change = {
		.path = path,
		.may_be_new = true,
		.statements = list_only ? list_statements : add_statements,
		.count = (list_only ? sizeof(list_statements) : sizeof(add_statements)) / sizeof(char *),
		.parameters = parameters,
		.parameter_count = sizeof(parameters) / sizeof(parameters[0]),
	};

	return pd_sql_sqlite.change(recording->sql->database, &change, error);
}

enum pd_status pd_store_file_mark(const char *path, uint64_t before_ns, struct pd_error *error)
{
	static const char *const statement = "UPDATE store.profiles SET pruned = 1 WHERE start_ns < :before";
	const struct pd_sql_parameter before = { ":before", { .kind = PD_SQL_INTEGER, .integer = (int64_t)before_ns } };
	const struct pd_sql_change change = { path, false, &statement, 1, &before, 1 };

	return change_with(&no_source, &change, error);
}

enum pd_status pd_store_file_prune(const char *path, uint64_t before_ns, struct pd_error *error)
{
	const struct pd_sql_parameter before = {
		":before", { .kind = PD_SQL_INTEGER, .integer = (int64_t)(before_ns / NS_PER_SECOND) }
	};
	const struct pd_sql_change change = {
		path, false, prune_statements, sizeof(prune_statements) / sizeof(char *), &before, 1
	};

	return change_with(&no_source, &change, error);
}
