/* SPDX-License-Identifier: MIT */
/* A store that is read, and what SQL alone says of it. */
#include "store/store.h"

#include "base/error.h"
#include "base/memory.h"
#include "sql/sql.h"
#include "store/kinds/kinds.h"

static const char list_statement[] =
	"SELECT substr(p.profile, 1, 12) AS profile, datetime(p.start_ns / 1000000000, 'unixepoch') AS start, "
	"round((p.finish_ns - p.start_ns) / 1e9, 3) AS seconds, p.samples, p.lost, p.host, "
	"(SELECT group_concat(l.key || '=' || l.value, ' ') FROM labels l WHERE l.profile = p.profile) AS labels, p.name "
	"FROM profiles p ORDER BY p.start_ns, p.profile";

enum pd_status pd_store_open(const char *path, const struct pd_store_question *question,
			     struct pd_sql_database **database_out, struct pd_error *error)
{
	switch (pd_store_kind_of(path)) {
	case PD_STORE_FOLDER:
		return pd_store_folder_open(path, question, database_out, error);
	case PD_STORE_SERVER:
		return pd_store_server_read(path, question, database_out, error);
	default:
		return pd_store_file_open(path, database_out, error);
	}
}

static enum pd_status list_folder(const char *path, enum pd_sql_format format, struct pd_text *text,
				  struct pd_error *error)
{
	char *list = pd_store_folder_list(path);
	enum pd_status status = list ? pd_store_ask(list, NULL, format, text, error) : pd_fail_memory(error);

	pd_free(list);
	return status;
}

enum pd_status pd_store_answer(const char *path, const struct pd_store_question *question, const char *statements,
			       enum pd_sql_format format, struct pd_text *text, struct pd_error *error)
{
	struct pd_sql_database *database;
	enum pd_status status = pd_store_open(path, question, &database, error);

	if (status < 0)
		return status;
	status = pd_sql_run_on(database, statements, format, text, error);
	pd_sql_sqlite.close(database);
	return status;
}

enum pd_status pd_store_ask(const char *path, const char *statements, enum pd_sql_format format, struct pd_text *text,
			    struct pd_error *error)
{
	static const struct pd_store_choice all = { .size = sizeof(all) };
	const struct pd_store_question question = { &all, PD_STORE_NEED_HOURS };

	if (!statements && pd_store_kind_of(path) == PD_STORE_FOLDER)
		return list_folder(path, format, text, error);
	return pd_store_answer(path, &question, statements ? statements : list_statement, format, text, error);
}
