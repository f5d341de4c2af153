/* SPDX-License-Identifier: MIT */
/* Lists of .ARM.exidx, and after them what they refer to, as .ARM.extab has it. */
#include "unwind/ends/ends.h"
#include "unwind/rules/exidx.h"

#include "rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct pd_unwind_arch *arch = pd_unwind_arch_of(PD_ARCH_ARM, PD_REGS_ABI_32);
	struct pd_unwind_table table;
	struct pd_exidx exidx;
	struct pd_code code;

	if (size < RULES_HEAD)
		return 0;
	code = (struct pd_code){ .addr = RULES_ADDR, .effects = pd_effects_of(arch), .bytes = rules_bytes(data, size) };
	exidx = (struct pd_exidx){ .code = &code,
				   .memory = rules_bytes(data, size),
				   .memory_addr = RULES_ADDR,
				   .addr = RULES_ADDR,
				   .big = rules_big(data),
				   .code_end = RULES_CODE_END };
	// how much of it is the list: from none to all
	exidx.size = exidx.memory.size * data[1] / UINT8_MAX;
	REQUIRE(pd_unwind_table_init(&table, 0) && pd_exidx_compile(&exidx, arch, &table));
	rules_check(&table, arch, exidx.big, exidx.memory);
	pd_unwind_table_fini(&table);
	return 0;
}
