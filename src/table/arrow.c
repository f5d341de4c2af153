/* SPDX-License-Identifier: MIT */
/*
 * Batches as arrays of the Arrow C Data Interface: one struct array for each batch, with a child for each column. An array has all
 * of its memory in blocks of its own, so it may live longer than the set. https://arrow.apache.org/docs/format/CDataInterface.html
 */
#include "table/scan.h"

#include <errno.h>

#include "base/error.h"
#include "stream/read/stream.h"

enum {
	FLAG_NULLABLE = 2 // of a schema
};

// ---- memory ----

// What an array or schema consists of, freed at once.
struct block {
	struct pd_arena arena;
};

static void *take_memory(struct block *block, size_t size)
{
	return pd_arena_alloc(&block->arena, size + !size);
}

static struct block *block_new(void)
{
	return pd_alloc(sizeof(struct block));
}

static void block_free(struct block *block)
{
	if (!block)
		return;
	pd_arena_fini(&block->arena);
	pd_free(block);
}

// A child has been moved away if its release is NULL; else its own memory is that of its parent, but for the block of a moved one.
static void release_schema(struct ArrowSchema *schema)
{
	for (int64_t i = 0; i < schema->n_children; i++)
		if (schema->children[i]->release)
			schema->children[i]->release(schema->children[i]);
	if (schema->dictionary && schema->dictionary->release)
		schema->dictionary->release(schema->dictionary);
	schema->release = NULL;
	block_free(schema->private_data);
}

static void release_array(struct ArrowArray *array)
{
	for (int64_t i = 0; i < array->n_children; i++)
		if (array->children[i]->release)
			array->children[i]->release(array->children[i]);
	if (array->dictionary && array->dictionary->release)
		array->dictionary->release(array->dictionary);
	array->release = NULL;
	block_free(array->private_data);
}

// ---- schema ----

static const char *format_of(enum pd_column_type type)
{
	static const char *const formats[] = {
		[PD_COLUMN_U32] = "I",  [PD_COLUMN_S32] = "i",   [PD_COLUMN_U64] = "L",
		[PD_COLUMN_S64] = "l",  [PD_COLUMN_F64] = "g",   [PD_COLUMN_NAME] = "i",
		[PD_COLUMN_TEXT] = "u", [PD_COLUMN_BYTES] = "z", [PD_COLUMN_JSON] = "u",
	};

	return formats[type];
}

static bool fill_schema(struct ArrowSchema *schema, const char *format, const char *name, struct block **block_out)
{
	struct block *block = block_new();

	*schema = (struct ArrowSchema){ .format = format, .flags = FLAG_NULLABLE };
	if (!block)
		return false;
	*block_out = block;
	schema->private_data = block;
	schema->release = release_schema;
	schema->name = pd_arena_text(&block->arena, name, strlen(name));
	return schema->name != NULL;
}

static bool fill_column_schema(struct ArrowSchema *schema, const struct pd_table_column *column)
{
	struct block *block, *inner;

	if (!fill_schema(schema, format_of(column->type), column->name, &block))
		return false;
	if (column->type != PD_COLUMN_NAME)
		return true;
	schema->dictionary = take_memory(block, sizeof(*schema->dictionary));
	return schema->dictionary && fill_schema(schema->dictionary, "u", "", &inner);
}

static bool fill_table_schema(struct ArrowSchema *schema, const struct pd_table *table, const size_t *columns,
			      size_t count)
{
	struct ArrowSchema *children;
	struct block *block;

	if (!fill_schema(schema, "+s", table->name, &block))
		return false;
	schema->flags = 0;
	schema->children = take_memory(block, count * sizeof(struct ArrowSchema *));
	children = take_memory(block, count * sizeof(*children));
	for (size_t i = 0; schema->children && children && i < count; i++) {
		schema->children[i] = &children[i];
		schema->n_children++;
		if (!fill_column_schema(&children[i], &table->columns[columns[i]]))
			return false;
	}
	return schema->children && children;
}

// ---- arrays ----

static bool fill_array(struct ArrowArray *array, size_t length, size_t nulls, size_t buffers, struct block **block_out)
{
	struct block *block = block_new();

	*array = (struct ArrowArray){ .length = (int64_t)length, .null_count = (int64_t)nulls };
	if (!block)
		return false;
	*block_out = block;
	array->private_data = block;
	array->release = release_array;
	array->n_buffers = (int64_t)buffers;
	array->buffers = take_memory(block, buffers * sizeof(void *));
	return array->buffers != NULL;
}

