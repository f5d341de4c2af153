/* SPDX-License-Identifier: MIT */
/* Files of Parquet, a group of rows at a time. */
#include <string.h>

#include "table/file/parquet.h"
#include "table/file/runs.h"
#include "table/file/thrift.h"

enum {
	MAGIC_SIZE = 4,
	END_SIZE = 8,           // size of the footer, and the magic number
	MOST_BYTES = 1 << 28,   // of a footer, or of a part of a column
	MOST_ROWS = 1 << 20,    // of a group
	ROWS_PER_BYTE = 16,     // of a file: each has a hash, or a number that differs
	BYTES_PER_BYTE = 1000,  // decompressed
	SPARE_BYTES = 64 << 20, // decompressed, whatever the size
	PLAIN_DICTIONARY = 2    // an older number of the encoding
};

// A column of the present group.
struct column {
	uint8_t *valid;         // by row
	uint64_t *numbers;      // of numbers, by row
	struct pd_bytes *bytes; // of strings, by row
	size_t valid_capacity, number_capacity, bytes_capacity;
	uint64_t *few; // a dictionary of numbers
	struct pd_bytes *names;
	size_t few_capacity, name_capacity, dictionary_count;
	struct pd_text **pages; // decompressed
	size_t page_count, page_capacity;
};

struct pd_parquet {
	struct pd_source *source;
	const struct pd_table *table;
	struct pd_parquet_footer footer;
	struct column *columns;
	const struct pd_codec *codec;
	void *codec_state;
	size_t group; // the next one
	uint64_t rows, row;
	uint64_t rows_left, bytes_left; // that the file may still give
	uint8_t *packed;                // a part of a column, as it is in the file
	size_t packed_capacity;
	uint32_t *items; // scratch, for each row
	size_t item_capacity;
};

struct page {
	int64_t type, size, packed_size, values, encoding;
};

// ---- errors ----

static enum pd_status fail_cursor(const struct pd_cursor *c, struct pd_error *error)
{
	return c->status == PD_ERROR_MEMORY ?
		       pd_fail_memory(error) :
		       pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "damaged Parquet: %s", c->reason);
}

static enum pd_status fail(const char *reason, struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "damaged Parquet: %s", reason);
}

// ---- bytes ----

// Into packed.
static enum pd_status read_bytes(struct pd_parquet *parquet, uint64_t at, uint64_t size, struct pd_error *error)
{
	size_t got = 0;
	enum pd_status status;

	if (size > MOST_BYTES || at > parquet->source->size || size > parquet->source->size - at)
		return fail("a part extends past the end of the file", error);
	if (!PD_GROW(parquet->packed, parquet->packed_capacity, (size_t)size + 1))
		return pd_fail_memory(error);
	status = pd_source_read(parquet->source, at, parquet->packed, (size_t)size, &got, error);
	return status < 0 || got == size ? status : fail("the file is shorter now", error);
}

static enum pd_status unpack(struct pd_parquet *parquet, struct pd_bytes packed, struct pd_text *page, size_t size,
			     struct pd_error *error)
{
	// a byte of room is left, which shows that there is no more
	struct pd_codec_run run = { .in = packed.data, .in_size = packed.size, .out_size = size + 1 };
	enum pd_codec_result result = PD_CODEC_OK;

	parquet->codec = pd_codec_by_name("zstd");
	if (!parquet->codec)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "this build has no zstd");
	if (!parquet->codec_state)
		parquet->codec_state = parquet->codec->start();
	if (!parquet->codec_state || !pd_text_reserve(page, size + 1))
		return pd_fail_memory(error);
	run.out = (uint8_t *)page->data;
	while (result == PD_CODEC_OK && run.in_size) {
		size_t before = run.in_size + run.out_size;

		result = parquet->codec->run(parquet->codec_state, &run);
		if (result == PD_CODEC_OK && before == run.in_size + run.out_size)
			break;
	}
	if (result != PD_CODEC_END || run.out_size != 1 || run.in_size) {
		// what was begun does not go on in the next page
		parquet->codec->close(parquet->codec_state);
		parquet->codec_state = NULL;
		return fail(result == PD_CODEC_ERROR ? run.reason : "a page is of another size", error);
	}
	page->size = size;
	return PD_OK;
}

// ---- pages ----

static void take_counts(struct pd_cursor *c, struct page *page)
{
	uint32_t id = 0;
	unsigned type;

	while ((type = pd_thrift_next(c, &id)) != 0)
		if (id == 1)
			page->values = pd_thrift_take(c, type);
		else if (id == 2)
			page->encoding = pd_thrift_take(c, type);
		else
			pd_thrift_skip(c, type);
}

