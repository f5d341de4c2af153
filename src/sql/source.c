/* SPDX-License-Identifier: MIT */
/* Tables of all files: the same names are one table, whose columns are those of all. Conditions become limits of a scan. */
#include "sql/sql.h"

#include "base/error.h"
#include "sql/group.h"

struct rows {
	struct pd_sql *sql;
	size_t table, file;
	bool *wanted; // of the joined table
	bool *wanted_here;
	struct pd_sql_bound *bounds;
	size_t bound_count;
	struct pd_sql_group *groups; // columns of the joined table
	size_t group_count;
	struct pd_sql_groups *grouped;
	struct pd_scan *scan;
	const struct pd_columns *batch;
	const size_t *columns; // of the present file
	size_t row;
};

// ---- descriptions ----

static enum pd_sql_kind kind_of(enum pd_column_type type)
{
	switch (type) {
	case PD_COLUMN_F64:
		return PD_SQL_REAL;
	case PD_COLUMN_NAME:
	case PD_COLUMN_TEXT:
	case PD_COLUMN_JSON:
		return PD_SQL_TEXT;
	case PD_COLUMN_BYTES:
		return PD_SQL_BYTES;
	default:
		return PD_SQL_INTEGER;
	}
}

static enum pd_sql_narrows narrows_of(enum pd_column_role role)
{
	switch (role) {
	case PD_ROLE_COLUMN_NONE:
		return PD_SQL_NARROWS_NOT;
	case PD_ROLE_COLUMN_TIME:
		return PD_SQL_NARROWS_RANGE;
	case PD_ROLE_COLUMN_KEY:
		return PD_SQL_NARROWS_KEY;
	default:
		return PD_SQL_NARROWS_EQUAL;
	}
}

static size_t find_column(const struct pd_sql_column *columns, size_t count, const char *name)
{
	size_t i = 0;

	while (i < count && strcasecmp(columns[i].name, name) != 0)
		i++;
	return i;
}

// Names are identifiers of SQL: what is no harmless text was made so.
static const char *harmless(struct pd_sql *sql, const char *name)
{
	struct pd_text text = { 0 };
	const char *result;

	pd_text_harmless(&text, name);
	result = text.failed ? NULL : pd_arena_text(&sql->arena, text.data, text.size);
	pd_free(text.data);
	return result;
}

// For the columns of all files and `file`.
static struct pd_sql_column *alloc_columns(struct pd_sql *sql, const struct pd_sql_joined *joined)
{
	size_t count = 1;

	for (size_t i = 0; i < sql->file_count; i++)
		count += joined->tables[i] ? joined->tables[i]->column_count : 0;
	return pd_arena_alloc(&sql->arena, count * sizeof(struct pd_sql_column));
}

static bool join_columns(struct pd_sql *sql, struct pd_sql_table *table, struct pd_sql_joined *joined)
{
	struct pd_sql_column *columns = alloc_columns(sql, joined);

	table->columns = columns;
	for (size_t f = 0; columns && f < sql->file_count; f++) {
		const struct pd_table *own = joined->tables[f];

		for (size_t i = 0; own && i < own->column_count; i++) {
			const char *name = harmless(sql, own->columns[i].name);

			if (!name)
				return false;
			if (find_column(columns, table->column_count, name) < table->column_count)
				continue;
			columns[table->column_count++] =
				(struct pd_sql_column){ name, kind_of(own->columns[i].type),
							narrows_of(pd_table_full(own)->sources[i].role) };
		}
	}
	if (columns)
		columns[table->column_count++] = (struct pd_sql_column){ "file", PD_SQL_TEXT, PD_SQL_NARROWS_NOT };
	return columns != NULL;
}

