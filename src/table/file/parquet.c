/* SPDX-License-Identifier: MIT */
/*
 * Parquet: groups of rows, each with a page for each column, compressed by zstd. Names are dictionaries, and so are numbers of which
 * there are few. https://parquet.apache.org/docs/file-format/
 */
#include "table/file/parquet.h"
#include "table/file/runs.h"
#include "table/file/thrift.h"

enum {
	GROUP_ROWS = 1 << 17,
	GROUP_BYTES = 1 << 25, // of strings
	FEW_NUMBERS = 1 << 12, // a dictionary of numbers has at most so many
	UTF8 = 0,              // converted types
	UINT_32 = 13,
	UINT_64 = 14,
	INT_32 = 17,
	INT_64 = 18,
	STRING = 1, // logical types
	INTEGER = 10
};

static const char magic[4] = "PAR1";

const struct pd_parquet_kind pd_parquet_kinds[] = {
	[PD_COLUMN_U32] = { PD_PARQUET_INT32, UINT_32, true, false, 4 },
	[PD_COLUMN_S32] = { PD_PARQUET_INT32, INT_32, true, true, 4 },
	[PD_COLUMN_U64] = { PD_PARQUET_INT64, UINT_64, true, false, 8 },
	[PD_COLUMN_S64] = { PD_PARQUET_INT64, INT_64, true, true, 8 },
	[PD_COLUMN_F64] = { PD_PARQUET_DOUBLE, -1, false, false, 8 },
	[PD_COLUMN_NAME] = { PD_PARQUET_BYTE_ARRAY, UTF8, false, false, 0 },
	[PD_COLUMN_TEXT] = { PD_PARQUET_BYTE_ARRAY, UTF8, false, false, 0 },
	[PD_COLUMN_BYTES] = { PD_PARQUET_BYTE_ARRAY, -1, false, false, 0 },
	[PD_COLUMN_JSON] = { PD_PARQUET_BYTE_ARRAY, UTF8, false, false, 0 },
};

// What the present group has of a column.
struct chunk {
	uint32_t *present; // by row: 1 if it is not null
	size_t rows, row_capacity;
	struct pd_text *values; // of those that are: encoded, but for names and numbers that are in the dictionary
	uint32_t *numbers;      // of the dictionary
	size_t count, number_capacity;
	struct pd_name_list names;   // of a column of names
	struct pd_u64_map number_of; // of a column of numbers: the place of each in few, and 1
	uint64_t *few;
	size_t few_count, few_capacity;
	bool is_plain; // a column of numbers with too many
	uint64_t least, most;
};

// What the footer says of a chunk, of the group that is written.
struct written {
	uint64_t dictionary_at, data_at, plain_size, size;
	bool has_dictionary;
};

struct parquet {
	struct chunk *chunks;
	size_t rows; // of the group
	uint64_t all_rows;
	struct pd_text *page, *packed, *groups; // groups: as the footer has them
	size_t group_count;
};

// ---- values ----

static bool is_less(const struct pd_parquet_kind *kind, uint64_t a, uint64_t b)
{
	return kind->is_signed ? (int64_t)a < (int64_t)b : a < b;
}

static void note_range(struct chunk *chunk, const struct pd_parquet_kind *kind, uint64_t value)
{
	if (!chunk->count || is_less(kind, value, chunk->least))
		chunk->least = value;
	if (!chunk->count || is_less(kind, chunk->most, value))
		chunk->most = value;
}

static bool add_number(struct chunk *chunk, uint32_t number)
{
	if (number == UINT32_MAX || !PD_GROW(chunk->numbers, chunk->number_capacity, chunk->count + 1))
		return false;
	chunk->numbers[chunk->count++] = number;
	return true;
}

// There are too many: those so far become plain values.
static void give_up_dictionary(struct chunk *chunk, const struct pd_parquet_kind *kind)
{
	for (size_t i = 0; i < chunk->count; i++)
		pd_put_le(chunk->values, chunk->few[chunk->numbers[i]], kind->size);
	chunk->is_plain = true;
}

