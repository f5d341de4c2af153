/* SPDX-License-Identifier: MIT */
/*
 * Arrow IPC, as a file and as a stream. Names are dictionaries. A file has each of them once, after the batches: its footer says where,
 * so that readers have them first; a stream has what is new of them before each batch. Buffers are compressed by zstd.
 * https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc
 */
#include "table/file/flat.h"
#include "table/file/format.h"

enum {
	VERSION_5 = 4,
	MESSAGE_SCHEMA = 1,
	MESSAGE_DICTIONARY = 2,
	MESSAGE_BATCH = 3,
	TYPE_INT = 2,
	TYPE_FLOAT = 3,
	TYPE_BINARY = 4,
	TYPE_UTF8 = 5,
	PRECISION_DOUBLE = 2,
	CODEC_ZSTD = 1
};

static const char magic[8] = "ARROW1";

struct range {
	uint64_t offset, size;
};

// Where a message is.
struct message {
	uint64_t offset, meta_size, body_size;
};

struct messages {
	struct message *items;
	size_t count, capacity;
};

struct arrow {
	bool is_stream;
	struct pd_name_list *names; // by column
	size_t *written;            // by column: how many of them are in the file
	struct pd_text *meta, *body, *plain;
	struct range *buffers; // of the body
	size_t buffer_count, buffer_capacity;
	struct messages batches, dictionaries;
};

// ---- metadata ----

static size_t put_type(struct pd_text *text, enum pd_column_type type, size_t kind_at)
{
	static const uint8_t of_int[] = { 4, 1 }, of_float[] = { 2 };
	bool is_int = type == PD_COLUMN_U32 || type == PD_COLUMN_S32 || type == PD_COLUMN_U64 || type == PD_COLUMN_S64;
	size_t fields[2], table;

	if (is_int) {
		pd_flat_set(text, kind_at, TYPE_INT, 1);
		table = pd_flat_table(text, of_int, 2, fields);
		pd_flat_set(text, fields[0], pd_column_is_wide(type) ? 64 : 32, 4);
		pd_flat_set(text, fields[1], type == PD_COLUMN_S32 || type == PD_COLUMN_S64, 1);
		return table;
	}
	if (type == PD_COLUMN_F64) {
		pd_flat_set(text, kind_at, TYPE_FLOAT, 1);
		table = pd_flat_table(text, of_float, 1, fields);
		pd_flat_set(text, fields[0], PRECISION_DOUBLE, 2);
		return table;
	}
	pd_flat_set(text, kind_at, type == PD_COLUMN_BYTES ? TYPE_BINARY : TYPE_UTF8, 1);
	return pd_flat_table(text, NULL, 0, NULL);
}

// The dictionary of a column is called by its number.
static void put_dictionary(struct pd_text *text, size_t at, size_t column)
{
	static const uint8_t sizes[] = { 8, 4 }, of_int[] = { 4, 1 };
	size_t fields[2], index[2];

	pd_flat_point(text, at, pd_flat_table(text, sizes, 2, fields));
	pd_flat_set(text, fields[0], column, 8);
	pd_flat_point(text, fields[1], pd_flat_table(text, of_int, 2, index));
	pd_flat_set(text, index[0], 32, 4);
	pd_flat_set(text, index[1], 1, 1);
}

static void put_field(struct pd_text *text, const struct pd_table_column *column, size_t number, size_t at)
{
	bool is_name = column->type == PD_COLUMN_NAME;
	const uint8_t sizes[] = { 4, 1, 1, 4, is_name ? 4 : 0, 4 }; // name, nullable, type twice, dictionary, children
	struct pd_text name = { 0 };
	size_t fields[6];

	pd_flat_point(text, at, pd_flat_table(text, sizes, 6, fields));
	pd_text_harmless(&name, column->name);
	pd_flat_point(text, fields[0], pd_flat_string(text, name.data, name.size));
	text->failed |= name.failed;
	pd_free(name.data);
	pd_flat_set(text, fields[1], 1, 1);
	pd_flat_point(text, fields[3], put_type(text, column->type, fields[2]));
	if (is_name)
		put_dictionary(text, fields[4], number);
	pd_flat_point(text, fields[5], pd_flat_vector(text, 0, 4));
}

