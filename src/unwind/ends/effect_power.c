/* SPDX-License-Identifier: MIT */
/* Source: the Power ISA, book I, appendix of instructions by opcode. */
#include "unwind/ends/effect.h"

enum {
	SP = 1
};

#define BLR UINT32_C(0x4e800020)
#define NOP UINT32_C(0x60000000)

// Who computes a stack pointer in other ways is not followed.
static struct pd_effect writing(uint64_t registers)
{
	return pd_effect_write(registers, SP);
}

static struct pd_effect memory_access(unsigned kind, unsigned reg, unsigned base, int64_t offset)
{
	return pd_effect_access(base ? kind : PD_EFFECT_UNKNOWN, reg, base, offset);
}

// Words of 64 bits, by an offset of which the lowest two bits say what is done.
static struct pd_effect decode_double(uint32_t word, unsigned reg, unsigned base)
{
	bool stores = word >> 26 == 62;
	int64_t offset = pd_effect_signed(word & 0xfffc, 16);
	struct pd_effect effect = memory_access(stores ? PD_EFFECT_STORE : PD_EFFECT_LOAD, reg, base, offset);

	switch (word & 3) {
	case 0:
		return effect;
	case 1: // the base becomes the address
		effect.step = offset;
		return stores ? effect : pd_effect_of(PD_EFFECT_UNKNOWN);
	default:
		return stores ? pd_effect_of(PD_EFFECT_UNKNOWN) : writing(pd_effect_bit(reg));
	}
}

static struct pd_effect decode_extended(uint32_t word, unsigned reg, unsigned other)
{
	if ((word & 0xfc1fffff) == 0x7c0803a6) // mtlr
		return (struct pd_effect){ .kind = PD_EFFECT_LINK, .count = 1, .regs = { (uint8_t)reg } };
	if ((word & 0xfc1fffff) == 0x7c0802a6) // mflr
		return (struct pd_effect){
			.kind = PD_EFFECT_COPY, .count = 1, .regs = { (uint8_t)reg }, .writes = pd_effect_bit(reg)
		};
	if ((word & 0xfc0007ff) == 0x7c000378 && reg == (word >> 11 & 31)) // mr
		return pd_effect_set(other, reg, 0);
	// whichever of both it is
	return writing(pd_effect_bit(reg) | pd_effect_bit(other));
}

static struct pd_effect decode(uint64_t instruction, uint64_t addr)
{
	uint32_t word = (uint32_t)instruction;
	unsigned reg = word >> 21 & 31, other = word >> 16 & 31;

	if (word == BLR)
		return pd_effect_of(PD_EFFECT_RETURN);
	if (word == NOP)
		return pd_effect_of(PD_EFFECT_OTHER);
	switch (word >> 26) {
	case 7:  // mulli
	case 8:  // subfic
	case 12: // addic
	case 13:
	case 15: // addis
	case 32: // lwz
	case 34: // lbz
	case 40: // lhz
	case 42: // lha
		return writing(pd_effect_bit(reg));
	case 10: // compares
	case 11:
	case 48: // lfs
	case 50: // lfd
	case 59: // of floating point
	case 63:
		return pd_effect_of(PD_EFFECT_OTHER);
	case 14: // addi, li
		return other ? memory_access(PD_EFFECT_SET, reg, other, pd_effect_signed(word, 16)) :
			       writing(pd_effect_bit(reg));
	case 18:
		return (struct pd_effect){ .kind = word & 3 ? PD_EFFECT_UNKNOWN : PD_EFFECT_JUMP,
					   .target = addr + (uint64_t)pd_effect_signed(word & 0x3fffffc, 26) };
	case 20: // rotates and logical ones
	case 21:
	case 23:
	case 24:
	case 25:
	case 26:
	case 27:
	case 28:
	case 29:
	case 30:
		return writing(pd_effect_bit(other));
	case 31:
		return decode_extended(word, reg, other);
	case 36: // stw
	case 38: // stb
	case 44: // sth
	case 52: // stfs
	case 54: // stfd
		return (struct pd_effect){ .kind = PD_EFFECT_STORE, .base = (uint8_t)other };
	case 58:
	case 62:
		return decode_double(word, reg, other);
	default:
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	}
}

const struct pd_effect_set pd_effects_power = {
	.elf_machine = 21,
	.word = 8,
	.unit = 4,
	.kept = UINT64_C(0xffffc000) | UINT64_C(1) << PD_UNWIND_EXTRA, // r14 to r31
	.decode = decode,
};
