/* SPDX-License-Identifier: MIT */
/* Source: the Arm Architecture Reference Manual for ARMv7-A, encodings of A32. */
#include "unwind/ends/effect_arm.h"

enum {
	ALWAYS = 14, // a condition
	NONE = PD_UNWIND_NO_REGISTER
};

static struct pd_effect writing(unsigned reg)
{
	return pd_effect_write(pd_effect_bit(reg), PD_ARM_SP);
}

// By an offset in a register.
static struct pd_effect access_by_register(uint32_t word, bool loads, uint64_t bits)
{
	bool steps = !(word >> 24 & 1) || word >> 21 & 1;

	if (loads && bits & pd_effect_bit(PD_ARM_PC))
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	bits = (loads ? bits : 0) | (steps ? pd_effect_bit(pd_effect_field(word, 16, 4)) : 0);
	return bits ? pd_effect_write(bits, PD_ARM_SP) : pd_effect_of(PD_EFFECT_STORE);
}

static struct pd_effect decode_single(uint32_t word)
{
	unsigned reg = pd_effect_field(word, 12, 4);
	bool loads = word >> 20 & 1;
	int64_t offset = word & 0xfff;
	const struct pd_arm_access a = { .loads = loads,
					 .is_word = !(word >> 22 & 1),
					 .before = word >> 24 & 1,
					 .steps = word >> 21 & 1,
					 .reg = (uint8_t)reg,
					 .base = (uint8_t)pd_effect_field(word, 16, 4),
					 .offset = word >> 23 & 1 ? offset : -offset };

	return word >> 25 & 1 ? access_by_register(word, loads, pd_effect_bit(reg)) : pd_effect_arm_access(&a);
}

// Products, and loads and stores of pairs and of halves of words.
static struct pd_effect decode_extra(uint32_t word)
{
	unsigned kind = pd_effect_field(word, 5, 2), reg = pd_effect_field(word, 12, 4),
		 base = pd_effect_field(word, 16, 4);
	bool is_narrow = word >> 20 & 1 || kind == 1, loads = word >> 20 & 1 || kind == 2;
	int64_t offset = (word >> 4 & 0xf0) | (word & 0xf);
	const struct pd_arm_access a = { .loads = loads,
					 .is_word = !is_narrow,
					 .is_pair = !is_narrow,
					 .before = word >> 24 & 1,
					 .steps = word >> 21 & 1,
					 .reg = (uint8_t)reg,
					 .second = (uint8_t)(reg | 1),
					 .base = (uint8_t)base,
					 .offset = word >> 23 & 1 ? offset : -offset };

	if (!kind)
		return pd_effect_write(pd_effect_bit(reg) | pd_effect_bit(base), PD_ARM_SP);
	if (!(word >> 22 & 1))
		return access_by_register(word, loads, pd_effect_bit(reg) | (is_narrow ? 0 : pd_effect_bit(reg | 1)));
	return pd_effect_arm_access(&a);
}

static bool is_compare(uint32_t word)
{
	return (word & 0x01900000) == 0x01100000;
}

static struct pd_effect decode_registers(uint32_t word)
{
	unsigned op = pd_effect_field(word, 21, 4), reg = pd_effect_field(word, 12, 4),
		 base = pd_effect_field(word, 16, 4), other = pd_effect_field(word, 0, 4);
	bool is_plain = !(word & 0xff0);

	if ((word & 0x0fffffff) == 0x012fff1e) // bx lr
		return pd_effect_of(PD_EFFECT_RETURN);
	if ((word & 0x01900000) == 0x01000000) // clz, and others
		return (word & 0x0fff0ff0) == 0x016f0f10 ? writing(reg) : pd_effect_of(PD_EFFECT_UNKNOWN);
	if (is_compare(word))
		return pd_effect_of(PD_EFFECT_OTHER);
	if (reg == PD_ARM_PC)
		return pd_effect_of(op == 13 && is_plain && other == PD_ARM_LINK ? PD_EFFECT_RETURN :
										   PD_EFFECT_UNKNOWN);
	if (is_plain && op == 13 && other != PD_ARM_PC)
		return pd_effect_set(reg, other, 0);
	if (is_plain && (op == 4 || op == 2))
		return pd_effect_sum(op == 4 ? PD_EFFECT_ADD : PD_EFFECT_SUBTRACT, reg, base, other, PD_ARM_SP);
	return writing(reg);
}