static size_t put_schema(struct pd_text *text, const struct pd_table *table)
{
	static const uint8_t sizes[] = { 2, 4 }; // endianness, fields
	size_t fields[2], schema = pd_flat_table(text, sizes, 2, fields);
	size_t list = pd_flat_vector(text, table->column_count, 4);

	pd_flat_point(text, fields[1], list);
	for (size_t i = 0; i < table->column_count; i++)
		put_field(text, &table->columns[i], i, list + 4 + 4 * i);
	return schema;
}

// A message without its header; returns where that is pointed to.
static size_t begin_message(struct arrow *arrow, unsigned kind)
{
	static const uint8_t sizes[] = { 2, 1, 4, 8 }; // version, header twice, size of the body
	size_t fields[4];

	pd_text_clear(arrow->meta);
	pd_put_zeros(arrow->meta, 4);
	pd_flat_point(arrow->meta, 0, pd_flat_table(arrow->meta, sizes, 4, fields));
	pd_flat_set(arrow->meta, fields[0], VERSION_5, 2);
	pd_flat_set(arrow->meta, fields[1], kind, 1);
	pd_flat_set(arrow->meta, fields[3], arrow->body->size, 8);
	return fields[2];
}

static void put_compression(struct pd_text *text, size_t at)
{
	static const uint8_t sizes[] = { 1 };
	size_t fields[1];

	pd_flat_point(text, at, pd_flat_table(text, sizes, 1, fields));
	pd_flat_set(text, fields[0], CODEC_ZSTD, 1);
}

// A batch with its body. nulls: by column.
static size_t put_batch(const struct pd_table_file *file, size_t rows, const size_t *nulls, size_t columns)
{
	const uint8_t sizes[] = { 8, 4, 4, file->packer ? 4 : 0 }; // rows, nodes, buffers, compression
	const struct arrow *arrow = file->own;
	struct pd_text *text = arrow->meta;
	size_t fields[4], batch = pd_flat_table(text, sizes, 4, fields);
	size_t nodes = pd_flat_vector(text, columns, 16), buffers;

	pd_flat_set(text, fields[0], rows, 8);
	pd_flat_point(text, fields[1], nodes);
	for (size_t i = 0; i < columns; i++) {
		pd_flat_set(text, nodes + 4 + 16 * i, rows, 8);
		pd_flat_set(text, nodes + 12 + 16 * i, nulls[i], 8);
	}
	buffers = pd_flat_vector(text, arrow->buffer_count, 16);
	pd_flat_point(text, fields[2], buffers);
	for (size_t i = 0; i < arrow->buffer_count; i++) {
		pd_flat_set(text, buffers + 4 + 16 * i, arrow->buffers[i].offset, 8);
		pd_flat_set(text, buffers + 12 + 16 * i, arrow->buffers[i].size, 8);
	}
	if (file->packer)
		put_compression(text, fields[3]);
	return batch;
}

// Writes the message with its body. messages: where it is noted, or NULL.
static enum pd_status write_message(struct pd_table_file *file, struct messages *messages, struct pd_error *error)
{
	struct arrow *arrow = file->own;
	uint64_t offset = pd_table_file_at(file);

	pd_put_zeros(arrow->meta, (8 - arrow->meta->size % 8) % 8);
	if (arrow->meta->failed || arrow->body->failed || arrow->plain->failed)
		return pd_fail_memory(error);
	pd_put_le(file->text, UINT32_MAX, 4);
	pd_put_le(file->text, arrow->meta->size, 4);
	pd_text_put(file->text, arrow->meta->data, arrow->meta->size);
	pd_text_put(file->text, arrow->body->data, arrow->body->size);
	if (messages) {
		if (!PD_GROW(messages->items, messages->capacity, messages->count + 1))
			return pd_fail_memory(error);
		messages->items[messages->count++] =
			(struct message){ offset, arrow->meta->size + 8, arrow->body->size };
	}
	return pd_table_file_flush(file, error);
}

