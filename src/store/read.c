/* SPDX-License-Identifier: MIT */
/* A store that is read, and what SQL alone says of it. */
#include "store/store.h"

#include "base/error.h"
#include "sql/sql.h"

static const struct pd_sql_function no_functions[1];
static const struct pd_sql_source no_source = { .functions = no_functions };

enum pd_status pd_store_check_engine(struct pd_error *error)
{
	return pd_sql_sqlite.begin ? PD_OK :
				     pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET,
					     "this build has no SQLite (see docs/dependencies.md)");
}

static const char list_statement[] =
	"SELECT substr(p.profile, 1, 12) AS profile, datetime(p.start_ns / 1000000000, 'unixepoch') AS start, "
	"round((p.finish_ns - p.start_ns) / 1e9, 3) AS seconds, p.samples, p.lost, p.host, "
	"(SELECT group_concat(l.key || '=' || l.value, ' ') FROM labels l WHERE l.profile = p.profile) AS labels, p.name "
	"FROM profiles p ORDER BY p.start_ns, p.profile";

enum pd_status pd_store_open(const char *path, struct pd_sql_database **database_out, struct pd_error *error)
{
	enum pd_status status = pd_store_check_engine(error);

	return status < 0 ? status : pd_sql_sqlite.open_store(path, &no_source, database_out, error);
}

enum pd_status pd_store_ask(const char *path, const char *statements, enum pd_sql_format format, struct pd_text *text,
			    struct pd_error *error)
{
	struct pd_sql_database *database;
	enum pd_status status = pd_store_open(path, &database, error);

	if (status < 0)
		return status;
	status = pd_sql_run_on(database, statements ? statements : list_statement, format, text, error);
	pd_sql_sqlite.close(database);
	return status;
}
