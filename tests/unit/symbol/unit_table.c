/* SPDX-License-Identifier: MIT */
/* Tables of units, held against a plain search: scopes that nest deeply, and code that lies far apart. */
#include "object/dwarf/unit_table.h"
#include "../test.h"

#include <stdlib.h>

enum {
	MOST = 4000,
	CAPACITY = 2048
};

static struct pd_unit_scope scopes[MOST];
static struct pd_span spans[MOST];
static struct pd_unit_row rows[MOST];
static char names[MOST][8];
static size_t scope_count, row_count;

static void add_scope(struct pd_unit_maker *maker, uint32_t parent, uint64_t start, uint64_t end)
{
	struct pd_unit_scope scope = { .parent = parent, .call_line = (uint32_t)scope_count + 7 };

	snprintf(names[scope_count], sizeof(names[0]), "f%zu", scope_count);
	scope.name = pd_unit_maker_text(maker, names[scope_count]);
	scope.call_file = parent == PD_NO_SCOPE ? PD_NO_TEXT : pd_unit_maker_text(maker, "caller.c");
	scopes[scope_count] = scope;
	spans[scope_count] = (struct pd_span){ start, end, (uint32_t)scope_count };
	CHECK(pd_unit_maker_scope(maker, &scope) == scope_count);
	pd_unit_maker_span(maker, start, end, (uint32_t)scope_count);
	scope_count++;
}

// Rows of one file; line 0 ends what there is.
static void add_row(struct pd_unit_maker *maker, uint64_t addr, uint32_t line)
{
	struct pd_unit_row row = { addr, line ? pd_unit_maker_text(maker, "file.c") : PD_NO_TEXT, line };

	rows[row_count++] = row;
	pd_unit_maker_row(maker, &row);
}

static uint32_t plain_line(uint64_t addr)
{
	uint32_t line = 0;

	for (size_t i = 0; i < row_count && rows[i].addr <= addr; i++)
		line = rows[i].line;
	return line;
}

static void check_at(const struct pd_unit_table *table, uint64_t addr)
{
	static struct pd_lines_frame frames[CAPACITY];
	size_t count = pd_unit_table_find(table, addr, frames, CAPACITY), n = 0;
	uint32_t which = PD_NO_SCOPE, line = plain_line(addr);

	for (size_t i = 0; i < scope_count; i++)
		if (addr >= spans[i].start && addr < spans[i].end)
			which = (uint32_t)i;
	if (which == PD_NO_SCOPE) {
		CHECK(count == (line != 0) && (!count || (frames[0].line == line && !frames[0].name)));
		return;
	}
	for (; which != PD_NO_SCOPE && n < count; n++) {
		CHECK(frames[n].line == line && frames[n].inlined == (scopes[which].parent != PD_NO_SCOPE));
		CHECK_STR(frames[n].name, names[which]);
		line = scopes[which].call_line;
		which = scopes[which].parent;
	}
	CHECK(n == count && which == PD_NO_SCOPE);
}

static struct pd_unit_maker begin(void)
{
	scope_count = row_count = 0;
	return (struct pd_unit_maker){ .limit = 0 };
}

// Each has one inside of it, and code of its own on both sides: chains would be as long as all of them each time.
TEST(test_unit_table__comb)
{
	struct pd_unit_maker maker = begin();
	struct pd_unit_table table;

	for (uint32_t i = 0; i < 1000; i++) {
		add_scope(&maker, i ? 2 * i - 2 : PD_NO_SCOPE, 0x1000 + 8 * i, 0x10000 - 8 * i);
		add_scope(&maker, 2 * i, 0x1000 + 8 * i + 4, 0x1000 + 8 * i + 6);
	}
	for (uint32_t i = 0; i < 500; i++)
		add_row(&maker, 0x1000 + 12 * i, i % 37 + 1);
	add_row(&maker, 0x9000, 0);
	CHECK(pd_unit_table_make(&maker, &table));
	CHECK(table.link_count < 6 * scope_count && table.range_count == 3);
	for (uint64_t addr = 0xff0; addr < 0x10010; addr++)
		check_at(&table, addr);
	pd_unit_table_fini(&table);
}

// Further apart than an offset can say, and in more places than are ranges without need.
TEST(test_unit_table__large_gaps)
{
	struct pd_unit_maker maker = begin();
	struct pd_unit_table table;

	for (uint32_t i = 0; i < 40; i++) {
		uint64_t start = i < 20 ? UINT64_C(0x40000) * i : (uint64_t)i << 33;

		add_scope(&maker, PD_NO_SCOPE, start + 16, start + 64);
		add_scope(&maker, 2 * i, start + 20, start + 24);
		add_row(&maker, start + 16, i + 1);
		add_row(&maker, start + 22, i + 2);
		add_row(&maker, start + 60, 0);
	}
	CHECK(pd_unit_table_make(&maker, &table));
	CHECK(table.range_count >= 20 && table.range_count <= PD_UNIT_RANGES);
	for (uint32_t i = 0; i < 40; i++)
		for (uint64_t at = 0; at < 80; at++)
			check_at(&table, at + (i < 20 ? UINT64_C(0x40000) * i : (uint64_t)i << 33));
	check_at(&table, UINT64_MAX);
	check_at(&table, UINT64_C(0x123456789));
	pd_unit_table_fini(&table);
}

TEST(test_unit_table__nothing)
{
	struct pd_unit_maker maker = begin();
	struct pd_unit_table table;

	CHECK(pd_unit_table_make(&maker, &table));
	check_at(&table, 0);
	check_at(&table, UINT64_MAX);
	pd_unit_table_fini(&table);
}

RUN(TEST_CASE(test_unit_table__comb), TEST_CASE(test_unit_table__large_gaps), TEST_CASE(test_unit_table__nothing))
