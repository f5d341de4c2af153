/* SPDX-License-Identifier: MIT */
/* Source: the Arm Architecture Reference Manual for ARMv7-A, encodings of T32. */
#include "unwind/ends/effect_arm.h"

enum {
	NONE = PD_UNWIND_NO_REGISTER
};

static struct pd_effect writing(unsigned reg)
{
	return pd_effect_write(pd_effect_bit(reg), PD_ARM_SP);
}

// ---- 16 bits ----

// The word of A32 that does the same as a push or a pop; its highest register is another one.
static struct pd_effect decode_stack(uint32_t word)
{
	bool loads = word >> 11 & 1;
	uint32_t list = (word & 0xff) | (word >> 8 & 1) << (loads ? PD_ARM_PC : PD_ARM_LINK);

	return pd_effect_arm_many((loads ? 0xe8bd0000 : 0xe92d0000) | list);
}

static struct pd_effect decode_various(uint32_t word)
{
	switch (word >> 8 & 0xf) {
	case 0: // add sp, sub sp
		return pd_effect_set(PD_ARM_SP, PD_ARM_SP,
				     word & 0x80 ? -4 * (int64_t)(word & 0x7f) : 4 * (int64_t)(word & 0x7f));
	case 1: // cbz, cbnz
	case 3:
	case 9:
	case 11:
		return pd_effect_of(PD_EFFECT_BRANCH);
	case 2: // extended, reversed
	case 10:
		return writing(word & 7);
	case 4:
	case 5:
	case 12:
	case 13:
		return decode_stack(word);
	case 15: // hints, and what makes the next ones conditional: frames are made and given back by none of these
		return pd_effect_of(PD_EFFECT_OTHER);
	default:
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	}
}

// With registers of all numbers.
static struct pd_effect decode_high(uint32_t word)
{
	unsigned reg = (word >> 4 & 8) | (word & 7), other = word >> 3 & 15;

	switch (word >> 8 & 3) {
	case 0: // add
		return reg == PD_ARM_PC ? pd_effect_of(PD_EFFECT_UNKNOWN) :
					  pd_effect_sum(PD_EFFECT_ADD, reg, reg, other, PD_ARM_SP);
	case 1: // cmp
		return pd_effect_of(PD_EFFECT_OTHER);
	case 2: // mov
		if (reg == PD_ARM_PC)
			return pd_effect_of(other == PD_ARM_LINK ? PD_EFFECT_RETURN : PD_EFFECT_UNKNOWN);
		return other == PD_ARM_PC ? writing(reg) : pd_effect_set(reg, other, 0);
	default:
		return pd_effect_of(word == 0x4770 ? PD_EFFECT_RETURN : PD_EFFECT_UNKNOWN);
	}
}

static struct pd_effect decode_sum(uint32_t word)
{
	unsigned reg = word >> 8 & 7;
	int64_t value = word & 0xff;

	switch (word >> 11 & 3) {
	case 0: // mov
		return pd_effect_set(reg, NONE, value);
	case 1: // cmp
		return pd_effect_of(PD_EFFECT_OTHER);
	case 2:
		return pd_effect_set(reg, reg, value);
	default:
		return pd_effect_set(reg, reg, -value);
	}
}

static struct pd_effect decode_memory(uint32_t word)
{
	unsigned reg = word & 7, base = word >> 3 & 7, at = word >> 8 & 7;
	bool loads = word >> 11 & 1;
	unsigned kind = loads ? PD_EFFECT_LOAD : PD_EFFECT_STORE;

	switch (word >> 12) {
	case 5: // by registers
		return (word >> 9 & 7) >= 3 ? writing(reg) : pd_effect_of(PD_EFFECT_STORE);
	case 6:
		return pd_effect_access(kind, reg, base, 4 * (int64_t)(word >> 6 & 31));
	case 9:
		return pd_effect_access(kind, at, PD_ARM_SP, 4 * (int64_t)(word & 0xff));
	case 12: // of many
		return pd_effect_arm_many((loads ? 0xe8900000 : 0xe8800000) | at << 16 | (word & 0xff) |
					  (loads && word >> at & 1 ? 0 : 1u << 21));
	default: // of bytes and halves
		return loads ? writing(reg) : pd_effect_of(PD_EFFECT_STORE);
	}
}