// One bit for each row, NULL if all are there.
static bool fill_validity(struct ArrowArray *array, struct block *block, const struct pd_column_buffer *buffer,
			  size_t rows)
{
	uint8_t *bits;

	if (!array->null_count)
		return true;
	bits = take_memory(block, (rows + 7) / 8);
	array->buffers[0] = bits;
	for (size_t i = 0; bits && i < rows; i++)
		bits[i / 8] |= (uint8_t)(buffer->valid[i] << i % 8);
	return bits != NULL;
}

static bool fill_numbers(struct ArrowArray *array, struct block *block, const struct pd_column_buffer *buffer,
			 size_t rows)
{
	size_t size = rows * (pd_column_is_wide(buffer->type) ? 8 : 4);
	void *items = take_memory(block, size);

	array->buffers[1] = items;
	if (items && size)
		memcpy(items, buffer->items, size);
	return items != NULL;
}

static bool fill_texts(struct ArrowArray *array, struct block *block, const struct pd_column_buffer *buffer,
		       size_t rows)
{
	int32_t *ends = take_memory(block, (rows + 1) * sizeof(*ends));
	char *data = take_memory(block, buffer->bytes->size);

	array->buffers[1] = ends;
	array->buffers[2] = data;
	if (!ends || !data)
		return false;
	for (size_t i = 0; i < rows; i++)
		ends[i + 1] = (int32_t)((const size_t *)buffer->items)[i];
	if (buffer->bytes->size)
		memcpy(data, buffer->bytes->data, buffer->bytes->size);
	return true;
}

// The strings of a batch, numbered by first use.
static bool fill_dictionary(struct ArrowArray *dictionary, const struct pd_tables *tables, const uint32_t *used,
			    size_t count)
{
	struct block *block;
	int32_t *ends;
	char *data;
	size_t size = 0, at = 0;

	for (size_t i = 0; i < count; i++)
		size += tables->strings[used[i]].size;
	if (!fill_array(dictionary, count, 0, 3, &block) || size > INT32_MAX)
		return false;
	ends = take_memory(block, (count + 1) * sizeof(*ends));
	data = take_memory(block, size);
	dictionary->buffers[1] = ends;
	dictionary->buffers[2] = data;
	if (!ends || !data)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct pd_table_string *string = &tables->strings[used[i]];

		memcpy(data + at, string->text, string->size);
		at += string->size;
		ends[i + 1] = (int32_t)at;
	}
	return true;
}

static bool fill_names(struct ArrowArray *array, struct block *block, const struct pd_column_buffer *buffer,
		       const struct pd_tables *tables, size_t rows)
{
	int32_t *items = take_memory(block, rows * sizeof(*items));
	uint32_t *used = pd_alloc((rows + 1) * sizeof(*used));
	struct pd_u64_map number_of = { 0 };
	size_t count = 0;
	bool done = items && used;

	array->buffers[1] = items;
	for (size_t i = 0; done && i < rows; i++) {
		uint32_t string = ((const uint32_t *)buffer->items)[i];
		uint64_t number = pd_u64_map_find(&number_of, string);

		if (!number) {
			used[count++] = string;
			number = count;
			done = pd_u64_map_add(&number_of, string, number);
		}
		items[i] = (int32_t)number - 1;
	}
	if (done) {
		array->dictionary = take_memory(block, sizeof(*array->dictionary));
		done = array->dictionary && fill_dictionary(array->dictionary, tables, used, count);
	}
	pd_u64_map_fini(&number_of);
	pd_free(used);
	return done;
}

static bool fill_column(struct ArrowArray *array, const struct pd_column_buffer *buffer, const struct pd_tables *tables,
			size_t rows)
{
	struct block *block;

	if (!fill_array(array, rows, pd_column_nulls(buffer, rows), buffer->bytes ? 3 : 2, &block) ||
	    !fill_validity(array, block, buffer, rows))
		return false;
	if (buffer->bytes)
		return fill_texts(array, block, buffer, rows);
	if (buffer->type == PD_COLUMN_NAME)
		return fill_names(array, block, buffer, tables, rows);
	return fill_numbers(array, block, buffer, rows);
}

static bool fill_batch(struct ArrowArray *array, const struct pd_columns *batch, const struct pd_tables *tables,
		       const size_t *columns, size_t count)
{
	struct ArrowArray *children;
	struct block *block;

	if (!fill_array(array, batch->rows, 0, 1, &block))
		return false;
	array->children = take_memory(block, count * sizeof(struct ArrowArray *));
	children = take_memory(block, count * sizeof(*children));
	for (size_t i = 0; array->children && children && i < count; i++) {
		array->children[i] = &children[i];
		array->n_children++;
		if (!fill_column(&children[i], &batch->columns[columns[i]], tables, batch->rows))
			return false;
	}
	return array->children && children;
}

// ---- streams ----

struct arrow_stream {
	struct pd_table_set *set;
	const struct pd_table *table;
	struct pd_scan *scan;
	size_t *columns; // in the order that was asked for
	size_t column_count;
	enum pd_status status;
	struct pd_error error;
};