static int64_t rotated(uint32_t word)
{
	unsigned by = 2 * pd_effect_field(word, 8, 4);
	uint32_t value = word & 0xff;

	return by ? (int64_t)(value >> by | value << (32 - by)) : (int64_t)value;
}

static struct pd_effect decode_immediate(uint32_t word)
{
	unsigned op = pd_effect_field(word, 21, 4), reg = pd_effect_field(word, 12, 4),
		 base = pd_effect_field(word, 16, 4);

	if ((word & 0x0fb00000) == 0x03200000 || is_compare(word)) // msr and hints
		return pd_effect_of(PD_EFFECT_OTHER);
	if (reg == PD_ARM_PC)
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	if ((word & 0x0ff00000) == 0x03000000) // movw
		return pd_effect_set(reg, NONE, (word >> 4 & 0xf000) | (word & 0xfff));
	if (op == 13)
		return pd_effect_set(reg, NONE, rotated(word));
	if ((op == 4 || op == 2) && base != PD_ARM_PC)
		return pd_effect_set(reg, base, op == 4 ? rotated(word) : -rotated(word));
	return writing(reg);
}

// Of bits and bytes in registers, and products of them.
static struct pd_effect decode_media(uint32_t word)
{
	bool is_product = (word & 0x01800000) == 0x01000000;

	return pd_effect_write(pd_effect_bit(pd_effect_field(word, 12, 4)) |
				       (is_product ? pd_effect_bit(pd_effect_field(word, 16, 4)) : 0),
			       PD_ARM_SP);
}

static struct pd_effect decode_always(uint32_t word, uint64_t addr)
{
	switch (word >> 25 & 7) {
	case 0:
		return (word & 0x90) == 0x90 ? decode_extra(word) : decode_registers(word);
	case 1:
		return decode_immediate(word);
	case 3:
		if (word >> 4 & 1)
			return decode_media(word);
		return decode_single(word);
	case 2:
		return decode_single(word);
	case 4:
		return pd_effect_arm_many(word);
	case 5: // b, bl
		return word >> 24 & 1 ? pd_effect_of(PD_EFFECT_UNKNOWN) :
					pd_effect_jump(addr + 8 + (uint64_t)(4 * pd_effect_signed(word, 24)));
	default:
		return pd_effect_arm_vectors(word);
	}
}

// What is done or not.
static struct pd_effect under_condition(struct pd_effect effect)
{
	uint64_t bits = effect.writes | (effect.step ? pd_effect_bit(effect.base) : 0);

	switch (effect.kind) {
	case PD_EFFECT_RETURN:
		effect.is_conditional = true;
		return effect;
	case PD_EFFECT_JUMP:
		return pd_effect_of(PD_EFFECT_BRANCH);
	case PD_EFFECT_STORE:
		return bits ? pd_effect_write(bits, PD_ARM_SP) : pd_effect_of(PD_EFFECT_STORE);
	case PD_EFFECT_LOAD:
	case PD_EFFECT_SET:
	case PD_EFFECT_ADD:
	case PD_EFFECT_SUBTRACT:
		for (size_t i = 0; i < effect.count && (i == 0 || effect.kind == PD_EFFECT_LOAD); i++)
			bits |= pd_effect_bit(effect.regs[i]);
		return pd_effect_write(bits, PD_ARM_SP);
	default:
		return effect;
	}
}

static struct pd_effect decode(uint64_t instruction, uint64_t addr)
{
	uint32_t word = (uint32_t)instruction;
	unsigned condition = word >> 28;

	if (condition > ALWAYS) // pld, and others
		return pd_effect_of((word & 0xfd70f000) == 0xf550f000 ? PD_EFFECT_OTHER : PD_EFFECT_UNKNOWN);
	return condition == ALWAYS ? decode_always(word, addr) : under_condition(decode_always(word, addr));
}

// Nearly all instructions of A32 have this condition in their highest bits; in T32 it is rare there.
static bool is_likely(uint32_t word)
{
	return word >> 28 == ALWAYS;
}

const struct pd_effect_set pd_effects_arm = {
	.elf_machine = 40,
	.word = 4,
	.unit = 4,
	.is_little = true,
	.kept = UINT64_C(0x4ff0), // r4 to r11, lr
	.is_likely = is_likely,
	.other = &pd_effects_thumb,
	.decode = decode,
};
