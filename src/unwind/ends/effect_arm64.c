/* SPDX-License-Identifier: MIT */
/* Source: the index by encoding of the Arm Architecture Reference Manual (A64). */
#include "unwind/ends/effect.h"

enum {
	SP_OR_ZERO = 31,
	LINK = 30,
	PAIR_X = 2 // two registers of 64 bits
};

#define RET UINT32_C(0xd65f03c0)
#define RETAA UINT32_C(0xd65f0bff)
#define RETAB UINT32_C(0xd65f0fff)

// A register that is not the stack pointer: 31 is none.
static uint64_t writes(unsigned number)
{
	return number == SP_OR_ZERO ? 0 : pd_effect_bit(number);
}

static struct pd_effect decode_branch(uint32_t word, uint64_t addr)
{
	struct pd_effect effect = { .kind = PD_EFFECT_UNKNOWN };

	if (word == RET || word == RETAA || word == RETAB) {
		effect.kind = PD_EFFECT_RETURN;
	} else if ((word & 0xfc000000) == 0x14000000) {
		effect.kind = PD_EFFECT_JUMP;
		effect.target = addr + (uint64_t)(4 * pd_effect_signed(word, 26));
	} else if ((word & 0xfffff01f) == 0xd503201f) {
		// hints: nothing, landing pads, signatures of the link register
		effect.kind = PD_EFFECT_OTHER;
	}
	return effect;
}

static struct pd_effect decode_immediate(uint32_t word)
{
	struct pd_effect effect = { .kind = PD_EFFECT_OTHER, .writes = writes(pd_effect_field(word, 0, 5)) };
	unsigned to = pd_effect_field(word, 0, 5), from = pd_effect_field(word, 5, 5);
	bool wide = word >> 31, flags = word >> 29 & 1;
	int64_t value = (int64_t)pd_effect_field(word, 10, 12) << (word >> 22 & 1 ? 12 : 0);

	if ((word & 0x1f800000) == 0x12000000 && to == SP_OR_ZERO && pd_effect_field(word, 29, 2) != 3)
		effect.kind = PD_EFFECT_UNKNOWN; // and sp, ...
	if ((word & 0x1f800000) != 0x11000000 || flags)
		return effect;
	if (!wide)
		return (struct pd_effect){ .kind = to == SP_OR_ZERO ? PD_EFFECT_UNKNOWN : PD_EFFECT_OTHER,
					   .writes = writes(to) };
	return (struct pd_effect){ .kind = PD_EFFECT_SET,
				   .count = 1,
				   .regs = { (uint8_t)to },
				   .base = (uint8_t)from,
				   .offset = word >> 30 & 1 ? -value : value };
}

static struct pd_effect decode_registers(uint32_t word)
{
	struct pd_effect effect = { .kind = PD_EFFECT_OTHER, .writes = writes(pd_effect_field(word, 0, 5)) };

	// signatures of the link register are always taken off
	if ((word & 0xffff001f) == (0xdac10000 | LINK))
		effect.writes = 0;
	// add sp, ..., with an extended register
	if ((word & 0x3fe00000) == 0x0b200000 && pd_effect_field(word, 0, 5) == SP_OR_ZERO)
		effect.kind = PD_EFFECT_UNKNOWN;
	return effect;
}

static struct pd_effect decode_pair(uint32_t word)
{
	unsigned size = pd_effect_field(word, 30, 2), mode = pd_effect_field(word, 23, 2),
		 a = pd_effect_field(word, 0, 5), b = pd_effect_field(word, 10, 5);
	bool is_vector = word >> 26 & 1, loads = word >> 22 & 1;
	int64_t offset = pd_effect_signed(word >> 15, 7) * (is_vector ? 4 << size : size == PAIR_X ? 8 : 4);
	struct pd_effect effect = { .kind = loads ? PD_EFFECT_LOAD : PD_EFFECT_STORE,
				    .base = (uint8_t)pd_effect_field(word, 5, 5),
				    .offset = mode == 1 ? 0 : offset,
				    .step = mode & 1 ? offset : 0 };

	if (size == 3 || (size == 1 && !is_vector && !loads))
		return (struct pd_effect){ .kind = PD_EFFECT_UNKNOWN };
	if (is_vector)
		return effect;
	if (size == PAIR_X && a != SP_OR_ZERO && b != SP_OR_ZERO) {
		effect.count = 2;
		effect.regs[0] = (uint8_t)a;
		effect.regs[1] = (uint8_t)b;
	} else if (loads) {
		effect.writes = writes(a) | writes(b);
	}
	return effect;
}

// Of one register: by an offset that is scaled, or one of nine bits, which may change the base, or a register.
static struct pd_effect decode_single(uint32_t word)
{
	unsigned size = pd_effect_field(word, 30, 2), what = pd_effect_field(word, 22, 2),
		 to = pd_effect_field(word, 0, 5), mode = pd_effect_field(word, 10, 2);
	bool is_scaled = word >> 24 & 1, is_vector = word >> 26 & 1, by_register = !is_scaled && word >> 21 & 1;
	bool loads = is_vector ? what & 1 : what != 0;
	int64_t offset = is_scaled ? (int64_t)pd_effect_field(word, 10, 12) << size : pd_effect_signed(word >> 12, 9);
	struct pd_effect effect = { .kind = loads ? PD_EFFECT_LOAD : PD_EFFECT_STORE,
				    .base = (uint8_t)pd_effect_field(word, 5, 5) };

	if (by_register && mode != 2) // atomic ones, and those with signed addresses
		return (struct pd_effect){ .kind = PD_EFFECT_UNKNOWN };
	if (!is_scaled && !by_register && mode & 1)
		effect.step = offset;
	effect.offset = !is_scaled && mode == 1 ? 0 : offset;
	if (is_vector || (size == 3 && what >= 2)) // the latter fetches only
		return effect;
	if (size == 3 && !by_register && to != SP_OR_ZERO) {
		effect.count = 1;
		effect.regs[0] = (uint8_t)to;
	} else if (loads) {
		effect.writes = writes(to);
	}
	return effect;
}

static struct pd_effect decode_memory(uint32_t word)
{
	if ((word & 0x3a000000) == 0x28000000)
		return decode_pair(word);
	if ((word & 0x3a000000) == 0x38000000)
		return decode_single(word);
	if ((word & 0x3b000000) == 0x18000000)
		return (struct pd_effect){ .kind = PD_EFFECT_OTHER,
					   .writes = word >> 26 & 1 ? 0 : writes(pd_effect_field(word, 0, 5)) };
	return (struct pd_effect){ .kind = PD_EFFECT_UNKNOWN };
}

static struct pd_effect decode(uint64_t instruction, uint64_t addr)
{
	uint32_t word = (uint32_t)instruction;

	switch (pd_effect_field(word, 25, 4)) {
	case 8:
	case 9:
		return decode_immediate(word);
	case 10:
	case 11:
		return decode_branch(word, addr);
	case 4:
	case 6:
	case 12:
	case 14:
		return decode_memory(word);
	case 5:
	case 13:
		return decode_registers(word);
	case 7:
	case 15: // of vectors; some give their result to a register
		return (struct pd_effect){ .kind = PD_EFFECT_OTHER, .writes = writes(pd_effect_field(word, 0, 5)) };
	default:
		return (struct pd_effect){ .kind = PD_EFFECT_UNKNOWN };
	}
}

const struct pd_effect_set pd_effects_arm64 = {
	.elf_machine = 183,
	.word = 8,
	.unit = 4,
	.is_little = true,
	.kept = UINT64_C(0x7ff80000), // x19 to x30
	.decode = decode,
};
