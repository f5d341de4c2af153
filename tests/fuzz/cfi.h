/* SPDX-License-Identifier: MIT */
/* Sections of call frame information, for each architecture. */
#ifndef FUZZ_CFI_H
#define FUZZ_CFI_H

#include "unwind/ends/ends.h"

#include "rules.h"

static inline int cfi_check(const uint8_t *data, size_t size, bool is_debug)
{
	struct pd_unwind_table table;
	struct pd_cfi_section section;
	const struct pd_unwind_arch *arch;
	struct pd_code code;

	if (size < RULES_HEAD)
		return 0;
	arch = rules_arch(data);
	code = (struct pd_code){ .addr = RULES_ADDR, .effects = pd_effects_of(arch), .bytes = rules_bytes(data, size) };
	section = (struct pd_cfi_section){ .bytes = rules_bytes(data, size),
					   .code = code.effects ? &code : NULL,
					   .addr = RULES_ADDR,
					   .is_debug = is_debug,
					   .big = rules_big(data),
					   .word = arch->word,
					   .code_end = RULES_CODE_END };
	REQUIRE(pd_unwind_table_init(&table, 0) && pd_cfi_compile(&section, arch, &table));
	rules_check(&table, arch, rules_big(data), section.bytes);
	pd_unwind_table_fini(&table);
	return 0;
}

#endif
