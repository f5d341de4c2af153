/* SPDX-License-Identifier: MIT */
/* What holds for every table of symbols. */
#ifndef PD_TEST_FUZZ_TABLE_H
#define PD_TEST_FUZZ_TABLE_H

#include <string.h>

#include "object/symbols/symbols.h"
#include "walk.h"

static inline void check_table(const struct pd_symtab *table)
{
	uint64_t before = 0;

	for (size_t i = 0; i < pd_symtab_count(table); i++) {
		struct pd_symbol symbol = pd_symtab_at(table, i), found;

		REQUIRE(symbol.start >= before && symbol.end > symbol.start);
		REQUIRE(symbol.kind != PD_SYMBOL_BOUND && symbol.name_length);
		REQUIRE(symbol.name[symbol.name_length] == 0);
		REQUIRE(pd_symtab_find(table, symbol.start, &found));
		REQUIRE(found.start <= symbol.start && found.end > symbol.start);
		if (pd_symtab_find(table, symbol.end, &found))
			REQUIRE(found.start <= symbol.end && found.end > symbol.end);
		before = symbol.start;
	}
}

#endif