// ---- bodies ----

static void begin_body(struct arrow *arrow)
{
	pd_text_clear(arrow->body);
	arrow->buffer_count = 0;
}

static void put_buffer(const struct pd_table_file *file, const void *data, size_t size)
{
	struct arrow *arrow = file->own;
	size_t before = arrow->body->size;

	if (!PD_GROW(arrow->buffers, arrow->buffer_capacity, arrow->buffer_count + 1)) {
		arrow->body->failed = true;
		return;
	}
	if (file->packer && size)
		pd_put_le(arrow->body, size, 8);
	pd_table_file_pack(file, data, size, arrow->body);
	arrow->buffers[arrow->buffer_count++] = (struct range){ before, arrow->body->size - before };
	pd_put_zeros(arrow->body, (8 - arrow->body->size % 8) % 8);
}

// What is in plain.
static void put_plain(const struct pd_table_file *file)
{
	const struct arrow *arrow = file->own;

	put_buffer(file, arrow->plain->data, arrow->plain->size);
}

static void put_validity(const struct pd_table_file *file, const struct pd_column_buffer *column, size_t rows)
{
	struct pd_text *plain = ((struct arrow *)file->own)->plain;

	pd_text_clear(plain);
	if (pd_column_nulls(column, rows))
		pd_put_zeros(plain, (rows + 7) / 8);
	for (size_t i = 0; i / 8 < plain->size && i < rows; i++)
		plain->data[i / 8] = (char)(plain->data[i / 8] | column->valid[i] << i % 8);
	put_plain(file);
}

static void put_strings(const struct pd_table_file *file, const struct pd_column_buffer *column, size_t rows)
{
	struct pd_text *plain = ((struct arrow *)file->own)->plain;

	pd_text_clear(plain);
	pd_put_zeros(plain, 4);
	for (size_t i = 0; i < rows; i++)
		pd_put_le(plain, ((const size_t *)column->items)[i], 4);
	put_plain(file);
	put_buffer(file, column->bytes->data, column->bytes->size);
}

static void put_names(const struct pd_table_file *file, const struct pd_column_buffer *column, size_t number,
		      size_t rows)
{
	const struct arrow *arrow = file->own;
	struct pd_text *plain = arrow->plain;

	pd_text_clear(plain);
	for (size_t i = 0; i < rows; i++) {
		uint32_t string = ((const uint32_t *)column->items)[i];
		uint32_t name = column->valid[i] ? pd_name_list_number(&arrow->names[number], string) : 0;

		plain->failed |= name == UINT32_MAX;
		pd_put_le(plain, name, 4);
	}
	put_plain(file);
}

static void put_column(const struct pd_table_file *file, const struct pd_column_buffer *column, size_t number,
		       size_t rows)
{
	struct pd_text *plain = ((struct arrow *)file->own)->plain;
	unsigned width = pd_column_is_wide(column->type) ? 8 : 4;

	put_validity(file, column, rows);
	if (column->bytes) {
		put_strings(file, column, rows);
	} else if (column->type == PD_COLUMN_NAME) {
		put_names(file, column, number, rows);
	} else {
		pd_text_clear(plain);
		pd_put_le_items(plain, column->items, rows, width);
		put_plain(file);
	}
}

// ---- dictionaries ----

// The strings of a column that are not in the file yet, as a body.
static bool put_new_names(const struct pd_table_file *file, size_t column)
{
	const struct arrow *arrow = file->own;
	const struct pd_name_list *names = &arrow->names[column];
	uint64_t end = 0;

	begin_body(file->own);
	put_buffer(file, NULL, 0);
	pd_text_clear(arrow->plain);
	pd_put_zeros(arrow->plain, 4);
	for (size_t i = arrow->written[column]; i < names->count; i++) {
		end += file->strings->strings[names->items[i]].size;
		pd_put_le(arrow->plain, end, 4);
	}
	if (end > INT32_MAX)
		return false;
	put_plain(file);
	pd_text_clear(arrow->plain);
	for (size_t i = arrow->written[column]; i < names->count; i++)
		pd_text_put(arrow->plain, file->strings->strings[names->items[i]].text,
			    file->strings->strings[names->items[i]].size);
	put_plain(file);
	return true;
}

