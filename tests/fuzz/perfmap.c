/* SPDX-License-Identifier: MIT */
/* Maps of code made at run time. */
#include "object/runtime/perfmap.h"
#include "table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pd_symtab *table = NULL;
	struct pd_error error;
	size_t bad_lines = 0;

	if (pd_perfmap_read(&table, (const char *)data, size, 16 << 20, &bad_lines, &error)) {
		walk_require_error(error.status, &error);
		return 0;
	}
	check_table(table);
	REQUIRE(bad_lines + pd_symtab_count(table) <= size);
	pd_symtab_free(table);
	return 0;
}