static void take_page(struct pd_cursor *c, struct page *page)
{
	uint32_t id = 0;
	unsigned type;

	*page = (struct page){ .type = -1 };
	while ((type = pd_thrift_next(c, &id)) != 0)
		if (id == 1)
			page->type = pd_thrift_take(c, type);
		else if (id == 2)
			page->size = pd_thrift_take(c, type);
		else if (id == 3)
			page->packed_size = pd_thrift_take(c, type);
		else if ((id == 5 || id == 7) && type == PD_THRIFT_STRUCT)
			take_counts(c, page);
		else
			pd_thrift_skip(c, type);
	if (page->size < 0 || page->size > MOST_BYTES || page->packed_size < 0 || page->values < 0 ||
	    page->values > MOST_ROWS)
		pd_cursor_fail(c, "a page is too large");
}

static uint64_t take_value(struct pd_cursor *c, const struct pd_parquet_kind *kind)
{
	if (kind->size == 8)
		return pd_cursor_u64(c);
	return kind->is_signed ? (uint64_t)(int64_t)pd_cursor_s32(c) : pd_cursor_u32(c);
}

static struct pd_bytes take_string(struct pd_cursor *c)
{
	uint32_t size = pd_cursor_u32(c);
	const uint8_t *at = pd_cursor_take(c, size);

	return (struct pd_bytes){ at, at ? size : 0 };
}

static bool take_dictionary(struct column *column, struct pd_cursor *c, const struct pd_parquet_kind *kind,
			    const struct page *page)
{
	size_t count = (size_t)page->values;

	if (kind->size ? !PD_GROW(column->few, column->few_capacity, count + 1) :
			 !PD_GROW(column->names, column->name_capacity, count + 1))
		return false;
	for (size_t i = 0; i < count && !c->failed; i++)
		if (kind->size)
			column->few[i] = take_value(c, kind);
		else
			column->names[i] = take_string(c);
	column->dictionary_count = c->failed ? 0 : count;
	return true;
}

// Which of the rows from one on are there.
static void take_presence(struct column *column, struct pd_cursor *c, uint32_t *items, size_t from, size_t count,
			  bool is_optional)
{
	uint32_t size = is_optional ? pd_cursor_u32(c) : 0;
	const uint8_t *at = pd_cursor_take(c, size);
	struct pd_cursor runs = pd_cursor(at, at ? size : 0, false);

	if (is_optional)
		pd_take_runs(&runs, items, count, 1);
	if (runs.failed)
		pd_cursor_fail(c, runs.reason);
	for (size_t i = 0; i < count; i++)
		column->valid[from + i] = !is_optional || items[i];
}

static void take_numbered(struct column *column, struct pd_cursor *c, const struct pd_parquet_kind *kind,
			  uint32_t *items, size_t from, size_t count)
{
	unsigned width = pd_cursor_u8(c);
	size_t there = 0, next = 0;

	for (size_t i = 0; i < count; i++)
		there += column->valid[from + i];
	pd_take_runs(c, items, there, width);
	for (size_t i = from; i < from + count && !c->failed; i++) {
		uint32_t number = column->valid[i] ? items[next++] : 0;

		if (column->valid[i] && number >= column->dictionary_count)
			pd_cursor_fail(c, "a value is not in its dictionary");
		else if (column->valid[i] && kind->size)
			column->numbers[i] = column->few[number];
		else if (column->valid[i])
			column->bytes[i] = column->names[number];
	}
}

static void take_plain(struct column *column, struct pd_cursor *c, const struct pd_parquet_kind *kind, size_t from,
		       size_t count)
{
	for (size_t i = from; i < from + count && !c->failed; i++)
		if (column->valid[i] && kind->size)
			column->numbers[i] = take_value(c, kind);
		else if (column->valid[i])
			column->bytes[i] = take_string(c);
}