static bool map_columns(struct pd_sql *sql, const struct pd_sql_table *table, struct pd_sql_joined *joined)
{
	joined->columns = pd_arena_alloc(&sql->arena, sql->file_count * sizeof(*joined->columns));
	for (size_t f = 0; joined->columns && f < sql->file_count; f++) {
		const struct pd_table *own = joined->tables[f];
		size_t *map = pd_arena_alloc(&sql->arena, table->column_count * sizeof(*map));

		if (!map)
			return false;
		joined->columns[f] = map;
		for (size_t i = 0; i < table->column_count; i++)
			map[i] = SIZE_MAX;
		for (size_t i = 0; own && i < own->column_count; i++) {
			const char *name = harmless(sql, own->columns[i].name);
			size_t at = name ? find_column(table->columns, table->column_count, name) : table->column_count;

			if (at < table->column_count && map[at] == SIZE_MAX)
				map[at] = i;
		}
	}
	return joined->columns && !sql->arena.failed;
}

static bool is_from_records(const struct pd_table *table)
{
	enum pd_table_id id = pd_table_full(table)->id;

	return id == PD_TABLE_samples || id == PD_TABLE_records || id == PD_TABLE_TRACEPOINT || id == PD_TABLE_counts;
}

static uint64_t rows_of(const struct pd_sql *sql, const struct pd_sql_joined *joined)
{
	uint64_t rows = 0;

	for (size_t f = 0; f < sql->file_count; f++)
		if (joined->tables[f])
			rows += is_from_records(joined->tables[f]) ? pd_known_file_records(sql->files[f].set->known) :
								     1000;
	return rows;
}

static bool add_table(struct pd_sql *sql, const char *name)
{
	struct pd_sql_table *table = &sql->tables[sql->table_count];
	struct pd_sql_joined *joined = &sql->joined[sql->table_count];

	table->name = harmless(sql, name);
	for (size_t i = 0; table->name && i < sql->table_count; i++)
		if (strcasecmp(sql->tables[i].name, table->name) == 0)
			return true;
	joined->tables = pd_arena_alloc(&sql->arena, sql->file_count * sizeof(struct pd_table *));
	if (!table->name || !joined->tables)
		return false;
	for (size_t f = 0; f < sql->file_count; f++)
		joined->tables[f] = pd_table_by_name(sql->files[f].set, name);
	if (!join_columns(sql, table, joined) || !map_columns(sql, table, joined))
		return false;
	table->rows = rows_of(sql, joined);
	sql->table_count++;
	return true;
}

// ---- conditions ----

static bool number_of(const struct pd_sql_value *value, int64_t *number_out)
{
	if (value->kind == PD_SQL_REAL && value->real > -9e18 && value->real < 9e18) {
		*number_out = (int64_t)value->real;
		return (double)*number_out == value->real;
	}
	*number_out = value->integer;
	return value->kind == PD_SQL_INTEGER;
}

// Rounded so that no row is left out.
static void limit_time(struct pd_scan_limits *limits, const struct pd_sql_bound *bound)
{
	const struct pd_sql_value *value = &bound->value;
	uint64_t from = 0, to = 0;

	if (value->kind == PD_SQL_INTEGER && value->integer > 0) {
		from = to = (uint64_t)value->integer;
	} else if (value->kind == PD_SQL_REAL && value->real > 1 && value->real < 9e18) {
		from = (uint64_t)value->real;
		to = from + 1;
	}
	if (bound->op != PD_SQL_MOST && from > limits->from_ns)
		limits->from_ns = from;
	if (bound->op != PD_SQL_LEAST && to && (!limits->to_ns || to < limits->to_ns))
		limits->to_ns = to;
}

static void limit_number(struct pd_scan_limits *limits, enum pd_column_role role, const struct pd_sql_value *value)
{
	bool *has = role == PD_ROLE_COLUMN_PID ? &limits->has_pid :
		    role == PD_ROLE_COLUMN_TID ? &limits->has_tid :
						 &limits->has_cpu;
	uint32_t *limit = role == PD_ROLE_COLUMN_PID ? &limits->pid :
			  role == PD_ROLE_COLUMN_TID ? &limits->tid :
						       &limits->cpu;
	int64_t number;

	if (!number_of(value, &number))
		return;
	// such a number is not in the column
	limits->nothing |= number < INT32_MIN || number > INT32_MAX;
	*has = true;
	*limit = (uint32_t)number;
}

