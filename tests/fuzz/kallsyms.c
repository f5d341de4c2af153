/* SPDX-License-Identifier: MIT */
/* Lists of kernel symbols. */
#include "object/symbols/kallsyms.h"
#include "table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pd_kallsyms k;
	struct pd_error error;

	if (pd_kallsyms_read(&k, (const char *)data, size, 16 << 20, &error)) {
		walk_require_error(error.status, &error);
		return 0;
	}
	check_table(k.table);
	for (size_t i = 0; i < pd_symtab_count(k.table); i++) {
		uint16_t owner = pd_symtab_at(k.table, i).owner;

		REQUIRE(!owner == !pd_kallsyms_module(&k, owner));
	}
	REQUIRE(!k.hidden || !pd_symtab_count(k.table));
	pd_kallsyms_close(&k);
	return 0;
}
