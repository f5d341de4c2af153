/* SPDX-License-Identifier: MIT */
/* Bytes as a file whose tables are all read, in both orders. No objects are opened. */
#include <string.h>

#include <perfdata/table.h>
#include <perfdata/text.h>

#include "mutate.h"
#include "unit/no_files.h"
#include "walk.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
	return mutate(data, size, max_size, seed);
}

// Ends ascend, and strings are harmless.
static void require_texts(const struct ArrowArray *array, bool is_text)
{
	const int32_t *ends = array->buffers[1];
	const char *data = array->buffers[2];

	for (int64_t i = 0; i < array->length; i++) {
		REQUIRE(ends[i] <= ends[i + 1]);
		for (int32_t at = ends[i]; is_text && at < ends[i + 1];) {
			size_t plain = pd_text_plain(data + at, (size_t)(ends[i + 1] - at));

			REQUIRE(plain);
			at += (int32_t)plain;
		}
	}
}

static void require_column(const struct ArrowArray *array, enum pd_column_type type, int64_t rows)
{
	const int32_t *items = array->buffers[1];

	REQUIRE(array->length == rows && array->null_count <= rows && (array->buffers[0] || !array->null_count));
	if (type == PD_COLUMN_TEXT || type == PD_COLUMN_BYTES || type == PD_COLUMN_JSON)
		require_texts(array, type != PD_COLUMN_BYTES);
	if (type != PD_COLUMN_NAME)
		return;
	require_texts(array->dictionary, true);
	for (int64_t i = 0; i < rows; i++)
		REQUIRE(items[i] >= 0 && items[i] < array->dictionary->length);
}

// The number of rows. A moved column lives longer than its batch.
static int64_t read_table(struct pd_table_set *set, const struct pd_table *table, enum pd_order order)
{
	const struct pd_table_query query = { .size = sizeof(query), .order = order };
	struct ArrowArrayStream stream;
	struct ArrowSchema schema;
	struct ArrowArray batch, moved = { 0 };
	struct pd_error error;
	int64_t rows = 0;

	if (pd_table_stream(set, table, &query, &stream, &error) < 0)
		return -1;
	REQUIRE(stream.get_schema(&stream, &schema) == 0 && schema.n_children == (int64_t)table->column_count);
	schema.release(&schema);
	while (stream.get_next(&stream, &batch) == 0 && batch.release) {
		REQUIRE(batch.n_children == (int64_t)table->column_count && batch.length);
		for (size_t i = 0; i < table->column_count; i++)
			require_column(batch.children[i], table->columns[i].type, batch.length);
		rows += batch.length;
		if (moved.release)
			moved.release(&moved);
		moved = *batch.children[0];
		batch.children[0]->release = NULL;
		batch.release(&batch);
	}
	if (moved.release)
		moved.release(&moved);
	if (stream.get_last_error(&stream)) {
		REQUIRE(pd_table_stream_error(&stream, &error) < 0);
		rows = -1;
	}
	stream.release(&stream);
	return rows;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct opened opened = { 0 };
	const struct pd_table_options options = { .size = sizeof(options), .symbols = open_symbols, .self = &opened };
	struct walk walk = { 0 };
	struct pd_open_options how = walk_options(&walk);
	struct pd_table_set *set;
	const struct pd_table *table;
	struct pd_error error;

	if (pd_file_open_memory(data, size, &how, &opened.file, &error) < 0)
		return 0;
	if (pd_table_set_new(opened.file, &options, &set, &error) >= 0) {
		for (size_t i = 0; (table = pd_table_at(set, i)) != NULL; i++) {
			int64_t rows = read_table(set, table, PD_ORDER_FILE);

			REQUIRE(read_table(set, table, PD_ORDER_TIME) == rows);
		}
		pd_table_set_free(set);
	} else {
		walk_require_error(error.status, &error);
	}
	pd_symbols_free(opened.symbols);
	pd_file_close(opened.file);
	return 0;
}