static bool is_plain_text(const struct pd_sql_value *value)
{
	return value->kind == PD_SQL_TEXT && value->data && strlen(value->data) == value->size;
}

static void limit_type(struct pd_scan_limits *limits, const struct pd_sql_value *value)
{
	uint32_t type;

	if (!is_plain_text(value) || !pd_record_type_by_name(value->data, &type) ||
	    strcmp(pd_record_name(type), value->data) != 0)
		return;
	limits->has_type = true;
	limits->type = type;
}

static void limit_by(struct pd_scan_limits *limits, enum pd_column_role role, const struct pd_sql_bound *bound)
{
	int64_t number;

	switch (role) {
	case PD_ROLE_COLUMN_TIME:
		limit_time(limits, bound);
		break;
	case PD_ROLE_COLUMN_KEY:
		limits->has_key = number_of(&bound->value, &number);
		limits->nothing |= !limits->has_key;
		limits->key = (uint64_t)number;
		break;
	case PD_ROLE_COLUMN_TYPE:
		limit_type(limits, &bound->value);
		break;
	case PD_ROLE_COLUMN_EVENT:
		// the column has harmless text, the event may not
		if (is_plain_text(&bound->value))
			limits->event = bound->value.data;
		break;
	default:
		limit_number(limits, role, &bound->value);
		break;
	}
}

// ---- rows ----

static void close_rows(void *cursor)
{
	struct rows *rows = cursor;

	if (!rows)
		return;
	pd_sql_groups_free(rows->grouped);
	pd_scan_close(rows->scan);
	pd_free(rows->groups);
	for (size_t i = 0; i < rows->bound_count; i++)
		pd_free((void *)rows->bounds[i].value.data);
	pd_free(rows->bounds);
	pd_free(rows->wanted);
	pd_free(rows->wanted_here);
	pd_free(rows);
}

// Texts of conditions are needed once more for each file.
static bool copy_bounds(struct rows *rows, const struct pd_sql_bound *bounds, size_t count)
{
	rows->bounds = pd_alloc((count + 1) * sizeof(*bounds));
	for (size_t i = 0; rows->bounds && i < count; i++) {
		const struct pd_sql_value *value = &bounds[i].value;
		char *copy = value->data ? pd_alloc(value->size + 1) : NULL;

		if (value->data && !copy)
			return false;
		if (copy)
			memcpy(copy, value->data, value->size);
		rows->bounds[i] = bounds[i];
		rows->bounds[i].value.data = copy;
		rows->bound_count++;
	}
	return rows->bounds != NULL;
}

static bool copy_groups(struct rows *rows, const struct pd_sql_order *order)
{
	rows->groups = pd_alloc((order->group_count + 1) * sizeof(*rows->groups));
	if (!rows->groups)
		return false;
	rows->group_count = order->group_count;
	if (order->group_count)
		memcpy(rows->groups, order->groups, order->group_count * sizeof(*rows->groups));
	return true;
}

// What is kept of a row are numbers, and numbers of names, which are those of one file.
static bool can_group(void *self, size_t table, const struct pd_sql_order *order)
{
	const struct pd_sql *sql = self;
	const struct pd_table *own = sql->joined[table].tables[0];
	const size_t *map = sql->joined[table].columns[0];

	if (sql->file_count != 1 || !own || !is_from_records(own))
		return false;
	for (size_t i = 0; i < sql->tables[table].column_count; i++) {
		enum pd_column_type type = map[i] == SIZE_MAX ? PD_COLUMN_U64 : own->columns[map[i]].type;

		if (order->wanted[i] && (type == PD_COLUMN_TEXT || type == PD_COLUMN_BYTES || type == PD_COLUMN_JSON))
			return false;
	}
	for (size_t i = 0; i < order->group_count; i++)
		if (map[order->groups[i].column] == SIZE_MAX ||
		    own->columns[map[order->groups[i].column]].type == PD_COLUMN_F64)
			return false;
	return true;
}

