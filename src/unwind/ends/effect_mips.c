/* SPDX-License-Identifier: MIT */
/* Source: the MIPS64 architecture for programmers, volume II. */
#include "unwind/ends/effect.h"

enum {
	ZERO = 0,
	SP = 29,
	RA = 31
};

static struct pd_effect sum_of(unsigned kind, unsigned reg, unsigned base, unsigned other)
{
	if (other == ZERO)
		return pd_effect_zero_set(reg, base, 0);
	if (base == ZERO && kind == PD_EFFECT_ADD)
		return pd_effect_zero_set(reg, other, 0);
	return pd_effect_sum(kind, reg, base, other, SP);
}

static struct pd_effect decode_registers(uint32_t word)
{
	unsigned base = pd_effect_field(word, 21, 5), other = pd_effect_field(word, 16, 5),
		 reg = pd_effect_field(word, 11, 5);

	switch (word & 0x3f) {
	case 0x08: // jr, and jalr that keeps no address
		return pd_effect_of(base == RA ? PD_EFFECT_RETURN : PD_EFFECT_UNKNOWN);
	case 0x09:
		return pd_effect_of(base == RA && reg == ZERO ? PD_EFFECT_RETURN : PD_EFFECT_UNKNOWN);
	case 0x0c: // syscall
	case 0x0d: // break
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	case 0x20: // add, addu, dadd, daddu
	case 0x21:
	case 0x2c:
	case 0x2d:
		return sum_of(PD_EFFECT_ADD, reg, base, other);
	case 0x22: // the same of differences
	case 0x23:
	case 0x2e:
	case 0x2f:
		return sum_of(PD_EFFECT_SUBTRACT, reg, base, other);
	case 0x25: // or, which moves
		return base == ZERO || other == ZERO ? pd_effect_zero_set(reg, base + other, 0) :
						       pd_effect_zero_write(reg, SP);
	default:
		return pd_effect_zero_write(reg, SP);
	}
}

static struct pd_effect decode_immediate(uint32_t word)
{
	unsigned base = pd_effect_field(word, 21, 5), reg = pd_effect_field(word, 16, 5);
	int64_t value = pd_effect_signed(word, 16);

	switch (word >> 26) {
	case 0x09: // addiu
	case 0x19: // daddiu
		return pd_effect_zero_set(reg, base, value);
	case 0x0d: // ori, after lui, or alone
		return base == ZERO || (base == reg && reg != SP) ?
			       pd_effect_zero_set(reg, base, pd_effect_field(word, 0, 16)) :
			       pd_effect_zero_write(reg, SP);
	case 0x0f: // lui
		return base == ZERO ? pd_effect_zero_set(reg, ZERO, value * 65536) : pd_effect_zero_write(reg, SP);
	default:
		return pd_effect_zero_write(reg, SP);
	}
}

// Of a word that is as wide as registers, or of another size.
static struct pd_effect decode_memory(uint32_t word, bool is_whole, bool loads)
{
	unsigned base = pd_effect_field(word, 21, 5), reg = pd_effect_field(word, 16, 5);

	if (is_whole && reg != ZERO)
		return pd_effect_access(loads ? PD_EFFECT_LOAD : PD_EFFECT_STORE, reg, base,
					pd_effect_signed(word, 16));
	return loads ? pd_effect_zero_write(reg, SP) : pd_effect_of(PD_EFFECT_STORE);
}

static struct pd_effect decode_floating(uint32_t word)
{
	unsigned kind = pd_effect_field(word, 21, 5);

	if (kind == 8 || kind == 9 || kind == 13) // branches
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	return kind < 4 ? pd_effect_zero_write(pd_effect_field(word, 16, 5), SP) : pd_effect_of(PD_EFFECT_OTHER);
}

static struct pd_effect decode(uint32_t word, uint64_t addr, bool is_wide)
{
	unsigned op = word >> 26;

	switch (op) {
	case 0x00:
		return decode_registers(word);
	case 0x02: // j
		return pd_effect_jump(((addr + 4) & ~UINT64_C(0xfffffff)) | (uint64_t)(word & 0x3ffffff) << 2);
	case 0x04: // b: beq of the same
		return word >> 16 == 0x1000 ? pd_effect_jump(addr + 4 + (uint64_t)(4 * pd_effect_signed(word, 16))) :
					      pd_effect_of(PD_EFFECT_UNKNOWN);
	case 0x11:
		return decode_floating(word);
	case 0x1c: // mul and others
		return pd_effect_zero_write(pd_effect_field(word, 11, 5), SP);
	case 0x1f: // ext, ins, rdhwr: whichever register it is
		return pd_effect_write(
			pd_effect_bit(pd_effect_field(word, 16, 5)) | pd_effect_bit(pd_effect_field(word, 11, 5)), SP);
	case 0x31: // lwc1, ldc1, pref
	case 0x33:
	case 0x35:
		return pd_effect_of(PD_EFFECT_OTHER);
	case 0x39: // swc1, sdc1
	case 0x3d:
		return pd_effect_of(PD_EFFECT_STORE);
	case 0x23: // lw
	case 0x37: // ld
		return decode_memory(word, is_wide == (op == 0x37), true);
	case 0x2b: // sw
	case 0x3f: // sd
		return decode_memory(word, is_wide == (op == 0x3f), false);
	default:
		if ((op >= 0x08 && op <= 0x0f) || op == 0x18 || op == 0x19)
			return decode_immediate(word);
		if (op >= 0x20 && op <= 0x2e)
			return decode_memory(word, false, op < 0x28);
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	}
}

static struct pd_effect decode_32(uint64_t word, uint64_t addr)
{
	return decode((uint32_t)word, addr, false);
}

static struct pd_effect decode_64(uint64_t word, uint64_t addr)
{
	return decode((uint32_t)word, addr, true);
}

const struct pd_effect_set pd_effects_mips = {
	.elf_machine = 8,
	.word = 4,
	.unit = 4,
	.has_delay = true,
	.kept = UINT64_C(0xc0ff0000), // s0 to s7, s8, ra
	.decode = decode_32,
};

const struct pd_effect_set pd_effects_mips64 = {
	.elf_machine = 8,
	.word = 8,
	.unit = 4,
	.has_delay = true,
	.kept = UINT64_C(0xd0ff0000), // gp, too
	.decode = decode_64,
};
