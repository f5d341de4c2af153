/* SPDX-License-Identifier: MIT */
/*
 * What an instruction does to the registers and the stack that unwinding is about, whatever the architecture: as far as the begins and
 * ends of functions have such instructions. Registers have the numbers of rules.
 */
#ifndef PD_UNWIND_ENDS_EFFECT_H
#define PD_UNWIND_ENDS_EFFECT_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/rules/arch.h"

enum pd_effect_kind {
	PD_EFFECT_UNKNOWN, // or too much for this list
	PD_EFFECT_OTHER,   // nothing but what the other members say
	PD_EFFECT_LOAD,    // regs are read from words at base + offset, one after another
	PD_EFFECT_STORE,   // regs are written there
	PD_EFFECT_SET,     // regs[0] becomes base + offset
	PD_EFFECT_LINK,    // the link register becomes regs[0]
	PD_EFFECT_COPY,    // regs[0] becomes the link register
	PD_EFFECT_JUMP,    // to target
	PD_EFFECT_RETURN   // to the address in the link register
};

struct pd_effect {
	uint8_t kind; // enum pd_effect_kind
	uint8_t count;
	uint8_t regs[2];
	uint8_t base;
	int64_t offset;
	int64_t step;    // the base becomes so much more, after what is read or written
	uint64_t writes; // registers that get other values, as bits
	uint64_t target;
};

// The instructions of an architecture, all of which have 4 bytes.
struct pd_effect_set {
	uint16_t elf_machine;
	uint64_t kept; // registers that functions leave as they were, as bits, and the link register
	struct pd_effect (*decode)(uint32_t word, uint64_t addr);
};

extern const struct pd_effect_set pd_effects_arm64, pd_effects_power;

// NULL if nothing is known of its instructions.
const struct pd_effect_set *pd_effects_of(uint16_t elf_machine);

static inline uint64_t pd_effect_bit(unsigned number)
{
	return UINT64_C(1) << (number & 63);
}

// The lowest bits of a word as a number with a sign.
static inline int64_t pd_effect_signed(uint32_t value, unsigned bits)
{
	uint32_t sign = UINT32_C(1) << (bits - 1);

	value &= (sign << 1) - 1;
	return (int64_t)(value ^ sign) - (int64_t)sign;
}

#endif
