/* SPDX-License-Identifier: MIT */
/* Effects that instructions of A32 and T32 share. */
#ifndef PD_UNWIND_ENDS_EFFECT_ARM_H
#define PD_UNWIND_ENDS_EFFECT_ARM_H

#include "unwind/ends/effect.h"

enum {
	PD_ARM_SP = 13,
	PD_ARM_LINK,
	PD_ARM_PC
};

// A load or store of one or two registers.
struct pd_arm_access {
	bool loads, is_word, is_pair;
	bool before; // the offset is added before, not after it
	bool steps;  // the base becomes the address
	uint8_t reg, second, base;
	int64_t offset;
};

struct pd_effect pd_effect_arm_access(const struct pd_arm_access *a);
// Of many registers: a word of A32, or one of T32 with the same bits.
struct pd_effect pd_effect_arm_many(uint32_t word);
// Of floating point and coprocessors.
struct pd_effect pd_effect_arm_vectors(uint32_t word);

#endif