static bool add_value(struct chunk *chunk, const struct pd_parquet_kind *kind, uint64_t value)
{
	uint64_t found = chunk->is_plain ? 0 : pd_u64_map_find(&chunk->number_of, value);

	note_range(chunk, kind, value);
	if (!chunk->is_plain && !found && chunk->few_count == FEW_NUMBERS)
		give_up_dictionary(chunk, kind);
	if (chunk->is_plain) {
		pd_put_le_items(chunk->values, kind->size == 8 ? (const void *)&value : &(uint32_t){ (uint32_t)value },
				1, kind->size);
		chunk->count++;
		return true;
	}
	if (!found) {
		if (!PD_GROW(chunk->few, chunk->few_capacity, chunk->few_count + 1) ||
		    !pd_u64_map_add(&chunk->number_of, value, chunk->few_count + 1))
			return false;
		chunk->few[chunk->few_count++] = value;
		found = chunk->few_count;
	}
	return add_number(chunk, (uint32_t)found - 1);
}

static uint64_t number_of_row(const struct pd_column_buffer *column, size_t row)
{
	if (pd_column_is_wide(column->type))
		return ((const uint64_t *)column->items)[row];
	return column->type == PD_COLUMN_S32 ? (uint64_t)(int64_t)((const int32_t *)column->items)[row] :
					       ((const uint32_t *)column->items)[row];
}

static bool add_cell(struct chunk *chunk, const struct pd_column_buffer *column, size_t row)
{
	struct pd_bytes bytes;

	if (column->type == PD_COLUMN_NAME)
		return add_number(chunk, pd_name_list_number(&chunk->names, ((const uint32_t *)column->items)[row]));
	if (!column->bytes)
		return add_value(chunk, &pd_parquet_kinds[column->type], number_of_row(column, row));
	bytes = pd_columns_bytes(column, row);
	pd_put_le(chunk->values, bytes.size, 4);
	pd_text_put(chunk->values, (const char *)bytes.data, bytes.size);
	chunk->count++;
	return true;
}

static bool add_column(struct chunk *chunk, const struct pd_column_buffer *column, size_t rows)
{
	if (!PD_GROW(chunk->present, chunk->row_capacity, chunk->rows + rows))
		return false;
	for (size_t row = 0; row < rows; row++) {
		chunk->present[chunk->rows++] = column->valid[row];
		if (column->valid[row] && !add_cell(chunk, column, row))
			return false;
	}
	return !chunk->values->failed;
}

static void clear_chunk(struct chunk *chunk)
{
	uint64_t seed = chunk->number_of.seed;

	pd_name_list_clear(&chunk->names);
	pd_u64_map_fini(&chunk->number_of);
	chunk->number_of.seed = seed;
	pd_text_clear(chunk->values);
	chunk->rows = chunk->count = chunk->few_count = 0;
	chunk->is_plain = false;
}

// ---- pages ----

static bool has_dictionary(const struct chunk *chunk, enum pd_column_type type)
{
	return type == PD_COLUMN_NAME || (pd_parquet_kinds[type].size && !chunk->is_plain);
}

static void put_dictionary(const struct pd_table_file *file, const struct chunk *chunk, enum pd_column_type type)
{
	struct pd_text *page = ((struct parquet *)file->own)->page;

	for (size_t i = 0; i < chunk->names.count; i++) {
		const struct pd_table_string *string = &file->strings->strings[chunk->names.items[i]];

		pd_put_le(page, string->size, 4);
		pd_text_put(page, string->text, string->size);
	}
	for (size_t i = 0; i < chunk->few_count; i++)
		pd_put_le(page, chunk->few[i], pd_parquet_kinds[type].size);
}

// Which rows are there, and the values of these.
static void put_data(const struct parquet *parquet, const struct chunk *chunk, bool dictionary)
{
	struct pd_text *page = parquet->page;
	unsigned width = pd_runs_width(chunk->names.count + chunk->few_count);

	pd_text_clear(parquet->packed);
	pd_put_runs(parquet->packed, chunk->present, chunk->rows, 1);
	page->failed |= parquet->packed->failed;
	pd_put_le(page, parquet->packed->size, 4);
	pd_text_put(page, parquet->packed->data, parquet->packed->size);
	if (!dictionary) {
		pd_text_put(page, chunk->values->data, chunk->values->size);
		return;
	}
	width += !width; // readers may divide by it
	pd_text_char(page, (char)width);
	pd_put_runs(page, chunk->numbers, chunk->count, width);
}

