/* SPDX-License-Identifier: MIT */
/*
 * What holds in a function from instruction to instruction: forwards from its begin, where nothing was done, and backwards from a return, before
 * which all was taken back.
 */
#ifndef PD_UNWIND_ENDS_STEPS_H
#define PD_UNWIND_ENDS_STEPS_H

#include "unwind/ends/effect.h"
#include "unwind/rules/cfi.h"

struct pd_ends_machine {
	const struct pd_unwind_arch *arch;
	const struct pd_effect_set *effects;
};

// What is known after the first instructions.
struct pd_begun {
	struct pd_cfi_state state; // with all registers that were written to the frame
	uint64_t lost;             // those that have other values now
	uint8_t frame;             // a register that was set to a place in the frame, or none
	int64_t frame_cfa;         // the CFA is so much more
	uint8_t link;              // a copy of the link register, or none
};

// What holds at an address, and a register whose value the CFA is more, or less, or none.
struct pd_known {
	struct pd_cfi_state state;
	uint8_t added;
	bool is_less;
};

// What holds where a function begins.
struct pd_cfi_state pd_ends_called(const struct pd_ends_machine *machine);
struct pd_begun pd_begun_at(const struct pd_ends_machine *machine);
// What holds after an instruction. False if it is not known: a register is lost that the caller wants back, or the stack pointer.
bool pd_begun_step(const struct pd_ends_machine *machine, struct pd_begun *b, const struct pd_effect *effect);
// Where a base is: the CFA is so much more. False if it is elsewhere.
bool pd_begun_base(const struct pd_begun *b, unsigned base, int64_t *cfa_out);
// As a rule has it: what was written below the stack pointer is not looked for there as long as it is not lost.
struct pd_cfi_state pd_begun_visible(const struct pd_begun *b);

// What holds before an instruction, by what holds after it, and the rule that there is at it (NULL: none). False if it is not known.
bool pd_known_step(const struct pd_ends_machine *machine, struct pd_known *known, const struct pd_effect *effect,
		   const struct pd_unwind_rule *rule);
// The same of what a return reads.
bool pd_known_load(const struct pd_ends_machine *machine, struct pd_known *known, const struct pd_effect *effect,
		   const struct pd_unwind_rule *rule);

// Whether functions leave a register as it was.
static inline bool pd_ends_is_kept(const struct pd_ends_machine *machine, unsigned number)
{
	return machine->effects->kept >> number & 1;
}

static inline void pd_ends_save(struct pd_cfi_state *state, unsigned number, unsigned kind, int64_t value)
{
	state->registers[number] = (struct pd_cfi_register){ (uint8_t)kind, (int32_t)value };
	state->set |= pd_effect_bit(number);
}

static inline bool pd_ends_is_in_range(const struct pd_cfi_state *state)
{
	return state->cfa == (int32_t)state->cfa;
}

// The offset from the base of a word that is read or written.
static inline int64_t pd_ends_word_at(const struct pd_ends_machine *machine, const struct pd_effect *effect, size_t i)
{
	return effect->offset + machine->arch->word * (int64_t)i;
}

static inline const struct pd_saved *pd_ends_saved_of(const struct pd_unwind_rule *rule, unsigned number)
{
	for (size_t i = 0; i < rule->count; i++)
		if (rule->saved[i].number == number)
			return &rule->saved[i];
	return NULL;
}

#endif