static struct pd_effect decode_short(uint32_t word, uint64_t addr)
{
	switch (word >> 12) {
	case 0:
	case 1: // shifts, sums of two
		return writing(word & 7);
	case 2:
	case 3:
		return decode_sum(word);
	case 4:
		if (word >> 10 == 16) // logical ones, of which some compare
			return writing(word & 7);
		return word >> 11 & 1 ? writing(word >> 8 & 7) : decode_high(word);
	case 10: // adr, add of the stack pointer
		if (!(word >> 11 & 1))
			return writing(word >> 8 & 7);
		return pd_effect_set(word >> 8 & 7, PD_ARM_SP, 4 * (int64_t)(word & 0xff));
	case 11:
		return decode_various(word);
	case 13:
		return pd_effect_of((word >> 8 & 0xf) < 14 ? PD_EFFECT_BRANCH : PD_EFFECT_UNKNOWN);
	case 14:
		return pd_effect_jump(addr + 4 + (uint64_t)(2 * pd_effect_signed(word, 11)));
	default:
		return decode_memory(word);
	}
}

// ---- 32 bits ----

// Several registers, or two, or one with conditions.
static struct pd_effect decode_several(uint32_t word)
{
	int64_t offset = 4 * (int64_t)(word & 0xff);
	const struct pd_arm_access a = { .loads = word >> 20 & 1,
					 .is_word = true,
					 .is_pair = true,
					 .before = word >> 24 & 1,
					 .steps = word >> 21 & 1,
					 .reg = (uint8_t)(word >> 12 & 15),
					 .second = (uint8_t)(word >> 8 & 15),
					 .base = (uint8_t)(word >> 16 & 15),
					 .offset = word >> 23 & 1 ? offset : -offset };

	if (!(word >> 22 & 1))
		return (word >> 23 & 3) == 1 || (word >> 23 & 3) == 2 ? pd_effect_arm_many(word) :
									pd_effect_of(PD_EFFECT_UNKNOWN);
	return a.before || a.steps ? pd_effect_arm_access(&a) : pd_effect_of(PD_EFFECT_UNKNOWN);
}

static struct pd_effect decode_registers(uint32_t word)
{
	unsigned op = word >> 21 & 15, reg = word >> 8 & 15, base = word >> 16 & 15, other = word & 15;
	bool is_plain = !(word & 0x70f0);

	if (reg == PD_ARM_PC) // compares
		return pd_effect_of(PD_EFFECT_OTHER);
	if (op == 2 && base == PD_ARM_PC && is_plain)
		return pd_effect_set(reg, other, 0);
	if (is_plain && (op == 8 || op == 13))
		return pd_effect_sum(op == 8 ? PD_EFFECT_ADD : PD_EFFECT_SUBTRACT, reg, base, other, PD_ARM_SP);
	return writing(reg);
}

static int64_t expanded(uint32_t word)
{
	uint32_t pattern = (word >> 15 & 0x800) | (word >> 4 & 0x700), value = word & 0xff;
	unsigned by = (pattern | value) >> 7 & 31;

	switch (pattern >> 8) {
	case 0:
		return value;
	case 1:
		return value << 16 | value;
	case 2:
		return (int64_t)(value << 24 | value << 8);
	case 3:
		return (int64_t)(value << 24 | value << 16 | value << 8 | value);
	default: // of which one bit is not written down
		return (int64_t)((value | 0x80) << (32 - by));
	}
}

static struct pd_effect decode_immediate(uint32_t word)
{
	unsigned op = word >> 21 & 15, reg = word >> 8 & 15, base = word >> 16 & 15;
	int64_t plain = (word >> 15 & 0x800) | (word >> 4 & 0x700) | (word & 0xff);

