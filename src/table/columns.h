/* SPDX-License-Identifier: MIT */
/* Rows as columns: a batch has a buffer for each column, which is filled row by row. What is not put is null. */
#ifndef PD_TABLE_BATCH_H
#define PD_TABLE_BATCH_H

#include <perfdata/table.h>

#include "base/memory.h"
#include "base/text/text.h"

enum {
	PD_COLUMNS_ROWS = 4096,                       // a batch ends after the record that fills it
	PD_COLUMNS_CAPACITY = PD_COLUMNS_ROWS + 8192, // a record has at most so many counters
	PD_COLUMNS_BYTES = 1 << 20                    // of texts and bytes; a batch ends after the row that exceeds it
};

struct pd_column_buffer {
	enum pd_column_type type;
	bool wanted;
	uint8_t *valid; // by row
	void *items; // by row: numbers; of names the number of the string, of texts and bytes where they end (size_t)
	struct pd_text *bytes;
};

struct pd_columns {
	struct pd_column_buffer *columns;
	size_t column_count;
	size_t *texts; // those that are wanted and have bytes
	size_t text_count;
	size_t rows, bytes;
	bool failed; // there was no memory
};

// False if there is no memory. wanted: by column; capacity: rows, PD_COLUMNS_CAPACITY or what is known to be enough.
bool pd_columns_init(struct pd_columns *batch, const struct pd_table *table, const bool *wanted, size_t capacity);
void pd_columns_fini(struct pd_columns *batch);
void pd_columns_clear(struct pd_columns *batch);
// Ends the present row: what was not put is null.
void pd_columns_end_row(struct pd_columns *batch);

static inline bool pd_columns_is_full(const struct pd_columns *batch)
{
	return batch->rows >= PD_COLUMNS_ROWS || batch->bytes >= PD_COLUMNS_BYTES;
}

static inline bool pd_column_is_wide(enum pd_column_type type)
{
	return type == PD_COLUMN_U64 || type == PD_COLUMN_S64 || type == PD_COLUMN_F64;
}

// Numbers, and numbers of names, of the present row.
static inline void pd_put_number(struct pd_columns *batch, size_t column, uint64_t value)
{
	struct pd_column_buffer *buffer = &batch->columns[column];

	if (pd_column_is_wide(buffer->type))
		((uint64_t *)buffer->items)[batch->rows] = value;
	else
		((uint32_t *)buffer->items)[batch->rows] = (uint32_t)value;
	buffer->valid[batch->rows] = 1;
}

// What a row that has ended has after all, in a column of names; valid false: it is null.
static inline void pd_put_late(struct pd_columns *batch, size_t column, size_t row, uint32_t value, bool valid)
{
	struct pd_column_buffer *buffer = &batch->columns[column];

	((uint32_t *)buffer->items)[row] = valid ? value : 0;
	buffer->valid[row] = valid;
}

// Of the first rows of a column.
size_t pd_column_nulls(const struct pd_column_buffer *buffer, size_t rows);

void pd_put_double(struct pd_columns *batch, size_t column, double value);
// Bytes as they are.
void pd_put_bytes(struct pd_columns *batch, size_t column, const void *data, size_t size);
// A text that is made harmless.
void pd_put_text(struct pd_columns *batch, size_t column, const char *text, size_t size);
// For text that is harmless: to be added to what is returned, then pd_put_end.
struct pd_text *pd_put_begin(struct pd_columns *batch, size_t column);
void pd_put_end(struct pd_columns *batch, size_t column);

// The text or bytes of a row.
struct pd_bytes pd_columns_bytes(const struct pd_column_buffer *buffer, size_t row);

#endif
