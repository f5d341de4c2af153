/* SPDX-License-Identifier: MIT */
/* Source: z/Architecture Principles of Operation, general instructions. */
#include "unwind/ends/effect.h"

enum {
	LINK = 14,
	SP = 15,
	ALWAYS = 15, // a mask of conditions
	WORD = 8
};

static struct pd_effect writing(unsigned reg)
{
	return pd_effect_write(pd_effect_bit(reg), SP);
}

static struct pd_effect jump(unsigned mask, uint64_t addr, int64_t halves)
{
	if (mask != ALWAYS)
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	return pd_effect_jump(addr + (uint64_t)(2 * halves));
}

// Registers from one to another, in words one after another.
static struct pd_effect access_many(unsigned kind, unsigned first, unsigned last, unsigned base, int64_t offset)
{
	struct pd_effect effect = { .kind = (uint8_t)kind, .base = (uint8_t)base, .offset = offset };

	if (last < first || !base)
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	for (unsigned reg = first; reg <= last; reg++)
		effect.regs[effect.count++] = (uint8_t)reg;
	return effect;
}

// An address of a base and an index, of which 0 is none.
static struct pd_effect decode_address(unsigned reg, unsigned index, unsigned base, int64_t offset)
{
	if (index && base)
		return writing(reg);
	base += index;
	return pd_effect_set(reg, base ? base : PD_UNWIND_NO_REGISTER, offset);
}

static struct pd_effect decode_short(uint32_t word)
{
	unsigned mask = pd_effect_field(word, 4, 4), reg = pd_effect_field(word, 0, 4);

	switch (word >> 8) {
	case 0x07: // bcr
		if (!mask || !reg)
			return pd_effect_of(PD_EFFECT_OTHER);
		return pd_effect_of(reg == LINK ? PD_EFFECT_RETURN : PD_EFFECT_UNKNOWN);
	case 0x18: // lr
		return writing(mask);
	default:
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	}
}

// With an immediate of 16 bits.
static struct pd_effect decode_immediate(uint32_t word, uint64_t addr)
{
	unsigned reg = pd_effect_field(word, 20, 4);
	int64_t value = pd_effect_signed(word, 16);

	switch (pd_effect_field(word, 16, 4)) {
	case 4: // brc
		return jump(reg, addr, value);
	case 8:  // lhi
	case 10: // ahi
		return writing(reg);
	case 9: // lghi
		return pd_effect_set(reg, PD_UNWIND_NO_REGISTER, value);
	case 11: // aghi
		return pd_effect_set(reg, reg, value);
	default:
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	}
}

static struct pd_effect decode_registers(uint32_t word)
{
	unsigned reg = pd_effect_field(word, 4, 4), other = pd_effect_field(word, 0, 4);

	switch (word >> 16) {
	case 0xb904: // lgr
		return pd_effect_set(reg, other, 0);
	case 0xb914: // lgfr
	case 0xb916: // llgfr
		return writing(reg);
	default: // ldgr and lgdr are not followed: who keeps registers in others has rules for it
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	}
}

static struct pd_effect decode_middle(uint32_t word, uint64_t addr)
{
	unsigned reg = pd_effect_field(word, 20, 4);

	switch (word >> 24) {
	case 0x41: // la
		return decode_address(reg, pd_effect_field(word, 16, 4), pd_effect_field(word, 12, 4),
				      pd_effect_field(word, 0, 12));
	case 0x58: // l
		return writing(reg);
	case 0x50: // st
	case 0x60: // std
		return pd_effect_of(PD_EFFECT_STORE);
	case 0x68: // ld
		return pd_effect_of(PD_EFFECT_OTHER);
	case 0xa7:
		return decode_immediate(word, addr);
	default:
		return decode_registers(word);
	}
}

// With an immediate of 32 bits.
static struct pd_effect decode_wide_immediate(uint64_t word, uint64_t addr)
{
	unsigned reg = pd_effect_field(word, 36, 4);
	int64_t value = (int32_t)(uint32_t)word;

	switch (word >> 32 & 0xff0f) {
	case 0xc000: // larl
		return writing(reg);
	case 0xc001: // lgfi
		return pd_effect_set(reg, PD_UNWIND_NO_REGISTER, value);
	case 0xc004: // brcl
		return jump(reg, addr, value);
	case 0xc208: // agfi
		return pd_effect_set(reg, reg, value);
	default:
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	}
}

static struct pd_effect decode_long(uint64_t word, uint64_t addr)
{
	unsigned reg = pd_effect_field(word, 36, 4), other = pd_effect_field(word, 32, 4),
		 base = pd_effect_field(word, 28, 4);
	int64_t offset = pd_effect_signed(pd_effect_field(word, 8, 8) << 12 | pd_effect_field(word, 16, 12), 20);

	switch ((word >> 32 & 0xff00) | (word & 0xff)) {
	case 0xeb24: // stmg
		return access_many(PD_EFFECT_STORE, reg, other, base, offset);
	case 0xeb04: // lmg
		return access_many(PD_EFFECT_LOAD, reg, other, base, offset);
	case 0xe324: // stg
		return other ? pd_effect_of(PD_EFFECT_STORE) : access_many(PD_EFFECT_STORE, reg, reg, base, offset);
	case 0xe304: // lg
		return other ? writing(reg) : access_many(PD_EFFECT_LOAD, reg, reg, base, offset);
	case 0xe371: // lay
		return decode_address(reg, other, base, offset);
	case 0xe314: // lgf
	case 0xe316: // llgf
	case 0xe358: // ly
		return writing(reg);
	case 0xed65: // ldy
		return pd_effect_of(PD_EFFECT_OTHER);
	case 0xed67: // stdy
	case 0xe350: // sty
		return pd_effect_of(PD_EFFECT_STORE);
	default:
		return decode_wide_immediate(word, addr);
	}
}

static unsigned units(uint32_t first)
{
	unsigned kind = first >> 14 & 3;

	return kind == 0 ? 1 : kind == 3 ? 3 : 2;
}

static struct pd_effect decode(uint64_t word, uint64_t addr)
{
	// the kind is in the first unit; shorter ones have nothing above it
	if (word >> 46 & 3)
		return decode_long(word, addr);
	return word >> 30 & 3 ? decode_middle((uint32_t)word, addr) : decode_short((uint32_t)word);
}

const struct pd_effect_set pd_effects_s390 = {
	.elf_machine = 22,
	.word = WORD,
	.unit = 2,
	.units = units,
	.kept = UINT64_C(0x7fc0), // r6 to r14
	.decode = decode,
};