static int errno_of(enum pd_status status)
{
	return status == PD_ERROR_MEMORY ? ENOMEM : status == PD_ERROR_ARGUMENT ? EINVAL : EIO;
}

static int fail_memory(struct arrow_stream *stream)
{
	stream->status = pd_fail_memory(&stream->error);
	return ENOMEM;
}

static int get_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
	struct arrow_stream *stream = self->private_data;

	if (fill_table_schema(out, stream->table, stream->columns, stream->column_count))
		return 0;
	if (out->release)
		out->release(out);
	return fail_memory(stream);
}

static int get_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
	struct arrow_stream *stream = self->private_data;
	const struct pd_columns *batch;
	enum pd_status status = pd_scan_next(stream->scan, &batch, &stream->error);

	*out = (struct ArrowArray){ 0 };
	if (status == PD_END)
		return 0;
	stream->status = status;
	if (status < 0)
		return errno_of(status);
	for (size_t i = 0; i < batch->column_count; i++)
		if (batch->columns[i].bytes && batch->columns[i].bytes->size > INT32_MAX) {
			stream->status = pd_fail(&stream->error, PD_ERROR_LIMIT, PD_NO_OFFSET,
						 "%s.%s: a value is too large", stream->table->name,
						 stream->table->columns[i].name);
			return EIO;
		}
	if (fill_batch(out, batch, &stream->set->strings, stream->columns, stream->column_count))
		return 0;
	if (out->release)
		out->release(out);
	return fail_memory(stream);
}

static const char *get_last_error(struct ArrowArrayStream *self)
{
	const struct arrow_stream *stream = self->private_data;

	return stream->status < 0 ? stream->error.message : NULL;
}

static void stream_free(struct arrow_stream *stream)
{
	pd_scan_close(stream->scan);
	pd_free(stream->columns);
	pd_free(stream);
}

static void release_stream(struct ArrowArrayStream *self)
{
	stream_free(self->private_data);
	self->release = NULL;
}

enum pd_status pd_table_stream_error(const struct ArrowArrayStream *self, struct pd_error *error)
{
	const struct arrow_stream *stream = self->private_data;

	if (error && stream->status < 0)
		*error = stream->error;
	return stream->status;
}

// ---- opening ----

static enum pd_status choose_columns(struct arrow_stream *stream, const struct pd_table_query *query, bool *wanted,
				     struct pd_error *error)
{
	const struct pd_table *table = stream->table;
	size_t count = query->columns ? query->column_count : table->column_count;

	stream->columns = pd_alloc((count + 1) * sizeof(*stream->columns));
	if (!stream->columns)
		return pd_fail_memory(error);
	for (size_t i = 0; i < count; i++) {
		size_t at = query->columns ? 0 : i;

		while (query->columns && at < table->column_count &&
		       strcmp(table->columns[at].name, query->columns[i]) != 0)
			at++;
		if (at == table->column_count)
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s has no column '%s'", table->name,
				       query->columns[i]);
		wanted[at] = true;
		stream->columns[stream->column_count++] = at;
	}
	return PD_OK;
}

static enum pd_status open_stream(struct arrow_stream *stream, const struct pd_table_query *query,
				  struct pd_error *error)
{
	const struct pd_scan_limits limits = { .from_ns = query->from_ns, .to_ns = query->to_ns };
	bool *wanted = pd_alloc((stream->table->column_count + 1) * sizeof(*wanted));
	enum pd_status status;

	if (!wanted)
		return pd_fail_memory(error);
	status = choose_columns(stream, query, wanted, error);
	if (status >= 0)
		status = pd_scan_open(stream->set, stream->table, wanted, &limits, query->order, &stream->scan, error);
	pd_free(wanted);
	return status;
}

enum pd_status pd_table_stream(struct pd_table_set *set, const struct pd_table *table,
			       const struct pd_table_query *query, struct ArrowArrayStream *stream_out,
			       struct pd_error *error)
{
	struct pd_table_query all = { 0 };
	struct arrow_stream *stream;
	enum pd_status status;

	if (!table)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "there is no such table");
	if (query && !query->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size member of the options is 0");
	if (query)
		memcpy(&all, query, query->size < sizeof(all) ? query->size : sizeof(all));
	stream = pd_alloc(sizeof(*stream));
	if (!stream)
		return pd_fail_memory(error);
	stream->set = set;
	stream->table = table;
	status = open_stream(stream, &all, error);
	if (status < 0) {
		stream_free(stream);
		return status;
	}
	*stream_out = (struct ArrowArrayStream){ get_schema, get_next, get_last_error, release_stream, stream };
	return PD_OK;
}
