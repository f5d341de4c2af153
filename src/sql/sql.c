/* SPDX-License-Identifier: MIT */
#include "sql/sql.h"

#include <stdio.h>

#include "base/error.h"

// ---- opening ----

static enum pd_status open_files(struct pd_sql *sql, struct pd_file *const *files, size_t count,
				 const struct pd_sql_options *options, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	sql->files = pd_alloc((count + 1) * sizeof(*sql->files));
	sql->text = pd_text_new();
	if (!sql->files || !sql->text)
		return pd_fail_memory(error);
	for (size_t i = 0; status >= 0 && i < count; i++) {
		struct pd_table_options own = options->tables;

		own.size = sizeof(own);
		if (own.self)
			own.self = (char *)own.self + i * options->self_stride;
		sql->files[i].file = files[i];
		sql->file_count++;
		status = pd_table_set_new(files[i], &own, &sql->files[i].set, error);
		if (status >= 0)
			pd_table_choose_place(sql->files[i].set, options->choose_place);
	}
	return status;
}

enum pd_status pd_sql_new(struct pd_file *const *files, size_t count, const struct pd_sql_options *options,
			  struct pd_sql **sql_out, struct pd_error *error)
{
	struct pd_sql_options all = { 0 };
	struct pd_sql *sql;
	enum pd_status status;

	if (!pd_sql_sqlite.begin)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET,
			       "this build has no SQLite (see docs/dependencies.md)");
	if (!count || (options && !options->size))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "no files, or options without a size");
	if (options)
		memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
	sql = pd_alloc(sizeof(*sql));
	if (!sql)
		return pd_fail_memory(error);
	status = open_files(sql, files, count, &all, error);
	if (status >= 0)
		status = pd_sql_join(sql, error);
	if (status >= 0)
		status = pd_sql_sqlite.begin(&sql->source, &sql->database, error);
	if (status < 0)
		pd_sql_free(sql);
	else
		*sql_out = sql;
	return status;
}

void pd_sql_free(struct pd_sql *sql)
{
	if (!sql)
		return;
	if (sql->database)
		pd_sql_sqlite.close(sql->database);
	for (size_t i = 0; sql->files && i < sql->file_count; i++)
		pd_table_set_free(sql->files[i].set);
	pd_free(sql->files);
	pd_text_free(sql->text);
	pd_arena_fini(&sql->arena);
	pd_free(sql);
}

// ---- running ----

enum pd_status pd_sql_run_on(struct pd_sql_database *database, const char *statements, enum pd_sql_format format,
			     struct pd_text *text, struct pd_error *error)
{
	struct pd_sql_statement *statement;
	enum pd_status status = PD_OK;

	while (status >= 0 && *statements) {
		const char *rest;

		status = pd_sql_sqlite.prepare(database, statements, &statement, &rest, error);
		if (status < 0)
			break;
		if (statement)
			status = pd_sql_print_rows(statement, format, text, error);
		pd_sql_sqlite.finish(statement);
		statements = rest;
	}
	return status;
}

enum pd_status pd_sql_run(struct pd_sql *sql, const char *statements, enum pd_sql_format format, struct pd_text *text,
			  struct pd_error *error)
{
	return pd_sql_run_on(sql->database, statements, format, text, error);
}

bool pd_sql_is_complete(const char *statements)
{
	return pd_sql_sqlite.is_complete && pd_sql_sqlite.is_complete(statements);
}

enum pd_status pd_sql_save(struct pd_sql *sql, const char *path, struct pd_error *error)
{
	return pd_sql_sqlite.save(sql->database, path, error);
}

// ---- what there is ----

void pd_sql_print_tables(const struct pd_sql *sql, struct pd_text *text)
{
	for (size_t i = 0; i < sql->table_count; i++)
		pd_text_printf(text, "%s\n", sql->tables[i].name);
}

void pd_sql_print_schema(const struct pd_sql *sql, const char *table, struct pd_text *text)
{
	static const char *const kinds[] = { "", " INTEGER", " REAL", " TEXT", " BLOB" };

	for (size_t i = 0; i < sql->table_count; i++) {
		const struct pd_sql_table *one = &sql->tables[i];

		if (table && strcasecmp(one->name, table) != 0)
			continue;
		pd_text_printf(text, "CREATE TABLE \"%s\"(\n", one->name);
		for (size_t k = 0; k < one->column_count; k++)
			pd_text_printf(text, "  \"%s\"%s%s\n", one->columns[k].name, kinds[one->columns[k].kind],
				       k + 1 < one->column_count ? "," : "");
		PD_TEXT_LITERAL(text, ");\n");
	}
}

// ---- queries ----

bool pd_sql_query_at(size_t index, struct pd_sql_query *query_out)
{
	static const struct pd_sql_query queries[] = {
#define QUERY(name, doc, needs, text) { name, doc, text, needs },
#include "sql/queries.def"
#undef QUERY
	};

	if (index >= sizeof(queries) / sizeof(queries[0]))
		return false;
	*query_out = queries[index];
	return true;
}
