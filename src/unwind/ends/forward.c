/* SPDX-License-Identifier: MIT */
/* From the begin of a function on nothing has changed but what its instructions change. */
#include "unwind/ends/steps.h"

struct pd_cfi_state pd_ends_called(const struct pd_ends_machine *machine)
{
	return (struct pd_cfi_state){ .kind = PD_CFA_REGISTER,
				      .cfa_register = machine->arch->sp,
				      .cfa = machine->arch->below_cfa };
}

struct pd_begun pd_begun_at(const struct pd_ends_machine *machine)
{
	return (struct pd_begun){ .state = pd_ends_called(machine),
				  .frame = PD_UNWIND_NO_REGISTER,
				  .link = PD_UNWIND_NO_REGISTER };
}

// Registers that get other values, but for those that only move.
static uint64_t loses(const struct pd_effect *effect)
{
	uint64_t registers = effect->writes;

	for (size_t i = 0; i < effect->count && effect->kind == PD_EFFECT_LOAD; i++)
		registers |= pd_effect_bit(effect->regs[i]);
	return registers;
}

static uint64_t moves(const struct pd_effect *effect)
{
	return (effect->kind == PD_EFFECT_SET ? pd_effect_bit(effect->regs[0]) : 0) |
	       (effect->step ? pd_effect_bit(effect->base) : 0);
}

bool pd_begun_base(const struct pd_begun *b, unsigned base, int64_t *cfa_out)
{
	*cfa_out = base == b->state.cfa_register ? b->state.cfa : b->frame_cfa;
	return base == b->state.cfa_register || base == b->frame;
}

static void store(const struct pd_ends_machine *machine, struct pd_begun *b, const struct pd_effect *effect)
{
	int64_t cfa;

	for (size_t i = 0; i < effect->count && pd_begun_base(b, effect->base, &cfa); i++) {
		uint8_t number = effect->regs[i] == b->link ? machine->arch->ra : effect->regs[i];

		if (pd_ends_is_kept(machine, number) && !((b->state.set | b->lost) & pd_effect_bit(number)))
			pd_ends_save(&b->state, number, PD_SAVED_AT_CFA, pd_ends_word_at(machine, effect, i) - cfa);
	}
}

// Registers that are read from where they were written to.
static uint64_t takes_back(const struct pd_ends_machine *machine, const struct pd_begun *b,
			   const struct pd_effect *effect)
{
	uint64_t registers = 0;
	int64_t cfa;

	for (size_t i = 0; effect->kind == PD_EFFECT_LOAD && i < effect->count && pd_begun_base(b, effect->base, &cfa);
	     i++)
		if (b->state.set & pd_effect_bit(effect->regs[i]) &&
		    b->state.registers[effect->regs[i]].value == pd_ends_word_at(machine, effect, i) - cfa)
			registers |= pd_effect_bit(effect->regs[i]);
	return registers;
}

static void note_copies(struct pd_begun *b, const struct pd_effect *effect, uint64_t lost)
{
	if (b->frame != PD_UNWIND_NO_REGISTER && lost & pd_effect_bit(b->frame))
		b->frame = PD_UNWIND_NO_REGISTER;
	if (b->link != PD_UNWIND_NO_REGISTER && lost & pd_effect_bit(b->link))
		b->link = PD_UNWIND_NO_REGISTER;
	if (effect->kind == PD_EFFECT_COPY)
		b->link = effect->regs[0];
	if (effect->kind == PD_EFFECT_SET && effect->base == b->state.cfa_register &&
	    effect->regs[0] != b->state.cfa_register) {
		b->frame = effect->regs[0];
		b->frame_cfa = b->state.cfa - effect->offset;
	}
}

static bool is_followed(const struct pd_ends_machine *machine, const struct pd_begun *b, const struct pd_effect *effect)
{
	switch (effect->kind) {
	case PD_EFFECT_OTHER:
	case PD_EFFECT_LOAD:
	case PD_EFFECT_STORE:
	case PD_EFFECT_SET:
	case PD_EFFECT_BRANCH:
		return true;
	case PD_EFFECT_RETURN:
		return effect->is_conditional;
	case PD_EFFECT_COPY:
		return !(b->lost >> machine->arch->ra & 1);
	default:
		return false;
	}
}

bool pd_begun_step(const struct pd_ends_machine *machine, struct pd_begun *b, const struct pd_effect *effect)
{
	uint64_t sp = pd_effect_bit(b->state.cfa_register), lost = loses(effect) | (moves(effect) & ~sp);

	if (!is_followed(machine, b, effect))
		return false;
	if (effect->kind == PD_EFFECT_BRANCH || effect->kind == PD_EFFECT_RETURN)
		return true; // it was not done
	if (effect->kind == PD_EFFECT_STORE)
		store(machine, b, effect);
	if (lost & ((~b->state.set & machine->effects->kept) | sp))
		return false;
	b->lost = (b->lost | (lost & machine->effects->kept)) & ~takes_back(machine, b, effect);
	note_copies(b, effect, lost);
	if (moves(effect) & sp) {
		if (effect->base != b->state.cfa_register)
			return false;
		b->state.cfa -= effect->step ? effect->step : effect->offset;
	}
	return pd_ends_is_in_range(&b->state);
}

struct pd_cfi_state pd_begun_visible(const struct pd_begun *b)
{
	struct pd_cfi_state state = b->state;

	for (uint64_t left = state.set & ~b->lost; left; left &= left - 1) {
		unsigned number = (unsigned)__builtin_ctzll(left);

		if (state.registers[number].value < -state.cfa)
			state.set &= ~pd_effect_bit(number);
	}
	return state;
}