static bool take_data(struct pd_parquet *parquet, size_t index, struct pd_cursor *c, const struct page *page,
		      uint64_t *row)
{
	struct column *column = &parquet->columns[index];
	const struct pd_parquet_kind *kind = &pd_parquet_kinds[parquet->table->columns[index].type];
	size_t from = (size_t)*row, count = (size_t)page->values;

	if (count > parquet->rows - *row)
		pd_cursor_fail(c, "a page has too many values");
	if (c->failed)
		return true;
	if (!PD_GROW(parquet->items, parquet->item_capacity, count + 1))
		return false;
	take_presence(column, c, parquet->items, from, count, parquet->footer.optional[index]);
	if (page->encoding == PD_PARQUET_RLE_DICTIONARY || page->encoding == PLAIN_DICTIONARY)
		take_numbered(column, c, kind, parquet->items, from, count);
	else if (page->encoding == PD_PARQUET_PLAIN)
		take_plain(column, c, kind, from, count);
	else
		pd_cursor_fail(c, "a page is encoded in another way");
	*row += count;
	return true;
}

// ---- groups ----

// A place for it; NULL if there is no memory.
static struct pd_text *next_page(struct column *column)
{
	struct pd_text *text;

	if (!PD_GROW(column->pages, column->page_capacity, column->page_count + 1))
		return NULL;
	text = pd_text_new();
	if (text)
		column->pages[column->page_count++] = text;
	return text;
}

static enum pd_status open_page(struct pd_parquet *parquet, size_t index, uint32_t codec, struct pd_bytes packed,
				const struct page *page, struct pd_cursor *c_out, struct pd_error *error)
{
	struct pd_text *text;
	enum pd_status status = PD_OK;

	if ((uint64_t)page->size > parquet->bytes_left)
		return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "Parquet expands too much for its size");
	parquet->bytes_left -= (uint64_t)page->size;
	text = next_page(&parquet->columns[index]);
	if (!text)
		return pd_fail_memory(error);
	// nothing is not packed
	if (codec == PD_PARQUET_ZSTD && packed.size)
		status = unpack(parquet, packed, text, (size_t)page->size, error);
	else if (codec != PD_PARQUET_PLAIN_CODEC && codec != PD_PARQUET_ZSTD)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, PD_NO_OFFSET, "Parquet with another codec than zstd");
	else if (packed.size != (size_t)page->size)
		return fail("a page is of another size", error);
	else
		pd_text_put(text, (const char *)packed.data, packed.size);
	if (status >= 0 && text->failed)
		return pd_fail_memory(error);
	*c_out = pd_cursor(text->data, text->size, false);
	return status;
}

static enum pd_status read_page(struct pd_parquet *parquet, size_t index, uint32_t codec, struct pd_cursor *whole,
				uint64_t *row, struct pd_error *error)
{
	const struct pd_parquet_kind *kind = &pd_parquet_kinds[parquet->table->columns[index].type];
	struct pd_bytes packed;
	struct pd_cursor c;
	struct page page;
	enum pd_status status;
	bool done = true;

	take_page(whole, &page);
	packed.data = pd_cursor_take(whole, (uint64_t)page.packed_size);
	packed.size = (size_t)page.packed_size;
	if (whole->failed)
		return fail_cursor(whole, error);
	status = open_page(parquet, index, codec, packed, &page, &c, error);
	if (status < 0)
		return status;
	if (page.type == PD_PARQUET_DICTIONARY_PAGE)
		done = take_dictionary(&parquet->columns[index], &c, kind, &page);
	else if (page.type == PD_PARQUET_DATA_PAGE)
		done = take_data(parquet, index, &c, &page, row);
	else
		pd_cursor_fail(&c, "a page is of no known kind");
	return !done ? pd_fail_memory(error) : c.failed ? fail_cursor(&c, error) : PD_OK;
}

static void forget_pages(struct column *column)
{
	while (column->page_count)
		pd_text_free(column->pages[--column->page_count]);
	column->dictionary_count = 0;
}

static enum pd_status read_column(struct pd_parquet *parquet, size_t index, const struct pd_parquet_chunk *chunk,
				  struct pd_error *error)
{
	struct column *column = &parquet->columns[index];
	bool is_number = pd_parquet_kinds[parquet->table->columns[index].type].size;
	size_t rows = (size_t)parquet->rows;
	struct pd_cursor whole;
	uint64_t row = 0;
	enum pd_status status = read_bytes(parquet, chunk->at, chunk->size, error);

	if (status < 0)
		return status;
	forget_pages(column);
	if (!PD_GROW(column->valid, column->valid_capacity, rows + 1) ||
	    (is_number ? !PD_GROW(column->numbers, column->number_capacity, rows + 1) :
			 !PD_GROW(column->bytes, column->bytes_capacity, rows + 1)))
		return pd_fail_memory(error);
	whole = pd_cursor(parquet->packed, (size_t)chunk->size, false);
	while (status >= 0 && row < parquet->rows)
		status = read_page(parquet, index, chunk->codec, &whole, &row, error);
	return status;
}

