/* SPDX-License-Identifier: MIT */
/*
 * Every allocation of reading all tables and of a query fails once, each in turn: PD_ERROR_MEMORY then, or the rows that there are
 * with all memory. Allocations are wrapped by the linker (--wrap); that nothing is lost is what the sanitizers look for.
 */
#include <perfdata/perfdata.h>

#include <stdlib.h>

#include "../failing.h"
#include "../no_files.h"
#include "../test.h"

static enum pd_status read_table(struct pd_table_set *set, const struct pd_table *table, int64_t *rows_out)
{
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray batch;
	enum pd_status status = pd_table_stream(set, table, NULL, &stream, NULL);

	if (status < 0)
		return status;
	if (stream.get_schema(&stream, &schema) == 0)
		schema.release(&schema);
	while (stream.get_next(&stream, &batch) == 0 && batch.release) {
		*rows_out += batch.length;
		batch.release(&batch);
	}
	status = pd_table_stream_error(&stream, NULL);
	stream.release(&stream);
	return status;
}

// What is done in each turn; the rows or bytes it gives.
typedef enum pd_status turn_fn(struct pd_file *file, const struct pd_table_options *options, int64_t *amount_out);

static enum pd_status read_tables(struct pd_file *file, const struct pd_table_options *options, int64_t *rows_out)
{
	struct pd_table_set *set = NULL;
	enum pd_status status = pd_table_set_new(file, options, &set, NULL);
	const struct pd_table *table;

	for (size_t i = 0; status >= 0 && (table = pd_table_at(set, i)) != NULL; i++)
		status = read_table(set, table, rows_out);
	pd_table_set_free(set);
	return status;
}

static enum pd_status ask(struct pd_file *file, const struct pd_table_options *options, int64_t *bytes_out)
{
	const struct pd_sql_options how = { .size = sizeof(how), .tables = *options };
	struct pd_text *text = pd_text_new();
	struct pd_sql *sql = NULL;
	enum pd_status status = text ? pd_sql_new(&file, 1, &how, &sql, NULL) : PD_ERROR_MEMORY;

	if (status >= 0)
		status = pd_sql_run(
			sql,
			"select function, count(*), stack_text(stack) from samples where cpu >= 0 group by 1; "
			"select * from tasks",
			PD_SQL_COLUMNS, text, NULL);
	*bytes_out = text ? (int64_t)pd_text_bytes(text).size : 0;
	if (text && pd_text_failed(text))
		status = PD_ERROR_MEMORY;
	pd_sql_free(sql);
	pd_text_free(text);
	return status;
}

static enum pd_status with_file(turn_fn *turn, int64_t *amount_out, uint64_t *problems_out)
{
	struct opened opened = { 0 };
	const struct pd_table_options options = { .size = sizeof(options), .symbols = open_symbols, .self = &opened };
	enum pd_status status = pd_file_open(PERFDATA_TEST_DATA "/hot-trace.data", NULL, &opened.file, NULL);

	*amount_out = 0;
	if (status >= 0)
		status = turn(opened.file, &options, amount_out);
	*problems_out = opened.file ? pd_file_problem_count(opened.file, PD_DAMAGE) : 0;
	pd_symbols_free(opened.symbols);
	pd_file_close(opened.file);
	return status;
}

// How many failures there were; 0 if one was not told.
static long every_turn(turn_fn *turn)
{
	int64_t whole, amount;
	uint64_t problems;
	long failures = 0;
	bool good = with_file(turn, &whole, &problems) == PD_OK && whole > 0;

	for (long at = 0; good; at++) {
		enum pd_status status;

		has_failed = false;
		left = at;
		status = with_file(turn, &amount, &problems);
		left = -1;
		// what cannot be decoded or read without memory is a problem of the file, and null
		good = status >= 0 ? amount == whole || problems || has_failed :
				     has_failed && (status == PD_ERROR_MEMORY || status == PD_ERROR_STOPPED);
		if (!good)
			printf("# allocation %ld: %s, %lld of %lld\n", at, pd_status_name(status), (long long)amount,
			       (long long)whole);
		failures += status < 0;
		if (!has_failed)
			break;
	}
	return good ? failures : 0;
}

TEST(test_table__says_so_when_memory_runs_out)
{
	CHECK(every_turn(read_tables) > 100);
}

TEST(test_sql__says_so_when_memory_runs_out)
{
	struct pd_sql *sql;
	struct pd_file *file;

	CHECK(pd_file_open(PERFDATA_TEST_DATA "/hot.data", NULL, &file, NULL) >= 0);
	if (pd_sql_new(&file, 1, NULL, &sql, NULL) == PD_ERROR_UNSUPPORTED) {
		pd_file_close(file);
		return;
	}
	pd_sql_free(sql);
	pd_file_close(file);
	CHECK(every_turn(ask) > 100);
}

RUN(TEST_CASE(test_table__says_so_when_memory_runs_out), TEST_CASE(test_sql__says_so_when_memory_runs_out))