static void put_page_header(struct pd_text *text, const struct chunk *chunk, size_t plain, size_t packed, bool is_data,
			    bool dictionary)
{
	struct pd_thrift header = { .text = text };

	pd_thrift_i32(&header, 1, is_data ? PD_PARQUET_DATA_PAGE : PD_PARQUET_DICTIONARY_PAGE);
	pd_thrift_i32(&header, 2, (int32_t)plain);
	pd_thrift_i32(&header, 3, (int32_t)packed);
	pd_thrift_struct(&header, is_data ? 5 : 7);
	pd_thrift_i32(&header, 1, (int32_t)(is_data ? chunk->rows : chunk->names.count + chunk->few_count));
	pd_thrift_i32(&header, 2, is_data && dictionary ? PD_PARQUET_RLE_DICTIONARY : PD_PARQUET_PLAIN);
	if (is_data) {
		pd_thrift_i32(&header, 3, PD_PARQUET_RLE);
		pd_thrift_i32(&header, 4, PD_PARQUET_RLE);
	}
	pd_thrift_close(&header);
	pd_text_char(text, 0);
}

// Writes what is in page.
static enum pd_status write_page(struct pd_table_file *file, const struct chunk *chunk, struct written *written,
				 bool is_data, struct pd_error *error)
{
	const struct parquet *parquet = file->own;
	uint64_t before = pd_table_file_at(file);
	size_t header;

	if (parquet->page->size > INT32_MAX)
		return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "%s: strings are too large for Parquet",
			       file->table->name);
	pd_text_clear(parquet->packed);
	pd_table_file_pack(file, parquet->page->data, parquet->page->size, parquet->packed);
	if (parquet->page->failed || parquet->packed->failed)
		return pd_fail_memory(error);
	put_page_header(file->text, chunk, parquet->page->size, parquet->packed->size, is_data,
			written->has_dictionary);
	header = (size_t)(pd_table_file_at(file) - before);
	pd_text_put(file->text, parquet->packed->data, parquet->packed->size);
	written->plain_size += header + parquet->page->size;
	written->size += header + parquet->packed->size;
	pd_text_clear(parquet->page);
	return pd_table_file_flush(file, error);
}

static enum pd_status write_chunk(struct pd_table_file *file, size_t column, struct written *written,
				  struct pd_error *error)
{
	const struct parquet *parquet = file->own;
	const struct chunk *chunk = &parquet->chunks[column];
	enum pd_column_type type = file->table->columns[column].type;
	enum pd_status status = PD_OK;

	*written = (struct written){ .has_dictionary = has_dictionary(chunk, type) };
	pd_text_clear(parquet->page);
	written->dictionary_at = pd_table_file_at(file);
	if (written->has_dictionary) {
		put_dictionary(file, chunk, type);
		status = write_page(file, chunk, written, false, error);
	}
	written->data_at = pd_table_file_at(file);
	if (status < 0)
		return status;
	put_data(parquet, chunk, written->has_dictionary);
	return write_page(file, chunk, written, true, error);
}

// ---- the footer ----

static void put_name(struct pd_thrift *thrift, const char *name)
{
	struct pd_text harmless = { 0 };

	pd_text_harmless(&harmless, name);
	thrift->text->failed |= harmless.failed;
	pd_thrift_bytes(thrift, harmless.data, harmless.size);
	pd_free(harmless.data);
}

static void put_statistics(struct pd_thrift *thrift, const struct chunk *chunk, const struct pd_parquet_kind *kind)
{
	static const unsigned fields[] = { 5, 6 };
	const uint64_t range[] = { chunk->most, chunk->least };

	pd_thrift_struct(thrift, 12);
	pd_thrift_i64(thrift, 3, chunk->rows - chunk->count);
	for (int i = 0; kind->is_number && chunk->count && i < 2; i++) {
		pd_thrift_field(thrift, fields[i], PD_THRIFT_BINARY);
		pd_proto_varint(thrift->text, kind->size);
		pd_put_le(thrift->text, range[i], kind->size);
	}
	pd_thrift_close(thrift);
}

