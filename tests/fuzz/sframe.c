/* SPDX-License-Identifier: MIT */
/* Sections of SFrame, for each architecture: the byte order is that of its magic number. */
#include "unwind/rules/sframe.h"

#include "rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pd_unwind_table table;
	const struct pd_unwind_arch *arch;
	struct pd_sframe sframe;

	if (size < RULES_HEAD)
		return 0;
	arch = rules_arch(data);
	sframe = (struct pd_sframe){ .bytes = rules_bytes(data, size), .addr = RULES_ADDR, .code_end = RULES_CODE_END };
	REQUIRE(pd_unwind_table_init(&table, 0) && pd_sframe_compile(&sframe, arch, &table));
	rules_check(&table, arch, false, sframe.bytes);
	pd_unwind_table_fini(&table);
	return 0;
}
