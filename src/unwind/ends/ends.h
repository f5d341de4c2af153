/* SPDX-License-Identifier: MIT */
/*
 * Begins and ends of functions by their instructions. Compilers say of many architectures where registers are once a function has its
 * frame, and leave out while it makes it and gives it back. From the instructions this is known all the same: from the begin on nothing
 * has changed but what they change; and before a return whatever they take back is where they take it from.
 */
#ifndef PD_UNWIND_ENDS_ENDS_H
#define PD_UNWIND_ENDS_ENDS_H

#include "unwind/rules/cfi.h"
#include "unwind/ends/effect.h"

// The code of an object.
struct pd_code {
	const struct pd_effect_set *effects;
	struct pd_bytes bytes;
	uint64_t addr;
	bool swap;
};

// Corrects the rows of a function, which are the last ones of the table, from row first on. False if there is no memory.
bool pd_ends_correct(struct pd_cfi_run *run, const struct pd_code *code, size_t first);
// The same of a function that has one rule, which says what holds where it calls others. Others that have the same may follow it.
bool pd_ends_correct_whole(struct pd_cfi_run *run, const struct pd_code *code, size_t first);

#endif
