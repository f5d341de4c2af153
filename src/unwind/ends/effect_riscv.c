/* SPDX-License-Identifier: MIT */
/* Source: the RISC-V unprivileged ISA, listings of RV64I and of the C extension. */
#include "unwind/ends/effect.h"

enum {
	ZERO = 0,
	RA = 1,
	SP = 2,
	DOUBLE = 3 // the width of a register
};

// Of 32 bits: constants are the same, addresses are not.
static struct pd_effect set_word(unsigned reg, unsigned base, int64_t offset)
{
	return reg == SP || base == SP ? pd_effect_zero_write(reg, SP) : pd_effect_zero_set(reg, base, offset);
}

static struct pd_effect load_one(unsigned reg, unsigned base, int64_t offset)
{
	if (reg == ZERO)
		return pd_effect_of(PD_EFFECT_OTHER);
	return pd_effect_access(PD_EFFECT_LOAD, reg, base, offset);
}

// The zero that may be stored is no register that is saved.
static struct pd_effect store(unsigned reg, unsigned base, int64_t offset)
{
	return pd_effect_access(PD_EFFECT_STORE, reg, base, offset);
}

static struct pd_effect jump_to_register(unsigned reg)
{
	return pd_effect_of(reg == RA ? PD_EFFECT_RETURN : PD_EFFECT_UNKNOWN);
}

// ---- 16 bits ----

// Bits of an immediate: from where they are to where they belong.
static uint32_t moved(uint32_t word, unsigned from, unsigned bits, unsigned to)
{
	return pd_effect_field(word, from, bits) << to;
}

static struct pd_effect decode_first(uint32_t word)
{
	unsigned reg = 8 + pd_effect_field(word, 2, 3), base = 8 + pd_effect_field(word, 7, 3);
	uint32_t wide = moved(word, 10, 3, 3) | moved(word, 5, 2, 6),
		 frame = moved(word, 11, 2, 4) | moved(word, 7, 4, 6) | moved(word, 6, 1, 2) | moved(word, 5, 1, 3);

	switch (word >> 13) {
	case 0: // addi4spn
		return frame ? pd_effect_zero_set(reg, SP, frame) : pd_effect_of(PD_EFFECT_UNKNOWN);
	case 1: // fld
		return pd_effect_of(PD_EFFECT_OTHER);
	case 2: // lw
		return pd_effect_zero_write(reg, SP);
	case 3: // ld
		return load_one(reg, base, wide);
	case 5: // fsd
	case 6: // sw
		return pd_effect_of(PD_EFFECT_STORE);
	case 7: // sd
		return store(reg, base, wide);
	default:
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	}
}

static int64_t jump_distance(uint32_t word)
{
	return pd_effect_signed(moved(word, 12, 1, 11) | moved(word, 11, 1, 4) | moved(word, 9, 2, 8) |
					moved(word, 8, 1, 10) | moved(word, 7, 1, 6) | moved(word, 6, 1, 7) |
					moved(word, 3, 3, 1) | moved(word, 2, 1, 5),
				12);
}

static struct pd_effect decode_second(uint32_t word, uint64_t addr)
{
	unsigned reg = pd_effect_field(word, 7, 5);
	int64_t value = pd_effect_signed(moved(word, 12, 1, 5) | pd_effect_field(word, 2, 5), 6);

	switch (word >> 13) {
	case 0: // addi
		return pd_effect_zero_set(reg, reg, value);
	case 1: // addiw
		return set_word(reg, reg, value);
	case 2: // li
		return pd_effect_zero_set(reg, ZERO, value);
	case 3: // addi16sp, lui
		if (reg != SP)
			return pd_effect_zero_set(reg, ZERO, value * 4096);
		return pd_effect_zero_set(SP, SP,
					  pd_effect_signed(moved(word, 12, 1, 9) | moved(word, 6, 1, 4) |
								   moved(word, 5, 1, 6) | moved(word, 3, 2, 7) |
								   moved(word, 2, 1, 5),
							   10));
	case 4: // logical ones, shifts and differences
		return pd_effect_zero_write(8 + pd_effect_field(word, 7, 3), SP);
	case 5: // j
		return pd_effect_jump(addr + (uint64_t)jump_distance(word));
	default: // branches
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	}
}

static struct pd_effect decode_third(uint32_t word)
{
	unsigned reg = pd_effect_field(word, 7, 5), other = pd_effect_field(word, 2, 5);
	uint32_t from = moved(word, 12, 1, 5) | moved(word, 5, 2, 3) | moved(word, 2, 3, 6),
		 to = moved(word, 10, 3, 3) | moved(word, 7, 3, 6);
	bool is_upper = word >> 12 & 1;