static enum pd_status open_rows(void *self, size_t table, const struct pd_sql_order *order, void **cursor_out,
				struct pd_error *error)
{
	struct pd_sql *sql = self;
	size_t count = sql->tables[table].column_count;
	struct rows *rows = pd_alloc(sizeof(*rows));

	if (!rows)
		return pd_fail_memory(error);
	rows->sql = sql;
	rows->table = table;
	rows->wanted = pd_alloc(count * sizeof(*rows->wanted));
	if (!rows->wanted || !copy_bounds(rows, order->bounds, order->bound_count) || !copy_groups(rows, order)) {
		close_rows(rows);
		return pd_fail_memory(error);
	}
	memcpy(rows->wanted, order->wanted, count * sizeof(*rows->wanted));
	for (size_t i = 0; i < order->group_count; i++)
		rows->wanted[order->groups[i].column] = true;
	*cursor_out = rows;
	return PD_OK;
}

static enum pd_status open_file(struct rows *rows, struct pd_error *error)
{
	const struct pd_sql *sql = rows->sql;
	const struct pd_sql_joined *joined = &sql->joined[rows->table];
	const struct pd_table *table = joined->tables[rows->file];
	const size_t *map = joined->columns[rows->file];
	struct pd_scan_limits limits = { 0 };
	enum pd_status status;

	pd_free(rows->wanted_here);
	rows->wanted_here = pd_alloc((table->column_count + 1) * sizeof(*rows->wanted_here));
	if (!rows->wanted_here)
		return pd_fail_memory(error);
	for (size_t i = 0; i < sql->tables[rows->table].column_count; i++)
		if (map[i] != SIZE_MAX && rows->wanted[i])
			rows->wanted_here[map[i]] = true;
	for (size_t i = 0; i < rows->bound_count; i++) {
		size_t column = map[rows->bounds[i].column];

		if (column != SIZE_MAX)
			limit_by(&limits, pd_table_full(table)->sources[column].role, &rows->bounds[i]);
	}
	rows->columns = map;
	status = pd_scan_open(sql->files[rows->file].set, table, rows->wanted_here, &limits, PD_ORDER_FILE, &rows->scan,
			      error);
	return status < 0 ? status : PD_OK;
}

static enum pd_status next_grouped(struct rows *rows, struct pd_error *error)
{
	struct pd_sql_group *columns;
	enum pd_status status = PD_OK;

	if (!rows->grouped) {
		status = open_file(rows, error);
		columns = status < 0 ? NULL : pd_alloc((rows->group_count + 1) * sizeof(*columns));
		for (size_t i = 0; columns && i < rows->group_count; i++)
			columns[i] = (struct pd_sql_group){ rows->columns[rows->groups[i].column],
							    rows->groups[i].descending };
		if (status >= 0)
			status = columns ? pd_sql_groups_read(rows->scan, columns, rows->group_count, &rows->grouped,
							      error) :
					   pd_fail_memory(error);
		pd_free(columns);
	}
	if (status < 0)
		return status;
	return pd_sql_groups_next(rows->grouped) ? PD_OK : PD_END;
}

static enum pd_status next_row(void *cursor, struct pd_error *error)
{
	struct rows *rows = cursor;
	enum pd_status status = PD_OK;

	if (rows->group_count)
		return next_grouped(rows, error);

	if (rows->batch && ++rows->row < rows->batch->rows)
		return PD_OK;
	rows->row = 0;
	for (;; rows->file++) {
		if (rows->file == rows->sql->file_count)
			return PD_END;
		if (!rows->sql->joined[rows->table].tables[rows->file])
			continue;
		if (!rows->scan)
			status = open_file(rows, error);
		if (status >= 0)
			status = pd_scan_next(rows->scan, &rows->batch, error);
		if (status != PD_END)
			return status;
		pd_scan_close(rows->scan);
		rows->scan = NULL;
		rows->batch = NULL;
		status = PD_OK;
	}
}

