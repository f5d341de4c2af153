/* SPDX-License-Identifier: MIT */
/* Tables of symbols: which name wins, where symbols end, and lookups held against a plain search. */
#include "object/symbols/symbols.h"
#include "../test.h"
#include "object/demangle/demangle.h"

#include <stdlib.h>

static void add(struct pd_symtab_maker *maker, uint64_t start, uint64_t end, const char *name, int bind)
{
	struct pd_symbol symbol = {
		.start = start, .end = end, .name = name, .name_length = (uint32_t)strlen(name), .bind = (uint8_t)bind
	};

	pd_symtab_add(maker, &symbol, 0);
}

static const char *name_at(const struct pd_symtab *table, uint64_t addr)
{
	struct pd_symbol symbol;

	return pd_symtab_find(table, addr, &symbol) ? symbol.name : "-";
}

TEST(test_symbols__none)
{
	struct pd_symtab_maker maker = { 0 };
	struct pd_symtab *table = NULL;
	struct pd_symbol symbol;

	CHECK(pd_symtab_make(&maker, &table, NULL) == PD_OK);
	CHECK(pd_symtab_count(table) == 0);
	CHECK(!pd_symtab_find(table, 0, &symbol) && !pd_symtab_find(table, UINT64_MAX, &symbol));
	pd_symtab_free(table);
	pd_symtab_free(NULL);
}

TEST(test_symbols__best_name)
{
	static const struct {
		const char *loser, *winner;
		uint64_t loser_end;
		int loser_bind, winner_bind;
	} cases[] = {
		{ "sizeless_weak", "sized", 0x100, PD_BIND_WEAK, PD_BIND_LOCAL },
		{ "weak", "firm", 0x110, PD_BIND_WEAK, PD_BIND_LOCAL },
		{ "here", "all", 0x110, PD_BIND_LOCAL, PD_BIND_GLOBAL },
		{ "__longer_name", "name", 0x110, PD_BIND_GLOBAL, PD_BIND_GLOBAL },
		{ "_name", "name", 0x110, PD_BIND_WEAK, PD_BIND_WEAK },
		{ "name", "longer_name", 0x110, PD_BIND_GLOBAL, PD_BIND_GLOBAL },
		{ "SyS_read", "sys_read", 0x110, PD_BIND_GLOBAL, PD_BIND_GLOBAL },
		// names as they are shown: without what they are mangled with
		{ "_Znwm", "_Znam", 0x110, PD_BIND_GLOBAL, PD_BIND_GLOBAL },         // operator new, operator new[]
		{ "cfree", "_ZdaPv", 0x110, PD_BIND_GLOBAL, PD_BIND_GLOBAL },        // operator delete[]
		{ "_Z3runiiiiii", "run_it", 0x110, PD_BIND_GLOBAL, PD_BIND_GLOBAL }, // run
	};

	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		struct pd_symtab_maker maker = { 0 };
		struct pd_symtab *table = NULL;

		if (strncmp(cases[i / 2].winner, "_Z", 2) == 0 && !pd_demangler_cxx.demangle)
			continue;
		if (i % 2)
			add(&maker, 0x100, 0x110, cases[i / 2].winner, cases[i / 2].winner_bind);
		add(&maker, 0x100, cases[i / 2].loser_end, cases[i / 2].loser, cases[i / 2].loser_bind);
		if (!(i % 2))
			add(&maker, 0x100, 0x110, cases[i / 2].winner, cases[i / 2].winner_bind);
		CHECK(pd_symtab_make(&maker, &table, NULL) == PD_OK);
		CHECK(pd_symtab_count(table) == 1);
		CHECK_STR(name_at(table, 0x100), cases[i / 2].winner);
		pd_symtab_free(table);
	}
}

// What has no size goes to the next start, if it is the last one of its address, and is as good as what has one then.
TEST(test_symbols__sizeless)
{
	struct pd_symtab_maker maker = { 0 };
	struct pd_symtab *table = NULL;

	add(&maker, 0x100, 0x110, "sized", PD_BIND_LOCAL);
	add(&maker, 0x100, 0x100, "last_global", PD_BIND_GLOBAL);
	add(&maker, 0x200, 0x200, "first_global", PD_BIND_GLOBAL);
	add(&maker, 0x200, 0x210, "sized_behind", PD_BIND_LOCAL);
	add(&maker, 0x300, 0x300, "earlier", PD_BIND_GLOBAL);
	add(&maker, 0x300, 0x300, "later", PD_BIND_LOCAL);
	add(&maker, 0x400, 0x400, "end", PD_BIND_GLOBAL);
	CHECK(pd_symtab_make(&maker, &table, NULL) == PD_OK);
	CHECK_STR(name_at(table, 0x1ff), "last_global");
	CHECK_STR(name_at(table, 0x20f), "sized_behind");
	CHECK_STR(name_at(table, 0x210), "-");
	CHECK_STR(name_at(table, 0x3ff), "later");
	pd_symtab_free(table);
}

