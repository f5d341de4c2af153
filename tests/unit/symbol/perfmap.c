/* SPDX-License-Identifier: MIT */
/* Maps of code made at run time: numbers, names with spaces, and space that is used again. */
#include "object/runtime/perfmap.h"
#include "../test.h"

static const char *name_at(const struct pd_symtab *table, uint64_t addr)
{
	struct pd_symbol symbol;

	return pd_symtab_find(table, addr, &symbol) ? symbol.name : "-";
}

static const char map[] = "7f00 10 plain\n"
			  "0x7f10 0X20 with prefix\n"
			  "7f40 8  leading space\r\n"
			  "8000 100 old\n"
			  "8080 10 new\n"
			  "80F0 40 newer\n"
			  "9000 10 \n"
			  "9000 10\n"
			  "9010 0 no size\n"
			  "x 10 name\n"
			  "11112222333344445 10 too long\n"
			  "fffffffffffffff0 ffff top\n"
			  "a000 10 cu";

TEST(test_perfmap__lines)
{
	struct pd_symtab *table = NULL;
	size_t bad = 0;

	CHECK(pd_perfmap_read(&table, map, sizeof(map) - 1, 0, &bad, NULL) == PD_OK);
	CHECK(bad == 4);
	CHECK_STR(name_at(table, 0x7f0f), "plain");
	CHECK_STR(name_at(table, 0x7f10), "with prefix");
	CHECK_STR(name_at(table, 0x7f2f), "with prefix");
	CHECK_STR(name_at(table, 0x7f30), "-");
	CHECK_STR(name_at(table, 0x7f47), " leading space");
	CHECK_STR(name_at(table, 0x807f), "old");
	CHECK_STR(name_at(table, 0x8080), "new");
	CHECK_STR(name_at(table, 0x8090), "old");
	CHECK_STR(name_at(table, 0x80f0), "newer");
	CHECK_STR(name_at(table, 0x8100), "newer");
	CHECK_STR(name_at(table, 0x9000), "-");
	CHECK_STR(name_at(table, 0x9010), "no size");
	CHECK_STR(name_at(table, 0x9011), "-");
	CHECK_STR(name_at(table, UINT64_MAX - 1), "top");
	CHECK_STR(name_at(table, 0xa000), "cu");
	pd_symtab_free(table);
}

TEST(test_perfmap__empty)
{
	struct pd_symtab *table = NULL;
	struct pd_error error;
	size_t bad = 7;

	CHECK(pd_perfmap_read(&table, "", 0, 0, &bad, NULL) == PD_OK);
	CHECK(pd_symtab_count(table) == 0 && bad == 0);
	pd_symtab_free(table);
	CHECK(pd_perfmap_open(&table, "/dev/zero", 0, NULL, &error) == PD_ERROR_UNSUPPORTED);
}

RUN(TEST_CASE(test_perfmap__lines), TEST_CASE(test_perfmap__empty))
