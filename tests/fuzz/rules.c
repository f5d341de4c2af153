/* SPDX-License-Identifier: MIT */
/*
 * Sections with unwind rules: .eh_frame, .debug_frame, .ARM.exidx with what it refers to, and .sframe. The first byte says which, the
 * second for which architecture.
 */
#include "unwind/rules/cfi.h"
#include "unwind/rules/exidx.h"
#include "unwind/rules/sframe.h"

#include "walk.h"

enum {
	HEAD = 2,
	ADDR = 0x10000,
	CODE_END = 0x4000000
};

static bool compile(unsigned kind, struct pd_bytes bytes, const struct pd_unwind_arch *arch, bool big,
		    struct pd_unwind_table *table)
{
	const struct pd_cfi_section cfi = {
		.bytes = bytes, .addr = ADDR, .is_debug = kind == 1, .big = big, .word = arch->word, .code_end = CODE_END
	};
	const struct pd_exidx exidx = { .memory = bytes,
					.memory_addr = ADDR,
					.addr = ADDR,
					.size = bytes.size / 2,
					.big = big,
					.code_end = CODE_END };
	const struct pd_sframe sframe = { .bytes = bytes, .addr = ADDR, .code_end = CODE_END };

	switch (kind) {
	case 0:
	case 1:
		return pd_cfi_compile(&cfi, arch, table);
	case 2:
		return pd_exidx_compile(&exidx, arch, table);
	default:
		return pd_sframe_compile(&sframe, arch, table);
	}
}

static void check_rules(const struct pd_unwind_table *table)
{
	for (size_t i = 0; i < table->row_count; i++) {
		const struct pd_unwind_rule *rule = pd_unwind_table_at(table, table->rows[i].rule);

		REQUIRE(table->rows[i].rule < table->rule_count);
		REQUIRE(!i || table->rows[i - 1].addr < table->rows[i].addr);
		REQUIRE(pd_unwind_table_find(table, table->base + table->rows[i].addr) == table->rows[i].rule);
		if (!table->rows[i].rule)
			continue;
		REQUIRE(rule->count <= table->rule_count - table->rows[i].rule - 1);
		REQUIRE(rule->kind == PD_CFA_EXPRESSION || rule->cfa_register < PD_UNWIND_REGISTERS);
		for (size_t j = 0; j < rule->count; j++)
			REQUIRE(rule->saved[j].number < PD_UNWIND_REGISTERS);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pd_unwind_arch *arch;
	struct pd_unwind_table table;

	if (size < HEAD)
		return 0;
	arch = pd_unwind_arch_of((enum pd_arch)(PD_ARCH_X86 + data[1] % (PD_ARCH_CSKY - PD_ARCH_X86 + 1)),
				 PD_REGS_ABI_64);
	REQUIRE(arch && pd_unwind_table_init(&table, 0));
	// rows are linear in the size; of those that are repeated there are more
	if (compile(data[0] & 3, (struct pd_bytes){ data + HEAD, size - HEAD }, arch, data[0] & 4, &table)) {
		REQUIRE(table.row_count <= 64 * size + 64);
		REQUIRE(pd_unwind_table_sort(&table));
		check_rules(&table);
	}
	pd_unwind_table_fini(&table);
	return 0;
}
