/* SPDX-License-Identifier: MIT */
/* Stacks as a tree of functions: a row for each function of each stack, inlined ones too, callers first. */
#ifndef PD_EXPORT_FEED_ROWS_H
#define PD_EXPORT_FEED_ROWS_H

#include "stack/tables.h"

#define PD_NO_ROW UINT32_MAX

struct pd_rows {
	const struct pd_tables *tables;
	uint32_t *last; // by stack: the row of its innermost function
	size_t count;   // of rows
};

struct pd_row {
	uint32_t parent; // row, or PD_NO_ROW
	uint32_t line;   // of the tables
	uint32_t frame;
};

// Goes through all rows in order.
struct pd_row_walk {
	const struct pd_rows *rows;
	uint32_t stack, row, done; // done: lines of the stack
};

// False if there is no memory.
bool pd_rows_init(struct pd_rows *rows, const struct pd_tables *tables);
void pd_rows_fini(struct pd_rows *rows);
void pd_rows_walk(const struct pd_rows *rows, struct pd_row_walk *walk);
bool pd_rows_next(struct pd_row_walk *walk, struct pd_row *row_out);

#endif
