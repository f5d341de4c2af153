/* SPDX-License-Identifier: MIT */
/*
 * Tables of a recording as files that analytical programs read. Whatever the format, rows come from the same description of columns
 * (src/table), a batch at a time; a format begins a file, gets all of its batches, and ends it.
 */
#ifndef PD_TABLE_FILE_FORMAT_H
#define PD_TABLE_FILE_FORMAT_H

#include "base/text/proto.h"
#include "base/error.h"
#include "table/scan.h"

struct pd_table_file;

struct pd_table_format {
	const char *suffix; // of files in a folder
	size_t size;        // of what it keeps of a file, zeroed at first
	enum pd_status (*begin)(struct pd_table_file *file, struct pd_error *error);
	enum pd_status (*add)(struct pd_table_file *file, const struct pd_columns *batch, struct pd_error *error);
	enum pd_status (*end)(struct pd_table_file *file, struct pd_error *error);
	void (*fini)(struct pd_table_file *file);
	// Describes the table, for a file beside the others in a folder; NULL: files describe themselves.
	void (*describe)(const struct pd_table *table, struct pd_text *text);
	const char *description; // name of that file
};

struct pd_table_file {
	const struct pd_table_format *format;
	const struct pd_table *table;
	const struct pd_tables *strings; // of names in batches
	struct pd_text *text;
	uint64_t flushed; // bytes that are no longer in text
	uint64_t rows;
	void *packer; // or NULL: nothing is compressed
	void *own;    // of the format
};

extern const struct pd_table_format pd_table_format_arrow, pd_table_format_arrow_stream, pd_table_format_parquet,
	pd_table_format_rowbinary;

// Position in the file.
static inline uint64_t pd_table_file_at(const struct pd_table_file *file)
{
	return file->flushed + file->text->size;
}
// Passes on what has become much. PD_ERROR_OUTPUT, PD_ERROR_MEMORY.
enum pd_status pd_table_file_flush(struct pd_table_file *file, struct pd_error *error);
// Adds data as a frame of zstd, or as it is without that.
void pd_table_file_pack(const struct pd_table_file *file, const void *data, size_t size, struct pd_text *text);

// ---- bytes ----

// A number of 1 to 8 bytes, little-endian.
void pd_put_le(struct pd_text *text, uint64_t value, unsigned size);
// Numbers of 4 or 8 bytes.
void pd_put_le_items(struct pd_text *text, const void *items, size_t count, unsigned size);
void pd_put_zeros(struct pd_text *text, size_t count);

// ---- strings by number of first use ----

struct pd_name_list {
	uint32_t *number_of; // by string: its number and 1
	size_t capacity;
	uint32_t *items; // strings
	size_t count, item_capacity;
};

// UINT32_MAX if there is no memory.
uint32_t pd_name_list_number(struct pd_name_list *list, uint32_t string);
void pd_name_list_clear(struct pd_name_list *list);
void pd_name_list_fini(struct pd_name_list *list);

#endif