static void put_chunk(struct pd_thrift *thrift, const struct pd_table_file *file, size_t column,
		      const struct written *written)
{
	const struct chunk *chunk = &((struct parquet *)file->own)->chunks[column];
	const struct pd_parquet_kind *kind = &pd_parquet_kinds[file->table->columns[column].type];

	pd_thrift_open(thrift);
	pd_thrift_i64(thrift, 2, 0);
	pd_thrift_struct(thrift, 3);
	pd_thrift_i32(thrift, 1, kind->type);
	pd_thrift_list(thrift, 2, written->has_dictionary ? 3 : 2, PD_THRIFT_I32);
	pd_thrift_number(thrift, PD_PARQUET_PLAIN);
	pd_thrift_number(thrift, PD_PARQUET_RLE);
	if (written->has_dictionary)
		pd_thrift_number(thrift, PD_PARQUET_RLE_DICTIONARY);
	pd_thrift_list(thrift, 3, 1, PD_THRIFT_BINARY);
	put_name(thrift, file->table->columns[column].name);
	pd_thrift_i32(thrift, 4, file->packer ? PD_PARQUET_ZSTD : 0);
	pd_thrift_i64(thrift, 5, chunk->rows);
	pd_thrift_i64(thrift, 6, written->plain_size);
	pd_thrift_i64(thrift, 7, written->size);
	pd_thrift_i64(thrift, 9, written->data_at);
	if (written->has_dictionary)
		pd_thrift_i64(thrift, 11, written->dictionary_at);
	put_statistics(thrift, chunk, kind);
	pd_thrift_close(thrift);
	pd_thrift_close(thrift);
}

static enum pd_status write_group(struct pd_table_file *file, struct pd_error *error)
{
	struct parquet *parquet = file->own;
	struct pd_thrift thrift = { .text = parquet->groups, .depth = 1 };
	uint64_t size = 0;
	enum pd_status status = PD_OK;

	pd_thrift_open(&thrift);
	pd_thrift_list(&thrift, 1, file->table->column_count, PD_THRIFT_STRUCT);
	for (size_t i = 0; status >= 0 && i < file->table->column_count; i++) {
		struct written written;

		status = write_chunk(file, i, &written, error);
		if (status < 0)
			return status;
		put_chunk(&thrift, file, i, &written);
		size += written.plain_size;
		clear_chunk(&parquet->chunks[i]);
	}
	pd_thrift_i64(&thrift, 2, size);
	pd_thrift_i64(&thrift, 3, parquet->rows);
	pd_thrift_close(&thrift);
	parquet->group_count++;
	parquet->all_rows += parquet->rows;
	parquet->rows = 0;
	return parquet->groups->failed ? pd_fail_memory(error) : PD_OK;
}

static void put_logical(struct pd_thrift *thrift, const struct pd_parquet_kind *kind)
{
	pd_thrift_struct(thrift, 10);
	pd_thrift_struct(thrift, kind->is_number ? INTEGER : STRING);
	if (kind->is_number) {
		pd_thrift_field(thrift, 1, PD_THRIFT_BYTE);
		pd_text_char(thrift->text, (char)(kind->size * 8));
		pd_thrift_field(thrift, 2, kind->is_signed ? PD_THRIFT_TRUE : PD_THRIFT_FALSE);
	}
	pd_thrift_close(thrift);
	pd_thrift_close(thrift);
}

static void put_element(struct pd_thrift *thrift, const struct pd_table_column *column)
{
	const struct pd_parquet_kind *kind = &pd_parquet_kinds[column->type];

	pd_thrift_open(thrift);
	pd_thrift_i32(thrift, 1, kind->type);
	pd_thrift_i32(thrift, 3, PD_PARQUET_OPTIONAL);
	pd_thrift_field(thrift, 4, PD_THRIFT_BINARY);
	put_name(thrift, column->name);
	if (kind->converted >= 0) {
		pd_thrift_i32(thrift, 6, kind->converted);
		put_logical(thrift, kind);
	}
	pd_thrift_close(thrift);
}

