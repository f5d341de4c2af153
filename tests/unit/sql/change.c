/* SPDX-License-Identifier: MIT */
/* A database file that grows, while somebody who takes no lock spoils it: the rows that are added come from a table that does so. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "sql/engine.h"

#include "../temporary.h"
#include "../test.h"

enum {
	ROWS = 100000, // more than SQLite keeps in memory
	PAGE = 4096
};

static char path[64], other[80];
static struct pd_error error;

// ---- a table whose last row has a consequence ----

struct table {
	void (*spoil)(void);
	int64_t rows, row;
};

static enum pd_status begin(void *self, size_t number, const struct pd_sql_order *order, void **cursor_out,
			    struct pd_error *ignored)
{
	struct table *table = self;

	(void)number;
	(void)order;
	(void)ignored;
	table->row = 0;
	*cursor_out = table;
	return PD_OK;
}

static enum pd_status next(void *cursor, struct pd_error *ignored)
{
	struct table *table = cursor;

	(void)ignored;
	if (table->row++ < table->rows)
		return PD_OK;
	if (table->spoil)
		table->spoil();
	return PD_END;
}

static void cell(void *cursor, size_t column, struct pd_sql_value *value_out)
{
	(void)column;
	*value_out = (struct pd_sql_value){ .kind = PD_SQL_INTEGER, .integer = ((struct table *)cursor)->row };
}

static void close_rows(void *cursor)
{
	(void)cursor;
}

static enum pd_status add(const char *to, int64_t rows, void (*spoil)(void))
{
	static const char *const statements[] = { "CREATE TABLE IF NOT EXISTS store.rows(number)",
						  "INSERT INTO store.rows SELECT number FROM main.numbers" };
	static const struct pd_sql_column columns[] = { { "number", PD_SQL_INTEGER, PD_SQL_NARROWS_NOT } };
	static const struct pd_sql_table tables[] = { { "numbers", columns, 1, ROWS } };
	static const struct pd_sql_function none[1];
	struct table table = { .spoil = spoil, .rows = rows };
	const struct pd_sql_source source = { .self = &table,
					      .tables = tables,
					      .table_count = 1,
					      .functions = none,
					      .begin = begin,
					      .next = next,
					      .cell = cell,
					      .close = close_rows };
	const struct pd_sql_change change = { to, true, statements, 2, NULL, 0 };
	struct pd_sql_database *database;
	enum pd_status status = pd_sql_sqlite.begin(&source, &database, &error);

	if (status < 0)
		return status;
	status = pd_sql_sqlite.change(database, &change, &error);
	pd_sql_sqlite.close(database);
	return status;
}

// ---- what others do ----

static void copy_over(void)
{
	static char bytes[64 * PAGE];
	FILE *from = fopen(other, "rb"), *to = fopen(path, "wb");
	size_t size = fread(bytes, 1, sizeof(bytes), from);

	fwrite(bytes, 1, size, to);
	fclose(from);
	fclose(to);
}

static void rename_over(void)
{
	rename(other, path);
}

static void remove_it(void)
{
	unlink(path);
}

static void empty_it(void)
{
	if (truncate(path, 0) != 0)
		abort();
}

static void cut_it(void)
{
	if (truncate(path, PAGE) != 0)
		abort();
}

static bool is_told(int64_t rows, void (*spoil)(void))
{
	unlink(path);
	unlink(other);
	return add(path, 3, NULL) == PD_OK && add(path, 2000, NULL) == PD_OK && add(other, 3, NULL) == PD_OK &&
	       add(path, rows, spoil) == PD_ERROR_OUTPUT && strstr(error.message, "somebody else") != NULL;
}

TEST(nobody_spoils_it)
{
	unlink(path);
	CHECK(add(path, 3, NULL) == PD_OK);
	CHECK(add(path, ROWS, NULL) == PD_OK);
	CHECK(add(path, 3, NULL) == PD_OK);
}

TEST(another_file_has_its_name)
{
	CHECK(is_told(3, rename_over));
	CHECK(is_told(ROWS, rename_over));
}

TEST(it_is_removed)
{
	CHECK(is_told(3, remove_it));
	CHECK(is_told(ROWS, remove_it));
}

TEST(another_file_is_copied_over_it)
{
	CHECK(is_told(3, copy_over));
	CHECK(is_told(ROWS, copy_over));
}

TEST(it_is_cut)
{
	CHECK(is_told(3, empty_it));
	CHECK(is_told(3, cut_it));
	CHECK(is_told(ROWS, empty_it));
}

TEST(a_new_one_is_spoiled)
{
	unlink(path);
	unlink(other);
	CHECK(add(other, 3, NULL) == PD_OK);
	CHECK(add(path, 3, copy_over) == PD_ERROR_OUTPUT);
	unlink(path);
	CHECK(add(path, 3, remove_it) == PD_ERROR_OUTPUT);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(nobody_spoils_it), TEST_CASE(another_file_has_its_name),
		TEST_CASE(it_is_removed),    TEST_CASE(another_file_is_copied_over_it),
		TEST_CASE(it_is_cut),        TEST_CASE(a_new_one_is_spoiled),
	};
	int file, failed;

	name_temporary(path, sizeof(path), "change");
	file = open(path, O_CREAT | O_EXCL | O_RDWR, 0600);
	if (file < 0)
		return 1;
	close(file);
	snprintf(other, sizeof(other), "%s-other", path);
	failed = test_run(cases, sizeof(cases) / sizeof(cases[0]));
	unlink(path);
	unlink(other);
	return failed;
}
