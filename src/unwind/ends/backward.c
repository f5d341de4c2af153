/* SPDX-License-Identifier: MIT */
/* Before a return, whatever a function takes back is where it takes it from. */
#include "unwind/ends/steps.h"

// Whether the link register is about to come from another one.
static bool has_link(const struct pd_ends_machine *machine, const struct pd_cfi_state *state, unsigned number)
{
	uint8_t ra = machine->arch->ra;

	return state->set >> ra & 1 && state->registers[ra].kind == PD_SAVED_REGISTER &&
	       state->registers[ra].value == (int32_t)number;
}

// Whether what holds after an instruction that gives a register another value says something of that value.
static bool means(const struct pd_ends_machine *machine, const struct pd_known *known, unsigned number)
{
	const struct pd_cfi_state *state = &known->state;

	return number == state->cfa_register || number == known->added || has_link(machine, state, number) ||
	       (pd_ends_is_kept(machine, number) && !(state->set >> number & 1));
}

static bool may_lose(const struct pd_ends_machine *machine, const struct pd_known *known, uint64_t registers)
{
	for (; registers; registers &= registers - 1)
		if (means(machine, known, (unsigned)__builtin_ctzll(registers)))
			return false;
	return true;
}

static bool take_back(const struct pd_ends_machine *machine, struct pd_known *known, const struct pd_effect *effect,
		      size_t i)
{
	struct pd_cfi_state *state = &known->state;
	unsigned number = effect->regs[i];
	int64_t value = pd_ends_word_at(machine, effect, i) - state->cfa;

	if (!means(machine, known, number))
		return true;
	if (number == state->cfa_register || number == known->added || effect->base != state->cfa_register ||
	    value != (int32_t)value || (pd_ends_is_kept(machine, number) && has_link(machine, state, number)))
		return false;
	// the link register by way of another one
	pd_ends_save(state, pd_ends_is_kept(machine, number) ? number : machine->arch->ra, PD_SAVED_AT_CFA, value);
	return true;
}

// The stack pointer is read, too: where the rule says that it is.
static bool load_stack_pointer(const struct pd_ends_machine *machine, struct pd_known *known,
			       const struct pd_effect *effect, size_t i, const struct pd_unwind_rule *rule)
{
	const struct pd_saved *saved = rule ? pd_ends_saved_of(rule, effect->regs[i]) : NULL;

	if (!saved || saved->kind != PD_SAVED_AT_CFA || known->state.cfa != machine->arch->below_cfa ||
	    known->added != PD_UNWIND_NO_REGISTER)
		return false;
	known->state.cfa_register = effect->base;
	known->state.cfa = pd_ends_word_at(machine, effect, i) - saved->value;
	return true;
}

bool pd_known_load(const struct pd_ends_machine *machine, struct pd_known *known, const struct pd_effect *effect,
		   const struct pd_unwind_rule *rule)
{
	uint8_t sp = machine->arch->sp;

	if (effect->step && effect->base == known->state.cfa_register)
		known->state.cfa += effect->step;
	else if (effect->step && means(machine, known, effect->base))
		return false;
	for (size_t i = 0; i < effect->count; i++)
		if (effect->regs[i] == sp && known->state.cfa_register == sp &&
		    !load_stack_pointer(machine, known, effect, i, rule))
			return false;
	for (size_t i = 0; i < effect->count; i++)
		if (effect->regs[i] != sp && !take_back(machine, known, effect, i))
			return false;
	return true;
}

static bool set_back(const struct pd_ends_machine *machine, struct pd_known *known, const struct pd_effect *effect)
{
	struct pd_cfi_state *state = &known->state;

	if (effect->regs[0] == state->cfa_register && effect->base != PD_UNWIND_NO_REGISTER) {
		state->cfa_register = effect->base;
		state->cfa += effect->offset;
		return true;
	}
	if (effect->regs[0] != known->added || effect->base == state->cfa_register)
		return !means(machine, known, effect->regs[0]);
	state->cfa += known->is_less ? -effect->offset : effect->offset;
	known->added = effect->base;
	return true;
}

static bool add_back(const struct pd_ends_machine *machine, struct pd_known *known, const struct pd_effect *effect)
{
	uint8_t sp = known->state.cfa_register;

	if (effect->regs[0] != sp || effect->base != sp || effect->regs[1] == sp ||
	    known->added != PD_UNWIND_NO_REGISTER)
		return !means(machine, known, effect->regs[0]);
	known->added = effect->regs[1];
	known->is_less = effect->kind == PD_EFFECT_SUBTRACT;
	return true;
}

static bool link_back(const struct pd_ends_machine *machine, struct pd_cfi_state *state, const struct pd_effect *effect)
{
	uint8_t ra = machine->arch->ra;

	if (!(state->set >> ra & 1))
		pd_ends_save(state, ra, PD_SAVED_REGISTER, effect->regs[0]);
	return true;
}

bool pd_known_step(const struct pd_ends_machine *machine, struct pd_known *known, const struct pd_effect *effect,
		   const struct pd_unwind_rule *rule)
{
	if (!may_lose(machine, known, effect->writes))
		return false;
	switch (effect->kind) {
	case PD_EFFECT_OTHER:
		return true;
	case PD_EFFECT_LOAD:
		return pd_known_load(machine, known, effect, rule) && pd_ends_is_in_range(&known->state);
	case PD_EFFECT_SET:
		return set_back(machine, known, effect) && pd_ends_is_in_range(&known->state);
	case PD_EFFECT_ADD:
	case PD_EFFECT_SUBTRACT:
		return add_back(machine, known, effect);
	case PD_EFFECT_LINK:
		return link_back(machine, &known->state, effect);
	default:
		return false;
	}
}
