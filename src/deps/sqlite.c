/* SPDX-License-Identifier: MIT */
/*
 * SQLite, in memory, with virtual tables over the tables of a source. What it runs opens no file: databases cannot be attached, there
 * are no extensions, and what does not fit is kept in memory.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/text.h"
#include "deps/deps.h"
#include "deps/sqlite.h"

struct pd_sql_statement {
	struct pd_sql_database *database;
	sqlite3_stmt *statement;
};

struct table {
	sqlite3_vtab base;
	struct pd_sql_database *database;
	const struct pd_sql_table *table;
	size_t number;
};

struct cursor {
	sqlite3_vtab_cursor base;
	void *cursor;
	int64_t row;
	bool ended;
};

static const char *version(void)
{
	return "sqlite " SQLITE_VERSION;
}

// ---- errors ----

// What a cursor reports is kept for whoever runs the statement.
static int fail_cursor(struct table *table, enum pd_status status)
{
	table->database->status = status;
	sqlite3_free(table->base.zErrMsg);
	table->base.zErrMsg = sqlite3_mprintf("%s", table->database->error.message);
	return status == PD_ERROR_MEMORY ? SQLITE_NOMEM : SQLITE_ERROR;
}

// ---- values ----

static struct pd_sql_value value_of(sqlite3_value *value)
{
	struct pd_sql_value result = { 0 };

	switch (sqlite3_value_type(value)) {
	case SQLITE_INTEGER:
		result.kind = PD_SQL_INTEGER;
		result.integer = sqlite3_value_int64(value);
		break;
	case SQLITE_FLOAT:
		result.kind = PD_SQL_REAL;
		result.real = sqlite3_value_double(value);
		break;
	case SQLITE_TEXT:
		result.kind = PD_SQL_TEXT;
		result.data = (const char *)sqlite3_value_text(value);
		result.size = (size_t)sqlite3_value_bytes(value);
		break;
	case SQLITE_BLOB:
		result.kind = PD_SQL_BYTES;
		result.data = sqlite3_value_blob(value);
		result.size = (size_t)sqlite3_value_bytes(value);
		break;
	default:
		break;
	}
	return result;
}

static void give(sqlite3_context *context, const struct pd_sql_value *value)
{
	void (*keep)(void *) = value->lasting ? SQLITE_STATIC : SQLITE_TRANSIENT;

	switch (value->kind) {
	case PD_SQL_INTEGER:
		sqlite3_result_int64(context, value->integer);
		break;
	case PD_SQL_REAL:
		sqlite3_result_double(context, value->real);
		break;
	case PD_SQL_TEXT:
		sqlite3_result_text64(context, value->size ? value->data : "", value->size, keep, SQLITE_UTF8);
		break;
	case PD_SQL_BYTES:
		sqlite3_result_blob64(context, value->size ? value->data : "", value->size, keep);
		break;
	default:
		sqlite3_result_null(context);
		break;
	}
}

// ---- tables ----

static char *declaration_of(const struct pd_sql_table *table, struct pd_text *text)
{
	static const char *const types[] = { "", " INTEGER", " REAL", " TEXT", " BLOB" };

	PD_TEXT_LITERAL(text, "CREATE TABLE x(");
	for (size_t i = 0; i < table->column_count; i++) {
		if (i)
			PD_TEXT_LITERAL(text, ", ");
		pd_sqlite_put_name(text, table->columns[i].name);
		pd_text_add(text, types[table->columns[i].kind]);
	}
	PD_TEXT_LITERAL(text, ")");
	pd_text_char(text, 0);
	return text->failed ? NULL : text->data;
}

int pd_sqlite_connect(struct pd_sql_database *database, size_t number, sqlite3_vtab **table_out)
{
	struct pd_text text = { 0 };
	struct table *table = sqlite3_malloc(sizeof(*table));
	int code = SQLITE_NOMEM;

	if (table) {
		*table = (struct table){ .database = database, .number = number };
		table->table = &database->source->tables[number];
		if (declaration_of(table->table, &text))
			code = sqlite3_declare_vtab(database->db, text.data);
	}
	pd_free(text.data);
	if (code != SQLITE_OK)
		sqlite3_free(table);
	else
		*table_out = &table->base;
	return code;
}

struct pd_sql_database *pd_sqlite_database_of(const sqlite3_vtab *base)
{
	return ((const struct table *)base)->database;
}

// The first argument is the number of the table.
static int connect_table(sqlite3 *db, void *self, int argc, const char *const *argv, sqlite3_vtab **table_out,
			 char **error_out)
{
	int code = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);

	(void)error_out;
	return code == SQLITE_OK ? pd_sqlite_connect(self, argc > 3 ? strtoul(argv[3], NULL, 10) : 0, table_out) : code;
}

static int disconnect_table(sqlite3_vtab *base)
{
	sqlite3_free(base);
	return SQLITE_OK;
}

// ---- plans ----

// The operator of a condition that narrows a column; false if it does not.
static bool op_of(const struct pd_sql_column *column, unsigned char op, enum pd_sql_op *op_out)
{
	bool in_range = column->narrows == PD_SQL_NARROWS_RANGE;

	switch (op) {
	case SQLITE_INDEX_CONSTRAINT_EQ:
		*op_out = PD_SQL_EQUAL;
		return column->narrows != PD_SQL_NARROWS_NOT;
	case SQLITE_INDEX_CONSTRAINT_GE:
	case SQLITE_INDEX_CONSTRAINT_GT:
		*op_out = PD_SQL_LEAST;
		return in_range;
	case SQLITE_INDEX_CONSTRAINT_LE:
	case SQLITE_INDEX_CONSTRAINT_LT:
		*op_out = PD_SQL_MOST;
		return in_range;
	default:
		return false;
	}
}

// IN is looked at row by row: it would read the file once for each item. Text must be compared as it is.
static bool can_narrow(sqlite3_index_info *info, int i, const struct table *table, enum pd_sql_op *op_out)
{
	const struct sqlite3_index_constraint *condition = &info->aConstraint[i];
	const struct pd_sql_column *column;

	if (!condition->usable || condition->iColumn < 0 || (size_t)condition->iColumn >= table->table->column_count)
		return false;
	column = &table->table->columns[condition->iColumn];
	if (!op_of(column, condition->op, op_out))
		return false;
	if (condition->op == SQLITE_INDEX_CONSTRAINT_EQ && column->narrows != PD_SQL_NARROWS_KEY &&
	    sqlite3_vtab_in(info, i, -1))
		return false;
	return column->kind != PD_SQL_TEXT || strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
}

static void estimate(sqlite3_index_info *info, const struct table *table, double share, bool has_key)
{
	double rows = (double)table->table->rows;

	info->estimatedRows = has_key ? 1 : (sqlite3_int64)(rows * share) + 1;
	info->estimatedCost = has_key ? 1 : 100 + rows * (share < 0.1 ? share : 0.1 + share);
	if (has_key)
		info->idxFlags = SQLITE_INDEX_SCAN_UNIQUE;
}

// The last bit of used stands for all columns from there on.
static void mark_used(bool *wanted, size_t count, uint64_t used)
{
	for (size_t i = 0; i < count; i++)
		wanted[i] = used >> (i < 63 ? i : 63) & 1;
}

// Rows in groups, if it is that what is asked for: then nothing has to be sorted.
static void plan_groups(struct table *table, sqlite3_index_info *info, struct pd_text *text)
{
	const struct pd_sql_source *source = table->database->source;
	size_t count = table->table->column_count;
	bool *wanted = pd_alloc(count + 1);
	struct pd_sql_group *groups = pd_alloc(((size_t)info->nOrderBy + 1) * sizeof(*groups));
	struct pd_sql_order order = { .wanted = wanted, .groups = groups, .group_count = (size_t)info->nOrderBy };
	bool can = wanted && groups && info->nOrderBy && sqlite3_vtab_distinct(info);

	for (int i = 0; can && i < info->nOrderBy; i++) {
		can = info->aOrderBy[i].iColumn >= 0;
		groups[i].column = can ? (size_t)info->aOrderBy[i].iColumn : 0;
		groups[i].descending = info->aOrderBy[i].desc;
	}
	if (can)
		mark_used(wanted, count, info->colUsed);
	can = can && source->can_group(source->self, table->number, &order);
	pd_text_printf(text, " %d", can ? info->nOrderBy : 0);
	for (int i = 0; can && i < info->nOrderBy; i++)
		pd_text_printf(text, " %zu %d", groups[i].column, groups[i].descending);
	info->orderByConsumed = can;
	pd_free(wanted);
	pd_free(groups);
}

// The plan is a text: which columns are used, those of groups, then column and operator of each condition.
static int plan(sqlite3_vtab *base, sqlite3_index_info *info)
{
	struct table *table = (struct table *)base;
	struct pd_text text = { 0 };
	double share = 1;
	bool has_key = false;
	int count = 0;

	pd_text_printf(&text, "%" PRIu64, (uint64_t)info->colUsed);
	plan_groups(table, info, &text);
	for (int i = 0; i < info->nConstraint; i++) {
		enum pd_sql_op op;

		if (!can_narrow(info, i, table, &op))
			continue;
		info->aConstraintUsage[i].argvIndex = ++count;
		pd_text_printf(&text, " %d %d", info->aConstraint[i].iColumn, (int)op);
		has_key |= table->table->columns[info->aConstraint[i].iColumn].narrows == PD_SQL_NARROWS_KEY;
		share *= op == PD_SQL_EQUAL ? 0.2 : 0.3;
	}
	pd_text_char(&text, 0);
	info->idxStr = text.failed ? NULL : sqlite3_mprintf("%s", text.data);
	pd_free(text.data);
	info->needToFreeIdxStr = 1;
	estimate(info, table, share, has_key);
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

// ---- cursors ----

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **cursor_out)
{
	struct cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	(void)base;
	if (!cursor)
		return SQLITE_NOMEM;
	memset(cursor, 0, sizeof(*cursor));
	*cursor_out = &cursor->base;
	return SQLITE_OK;
}

static const struct pd_sql_source *source_of(const struct cursor *cursor)
{
	return ((const struct table *)cursor->base.pVtab)->database->source;
}

static void forget_rows(struct cursor *cursor)
{
	if (cursor->cursor)
		source_of(cursor)->close(cursor->cursor);
	cursor->cursor = NULL;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;

	forget_rows(cursor);
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int next_row(sqlite3_vtab_cursor *base)
{
	struct cursor *cursor = (struct cursor *)base;
	struct table *table = (struct table *)base->pVtab;
	enum pd_status status = source_of(cursor)->next(cursor->cursor, &table->database->error);

	if (status < 0)
		return fail_cursor(table, status);
	cursor->ended = status == PD_END;
	cursor->row++;
	return SQLITE_OK;
}

// Reads what plan has written.
static enum pd_status open_order(struct cursor *cursor, const char *text, struct pd_sql_order *order, bool *wanted,
				 struct pd_sql_bound *bounds, sqlite3_value **argv)
{
	struct table *table = (struct table *)cursor->base.pVtab;
	struct pd_error *error = &table->database->error;
	enum pd_status status;
	struct pd_sql_group *groups;
	char *at;

	mark_used(wanted, table->table->column_count, strtoull(text, &at, 10));
	order->group_count = strtoul(at, &at, 10);
	groups = pd_alloc((order->group_count + 1) * sizeof(*groups));
	if (!groups)
		return pd_fail_memory(error);
	order->groups = groups;
	for (size_t i = 0; i < order->group_count; i++) {
		groups[i].column = strtoul(at, &at, 10);
		groups[i].descending = strtoul(at, &at, 10) != 0;
	}
	for (size_t i = 0; i < order->bound_count; i++) {
		bounds[i].column = strtoul(at, &at, 10);
		bounds[i].op = (enum pd_sql_op)strtoul(at, &at, 10);
		bounds[i].value = value_of(argv[i]);
	}
	status = source_of(cursor)->begin(source_of(cursor)->self, table->number, order, &cursor->cursor, error);
	pd_free(groups);
	return status;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc, sqlite3_value **argv)
{
	struct cursor *cursor = (struct cursor *)base;
	struct table *table = (struct table *)base->pVtab;
	bool *wanted = pd_alloc(table->table->column_count + 1);
	struct pd_sql_bound *bounds = pd_alloc(((size_t)argc + 1) * sizeof(*bounds));
	struct pd_sql_order order = { .wanted = wanted, .bounds = bounds, .bound_count = (size_t)argc };
	enum pd_status status = PD_ERROR_MEMORY;

	(void)number;
	forget_rows(cursor);
	cursor->row = -1;
	if (wanted && bounds)
		status = open_order(cursor, text, &order, wanted, bounds, argv);
	else
		pd_fail_memory(&table->database->error);
	pd_free(wanted);
	pd_free(bounds);
	return status < 0 ? fail_cursor(table, status) : next_row(base);
}

static int is_at_end(sqlite3_vtab_cursor *base)
{
	return ((struct cursor *)base)->ended;
}

static int give_column(sqlite3_vtab_cursor *base, sqlite3_context *context, int column)
{
	struct cursor *cursor = (struct cursor *)base;
	struct pd_sql_value value = { 0 };

	source_of(cursor)->cell(cursor->cursor, (size_t)column, &value);
	give(context, &value);
	return SQLITE_OK;
}

static int give_row(sqlite3_vtab_cursor *base, sqlite3_int64 *row_out)
{
	*row_out = ((struct cursor *)base)->row;
	return SQLITE_OK;
}

const sqlite3_module pd_sqlite_module = {
	.iVersion = 1,
	.xCreate = connect_table,
	.xConnect = connect_table,
	.xBestIndex = plan,
	.xDisconnect = disconnect_table,
	.xDestroy = disconnect_table,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next_row,
	.xEof = is_at_end,
	.xColumn = give_column,
	.xRowid = give_row,
};

// ---- databases ----

struct called {
	const struct pd_sql_source *source;
	const struct pd_sql_function *function;
};

static void call_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const struct called *called = sqlite3_user_data(context);
	struct pd_sql_value arguments[4] = { 0 }, result = { 0 };

	if (argc < called->function->least || argc > called->function->most || argc > 4) {
		sqlite3_result_error(context, "wrong number of arguments", -1);
		return;
	}
	for (int i = 0; i < argc; i++)
		arguments[i] = value_of(argv[i]);
	called->function->call(called->source->self, arguments, (size_t)argc, &result);
	give(context, &result);
}

static int add_functions(struct pd_sql_database *database)
{
	const struct pd_sql_source *source = database->source;
	int code = SQLITE_OK;

	for (const struct pd_sql_function *f = source->functions; code == SQLITE_OK && f->name; f++) {
		struct called *called = sqlite3_malloc(sizeof(*called));

		if (!called)
			return SQLITE_NOMEM;
		*called = (struct called){ source, f };
		code = sqlite3_create_function_v2(database->db, f->name, f->least == f->most ? f->least : -1,
						  SQLITE_UTF8 | SQLITE_DETERMINISTIC, called, call_function, NULL, NULL,
						  sqlite3_free);
	}
	return code;
}

static int add_tables(struct pd_sql_database *database)
{
	int code = sqlite3_create_module(database->db, "perfdata", &pd_sqlite_module, database);

	for (size_t i = 0; code == SQLITE_OK && i < database->source->table_count; i++) {
		struct pd_text text = { 0 };

		PD_TEXT_LITERAL(&text, "CREATE VIRTUAL TABLE main.");
		pd_sqlite_put_name(&text, database->source->tables[i].name);
		pd_text_printf(&text, " USING perfdata(%zu)%c", i, 0);
		code = text.failed ? SQLITE_NOMEM : sqlite3_exec(database->db, text.data, NULL, NULL, NULL);
		pd_free(text.data);
	}
	return code;
}

static void close_database(struct pd_sql_database *database)
{
	if (!database)
		return;
	sqlite3_close_v2(database->db);
	pd_free(database);
}

static enum pd_status open_database(const struct pd_sql_source *source, struct pd_sql_database **database_out,
				    struct pd_error *error)
{
	enum pd_status status = pd_sqlite_load(error);
	struct pd_sql_database *database;
	int code;

	if (status < 0)
		return status;
	database = pd_alloc(sizeof(*database));
	if (!database)
		return pd_fail_memory(error);
	database->source = source;
	code = sqlite3_open_v2(":memory:", &database->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
	if (code == SQLITE_OK)
		code = pd_sqlite_confine(database->db);
	if (code == SQLITE_OK)
		code = add_functions(database);
	if (code == SQLITE_OK)
		code = add_tables(database);
	if (code == SQLITE_OK)
		code = sqlite3_set_authorizer(database->db, pd_sqlite_authorize, database);
	if (code == SQLITE_OK) {
		*database_out = database;
		return PD_OK;
	}
	status = pd_sqlite_fail(database, code, error);
	close_database(database);
	return status;
}

// ---- statements ----

static enum pd_status prepare(struct pd_sql_database *database, const char *text,
			      struct pd_sql_statement **statement_out, const char **rest_out, struct pd_error *error)
{
	sqlite3_stmt *found = NULL;
	struct pd_sql_statement *statement;
	int code = sqlite3_prepare_v2(database->db, text, -1, &found, rest_out);

	*statement_out = NULL;
	if (code != SQLITE_OK)
		return pd_sqlite_fail(database, code, error);
	if (!found)
		return PD_OK;
	statement = pd_alloc(sizeof(*statement));
	if (!statement) {
		sqlite3_finalize(found);
		return pd_fail_memory(error);
	}
	*statement = (struct pd_sql_statement){ database, found };
	*statement_out = statement;
	return PD_OK;
}

static enum pd_status step(struct pd_sql_statement *statement, struct pd_error *error)
{
	int code = sqlite3_step(statement->statement);

	if (code == SQLITE_ROW)
		return PD_OK;
	return code == SQLITE_DONE ? PD_END : pd_sqlite_fail(statement->database, code, error);
}

static size_t column_count(struct pd_sql_statement *statement)
{
	return (size_t)sqlite3_column_count(statement->statement);
}

static const char *column_name(struct pd_sql_statement *statement, size_t column)
{
	const char *name = sqlite3_column_name(statement->statement, (int)column);

	return name ? name : "";
}

static void value(struct pd_sql_statement *statement, size_t column, struct pd_sql_value *value_out)
{
	*value_out = value_of(sqlite3_column_value(statement->statement, (int)column));
}

static void finish(struct pd_sql_statement *statement)
{
	if (!statement)
		return;
	sqlite3_finalize(statement->statement);
	pd_free(statement);
}

static bool is_complete(const char *text)
{
	return pd_sqlite_load(NULL) >= 0 && sqlite3_complete(text) == 1;
}

const struct pd_sql_engine pd_sql_sqlite = {
	.name = "sqlite",
	.version = version,
	.begin = open_database,
	.close = close_database,
	.prepare = prepare,
	.step = step,
	.column_count = column_count,
	.column_name = column_name,
	.value = value,
	.finish = finish,
	.is_complete = is_complete,
	.save = pd_sqlite_save,
	.change = pd_sqlite_change,
	.open_store = pd_sqlite_open,
};