	if (word >> 25 & 1) {
		switch (word >> 20 & 31) {
		case 0: // addw
			return base == PD_ARM_PC ? writing(reg) : pd_effect_set(reg, base, plain);
		case 10: // subw
			return base == PD_ARM_PC ? writing(reg) : pd_effect_set(reg, base, -plain);
		case 4: // movw
			return pd_effect_set(reg, NONE, (int64_t)base << 12 | plain);
		default:
			return writing(reg);
		}
	}
	if (reg == PD_ARM_PC) // compares
		return pd_effect_of(PD_EFFECT_OTHER);
	if (op == 2 && base == PD_ARM_PC)
		return pd_effect_set(reg, NONE, expanded(word));
	if (op == 8 || op == 13)
		return pd_effect_set(reg, base, op == 8 ? expanded(word) : -expanded(word));
	return writing(reg);
}

static struct pd_effect decode_branch(uint32_t word, uint64_t addr)
{
	uint32_t sign = word >> 26 & 1, first = (word >> 13 & 1) ^ sign ^ 1, second = (word >> 11 & 1) ^ sign ^ 1;

	if ((word & 0xd000) == 0x9000)
		return pd_effect_jump(addr + 4 +
				      (uint64_t)pd_effect_signed(sign << 24 | first << 23 | second << 22 |
									 (word >> 16 & 0x3ff) << 12 |
									 (word & 0x7ff) << 1,
								 25));
	if ((word & 0xd000) == 0x8000 && (word >> 23 & 7) != 7)
		return pd_effect_of(PD_EFFECT_BRANCH);
	return pd_effect_of((word & 0xffffd7ff) == 0xf3af8000 ? PD_EFFECT_OTHER : PD_EFFECT_UNKNOWN);
}

static struct pd_effect decode_single(uint32_t word)
{
	unsigned reg = word >> 12 & 15, size = word >> 21 & 3;
	bool loads = word >> 20 & 1, is_long = word >> 23 & 1, is_literal = (word >> 16 & 15) == PD_ARM_PC;
	bool by_register = !is_long && !is_literal && !(word & 0x800);
	int64_t offset = is_long      ? (int64_t)(word & 0xfff) :
			 word & 0x200 ? (int64_t)(word & 0xff) :
					-(int64_t)(word & 0xff);
	const struct pd_arm_access a = { .loads = loads,
					 .is_word = size == 2,
					 .before = is_long || word & 0x400,
					 .steps = !is_long && word & 0x100,
					 .reg = (uint8_t)reg,
					 .base = (uint8_t)(word >> 16 & 15),
					 .offset = offset };

	if (loads && reg == PD_ARM_PC && size != 2) // fetches only
		return pd_effect_of(PD_EFFECT_OTHER);
	if (by_register)
		return !loads           ? pd_effect_of(PD_EFFECT_STORE) :
		       reg == PD_ARM_PC ? pd_effect_of(PD_EFFECT_UNKNOWN) :
					  writing(reg);
	return pd_effect_arm_access(&a);
}

static struct pd_effect decode_long(uint32_t word, uint64_t addr)
{
	// floating point is encoded as in A32
	if ((word & 0xfc000000) == 0xec000000)
		return pd_effect_arm_vectors(word);
	switch (word >> 25 & 0x7f) {
	case 0x74: // 1110 100
		return decode_several(word);
	case 0x75:
		return decode_registers(word);
	case 0x78: // 1111 0
	case 0x79:
	case 0x7a:
	case 0x7b:
		return word >> 15 & 1 ? decode_branch(word, addr) : decode_immediate(word);
	case 0x7c:
		return (word & 0xff100000) == 0xf9000000 ? pd_effect_of(PD_EFFECT_UNKNOWN) : decode_single(word);
	case 0x7d: // shifts, products
		return pd_effect_write(
			pd_effect_bit(word >> 8 & 15) |
				(word >> 23 & 1 ? pd_effect_bit(word >> 12 & 15) & ~pd_effect_bit(PD_ARM_PC) : 0),
			PD_ARM_SP);
	default:
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	}
}

static unsigned units(uint32_t first)
{
	return first >> 11 >= 0x1d ? 2 : 1;
}

static struct pd_effect decode(uint64_t word, uint64_t addr)
{
	return word >> 16 ? decode_long((uint32_t)word, addr) : decode_short((uint32_t)word, addr);
}

const struct pd_effect_set pd_effects_thumb = {
	.elf_machine = 40,
	.word = 4,
	.unit = 2,
	.is_little = true,
	.units = units,
	.kept = UINT64_C(0x4ff0), // r4 to r11, lr
	.decode = decode,
};
