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
	PD_EFFECT_SET,     // regs[0] becomes base + offset, or offset if there is no base
	PD_EFFECT_ADD,     // regs[0] becomes base + regs[1]
	PD_EFFECT_SUBTRACT,
	PD_EFFECT_LINK,   // the link register becomes regs[0]
	PD_EFFECT_COPY,   // regs[0] becomes the link register
	PD_EFFECT_JUMP,   // to target
	PD_EFFECT_BRANCH, // a jump that may not be taken
	PD_EFFECT_RETURN  // to the address in the link register, after regs are read as by PD_EFFECT_LOAD
};

enum {
	PD_EFFECT_REGISTERS = 16
};

struct pd_effect {
	uint8_t kind; // enum pd_effect_kind
	uint8_t count;
	uint8_t regs[PD_EFFECT_REGISTERS];
	uint8_t base;        // or PD_UNWIND_NO_REGISTER
	uint8_t size;        // of the instruction
	bool is_conditional; // of a return: it may do nothing
	int64_t offset;
	int64_t step;    // the base becomes so much more, after what is read or written
	uint64_t writes; // registers that get other values, as bits
	uint64_t target;
};

// The instructions of an architecture. They are made of units of 2 or 4 bytes; of a word of several units the first one has the highest bits.
struct pd_effect_set {
	uint16_t elf_machine;
	uint8_t word; // bytes of a register
	uint8_t unit;
	bool is_little; // in memory, even where data are big-endian
	bool has_delay; // the instruction after a return or a jump is run before it
	uint64_t kept;  // registers that functions leave as they were, as bits, and the link register
	unsigned (*units)(uint32_t first); // of an instruction; NULL: one
	// where there are two kinds: whether a word of a function is one of these, rather than of the others
	bool (*is_likely)(uint32_t word);
	const struct pd_effect_set *other;
	struct pd_effect (*decode)(uint64_t word, uint64_t addr);
};

extern const struct pd_effect_set pd_effects_arm, pd_effects_thumb, pd_effects_arm64, pd_effects_mips,
	pd_effects_mips64, pd_effects_power, pd_effects_riscv, pd_effects_s390;

// NULL if nothing is known of the instructions.
const struct pd_effect_set *pd_effects_of(const struct pd_unwind_arch *arch);
// Whether those of any kind of such machine are known.
bool pd_effects_are_known(uint16_t elf_machine);

static inline uint64_t pd_effect_bit(unsigned number)
{
	return UINT64_C(1) << (number & 63);
}

static inline struct pd_effect pd_effect_of(unsigned kind)
{
	return (struct pd_effect){ .kind = (uint8_t)kind };
}

// A register becomes another one, or PD_UNWIND_NO_REGISTER, and an offset.
static inline struct pd_effect pd_effect_set(unsigned reg, unsigned base, int64_t offset)
{
	return (struct pd_effect){
		.kind = PD_EFFECT_SET, .count = 1, .regs = { (uint8_t)reg }, .base = (uint8_t)base, .offset = offset
	};
}

// One register is read or written.
static inline struct pd_effect pd_effect_access(unsigned kind, unsigned reg, unsigned base, int64_t offset)
{
	return (struct pd_effect){
		.kind = (uint8_t)kind, .count = 1, .regs = { (uint8_t)reg }, .base = (uint8_t)base, .offset = offset
	};
}

// Registers get values that are not followed; those of a stack pointer have to be.
static inline struct pd_effect pd_effect_write(uint64_t registers, unsigned sp)
{
	return (struct pd_effect){ .kind = registers & pd_effect_bit(sp) ? PD_EFFECT_UNKNOWN : PD_EFFECT_OTHER,
				   .writes = registers };
}

// Where the register of number 0 always is 0: writing to it does nothing, and as a base it is none.
static inline struct pd_effect pd_effect_zero_write(unsigned reg, unsigned sp)
{
	return pd_effect_write(reg ? pd_effect_bit(reg) : 0, sp);
}

static inline struct pd_effect pd_effect_zero_set(unsigned reg, unsigned base, int64_t offset)
{
	return reg ? pd_effect_set(reg, base ? base : PD_UNWIND_NO_REGISTER, offset) : pd_effect_of(PD_EFFECT_OTHER);
}

// A register becomes the sum of two, which is followed if it is the stack pointer and one of them.
static inline struct pd_effect pd_effect_sum(unsigned kind, unsigned reg, unsigned base, unsigned other, unsigned sp)
{
	if (reg != sp || base != sp || other == sp)
		return pd_effect_write(pd_effect_bit(reg), sp);
	return (struct pd_effect){
		.kind = (uint8_t)kind, .count = 2, .regs = { (uint8_t)reg, (uint8_t)other }, .base = (uint8_t)base
	};
}

static inline struct pd_effect pd_effect_jump(uint64_t target)
{
	return (struct pd_effect){ .kind = PD_EFFECT_JUMP, .target = target };
}

static inline unsigned pd_effect_field(uint64_t word, unsigned at, unsigned bits)
{
	return (unsigned)(word >> at) & ((1u << bits) - 1);
}

// The lowest bits of a word as a number with a sign.
static inline int64_t pd_effect_signed(uint32_t value, unsigned bits)
{
	uint32_t sign = UINT32_C(1) << (bits - 1);

	value &= (sign << 1) - 1;
	return (int64_t)(value ^ sign) - (int64_t)sign;
}

#endif