static enum pd_status too_large(const struct pd_table_file *file, size_t column, struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "%s.%s: strings are too large for Arrow", file->table->name,
		       file->table->columns[column].name);
}

static enum pd_status write_dictionary(struct pd_table_file *file, size_t column, struct pd_error *error)
{
	static const uint8_t sizes[] = { 8, 4, 1 }; // id, data, whether it goes on
	struct arrow *arrow = file->own;
	size_t fields[3], header, rows = arrow->names[column].count - arrow->written[column];
	bool goes_on = arrow->written[column] != 0;

	if (!put_new_names(file, column))
		return too_large(file, column, error);
	header = begin_message(arrow, MESSAGE_DICTIONARY);
	pd_flat_point(arrow->meta, header, pd_flat_table(arrow->meta, sizes, 3, fields));
	pd_flat_set(arrow->meta, fields[0], column, 8);
	pd_flat_set(arrow->meta, fields[2], goes_on, 1);
	pd_flat_point(arrow->meta, fields[1], put_batch(file, rows, &(size_t){ 0 }, 1));
	arrow->written[column] = arrow->names[column].count;
	return write_message(file, &arrow->dictionaries, error);
}

static enum pd_status write_dictionaries(struct pd_table_file *file, bool all, struct pd_error *error)
{
	const struct arrow *arrow = file->own;
	enum pd_status status = PD_OK;

	for (size_t i = 0; status >= 0 && i < file->table->column_count; i++)
		if (file->table->columns[i].type == PD_COLUMN_NAME &&
		    (all || arrow->names[i].count > arrow->written[i]))
			status = write_dictionary(file, i, error);
	return status;
}

// ---- files ----

static enum pd_status begin(struct pd_table_file *file, struct pd_error *error)
{
	struct arrow *arrow = file->own;
	size_t count = file->table->column_count;

	arrow->is_stream = file->format == &pd_table_format_arrow_stream;
	arrow->names = pd_alloc((count + 1) * sizeof(*arrow->names));
	arrow->written = pd_alloc((count + 1) * sizeof(*arrow->written));
	arrow->meta = pd_text_new();
	arrow->body = pd_text_new();
	arrow->plain = pd_text_new();
	if (!arrow->names || !arrow->written || !arrow->meta || !arrow->body || !arrow->plain)
		return pd_fail_memory(error);
	if (!arrow->is_stream)
		pd_text_put(file->text, magic, sizeof(magic));
	count = begin_message(arrow, MESSAGE_SCHEMA);
	pd_flat_point(arrow->meta, count, put_schema(arrow->meta, file->table));
	return write_message(file, NULL, error);
}

static enum pd_status write_batch(struct pd_table_file *file, const struct pd_columns *batch, const size_t *nulls,
				  struct pd_error *error)
{
	struct arrow *arrow = file->own;
	size_t header = begin_message(arrow, MESSAGE_BATCH);

	pd_flat_point(arrow->meta, header, put_batch(file, batch->rows, nulls, batch->column_count));
	return write_message(file, &arrow->batches, error);
}

static bool note_names(struct pd_name_list *names, const struct pd_column_buffer *column, size_t rows)
{
	bool done = true;

	for (size_t row = 0; done && row < rows; row++)
		if (column->valid[row])
			done = pd_name_list_number(names, ((const uint32_t *)column->items)[row]) != UINT32_MAX;
	return done;
}

// A stream has the names of a batch before it.
static enum pd_status write_names(struct pd_table_file *file, const struct pd_columns *batch, struct pd_error *error)
{
	const struct arrow *arrow = file->own;

