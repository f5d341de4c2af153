/* SPDX-License-Identifier: MIT */
/* Columns of what samples accessed: the names of their parts, and what a row has of each. */
#include "report/report.h"

#define ANYTHING_ELSE                  \
	{                              \
		"Other", "other", 0, 0 \
	}
enum {
	/* bits of the parts of data_src */
	OPERATION = 0x1f,
	LEVEL = 0xf,
	SNOOP = 0x1f,
	TLB = 0x7f
};

static const struct access_column columns[COLUMN_ACCESSES] = {
	{ .name = "op",
	  .title = "Mem Op",
	  .shift = 0,
	  .parts = { { "Load", "load", OPERATION, 2 },
		     { "Store", "store", OPERATION, 4 },
		     { "Ld+St", "load_store", OPERATION, 6 },
		     { "Pfetch", "prefetch", 8, 8 },
		     { "Exec", "exec", 16, 16 },
		     ANYTHING_ELSE },
	  .count = 6 },
	{ .name = "cache",
	  .title = "Cache",
	  .shift = 33,
	  .parts = { { "L1", "l1", LEVEL, 1 },
		     { "L2", "l2", LEVEL, 2 },
		     { "L3", "l3", LEVEL, 3 },
		     { "L4", "l4", LEVEL, 4 },
		     { "L1-buf", "l1_buffer", LEVEL, 12 },
		     { "L2-buf", "l2_buffer", LEVEL, 5 },
		     ANYTHING_ELSE },
	  .count = 7 },
	{ .name = "memory",
	  .title = "Memory",
	  .shift = 33,
	  .parts = { { "RAM", "ram", LEVEL, 13 },
		     { "MSC", "memory_side_cache", LEVEL, 6 },
		     { "Uncach", "uncached", LEVEL, 8 },
		     { "CXL", "cxl", LEVEL, 9 },
		     { "IO", "io", LEVEL, 10 },
		     { "PMEM", "persistent", LEVEL, 14 },
		     ANYTHING_ELSE },
	  .count = 7 },
	{ .name = "snoop",
	  .title = "Snoop",
	  .shift = 19,
	  .parts = { { "Hit", "hit", SNOOP, 4 },
		     { "HitM", "hit_modified", SNOOP, 16 },
		     { "Miss", "miss", SNOOP, 8 },
		     ANYTHING_ELSE },
	  .count = 4 },
	{ .name = "dtlb",
	  .title = "D-TLB",
	  .shift = 26,
	  .parts = { { "L1-Hit", "l1_hit", TLB, 10 },
		     { "L2-Hit", "l2_hit", TLB, 18 },
		     { "L?-Hit", "any_hit", TLB, 26 },
		     { "Miss", "miss", 4, 4 },
		     ANYTHING_ELSE },
	  .count = 5 },
};

const struct access_column *pd_access_column(enum column_kind kind)
{
	return &columns[kind - COLUMN_OP];
}

size_t pd_access_part(const struct access_column *column, uint64_t data_src)
{
	uint64_t bits = data_src >> column->shift;
	size_t part = 0;

	while ((bits & column->parts[part].mask) != column->parts[part].value)
		part++;
	return part;
}

size_t pd_access_parts_shown(const struct table *table, enum column_kind kind)
{
	size_t count = 0;

	for (size_t part = 0; part < ACCESS_PARTS_MAX; part++)
		count += table->parts_shown[kind - COLUMN_OP][part];
	return count;
}

uint64_t pd_row_access(const struct table *table, const struct row *row, size_t event, enum column_kind kind,
		       size_t part)
{
	return table->accesses ?
		       table->accesses[&row->amounts[event] - table->amounts].periods[kind - COLUMN_OP][part] :
		       0;
}
