/* SPDX-License-Identifier: MIT */
#include "store/kinds/reader.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/file.h"

enum {
	COLUMNS_MOST = 16,
	FRAME_FUNCTION = 1, // columns
	FRAME_OBJECT = 3,
	STACK_PARENT = 1,
	STACK_FRAME = 2
};

struct description {
	struct pd_sql_table tables[PD_STORE_TABLES];
	struct pd_sql_column columns[PD_STORE_TABLES][COLUMNS_MOST];
};

// ---- rows ----

static uint64_t hash_cell(const struct pd_store_reader *reader, size_t column, uint64_t seed)
{
	struct pd_sql_value value = { .kind = PD_SQL_NULL };

	reader->kind->cell(reader, column, &value);
	if (value.kind == PD_SQL_TEXT)
		return pd_hash(seed + 1, value.data, value.size);
	return pd_hash(seed + (value.kind == PD_SQL_INTEGER ? 2 : 3), &value.integer, sizeof(value.integer));
}

static enum pd_status fail_number(bool is_frame, struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "two %s have one number",
		       is_frame ? "functions" : "stacks");
}

// Whether a frame or a stack is the first one with its number, as it comes again with each recording.
static enum pd_status note_row(struct pd_store_reader *reader, bool is_frame, bool *first_out, struct pd_error *error)
{
	uint64_t hash = hash_cell(reader, is_frame ? FRAME_FUNCTION : STACK_PARENT, reader->known.seed), found;
	struct pd_sql_value number = { .kind = PD_SQL_NULL };

	hash = hash_cell(reader, is_frame ? FRAME_OBJECT : STACK_FRAME, hash);
	hash += !hash;
	reader->kind->cell(reader, 0, &number);
	*first_out = false;
	if (number.kind != PD_SQL_INTEGER)
		return PD_OK;
	found = pd_u64_map_find(&reader->known, (uint64_t)number.integer);
	if (found)
		return found == hash ? PD_OK : fail_number(is_frame, error);
	*first_out = true;
	return pd_u64_map_add(&reader->known, (uint64_t)number.integer, hash) ? PD_OK : pd_fail_memory(error);
}

static enum pd_status next(void *cursor, struct pd_error *error)
{
	struct pd_store_reader *reader = cursor;
	bool is_frame = reader->part.table == &pd_store_tables[PD_STORE_TABLE_frames];
	bool once = is_frame || reader->part.table == &pd_store_tables[PD_STORE_TABLE_stacks], first;
	enum pd_status status;

	do {
		first = true;
		status = reader->kind->next(reader, error);
		if (status == PD_OK && once)
			status = note_row(reader, is_frame, &first, error);
	} while (status == PD_OK && !first);
	return status;
}

static enum pd_status begin(void *self, size_t table, const struct pd_sql_order *order, void **cursor_out,
			    struct pd_error *error)
{
	struct pd_store_reader *reader = self;

	(void)order;
	pd_u64_map_fini(&reader->known);
	reader->part = (struct pd_store_part){ .table = &pd_store_tables[table], .in = PD_STORE_FOLDER };
	*cursor_out = reader;
	return reader->kind->begin(reader, error);
}

static void cell(void *cursor, size_t column, struct pd_sql_value *value_out)
{
	const struct pd_store_reader *reader = cursor;

	reader->kind->cell(reader, column, value_out);
}

// The reader is the caller's.
static void end(void *cursor)
{
	(void)cursor;
}

static bool can_group(void *self, size_t table, const struct pd_sql_order *order)
{
	(void)self;
	(void)table;
	(void)order;
	return false;
}

// ---- a store of them ----

static void describe(struct description *description)
{
	for (size_t i = 0; i < PD_STORE_TABLES; i++) {
		const struct pd_store_part part = { .table = &pd_store_tables[i], .in = PD_STORE_FOLDER };
		const struct pd_store_column *column;
		size_t count = 0;

		for (; count < COLUMNS_MOST && (column = pd_store_part_column(&part, count)) != NULL; count++) {
			bool is_text = column->type == PD_STORE_NAME || column->type == PD_STORE_TEXT;

			description->columns[i][count] = (struct pd_sql_column){ column->name,
										 is_text ? PD_SQL_TEXT : PD_SQL_INTEGER,
										 PD_SQL_NARROWS_NOT };
		}
		description->tables[i] = (struct pd_sql_table){ .name = part.table->name,
								.columns = description->columns[i],
								.column_count = count };
	}
}

static enum pd_status fill(struct pd_store_reader *reader, const char *path, enum pd_store_need need,
			   struct pd_error *error)
{
	static const struct pd_sql_function no_functions[1];
	struct description description;
	const struct pd_sql_source source = { .self = reader,
					      .tables = description.tables,
					      .table_count = PD_STORE_TABLES,
					      .functions = no_functions,
					      .can_group = can_group,
					      .begin = begin,
					      .next = next,
					      .cell = cell,
					      .close = end };

	describe(&description);
	return pd_store_file_load(path, &source, need, error);
}

// Nobody else can put a journal beside the file, which SQLite would obey.
static enum pd_status make_folder(char *folder, size_t size, struct pd_error *error)
{
	snprintf(folder, size, "/tmp/perfdata-rows-XXXXXX");
	return mkdtemp(folder) ? PD_OK : pd_fail_system(error, errno, "cannot create a temporary folder in /tmp");
}

// From now on SQLite does not look at the name of the file: it can be removed.
static enum pd_status hold(struct pd_sql_database *database, struct pd_error *error)
{
	static const char *const statements[] = { "BEGIN", "SELECT 1 FROM profiles LIMIT 1" };
	enum pd_status status = PD_OK;

	for (size_t i = 0; status >= 0 && i < sizeof(statements) / sizeof(statements[0]); i++) {
		struct pd_sql_statement *row = NULL;
		const char *rest;

		status = pd_sql_sqlite.prepare(database, statements[i], &row, &rest, error);
		if (status >= 0)
			status = pd_sql_sqlite.step(row, error);
		pd_sql_sqlite.finish(row);
	}
	return status;
}

static enum pd_status open_filled(const char *path, struct pd_sql_database **database_out, struct pd_error *error)
{
	struct pd_sql_database *database;
	enum pd_status status = pd_store_file_open(path, &database, error);

	if (status < 0)
		return status;
	status = hold(database, error);
	if (status < 0)
		pd_sql_sqlite.close(database);
	else
		*database_out = database;
	return status < 0 ? status : PD_OK;
}

enum pd_status pd_store_reader_open(struct pd_store_reader *reader, const struct pd_store_question *question,
				    struct pd_sql_database **database_out, struct pd_error *error)
{
	char folder[64], path[80];
	enum pd_status status = make_folder(folder, sizeof(folder), error);

	if (status < 0)
		return status;
	snprintf(path, sizeof(path), "%s/store.db", folder);
	reader->known.seed = pd_hash_secret();
	status = fill(reader, path, question->need, error);
	pd_u64_map_fini(&reader->known);
	if (status >= 0)
		status = open_filled(path, database_out, error);
	unlink(path);
	rmdir(folder);
	return status;
}
