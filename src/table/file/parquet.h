/* SPDX-License-Identifier: MIT */
/*
 * Parquet: what writing and reading have in common, and reading. Only what is written here is read: flat columns, pages of the first
 * version, plain or with a dictionary, compressed by zstd or not. https://parquet.apache.org/docs/file-format/
 */
#ifndef PD_TABLE_FILE_PARQUET_H
#define PD_TABLE_FILE_PARQUET_H

#include "file/source.h"
#include "table/file/format.h"

enum {
	PD_PARQUET_INT32 = 1, // types
	PD_PARQUET_INT64 = 2,
	PD_PARQUET_DOUBLE = 5,
	PD_PARQUET_BYTE_ARRAY = 6,
	PD_PARQUET_REQUIRED = 0, // repetition
	PD_PARQUET_OPTIONAL = 1,
	PD_PARQUET_PLAIN = 0, // encodings
	PD_PARQUET_RLE = 3,
	PD_PARQUET_RLE_DICTIONARY = 8,
	PD_PARQUET_PLAIN_CODEC = 0, // codecs
	PD_PARQUET_ZSTD = 6,
	PD_PARQUET_DATA_PAGE = 0, // pages
	PD_PARQUET_DICTIONARY_PAGE = 2
};

struct pd_parquet_kind {
	int type, converted; // converted -1: none
	bool is_number, is_signed;
	unsigned size; // of a value, 0: any
};
extern const struct pd_parquet_kind pd_parquet_kinds[]; // by enum pd_column_type

// ---- the footer ----

// A column of a group of rows.
struct pd_parquet_chunk {
	uint32_t type, codec;
	uint64_t at, size, values; // at: of its first page
};

struct pd_parquet_group {
	uint64_t rows;
	size_t first; // of its chunks
};

struct pd_parquet_footer {
	struct pd_parquet_group *groups;
	size_t group_count, group_capacity;
	struct pd_parquet_chunk *chunks; // of each group, one for each column of the file
	size_t chunk_count, chunk_capacity;
	size_t file_columns;
	size_t column_count;
	size_t *columns; // of the table: the column of the file
	bool *optional;  // likewise
};

// Reads the footer of a file of this size. The table says which columns are wanted. PD_ERROR_FORMAT, PD_ERROR_MEMORY.
enum pd_status pd_parquet_read_footer(struct pd_parquet_footer *footer, struct pd_cursor *c,
				      const struct pd_table *table);
void pd_parquet_footer_fini(struct pd_parquet_footer *footer);

// ---- rows ----

struct pd_parquet;

struct pd_parquet_cell {
	bool valid; // else it is null
	uint64_t number;
	struct pd_bytes bytes; // until the next row
};

// Reads the rows of a file, which must have the columns of a table; source and table must outlive it. Hostile files take no more memory
// and time than their size allows. Errors: PD_ERROR_FORMAT, PD_ERROR_UNSUPPORTED, PD_ERROR_LIMIT, PD_ERROR_MEMORY.
enum pd_status pd_parquet_open(struct pd_source *source, const struct pd_table *table, struct pd_parquet **parquet_out,
			       struct pd_error *error);
// PD_OK: there is a row; PD_END.
enum pd_status pd_parquet_next(struct pd_parquet *parquet, struct pd_error *error);
void pd_parquet_cell(const struct pd_parquet *parquet, size_t column, struct pd_parquet_cell *cell_out);
// NULL is ignored.
void pd_parquet_close(struct pd_parquet *parquet);

#endif
