/* SPDX-License-Identifier: MIT */
/*
 * SFrame, versions 1 and 2 (binutils): functions with rows of where the CFA, the return address and the frame pointer are. It says less
 * than .eh_frame does of the same code, and nothing else.
 */
#ifndef PD_UNWIND_RULES_SFRAME_H
#define PD_UNWIND_RULES_SFRAME_H

#include "base/cursor.h"

#include "unwind/rules/arch.h"
#include "unwind/rules/table.h"

struct pd_sframe {
	struct pd_bytes bytes;
	uint64_t addr;
	uint64_t code_start, code_end;
};

// Adds rows for functions that a sorted table does not have. What cannot be read is left out. False if there is no memory.
bool pd_sframe_compile(const struct pd_sframe *sframe, const struct pd_unwind_arch *arch,
		       struct pd_unwind_table *table);

#endif