	switch (word >> 13) {
	case 0: // slli
	case 2: // lwsp
		return pd_effect_zero_write(reg, SP);
	case 1: // fldsp
		return pd_effect_of(PD_EFFECT_OTHER);
	case 3: // ldsp
		return load_one(reg, SP, from);
	case 4:
		if (!other)
			return is_upper ? pd_effect_of(PD_EFFECT_UNKNOWN) : jump_to_register(reg);
		return is_upper ? pd_effect_sum(PD_EFFECT_ADD, reg, reg, other, SP) : pd_effect_zero_set(reg, other, 0);
	case 7: // sdsp
		return store(other, SP, to);
	default: // fsdsp, swsp
		return pd_effect_of(PD_EFFECT_STORE);
	}
}

static struct pd_effect decode_short(uint32_t word, uint64_t addr)
{
	switch (word & 3) {
	case 0:
		return decode_first(word);
	case 1:
		return decode_second(word, addr);
	default:
		return decode_third(word);
	}
}

// ---- 32 bits ----

static struct pd_effect decode_sum(uint32_t word)
{
	unsigned reg = pd_effect_field(word, 7, 5), base = pd_effect_field(word, 15, 5),
		 other = pd_effect_field(word, 20, 5);

	switch (word & 0xfe007000) {
	case 0:
		return pd_effect_sum(PD_EFFECT_ADD, reg, base, other, SP);
	case 0x40000000:
		return pd_effect_sum(PD_EFFECT_SUBTRACT, reg, base, other, SP);
	default:
		return pd_effect_zero_write(reg, SP);
	}
}

static struct pd_effect decode_jump(uint32_t word, uint64_t addr)
{
	if (pd_effect_field(word, 7, 5) != ZERO)
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	return pd_effect_jump(addr + (uint64_t)pd_effect_signed(moved(word, 31, 1, 20) | moved(word, 12, 8, 12) |
									moved(word, 20, 1, 11) | moved(word, 21, 10, 1),
								21));
}

static struct pd_effect decode_long(uint32_t word, uint64_t addr)
{
	unsigned reg = pd_effect_field(word, 7, 5), base = pd_effect_field(word, 15, 5),
		 width = pd_effect_field(word, 12, 3);
	int64_t value = pd_effect_signed(word >> 20, 12);

	switch (word & 0x7f) {
	case 0x03: // loads
		return width == DOUBLE ? load_one(reg, base, value) : pd_effect_zero_write(reg, SP);
	case 0x13: // with an immediate
		return width == 0 ? pd_effect_zero_set(reg, base, value) : pd_effect_zero_write(reg, SP);
	case 0x1b:
		return width == 0 ? set_word(reg, base, value) : pd_effect_zero_write(reg, SP);
	case 0x37: // lui
		return pd_effect_zero_set(reg, ZERO, (int64_t)(int32_t)(word & 0xfffff000));
	case 0x33:
		return decode_sum(word);
	case 0x17: // auipc
	case 0x3b:
	case 0x2f: // atomic ones
	case 0x53: // of floating point; some give their result to a register
		return pd_effect_zero_write(reg, SP);
	case 0x23: // stores
		if (width != DOUBLE)
			return pd_effect_of(PD_EFFECT_STORE);
		return store(pd_effect_field(word, 20, 5), base,
			     pd_effect_signed(moved(word, 25, 7, 5) | pd_effect_field(word, 7, 5), 12));
	case 0x27: // of floating point
		return pd_effect_of(PD_EFFECT_STORE);
	case 0x07:
	case 0x0f: // fences
	case 0x43:
	case 0x47:
	case 0x4b:
	case 0x4f:
		return pd_effect_of(PD_EFFECT_OTHER);
	case 0x67: // jalr
		return reg == ZERO && width == 0 && value == 0 ? jump_to_register(base) :
								 pd_effect_of(PD_EFFECT_UNKNOWN);
	case 0x6f:
		return decode_jump(word, addr);
	default:
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	}
}

static unsigned units(uint32_t first)
{
	return (first & 3) == 3 ? 2 : 1;
}

static struct pd_effect decode(uint64_t word, uint64_t addr)
{
	// the first unit has the lowest bits
	if ((word >> 16 & 3) == 3)
		return decode_long((uint32_t)(word << 16 | word >> 16), addr);
	return decode_short((uint32_t)word, addr);
}

const struct pd_effect_set pd_effects_riscv = {
	.elf_machine = 243,
	.word = 8,
	.unit = 2,
	.is_little = true,
	.units = units,
	.kept = UINT64_C(0x0ffc0302), // x1, x8, x9, x18 to x27
	.decode = decode,
};
