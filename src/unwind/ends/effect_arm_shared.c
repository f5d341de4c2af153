/* SPDX-License-Identifier: MIT */
/* Source: the Arm Architecture Reference Manual for ARMv7-A. */
#include "unwind/ends/effect_arm.h"

struct pd_effect pd_effect_arm_many(uint32_t word)
{
	unsigned base = pd_effect_field(word, 16, 4);
	int64_t bytes = 4 * (int64_t)__builtin_popcount(word & 0xffff);
	bool before = word >> 24 & 1, up = word >> 23 & 1, steps = word >> 21 & 1, loads = word >> 20 & 1;
	struct pd_effect effect = { .kind = loads ? PD_EFFECT_LOAD : PD_EFFECT_STORE,
				    .base = (uint8_t)base,
				    .offset = up ? (before ? 4 : 0) : -bytes + (before ? 0 : 4),
				    .step = !steps ? 0 :
					    up     ? bytes :
						     -bytes };
	bool returns = loads && word >> PD_ARM_PC & 1;

	if (!bytes || word >> 22 & 1 || (loads && steps && word >> base & 1) || (returns && word >> PD_ARM_LINK & 1))
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	for (uint32_t left = word & 0xffff; left; left &= left - 1) {
		unsigned reg = (unsigned)__builtin_ctz(left);

		effect.regs[effect.count++] = (uint8_t)(returns && reg == PD_ARM_PC ? PD_ARM_LINK : reg);
	}
	if (returns)
		effect.kind = PD_EFFECT_RETURN;
	return effect;
}

struct pd_effect pd_effect_arm_access(const struct pd_arm_access *a)
{
	struct pd_effect effect = { .kind = a->loads ? PD_EFFECT_LOAD : PD_EFFECT_STORE,
				    .count = a->is_pair ? 2 : 1,
				    .regs = { (uint8_t)a->reg, (uint8_t)a->second },
				    .base = (uint8_t)a->base,
				    .offset = a->before ? a->offset : 0,
				    .step = a->before && !a->steps ? 0 : a->offset };
	uint64_t bits = pd_effect_bit(a->reg) | (a->is_pair ? pd_effect_bit(a->second) : 0);

	if (a->loads && a->reg == PD_ARM_PC) {
		effect.kind = a->base == PD_ARM_SP && a->is_word ? PD_EFFECT_RETURN : PD_EFFECT_UNKNOWN;
		effect.regs[0] = PD_ARM_LINK;
		return effect;
	}
	if (a->base == PD_ARM_PC)
		return a->loads ? pd_effect_write(bits, PD_ARM_SP) : pd_effect_of(PD_EFFECT_UNKNOWN);
	if (a->loads && effect.step && bits & pd_effect_bit(a->base))
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	if (a->is_word)
		return effect;
	effect.count = 0;
	effect.writes = a->loads ? bits : 0;
	return effect.writes & pd_effect_bit(PD_ARM_SP) ? pd_effect_of(PD_EFFECT_UNKNOWN) : effect;
}

// Loads and stores of floating-point registers.
static struct pd_effect access_vectors(uint32_t word)
{
	unsigned base = pd_effect_field(word, 16, 4);
	bool before = word >> 24 & 1, up = word >> 23 & 1, steps = word >> 21 & 1, loads = word >> 20 & 1;
	int64_t bytes = 4 * (int64_t)(word & 0xff);

	if ((word & 0xe00) != 0xa00)
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	if (!before && !up && !steps) // between registers
		return loads ? pd_effect_write(pd_effect_bit(base) | pd_effect_bit(pd_effect_field(word, 12, 4)),
					       PD_ARM_SP) :
			       pd_effect_of(PD_EFFECT_OTHER);
	return (struct pd_effect){ .kind = loads ? PD_EFFECT_LOAD : PD_EFFECT_STORE,
				   .base = (uint8_t)base,
				   .step = !steps ? 0 :
					   up     ? bytes :
						    -bytes };
}

static struct pd_effect compute_vectors(uint32_t word)
{
	unsigned reg = pd_effect_field(word, 12, 4);

	if (word >> 24 & 1) // svc
		return pd_effect_of(PD_EFFECT_UNKNOWN);
	return word >> 20 & 1 && word >> 4 & 1 && reg != PD_ARM_PC ? pd_effect_write(pd_effect_bit(reg), PD_ARM_SP) :
								     pd_effect_of(PD_EFFECT_OTHER);
}

struct pd_effect pd_effect_arm_vectors(uint32_t word)
{
	return word >> 25 & 1 ? compute_vectors(word) : access_vectors(word);
}
