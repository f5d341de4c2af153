/* SPDX-License-Identifier: MIT */
/* Stacks of addresses as a tree of functions, depth first, so that what a function called is a range. */
#include "export/page/page.h"

static uint32_t add_row(struct pd_page_rows *rows, const struct pd_page_row *row, uint64_t hash)
{
	if (rows->count >= UINT32_MAX - 2 || !PD_GROW(rows->items, rows->capacity, rows->count + 1) ||
	    !pd_index_add(&rows->index, hash, (uint32_t)rows->count))
		return UINT32_MAX;
	rows->items[rows->count] = *row;
	return (uint32_t)rows->count++;
}

uint32_t pd_page_row(struct pd_page_rows *rows, const struct pd_page_row *row)
{
	uint64_t hash =
		pd_hash_u64(rows->seed, (uint64_t)row->parent << 32 ^ (uint64_t)row->function << 1 ^ row->inlined);
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&rows->index, hash, &at)) != PD_INDEX_END;) {
		const struct pd_page_row *known = &rows->items[i];

		if (known->parent == row->parent && known->function == row->function && known->inlined == row->inlined)
			return i;
	}
	return add_row(rows, row, hash);
}

// The functions of an address below a row, outermost first.
static uint32_t add_frame(struct pd_page_rows *rows, const struct pd_tables *tables, uint32_t row, uint32_t frame)
{
	const struct pd_table_frame *known = &tables->frames[frame];

	for (uint32_t i = known->line_count; i--;) {
		const struct pd_table_line *line = &tables->lines[known->first_line + i];
		const struct pd_page_row wanted = { row, line->function, line->inlined };

		row = pd_page_row(rows, &wanted);
		if (row == UINT32_MAX)
			return UINT32_MAX;
	}
	return row;
}

static bool make_rows(struct pd_page_rows *rows, const struct pd_tables *tables)
{
	rows->of_stack[0] = UINT32_MAX;
	for (size_t i = 1; i < tables->stack_count; i++) {
		const struct pd_table_stack *stack = &tables->stacks[i];

		rows->of_stack[i] = add_frame(rows, tables, rows->of_stack[stack->parent], stack->frame);
		if (rows->of_stack[i] == UINT32_MAX)
			return false;
	}
	return true;
}

// Children in the order of first use. first and next are one more than the row, 0 is none; first[0] is of all roots.
static void link_rows(const struct pd_page_rows *rows, uint32_t *first, uint32_t *next)
{
	for (size_t i = rows->count; i--;) {
		uint32_t parent = rows->items[i].parent + 1;

		next[i] = first[parent];
		first[parent] = (uint32_t)i + 1;
	}
}

static void walk_rows(struct pd_page_rows *rows, const uint32_t *first, const uint32_t *next)
{
	uint32_t row = first[0], place = 0;

	while (row) {
		rows->rank[row - 1] = place;
		rows->order[place++] = row - 1;
		if (first[row]) {
			row = first[row];
			continue;
		}
		while (row && !next[row - 1])
			row = rows->items[row - 1].parent + 1;
		if (row)
			row = next[row - 1];
	}
}

bool pd_page_rows_order(struct pd_page_rows *rows)
{
	uint32_t *first = pd_alloc((rows->count + 1) * sizeof(*first));
	uint32_t *next = pd_alloc((rows->count + 1) * sizeof(*next));

	rows->rank = pd_realloc(NULL, (rows->count + 1) * sizeof(*rows->rank));
	rows->order = pd_realloc(NULL, (rows->count + 1) * sizeof(*rows->order));
	if (first && next && rows->rank && rows->order) {
		link_rows(rows, first, next);
		walk_rows(rows, first, next);
	}
	pd_free(first);
	pd_free(next);
	return first && next && rows->rank && rows->order;
}

bool pd_page_rows_init(struct pd_page_rows *rows, const struct pd_tables *tables)
{
	*rows = (struct pd_page_rows){ .seed = tables->seed };
	rows->of_stack = pd_realloc(NULL, tables->stack_count * sizeof(*rows->of_stack));
	return rows->of_stack && make_rows(rows, tables) && pd_page_rows_order(rows);
}

void pd_page_rows_fini(struct pd_page_rows *rows)
{
	pd_free(rows->items);
	pd_index_fini(&rows->index);
	pd_free(rows->of_stack);
	pd_free(rows->rank);
	pd_free(rows->order);
}

void pd_page_put_rows(struct pd_page_blocks *blocks, const struct pd_page_rows *rows)
{
	struct pd_page_column column;

	pd_page_begin(&column, blocks, "rows.parent", PD_PAGE_NUMBERS);
	for (size_t i = 0; i < rows->count; i++) {
		uint32_t parent = rows->items[rows->order[i]].parent;

		pd_page_put(&column, parent == UINT32_MAX ? 0 : i - rows->rank[parent]);
	}
	pd_page_end(&column);
	pd_page_begin(&column, blocks, "rows.function", PD_PAGE_NUMBERS);
	for (size_t i = 0; i < rows->count; i++)
		pd_page_put(&column, rows->items[rows->order[i]].function);
	pd_page_end(&column);
	pd_page_begin(&column, blocks, "rows.inlined", PD_PAGE_BYTES);
	for (size_t i = 0; i < rows->count; i++)
		pd_page_put(&column, rows->items[rows->order[i]].inlined);
	pd_page_end(&column);
}