static void get_name(const struct rows *rows, uint32_t string, struct pd_sql_value *value_out)
{
	const struct pd_table_string *name = &rows->sql->files[rows->file].set->strings.strings[string];

	value_out->kind = PD_SQL_TEXT;
	value_out->data = name->text;
	value_out->size = name->size;
	value_out->lasting = true;
}

static uint64_t cell_of(const struct pd_column_buffer *buffer, size_t row)
{
	uint32_t half;

	if (pd_column_is_wide(buffer->type))
		return ((const uint64_t *)buffer->items)[row];
	half = ((const uint32_t *)buffer->items)[row];
	return buffer->type == PD_COLUMN_S32 ? (uint64_t)(int32_t)half : half;
}

static void get_number(const struct rows *rows, enum pd_column_type type, uint64_t cell, struct pd_sql_value *value_out)
{
	if (type == PD_COLUMN_NAME) {
		get_name(rows, (uint32_t)cell, value_out);
		return;
	}
	value_out->kind = type == PD_COLUMN_F64 ? PD_SQL_REAL : PD_SQL_INTEGER;
	if (type == PD_COLUMN_F64)
		memcpy(&value_out->real, &cell, sizeof(cell));
	else
		value_out->integer = (int64_t)cell;
}

static void get_cell(void *cursor, size_t column, struct pd_sql_value *value_out)
{
	const struct rows *rows = cursor;
	const struct pd_column_buffer *buffer;
	struct pd_bytes bytes;
	uint64_t cell;

	if (column + 1 == rows->sql->tables[rows->table].column_count) {
		value_out->kind = PD_SQL_TEXT;
		value_out->data = pd_file_name(rows->sql->files[rows->file].file);
		value_out->size = strlen(value_out->data);
		return;
	}
	if (rows->columns[column] == SIZE_MAX)
		return;
	column = rows->columns[column];
	buffer = &rows->scan->batch.columns[column];
	if (rows->grouped) {
		if (pd_sql_groups_cell(rows->grouped, column, &cell))
			get_number(rows, buffer->type, cell, value_out);
		return;
	}
	if (!buffer->wanted || !buffer->valid[rows->row])
		return;
	if (!buffer->bytes) {
		get_number(rows, buffer->type, cell_of(buffer, rows->row), value_out);
		return;
	}
	bytes = pd_columns_bytes(buffer, rows->row);
	value_out->kind = buffer->type == PD_COLUMN_BYTES ? PD_SQL_BYTES : PD_SQL_TEXT;
	value_out->data = (const char *)bytes.data;
	value_out->size = bytes.size;
}

// ---- all of it ----

enum pd_status pd_sql_join(struct pd_sql *sql, struct pd_error *error)
{
	size_t most = 0;
	const struct pd_table *table;

	for (size_t f = 0; f < sql->file_count; f++)
		most += sql->files[f].set->count;
	sql->tables = pd_arena_alloc(&sql->arena, most * sizeof(*sql->tables));
	sql->joined = pd_arena_alloc(&sql->arena, most * sizeof(*sql->joined));
	if (!sql->tables || !sql->joined)
		return pd_fail_memory(error);
	for (size_t f = 0; f < sql->file_count; f++)
		for (size_t i = 0; (table = pd_table_at(sql->files[f].set, i)) != NULL; i++)
			if (!add_table(sql, table->name))
				return pd_fail_memory(error);
	sql->source = (struct pd_sql_source){ .self = sql,
					      .tables = sql->tables,
					      .table_count = sql->table_count,
					      .functions = pd_sql_functions,
					      .can_group = can_group,
					      .begin = open_rows,
					      .next = next_row,
					      .cell = get_cell,
					      .close = close_rows };
	return PD_OK;
}
