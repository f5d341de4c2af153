/* SPDX-License-Identifier: MIT */
#include "table/columns.h"

static bool has_bytes(enum pd_column_type type)
{
	return type == PD_COLUMN_TEXT || type == PD_COLUMN_BYTES || type == PD_COLUMN_JSON;
}

bool pd_columns_init(struct pd_columns *batch, const struct pd_table *table, const bool *wanted, size_t capacity)
{
	*batch = (struct pd_columns){ .column_count = table->column_count };
	batch->columns = pd_alloc((table->column_count + 1) * sizeof(*batch->columns));
	batch->texts = pd_alloc((table->column_count + 1) * sizeof(*batch->texts));
	if (!batch->columns || !batch->texts)
		return false;
	for (size_t i = 0; i < table->column_count; i++) {
		struct pd_column_buffer *buffer = &batch->columns[i];

		buffer->type = table->columns[i].type;
		buffer->wanted = wanted[i];
		if (!wanted[i])
			continue;
		buffer->valid = pd_alloc(capacity);
		buffer->items = pd_alloc(capacity * sizeof(uint64_t));
		buffer->bytes = has_bytes(buffer->type) ? pd_text_new() : NULL;
		if (!buffer->valid || !buffer->items || (has_bytes(buffer->type) && !buffer->bytes))
			return false;
		if (buffer->bytes)
			batch->texts[batch->text_count++] = i;
	}
	return true;
}

void pd_columns_fini(struct pd_columns *batch)
{
	for (size_t i = 0; batch->columns && i < batch->column_count; i++) {
		pd_free(batch->columns[i].valid);
		pd_free(batch->columns[i].items);
		pd_text_free(batch->columns[i].bytes);
	}
	pd_free(batch->columns);
	pd_free(batch->texts);
	*batch = (struct pd_columns){ 0 };
}

void pd_columns_clear(struct pd_columns *batch)
{
	for (size_t i = 0; i < batch->column_count; i++) {
		struct pd_column_buffer *buffer = &batch->columns[i];

		if (!buffer->wanted)
			continue;
		memset(buffer->valid, 0, batch->rows);
		if (buffer->bytes)
			pd_text_clear(buffer->bytes);
		else
			memset(buffer->items, 0, batch->rows * (pd_column_is_wide(buffer->type) ? 8 : 4));
	}
	batch->rows = batch->bytes = 0;
}

void pd_columns_end_row(struct pd_columns *batch)
{
	size_t row = batch->rows++;

	for (size_t i = 0; i < batch->text_count; i++) {
		struct pd_column_buffer *buffer = &batch->columns[batch->texts[i]];

		((size_t *)buffer->items)[row] = buffer->bytes->size;
		batch->failed |= buffer->bytes->failed;
	}
}

size_t pd_column_nulls(const struct pd_column_buffer *buffer, size_t rows)
{
	size_t valid = 0;

	for (size_t i = 0; i < rows; i++)
		valid += buffer->valid[i];
	return rows - valid;
}

void pd_put_double(struct pd_columns *batch, size_t column, double value)
{
	uint64_t word;

	memcpy(&word, &value, sizeof(word));
	pd_put_number(batch, column, word);
}

struct pd_text *pd_put_begin(struct pd_columns *batch, size_t column)
{
	return batch->columns[column].bytes;
}

void pd_put_end(struct pd_columns *batch, size_t column)
{
	struct pd_column_buffer *buffer = &batch->columns[column];
	size_t before = batch->rows ? ((size_t *)buffer->items)[batch->rows - 1] : 0;

	buffer->valid[batch->rows] = 1;
	batch->bytes += buffer->bytes->size - before;
}

void pd_put_bytes(struct pd_columns *batch, size_t column, const void *data, size_t size)
{
	pd_text_put(pd_put_begin(batch, column), data, size);
	pd_put_end(batch, column);
}

void pd_put_text(struct pd_columns *batch, size_t column, const char *text, size_t size)
{
	struct pd_text *to = pd_put_begin(batch, column);

	for (size_t at = 0; at < size;) {
		size_t plain = pd_text_plain(text + at, size - at);

		if (plain)
			pd_text_put(to, text + at, plain);
		else
			PD_TEXT_LITERAL(to, "\xef\xbf\xbd");
		at += plain ? plain : 1;
	}
	pd_put_end(batch, column);
}

struct pd_bytes pd_columns_bytes(const struct pd_column_buffer *buffer, size_t row)
{
	const size_t *ends = buffer->items;
	size_t begin = row ? ends[row - 1] : 0;

	return (struct pd_bytes){ (const uint8_t *)buffer->bytes->data + begin, ends[row] - begin };
}
