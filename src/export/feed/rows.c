/* SPDX-License-Identifier: MIT */
#include "export/feed/rows.h"

bool pd_rows_init(struct pd_rows *rows, const struct pd_tables *tables)
{
	*rows = (struct pd_rows){ .tables = tables };
	rows->last = pd_realloc(NULL, tables->stack_count * sizeof(*rows->last));
	if (!rows->last)
		return false;
	rows->last[0] = PD_NO_ROW;
	for (size_t i = 1; i < tables->stack_count; i++) {
		rows->count += tables->frames[tables->stacks[i].frame].line_count;
		if (rows->count >= PD_NO_ROW)
			return false;
		rows->last[i] = (uint32_t)rows->count - 1;
	}
	return true;
}

void pd_rows_fini(struct pd_rows *rows)
{
	pd_free(rows->last);
}

void pd_rows_walk(const struct pd_rows *rows, struct pd_row_walk *walk)
{
	*walk = (struct pd_row_walk){ .rows = rows, .stack = 1 };
}

bool pd_rows_next(struct pd_row_walk *walk, struct pd_row *row_out)
{
	const struct pd_tables *tables = walk->rows->tables;
	const struct pd_table_stack *stack;
	const struct pd_table_frame *frame;

	if (walk->stack >= tables->stack_count)
		return false;
	stack = &tables->stacks[walk->stack];
	frame = &tables->frames[stack->frame];
	row_out->frame = stack->frame;
	row_out->parent = walk->done ? walk->row - 1 : walk->rows->last[stack->parent];
	// lines are innermost first
	row_out->line = frame->first_line + frame->line_count - 1 - walk->done;
	walk->row++;
	if (++walk->done == frame->line_count) {
		walk->stack++;
		walk->done = 0;
	}
	return true;
}
