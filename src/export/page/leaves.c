/* SPDX-License-Identifier: MIT */
/* What samples end in: a row of the tree and a sampled address, the most frequent first, so that samples are small numbers. */
#include "export/page/page.h"

#include "base/sort.h"

uint32_t pd_page_leaf(struct pd_page_leaves *leaves, uint32_t stack, uint32_t ip)
{
	uint64_t key = (uint64_t)stack << 32 | ip, known = pd_u64_map_find(&leaves->of, key);

	if (!known) {
		if (leaves->count >= UINT32_MAX - 1 || !PD_GROW(leaves->items, leaves->capacity, leaves->count + 1) ||
		    !pd_u64_map_add(&leaves->of, key, leaves->count + 1))
			return UINT32_MAX;
		leaves->items[leaves->count++] = (struct pd_page_leaf){ stack, ip, 0 };
		known = leaves->count;
	}
	leaves->items[known - 1].count++;
	return (uint32_t)known - 1;
}

static uint32_t address_number(struct pd_page_leaves *leaves, uint32_t frame)
{
	if (!leaves->address_of[frame]) {
		leaves->addresses[leaves->address_count++] = frame;
		leaves->address_of[frame] = (uint32_t)leaves->address_count;
	}
	return leaves->address_of[frame];
}

// Leaves of one row and address are one. final is the number of it for now.
static bool merge(struct pd_page_leaves *leaves, const struct pd_page_rows *rows, bool with_addresses)
{
	struct pd_u64_map known = { .seed = leaves->of.seed };
	bool done = true;

	for (size_t i = 0; i < leaves->count && done; i++) {
		const struct pd_page_leaf *leaf = &leaves->items[i];
		uint32_t row = leaf->stack ? rows->rank[rows->of_stack[leaf->stack]] + 1 : 0;
		uint32_t address = with_addresses ? address_number(leaves, leaf->ip) : 0;
		uint64_t key = (uint64_t)row << 32 | address, number = pd_u64_map_find(&known, key);

		if (!number) {
			number = leaves->merged_count + 1;
			done = pd_u64_map_add(&known, key, number);
			leaves->merged[leaves->merged_count++] = (struct pd_page_leaf){ row, address, 0 };
		}
		leaves->merged[number - 1].count += leaf->count;
		leaves->final[i] = (uint32_t)number - 1;
	}
	pd_u64_map_fini(&known);
	return done;
}

// Those that are equal remain in the order of their numbers.
static int compare_equal(const void *self, uint32_t a, uint32_t b)
{
	(void)self;
	return (a > b) - (a < b);
}

static bool sort(struct pd_page_leaves *leaves)
{
	struct pd_sorted *items = pd_realloc(NULL, (leaves->merged_count + 1) * sizeof(*items));
	uint32_t *place = pd_realloc(NULL, (leaves->merged_count + 1) * sizeof(*place));
	bool done = items && place;

	for (size_t i = 0; i < leaves->merged_count && done; i++)
		items[i] = (struct pd_sorted){ UINT64_MAX - leaves->merged[i].count, 0, (uint32_t)i };
	done = done && pd_sort(items, leaves->merged_count, compare_equal, NULL, 1);
	for (size_t i = 0; i < leaves->merged_count && done; i++) {
		leaves->merged_order[i] = items[i].number;
		place[items[i].number] = (uint32_t)i;
	}
	for (size_t i = 0; i < leaves->count && done; i++)
		leaves->final[i] = place[leaves->final[i]];
	pd_free(items);
	pd_free(place);
	return done;
}

bool pd_page_leaves_finish(struct pd_page_leaves *leaves, const struct pd_page_rows *rows,
			   const struct pd_tables *tables, bool with_addresses)
{
	leaves->final = pd_realloc(NULL, (leaves->count + 1) * sizeof(*leaves->final));
	leaves->merged = pd_realloc(NULL, (leaves->count + 1) * sizeof(*leaves->merged));
	leaves->merged_order = pd_realloc(NULL, (leaves->count + 1) * sizeof(*leaves->merged_order));
	leaves->address_of = pd_alloc((tables->frame_count + 1) * sizeof(*leaves->address_of));
	leaves->addresses = pd_realloc(NULL, (tables->frame_count + 1) * sizeof(*leaves->addresses));
	return leaves->final && leaves->merged && leaves->merged_order && leaves->address_of && leaves->addresses &&
	       merge(leaves, rows, with_addresses) && sort(leaves);
}

void pd_page_leaves_fini(struct pd_page_leaves *leaves)
{
	pd_free(leaves->items);
	pd_u64_map_fini(&leaves->of);
	pd_free(leaves->final);
	pd_free(leaves->address_of);
	pd_free(leaves->addresses);
	pd_free(leaves->merged);
	pd_free(leaves->merged_order);
}

// ---- columns ----

// The function that contains it comes last, what was inlined there before it.
static const struct pd_table_line *innermost(const struct pd_tables *tables, uint32_t frame)
{
	return &tables->lines[tables->frames[frame].first_line];
}

typedef uint64_t address_cell_fn(const struct pd_tables *tables, uint32_t frame);

static uint64_t function_of(const struct pd_tables *tables, uint32_t frame)
{
	return tables->lines[tables->frames[frame].first_line + tables->frames[frame].line_count - 1].function;
}

static uint64_t place_of(const struct pd_tables *tables, uint32_t frame)
{
	return tables->frames[frame].place.addr;
}

static uint64_t file_of(const struct pd_tables *tables, uint32_t frame)
{
	return innermost(tables, frame)->file;
}

static uint64_t line_of(const struct pd_tables *tables, uint32_t frame)
{
	return innermost(tables, frame)->line;
}

static void put_addresses(struct pd_page_blocks *blocks, const struct pd_page_leaves *leaves,
			  const struct pd_tables *tables)
{
	static const struct {
		const char *name;
		enum pd_page_code code;
		address_cell_fn *cell;
	} columns[] = {
		{ "addresses.function", PD_PAGE_NUMBERS, function_of },
		{ "addresses.address", PD_PAGE_WIDE, place_of },
		{ "addresses.file", PD_PAGE_NUMBERS, file_of },
		{ "addresses.line", PD_PAGE_NUMBERS, line_of },
	};

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		struct pd_page_column column;

		pd_page_begin(&column, blocks, columns[i].name, columns[i].code);
		for (size_t k = 0; k < leaves->address_count; k++)
			pd_page_put(&column, columns[i].cell(tables, leaves->addresses[k]));
		pd_page_end(&column);
	}
}

void pd_page_put_leaves(struct pd_page_blocks *blocks, const struct pd_page_leaves *leaves,
			const struct pd_tables *tables)
{
	struct pd_page_column column;

	pd_page_begin(&column, blocks, "leaves.row", PD_PAGE_NUMBERS);
	for (size_t i = 0; i < leaves->merged_count; i++)
		pd_page_put(&column, leaves->merged[leaves->merged_order[i]].stack);
	pd_page_end(&column);
	pd_page_begin(&column, blocks, "leaves.address", PD_PAGE_NUMBERS);
	for (size_t i = 0; i < leaves->merged_count; i++)
		pd_page_put(&column, leaves->merged[leaves->merged_order[i]].ip);
	pd_page_end(&column);
	put_addresses(blocks, leaves, tables);
}
