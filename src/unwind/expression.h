/* SPDX-License-Identifier: MIT */
/*
 * Evaluates expressions of DWARF over registers and memory, as unwind rules have them. They may be hostile: steps and the stack
 * are bounded, and what is not known ends it.
 */
#ifndef PD_UNWIND_EXPRESSION_H
#define PD_UNWIND_EXPRESSION_H

#include <perfdata/base.h>

#include "unwind/memory.h"

struct pd_unwind_registers {
	uint64_t known; // which have a value
	uint64_t values[64];
};

struct pd_evaluation {
	const struct pd_unwind_registers *registers;
	struct pd_unwind_memory *memory;
	bool big; // constants in the expression
	bool has_cfa;
	uint64_t cfa;         // DW_OP_call_frame_cfa, and what expressions of registers begin with
	unsigned *steps_left; // of all expressions of a chain; NULL: it is bounded by itself only
};

// False if it cannot be evaluated, memory->missed says whether memory was missing.
bool pd_unwind_evaluate(const struct pd_evaluation *evaluation, struct pd_bytes expression, uint64_t *value_out);

#endif