static enum pd_status read_group(struct pd_parquet *parquet, struct pd_error *error)
{
	const struct pd_parquet_group *group = &parquet->footer.groups[parquet->group++];
	enum pd_status status = PD_OK;

	if (group->rows > MOST_ROWS || group->rows > parquet->rows_left)
		return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "Parquet has too many rows for its size");
	parquet->rows_left -= group->rows;
	parquet->rows = group->rows;
	parquet->row = 0;
	for (size_t i = 0; status >= 0 && i < parquet->table->column_count; i++)
		status = read_column(parquet, i, &parquet->footer.chunks[group->first + parquet->footer.columns[i]],
				     error);
	return status;
}

// ---- files ----

static enum pd_status read_footer(struct pd_parquet *parquet, struct pd_error *error)
{
	uint64_t file_size = parquet->source->size, size;
	struct pd_cursor c;
	enum pd_status status;

	if (file_size < MAGIC_SIZE + END_SIZE)
		return fail("it is too short", error);
	status = read_bytes(parquet, file_size - END_SIZE, END_SIZE, error);
	if (status < 0)
		return status;
	c = pd_cursor(parquet->packed, END_SIZE, false);
	size = pd_cursor_u32(&c);
	if (memcmp(c.at, "PAR1", MAGIC_SIZE) != 0)
		return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "no file of Parquet");
	if (size > file_size - MAGIC_SIZE - END_SIZE)
		return fail("the footer is too large", error);
	status = read_bytes(parquet, file_size - END_SIZE - size, size, error);
	if (status < 0)
		return status;
	c = pd_cursor(parquet->packed, (size_t)size, false);
	return pd_parquet_read_footer(&parquet->footer, &c, parquet->table) < 0 ? fail_cursor(&c, error) : PD_OK;
}

enum pd_status pd_parquet_open(struct pd_source *source, const struct pd_table *table, struct pd_parquet **parquet_out,
			       struct pd_error *error)
{
	struct pd_parquet *parquet = pd_alloc(sizeof(*parquet));
	enum pd_status status = parquet ? PD_OK : pd_fail_memory(error);

	if (status >= 0 && source->size >= UINT64_MAX / BYTES_PER_BYTE / 2)
		status = fail("its size is not known", error);
	if (status >= 0) {
		*parquet = (struct pd_parquet){ .source = source,
						.table = table,
						.rows_left = source->size * ROWS_PER_BYTE,
						.bytes_left = source->size * BYTES_PER_BYTE + SPARE_BYTES };
		parquet->columns = pd_alloc((table->column_count + 1) * sizeof(*parquet->columns));
		status = parquet->columns ? read_footer(parquet, error) : pd_fail_memory(error);
	}
	if (status < 0)
		pd_parquet_close(parquet);
	else
		*parquet_out = parquet;
	return status;
}

enum pd_status pd_parquet_next(struct pd_parquet *parquet, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	if (parquet->rows && ++parquet->row < parquet->rows)
		return PD_OK;
	parquet->rows = 0;
	while (status >= 0 && !parquet->rows && parquet->group < parquet->footer.group_count)
		status = read_group(parquet, error);
	return status < 0 || parquet->rows ? status : PD_END;
}

void pd_parquet_cell(const struct pd_parquet *parquet, size_t column, struct pd_parquet_cell *cell_out)
{
	const struct column *at = &parquet->columns[column];
	bool is_number = pd_parquet_kinds[parquet->table->columns[column].type].size;

	*cell_out = (struct pd_parquet_cell){ .valid = at->valid[parquet->row] };
	if (cell_out->valid && is_number)
		cell_out->number = at->numbers[parquet->row];
	else if (cell_out->valid)
		cell_out->bytes = at->bytes[parquet->row];
}

void pd_parquet_close(struct pd_parquet *parquet)
{
	if (!parquet)
		return;
	for (size_t i = 0; parquet->columns && i < parquet->table->column_count; i++) {
		struct column *column = &parquet->columns[i];

		forget_pages(column);
		pd_free(column->pages);
		pd_free(column->valid);
		pd_free(column->numbers);
		pd_free(column->bytes);
		pd_free(column->few);
		pd_free(column->names);
	}
	if (parquet->codec_state)
		parquet->codec->close(parquet->codec_state);
	pd_parquet_footer_fini(&parquet->footer);
	pd_free(parquet->columns);
	pd_free(parquet->packed);
	pd_free(parquet->items);
	pd_free(parquet);
}