	for (size_t i = 0; i < batch->column_count; i++)
		if (batch->columns[i].type == PD_COLUMN_NAME &&
		    !note_names(&arrow->names[i], &batch->columns[i], batch->rows))
			return pd_fail_memory(error);
	return write_dictionaries(file, !arrow->dictionaries.count, error);
}

static enum pd_status add_batch(struct pd_table_file *file, const struct pd_columns *batch, struct pd_error *error)
{
	struct arrow *arrow = file->own;
	size_t *nulls = pd_alloc((batch->column_count + 1) * sizeof(*nulls));
	enum pd_status status = nulls ? PD_OK : pd_fail_memory(error);

	for (size_t i = 0; status >= 0 && i < batch->column_count; i++)
		if (batch->columns[i].bytes && batch->columns[i].bytes->size > INT32_MAX)
			status = too_large(file, i, error);
	if (status >= 0 && arrow->is_stream)
		status = write_names(file, batch, error);
	begin_body(arrow);
	for (size_t i = 0; status >= 0 && i < batch->column_count; i++) {
		nulls[i] = pd_column_nulls(&batch->columns[i], batch->rows);
		put_column(file, &batch->columns[i], i, batch->rows);
	}
	if (status >= 0)
		status = write_batch(file, batch, nulls, error);
	pd_free(nulls);
	return status;
}

static size_t put_blocks(struct pd_text *text, const struct messages *messages)
{
	size_t list = pd_flat_vector(text, messages->count, 24);

	for (size_t i = 0; i < messages->count; i++) {
		pd_flat_set(text, list + 4 + 24 * i, messages->items[i].offset, 8);
		pd_flat_set(text, list + 12 + 24 * i, messages->items[i].meta_size, 4);
		pd_flat_set(text, list + 20 + 24 * i, messages->items[i].body_size, 8);
	}
	return list;
}

static void put_footer(struct pd_table_file *file)
{
	static const uint8_t sizes[] = { 2, 4, 4, 4 }; // version, schema, dictionaries, batches
	const struct arrow *arrow = file->own;
	struct pd_text *text = arrow->meta;
	size_t fields[4];

	pd_text_clear(text);
	pd_put_zeros(text, 4);
	pd_flat_point(text, 0, pd_flat_table(text, sizes, 4, fields));
	pd_flat_set(text, fields[0], VERSION_5, 2);
	pd_flat_point(text, fields[1], put_schema(text, file->table));
	pd_flat_point(text, fields[2], put_blocks(text, &arrow->dictionaries));
	pd_flat_point(text, fields[3], put_blocks(text, &arrow->batches));
	pd_text_put(file->text, text->data, text->size);
	pd_put_le(file->text, text->size, 4);
	pd_text_put(file->text, magic, 6);
	file->text->failed |= text->failed;
}

static enum pd_status end(struct pd_table_file *file, struct pd_error *error)
{
	const struct arrow *arrow = file->own;
	enum pd_status status = PD_OK;

	if (!arrow->is_stream || !arrow->dictionaries.count)
		status = write_dictionaries(file, true, error);
	if (status < 0)
		return status;
	pd_put_le(file->text, UINT32_MAX, 8);
	if (!arrow->is_stream)
		put_footer(file);
	return PD_OK;
}

static void fini(struct pd_table_file *file)
{
	struct arrow *arrow = file->own;

	for (size_t i = 0; arrow->names && i < file->table->column_count; i++)
		pd_name_list_fini(&arrow->names[i]);
	pd_free(arrow->names);
	pd_free(arrow->written);
	pd_text_free(arrow->meta);
	pd_text_free(arrow->body);
	pd_text_free(arrow->plain);
	pd_free(arrow->buffers);
	pd_free(arrow->batches.items);
	pd_free(arrow->dictionaries.items);
}

const struct pd_table_format pd_table_format_arrow = {
	.suffix = ".arrow", .size = sizeof(struct arrow), .begin = begin, .add = add_batch, .end = end, .fini = fini
};
const struct pd_table_format pd_table_format_arrow_stream = {
	.suffix = ".arrows", .size = sizeof(struct arrow), .begin = begin, .add = add_batch, .end = end, .fini = fini
};
