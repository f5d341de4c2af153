/* SPDX-License-Identifier: MIT */
/*
 * Unwind rules of 32-bit ARM, .ARM.exidx and .ARM.extab (Exception Handling ABI for the Arm Architecture): a sorted list of functions,
 * each with instructions for a virtual stack pointer. They hold for calls, so a function has one rule.
 */
#ifndef PD_UNWIND_RULES_EXIDX_H
#define PD_UNWIND_RULES_EXIDX_H

#include "base/cursor.h"

#include "unwind/rules/arch.h"
#include "unwind/rules/table.h"

struct pd_code;

struct pd_exidx {
	struct pd_bytes memory; // the segment that has both
	uint64_t memory_addr;
	uint64_t addr, size; // of the list
	bool big;
	uint64_t code_end;
	const struct pd_code *code; // see ends.h; NULL: rules are all that is known
};

// Adds rows for functions that a sorted table does not have. What cannot be read is left out. False if there is no memory.
bool pd_exidx_compile(const struct pd_exidx *exidx, const struct pd_unwind_arch *arch, struct pd_unwind_table *table);

#endif