TEST(test_symbols__ends)
{
	struct pd_symtab_maker maker = { 0 };
	struct pd_symtab *table = NULL;
	struct pd_symbol bound = { .start = 0x150, .end = 0x150, .kind = PD_SYMBOL_BOUND };
	struct pd_symbol capped = { .start = 0x9000, .end = 0x9000, .name = "capped", .name_length = 6 };
	struct pd_symbol useless = { .start = 0x9100, .end = 0x9100, .name = "behind", .name_length = 6 };

	add(&maker, 0x100, 0x100, "to_bound", 0);
	pd_symtab_add(&maker, &bound, 0);
	add(&maker, 0x200, 0x200, "to_next", 0);
	add(&maker, 0x300, 0x400, "function", 0);
	add(&maker, 0x380, 0x380, "label", 0);
	add(&maker, 0x500, 0x510, "sized", 0);
	add(&maker, 0x600, 0x600, "last", 0);
	pd_symtab_add(&maker, &capped, 0x9100);
	pd_symtab_add(&maker, &useless, 0x9100);
	CHECK(pd_symtab_make(&maker, &table, NULL) == PD_OK);
	CHECK(pd_symtab_count(table) == 7);
	CHECK_STR(name_at(table, 0xff), "-");
	CHECK_STR(name_at(table, 0x14f), "to_bound");
	CHECK_STR(name_at(table, 0x150), "-");
	CHECK_STR(name_at(table, 0x2ff), "to_next");
	CHECK_STR(name_at(table, 0x37f), "function");
	CHECK_STR(name_at(table, 0x3ff), "label");
	CHECK_STR(name_at(table, 0x400), "-");
	CHECK_STR(name_at(table, 0x510), "-");
	CHECK_STR(name_at(table, 0x8fff), "last");
	CHECK_STR(name_at(table, 0x90ff), "capped");
	CHECK_STR(name_at(table, 0x9100), "-");
	CHECK(pd_symtab_at(table, 6).end == 0x9100);
	pd_symtab_free(table);
}

TEST(test_symbols__nested)
{
	struct pd_symtab_maker inner = { .rule = PD_SYMTAB_INNER }, later = { .rule = PD_SYMTAB_LATER };
	struct pd_symtab *a = NULL, *b = NULL;

	add(&inner, 0, 100, "outer", 0);
	add(&inner, 10, 20, "first", 0);
	add(&inner, 15, 30, "second", 0);
	CHECK(pd_symtab_make(&inner, &a, NULL) == PD_OK);
	CHECK_STR(name_at(a, 9), "outer");
	CHECK_STR(name_at(a, 14), "first");
	CHECK_STR(name_at(a, 29), "second");
	CHECK_STR(name_at(a, 30), "outer");
	CHECK_STR(name_at(a, 100), "-");
	add(&later, 10, 20, "old", 0);
	add(&later, 0, 15, "new", 0);
	add(&later, 0, 5, "newest", 0);
	CHECK(pd_symtab_make(&later, &b, NULL) == PD_OK);
	CHECK_STR(name_at(b, 4), "newest");
	CHECK_STR(name_at(b, 14), "new");
	CHECK_STR(name_at(b, 15), "old");
	pd_symtab_free(a);
	pd_symtab_free(b);
}

TEST(test_symbols__whole_space)
{
	struct pd_symtab_maker maker = { 0 };
	struct pd_symtab *table = NULL;

	add(&maker, 0, UINT64_MAX, "everything", 0);
	add(&maker, UINT64_MAX - 1, UINT64_MAX - 1, "end", 0);
	CHECK(pd_symtab_make(&maker, &table, NULL) == PD_OK);
	CHECK_STR(name_at(table, 0), "everything");
	CHECK_STR(name_at(table, UINT64_MAX - 2), "everything");
	CHECK_STR(name_at(table, UINT64_MAX - 1), "end");
	CHECK_STR(name_at(table, UINT64_MAX), "-");
	pd_symtab_free(table);
}

TEST(test_symbols__limit)
{
	struct pd_symtab_maker maker = { .limit = 4096 };
	struct pd_symtab *table = NULL;
	struct pd_error error;

	for (unsigned i = 0; i < 1000; i++)
		add(&maker, i * 16, i * 16 + 16, "name", 0);
	CHECK(maker.count < 100);
	CHECK(pd_symtab_make(&maker, &table, &error) == PD_ERROR_LIMIT);
	CHECK(!table && !maker.items);
}

enum {
	COUNT = 400
};

struct range {
	uint64_t start, end;
	char name[8];
};

// The same question asked of a list.
static const char *plain(const struct range *ranges, uint64_t addr, bool later)
{
	const struct range *best = NULL;

	for (size_t i = 0; i < COUNT; i++) {
		const struct range *r = &ranges[i];

		if (addr >= r->start && addr < r->end && (!best || later || r->start > best->start))
			best = r;
	}
	return best ? best->name : "-";
}

TEST(test_symbols__as_plain_search)
{
	for (unsigned round = 0; round < 40; round++) {
		static struct range ranges[COUNT];
		bool later = round % 2;
		struct pd_symtab_maker maker = { .rule = later ? PD_SYMTAB_LATER : PD_SYMTAB_INNER };
		struct pd_symtab *table = NULL;

		srand(round);
		for (unsigned i = 0; i < COUNT; i++) {
			// no two start together unless the later one wins
			ranges[i].start = later ? (unsigned)rand() % 3000 : (i * 7919 + 1) % COUNT * 8u;
			ranges[i].end = ranges[i].start + 1 + (unsigned)rand() % (round < 20 ? 20 : 500);
			snprintf(ranges[i].name, sizeof(ranges[i].name), "n%u", i);
			add(&maker, ranges[i].start, ranges[i].end, ranges[i].name, 0);
		}
		CHECK(pd_symtab_make(&maker, &table, NULL) == PD_OK);
		for (uint64_t addr = 0; addr < 4000; addr++)
			CHECK_STR(name_at(table, addr), plain(ranges, addr, later));
		pd_symtab_free(table);
	}
}

RUN(TEST_CASE(test_symbols__none), TEST_CASE(test_symbols__best_name), TEST_CASE(test_symbols__sizeless),
    TEST_CASE(test_symbols__ends), TEST_CASE(test_symbols__nested), TEST_CASE(test_symbols__whole_space),
    TEST_CASE(test_symbols__limit), TEST_CASE(test_symbols__as_plain_search))
