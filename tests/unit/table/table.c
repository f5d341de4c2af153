/* SPDX-License-Identifier: MIT */
/* Tables through the Arrow C Data Interface: columns, types, order, limits, and how long arrays live. */
#include <perfdata/perfdata.h>

#include "../test.h"

struct tables {
	struct pd_file *file;
	struct pd_table_set *set;
};

static bool open_tables(struct tables *tables, const char *name)
{
	char path[1000];

	*tables = (struct tables){ 0 };
	snprintf(path, sizeof(path), "%s/%s", PERFDATA_TEST_DATA, name);
	return pd_file_open(path, NULL, &tables->file, NULL) == PD_OK &&
	       pd_table_set_new(tables->file, NULL, &tables->set, NULL) == PD_OK;
}

static void close_tables(struct tables *tables)
{
	pd_table_set_free(tables->set);
	pd_file_close(tables->file);
}

// All rows of some columns of a table, which are few.
static bool read_rows(struct tables *tables, const char *table, const struct pd_table_query *query,
		      struct ArrowArray *array_out)
{
	struct ArrowArrayStream stream;
	bool done;

	if (pd_table_stream(tables->set, pd_table_by_name(tables->set, table), query, &stream, NULL) < 0)
		return false;
	done = stream.get_next(&stream, array_out) == 0 && array_out->release;
	stream.release(&stream);
	return done;
}

TEST(test_table__has_what_the_format_has)
{
	const struct pd_layout *layout = pd_layout_by_name("sample");
	struct tables tables;
	const struct pd_table *samples;

	CHECK(open_tables(&tables, "hot.data"));
	samples = pd_table_by_name(tables.set, "samples");
	for (size_t i = 0; i < pd_layout_field_count(layout); i++) {
		const char *name = pd_field_name(pd_layout_field(layout, i));
		size_t found = 0;

		for (size_t k = 0; k < samples->column_count; k++)
			found += strcmp(samples->columns[k].name, name) == 0;
		CHECK(found == 1);
	}
	CHECK(!pd_table_by_name(tables.set, "nothing") && !pd_table_at(tables.set, 1000));
	close_tables(&tables);
}

TEST(test_table__has_distinct_columns)
{
	const struct pd_table *table;
	struct tables tables;

	CHECK(open_tables(&tables, "hot-trace.data"));
	for (size_t t = 0; (table = pd_table_at(tables.set, t)) != NULL; t++)
		for (size_t i = 0; i < table->column_count; i++) {
			CHECK(*table->columns[i].doc && strcmp(table->columns[i].name, "file") != 0);
			for (size_t k = 0; k < i; k++)
				CHECK(strcmp(table->columns[i].name, table->columns[k].name) != 0);
		}
	CHECK(pd_table_by_name(tables.set, "sched:sched_switch"));
	close_tables(&tables);
}

TEST(test_stream__has_the_columns_that_were_asked_for)
{
	static const char *const names[] = { "cpu", "ip", "comm" }, *const wrong[] = { "ip", "nothing" };
	struct pd_table_query query = { .size = sizeof(query), .columns = names, .column_count = 3 };
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct tables tables;
	const struct pd_table *samples;
	struct pd_error error;

	CHECK(open_tables(&tables, "hot.data"));
	samples = pd_table_by_name(tables.set, "samples");
	CHECK(pd_table_stream(tables.set, samples, &query, &stream, &error) == PD_OK);
	CHECK(stream.get_schema(&stream, &schema) == 0);
	CHECK_STR(schema.format, "+s");
	CHECK(schema.n_children == 3 && schema.children[2]->dictionary);
	CHECK_STR(schema.children[0]->name, "cpu");
	CHECK_STR(schema.children[0]->format, "i");
	CHECK_STR(schema.children[1]->format, "L");
	CHECK_STR(schema.children[2]->dictionary->format, "u");
	schema.release(&schema);
	CHECK(!schema.release);
	stream.release(&stream);
	query.columns = wrong;
	query.column_count = 2;
	CHECK(pd_table_stream(tables.set, samples, &query, &stream, &error) == PD_ERROR_ARGUMENT);
	CHECK_STR(error.message, "samples has no column 'nothing'");
	CHECK(pd_table_stream(tables.set, NULL, NULL, &stream, &error) == PD_ERROR_ARGUMENT);
	close_tables(&tables);
}

// The time of each row; arrays live longer than stream and set.
TEST(test_stream__is_in_order_and_in_time)
{
	static const char *const names[] = { "time_ns" };
	struct pd_table_query query = {
		.size = sizeof(query), .columns = names, .column_count = 1, .order = PD_ORDER_TIME
	};
	struct ArrowArray all, some;
	struct tables tables;
	const uint64_t *times;
	int64_t inside = 0;

	CHECK(open_tables(&tables, "hot.data"));
	CHECK(read_rows(&tables, "samples", &query, &all) && all.length > 10);
	times = all.children[0]->buffers[1];
	query.from_ns = times[3];
	query.to_ns = times[all.length - 3];
	CHECK(read_rows(&tables, "samples", &query, &some));
	close_tables(&tables);
	for (int64_t i = 0; i < all.length; i++) {
		CHECK(!i || times[i - 1] <= times[i]);
		inside += times[i] >= query.from_ns && times[i] <= query.to_ns;
	}
	CHECK(some.length == inside && inside < all.length);
	all.release(&all);
	some.release(&some);
	CHECK(!all.release && !some.release);
}

TEST(test_stacks__are_those_of_the_samples)
{
	static const char *const of_samples[] = { "stack" }, *const of_stacks[] = { "stack", "depth" };
	struct pd_table_query query = { .size = sizeof(query), .columns = of_samples, .column_count = 1 };
	struct ArrowArray samples, stacks;
	struct tables tables;
	const uint64_t *ids, *wanted;

	CHECK(open_tables(&tables, "hot.data"));
	CHECK(read_rows(&tables, "samples", &query, &samples));
	query = (struct pd_table_query){ .size = sizeof(query), .columns = of_stacks, .column_count = 2 };
	CHECK(read_rows(&tables, "stacks", &query, &stacks));
	wanted = samples.children[0]->buffers[1];
	ids = stacks.children[0]->buffers[1];
	for (int64_t i = 0; i < samples.length; i++) {
		bool found = false;

		for (int64_t k = 0; k < stacks.length; k++)
			found |= ids[k] == wanted[i];
		CHECK(found && *pd_table_stack_text(tables.set, wanted[i]));
	}
	CHECK_STR(pd_table_stack_text(tables.set, 1), "");
	samples.release(&samples);
	stacks.release(&stacks);
	close_tables(&tables);
}

RUN(TEST_CASE(test_table__has_what_the_format_has), TEST_CASE(test_table__has_distinct_columns),
    TEST_CASE(test_stream__has_the_columns_that_were_asked_for), TEST_CASE(test_stream__is_in_order_and_in_time),
    TEST_CASE(test_stacks__are_those_of_the_samples))