static void put_schema(struct pd_thrift *thrift, const struct pd_table *table)
{
	pd_thrift_list(thrift, 2, table->column_count + 1, PD_THRIFT_STRUCT);
	pd_thrift_open(thrift);
	pd_thrift_binary(thrift, 4, "schema", 6);
	pd_thrift_i32(thrift, 5, (int32_t)table->column_count);
	pd_thrift_close(thrift);
	for (size_t i = 0; i < table->column_count; i++)
		put_element(thrift, &table->columns[i]);
}

// Numbers are ordered by their type, which is what makes the range of each chunk known.
static void put_orders(struct pd_thrift *thrift, size_t count)
{
	pd_thrift_list(thrift, 7, count, PD_THRIFT_STRUCT);
	for (size_t i = 0; i < count; i++) {
		pd_thrift_open(thrift);
		pd_thrift_struct(thrift, 1);
		pd_thrift_close(thrift);
		pd_thrift_close(thrift);
	}
}

static void put_footer(struct pd_table_file *file)
{
	static const char by[] = "perfdata";
	const struct parquet *parquet = file->own;
	struct pd_thrift thrift = { .text = file->text };
	uint64_t before = pd_table_file_at(file);

	pd_thrift_i32(&thrift, 1, 2);
	put_schema(&thrift, file->table);
	pd_thrift_i64(&thrift, 3, parquet->all_rows);
	pd_thrift_list(&thrift, 4, parquet->group_count, PD_THRIFT_STRUCT);
	pd_text_put(file->text, parquet->groups->data, parquet->groups->size);
	pd_thrift_binary(&thrift, 6, by, sizeof(by) - 1);
	put_orders(&thrift, file->table->column_count);
	pd_text_char(file->text, 0);
	pd_put_le(file->text, pd_table_file_at(file) - before, 4);
	pd_text_put(file->text, magic, sizeof(magic));
}

// ---- files ----

static enum pd_status begin(struct pd_table_file *file, struct pd_error *error)
{
	struct parquet *parquet = file->own;

	parquet->chunks = pd_alloc((file->table->column_count + 1) * sizeof(*parquet->chunks));
	parquet->page = pd_text_new();
	parquet->packed = pd_text_new();
	parquet->groups = pd_text_new();
	if (!parquet->chunks || !parquet->page || !parquet->packed || !parquet->groups)
		return pd_fail_memory(error);
	for (size_t i = 0; i < file->table->column_count; i++) {
		parquet->chunks[i].number_of.seed = file->strings->seed;
		parquet->chunks[i].values = pd_text_new();
		if (!parquet->chunks[i].values)
			return pd_fail_memory(error);
	}
	pd_text_put(file->text, magic, sizeof(magic));
	return PD_OK;
}

static enum pd_status add_batch(struct pd_table_file *file, const struct pd_columns *batch, struct pd_error *error)
{
	struct parquet *parquet = file->own;
	size_t bytes = 0;

	for (size_t i = 0; i < batch->column_count; i++) {
		if (!add_column(&parquet->chunks[i], &batch->columns[i], batch->rows))
			return pd_fail_memory(error);
		bytes += parquet->chunks[i].values->size;
	}
	parquet->rows += batch->rows;
	return parquet->rows >= GROUP_ROWS || bytes >= GROUP_BYTES ? write_group(file, error) : PD_OK;
}

static enum pd_status end(struct pd_table_file *file, struct pd_error *error)
{
	const struct parquet *parquet = file->own;
	enum pd_status status = parquet->rows ? write_group(file, error) : PD_OK;

	if (status >= 0)
		put_footer(file);
	return status;
}

static void fini(struct pd_table_file *file)
{
	struct parquet *parquet = file->own;

	for (size_t i = 0; parquet->chunks && i < file->table->column_count; i++) {
		struct chunk *chunk = &parquet->chunks[i];

		pd_free(chunk->present);
		pd_free(chunk->numbers);
		pd_free(chunk->few);
		pd_text_free(chunk->values);
		pd_name_list_fini(&chunk->names);
		pd_u64_map_fini(&chunk->number_of);
	}
	pd_free(parquet->chunks);
	pd_text_free(parquet->page);
	pd_text_free(parquet->packed);
	pd_text_free(parquet->groups);
}

const struct pd_table_format pd_table_format_parquet = {
	.suffix = ".parquet", .size = sizeof(struct parquet), .begin = begin, .add = add_batch, .end = end, .fini = fini
};
