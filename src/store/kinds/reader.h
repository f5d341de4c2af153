/* SPDX-License-Identifier: MIT */
/*
 * Stores that are no file of SQLite, when they are read: the rows of their tables, whatever they are kept in, become a store of SQLite
 * that is gone afterwards, and all else is as for other stores.
 */
#ifndef PD_STORE_KINDS_READER_H
#define PD_STORE_KINDS_READER_H

#include "base/lookup/u64_map.h"
#include "store/kinds/rows.h"

struct pd_store_reader;

// The rows of a table have the columns that a folder has of it.
struct pd_store_reader_kind {
	enum pd_status (*begin)(struct pd_store_reader *reader, struct pd_error *error); // those of reader->part
	enum pd_status (*next)(struct pd_store_reader *reader, struct pd_error *error); // PD_OK: there is a row; PD_END
	void (*cell)(const struct pd_store_reader *reader, size_t column, struct pd_sql_value *value_out);
};

struct pd_store_reader {
	const struct pd_store_reader_kind *kind;
	struct pd_store_part part;
	struct pd_u64_map known; // numbers of frames or stacks, and a hash of what they stand for
};

// Makes a store of what a reader gives, as far as it is needed, and opens it. Errors: also those of the reader.
enum pd_status pd_store_reader_open(struct pd_store_reader *reader, const struct pd_store_question *question,
				    struct pd_sql_database **database_out, struct pd_error *error);

#endif
