/* SPDX-License-Identifier: MIT */
/* From a frame to that of its caller: by the rule of the code, else by the frame pointer or what the architecture has. */
#include <string.h>

#include "base/cursor.h"
#include "unwind/unwinder.h"

enum {
	STACK_REACH = 8 << 20, // a stack goes on for so many bytes at most
	TAKEN_BACK_MOST = 256, // bytes of registers that one function saves
	ARM_THUMB_FP = 7,
	STEPS_MOST = 8192 // of expressions in a chain: a signal frame takes some 50
};

// ---- ends ----

static bool end_walk(struct pd_unwind_walk *walk, enum pd_unwind_end end)
{
	walk->end = end;
	return false;
}

// Memory is missing: the copy ends there, or it is of another stack.
static bool end_by_memory(struct pd_unwind_walk *walk)
{
	uint64_t over = walk->memory.missed_addr - walk->memory.start;

	if (!walk->memory.missed)
		return end_walk(walk, PD_UNWIND_DAMAGED);
	return end_walk(walk, over < walk->memory.size + STACK_REACH ? PD_UNWIND_STACK_END : PD_UNWIND_OTHER_STACK);
}

static bool end_without_rule(struct pd_unwind_walk *walk, const struct pd_unwind_known *known)
{
	if (!known->is_code)
		return end_walk(walk, PD_UNWIND_DAMAGED);
	return end_walk(walk, known->module && known->module->found ? PD_UNWIND_NO_RULE : PD_UNWIND_NO_OBJECT);
}

// ---- by a rule ----

static uint64_t as_address(const struct pd_unwind_walk *walk, uint64_t value)
{
	return walk->arch->word == 4 ? (uint32_t)value : value;
}

static bool get_register(const struct pd_unwind_walk *walk, unsigned number, uint64_t *value_out)
{
	*value_out = walk->registers.values[number & 63];
	return walk->registers.known >> (number & 63) & 1;
}

static bool evaluate(struct pd_unwind_walk *walk, const struct pd_unwind_known *known, int32_t number,
		     const uint64_t *cfa, uint64_t *value_out)
{
	const uint8_t *at = known->module->table.expressions + number;
	const struct pd_evaluation evaluation = { .registers = &walk->registers,
						  .memory = &walk->memory,
						  .big = known->module->big,
						  .steps_left = &walk->steps_left,
						  .has_cfa = cfa,
						  .cfa = cfa ? *cfa : 0 };
	uint32_t size;

	memcpy(&size, at, sizeof(size));
	return pd_unwind_evaluate(&evaluation, (struct pd_bytes){ at + sizeof(size), size }, value_out);
}

static bool find_cfa(struct pd_unwind_walk *walk, const struct pd_unwind_known *known, uint64_t *cfa_out)
{
	const struct pd_unwind_rule *rule = known->rule;
	uint64_t value;

	if (rule->kind == PD_CFA_EXPRESSION)
		return evaluate(walk, known, rule->cfa, NULL, cfa_out) || end_by_memory(walk);
	if (!get_register(walk, rule->cfa_register, &value))
		return end_walk(walk, PD_UNWIND_DAMAGED);
	*cfa_out = as_address(walk, value + (uint64_t)(int64_t)rule->cfa);
	return true;
}

// The value that a register has in the caller; false if it cannot be known.
static bool find_saved(struct pd_unwind_walk *walk, const struct pd_unwind_known *known, const struct pd_saved *saved,
		       uint64_t cfa, uint64_t *value_out)
{
	switch (saved->kind) {
	case PD_SAVED_AT_CFA:
		return pd_unwind_read_word(&walk->memory, cfa + (uint64_t)(int64_t)saved->value, value_out);
	case PD_SAVED_CFA:
		*value_out = as_address(walk, cfa + (uint64_t)(int64_t)saved->value);
		return true;
	case PD_SAVED_REGISTER:
		return get_register(walk, (unsigned)saved->value, value_out);
	case PD_SAVED_EXPRESSION:
		return evaluate(walk, known, saved->value, &cfa, value_out);
	case PD_SAVED_AT_EXPRESSION:
		return evaluate(walk, known, saved->value, &cfa, value_out) &&
		       pd_unwind_read_any(&walk->memory, *value_out, walk->memory.word, value_out);
	default:
		return false;
	}
}

// While a function returns it has taken registers back from the stack, which rules do not say: they are as they were. What is below
// the stack pointer was not copied.
static bool was_taken_back(const struct pd_unwind_walk *walk, const struct pd_saved *saved, uint64_t cfa)
{
	uint64_t at = as_address(walk, cfa + (uint64_t)(int64_t)saved->value);

	return walk->count == 1 && saved->kind == PD_SAVED_AT_CFA && at < walk->memory.start &&
	       walk->memory.start - at <= TAKEN_BACK_MOST;
}

// Finds the caller's values of all registers that the rule names, then puts them in place of the old ones.
static bool restore_registers(struct pd_unwind_walk *walk, const struct pd_unwind_known *known, uint64_t cfa)
{
	const struct pd_unwind_rule *rule = known->rule;
	uint64_t values[PD_UNWIND_REGISTERS], set = 0, bad = 0;

	walk->memory.missed = false;
	for (size_t i = 0; i < rule->count; i++) {
		const struct pd_saved *saved = &rule->saved[i];
		uint64_t bit = UINT64_C(1) << (saved->number & 63);

		if (find_saved(walk, known, saved, cfa, &values[saved->number & 63]))
			set |= bit;
		else if (saved->number == rule->ra)
			return saved->kind == PD_SAVED_UNDEFINED ? end_walk(walk, PD_UNWIND_OUTERMOST) :
								   end_by_memory(walk);
		else if (!was_taken_back(walk, saved, cfa))
			bad |= bit;
	}
	walk->registers.known = (walk->registers.known & ~bad) | set;
	for (; set; set &= set - 1) {
		unsigned i = (unsigned)__builtin_ctzll(set);

		walk->registers.values[i] = values[i];
	}
	return true;
}

// The same for rules without anything special, of machines that have words as here. False if the memory is not there.
static inline bool restore_plain(struct pd_unwind_walk *walk, const struct pd_unwind_rule *rule, uint64_t cfa)
{
	uint64_t reach = rule->saved[0].reach, offset = cfa - reach - walk->memory.start, set = 0;
	const uint8_t *base;

	if (offset > walk->memory.size || walk->memory.size - offset < reach)
		return false;
	base = walk->memory.data + offset + reach;
	for (size_t i = 0; i < rule->count; i++) {
		const struct pd_saved *saved = &rule->saved[i];

		memcpy(&walk->registers.values[saved->number & 63], base + saved->value, sizeof(uint64_t));
		set |= UINT64_C(1) << (saved->number & 63);
	}
	walk->registers.known |= set;
	return true;
}

static bool restore_any(struct pd_unwind_walk *walk, const struct pd_unwind_known *known, uint64_t cfa)
{
	if (known->rule->is_plain && walk->memory.word == sizeof(uint64_t) && !walk->memory.swap &&
	    restore_plain(walk, known->rule, cfa))
		return true;
	return restore_registers(walk, known, cfa);
}

static bool has_rule_for(const struct pd_unwind_rule *rule, unsigned number)
{
	for (size_t i = 0; i < rule->count; i++)
		if (rule->saved[i].number == number)
			return true;
	return false;
}

// The register with the return address, when no rule says where that is, is good as long as nothing was called since.
static bool find_return(struct pd_unwind_walk *walk, const struct pd_unwind_rule *rule, uint64_t *pc_out)
{
	if (!rule->is_plain && !has_rule_for(rule, rule->ra) && !(walk->arch->has_link && walk->has_link))
		return end_walk(walk, PD_UNWIND_DAMAGED);
	if (!get_register(walk, rule->ra, pc_out))
		return end_walk(walk, PD_UNWIND_DAMAGED);
	*pc_out &= walk->arch->code_mask;
	return *pc_out || end_walk(walk, PD_UNWIND_OUTERMOST);
}

// False if the caller's frame would be below this one, or be the same.
static bool makes_progress(const struct pd_unwind_walk *walk, const struct pd_unwind_rule *rule, uint64_t sp_before,
			   uint64_t sp, uint64_t pc)
{
	if (sp == sp_before && pc == walk->pc)
		return false;
	// expressions, and code that switches stacks, may go anywhere
	if (sp >= sp_before || rule->is_signal || rule->kind != PD_CFA_REGISTER)
		return true;
	return rule->cfa_register != walk->arch->sp && rule->cfa_register != walk->arch->fp;
}

static bool step_by_rule(struct pd_unwind_walk *walk, const struct pd_unwind_known *known)
{
	const struct pd_unwind_rule *rule = known->rule;
	const struct pd_unwind_arch *arch = walk->arch;
	uint64_t cfa, sp_before, sp, pc;

	// it was saved where the copy ends
	if (!get_register(walk, arch->sp, &sp_before))
		return end_by_memory(walk);
	walk->memory.missed = false;
	if (!find_cfa(walk, known, &cfa) || !restore_any(walk, known, cfa) || !find_return(walk, rule, &pc))
		return false;
	if (rule->is_plain || !has_rule_for(rule, arch->sp)) {
		walk->registers.values[arch->sp] = as_address(walk, cfa - arch->below_cfa);
		walk->registers.known |= UINT64_C(1) << arch->sp;
	}
	if (get_register(walk, arch->sp, &sp) && !makes_progress(walk, rule, sp_before, sp, pc))
		return end_walk(walk, PD_UNWIND_DAMAGED);
	walk->pc = pc;
	walk->is_exact = walk->has_link = rule->is_signal;
	return true;
}

// ---- without a rule ----

static void set_frame(struct pd_unwind_walk *walk, uint64_t sp, uint64_t pc)
{
	walk->registers.values[walk->arch->sp] = as_address(walk, sp);
	walk->pc = pc & walk->arch->code_mask;
	walk->is_exact = walk->has_link = false;
}

// Whether a word can be a return address: code is mapped there.
static bool is_code(struct pd_unwind_walk *walk, uint64_t pc)
{
	pc &= walk->arch->code_mask;
	return pc && pd_unwind_ask(walk, pc - 1).is_code;
}

static bool step_by_pair(struct pd_unwind_walk *walk, unsigned number)
{
	const struct pd_unwind_arch *arch = walk->arch;
	uint64_t fp, sp, at, next, pc;
	bool below = arch->fallback == PD_FALLBACK_PAIR_BELOW;

	if (!get_register(walk, number, &fp) || !get_register(walk, arch->sp, &sp))
		return false;
	at = below ? fp - 2u * arch->word : fp;
	if (at < sp || at % arch->word || !pd_unwind_read_word(&walk->memory, at, &next) ||
	    !pd_unwind_read_word(&walk->memory, at + arch->word, &pc) || !is_code(walk, pc))
		return false;
	set_frame(walk, at + 2u * arch->word, pc);
	walk->registers.values[number] = next;
	return true;
}

// Back chains: where the link register is saved in the caller's frame depends on the architecture.
static bool step_by_chain(struct pd_unwind_walk *walk, unsigned link_at)
{
	uint64_t sp, next, pc;

	if (!get_register(walk, walk->arch->sp, &sp) || !pd_unwind_read_word(&walk->memory, sp, &next) || next <= sp ||
	    !pd_unwind_read_word(&walk->memory, next + link_at, &pc) || !is_code(walk, pc))
		return false;
	set_frame(walk, next, pc);
	return true;
}

// Innermost functions may not have saved their return address.
static bool step_by_link(struct pd_unwind_walk *walk)
{
	const struct pd_unwind_arch *arch = walk->arch;
	uint64_t sp, pc;

	if (!arch->has_link || !walk->has_link || !get_register(walk, arch->ra, &pc) ||
	    !get_register(walk, arch->sp, &sp) || (pc & arch->code_mask) == walk->pc || !is_code(walk, pc))
		return false;
	set_frame(walk, sp, pc);
	return true;
}

static bool step_by_fallback(struct pd_unwind_walk *walk)
{
	switch (walk->arch->fallback) {
	case PD_FALLBACK_PAIR:
	case PD_FALLBACK_PAIR_BELOW:
		return step_by_pair(walk, walk->arch->fp);
	case PD_FALLBACK_ARM:
		return step_by_pair(walk, walk->arch->fp) || step_by_pair(walk, ARM_THUMB_FP);
	case PD_FALLBACK_POWER:
		return step_by_chain(walk, walk->arch->word == 8 ? 16 : 4);
	case PD_FALLBACK_S390:
		return step_by_chain(walk, 112);
	default:
		return false;
	}
}

static bool step_without_rule(struct pd_unwind_walk *walk)
{
	return step_by_fallback(walk) || step_by_link(walk);
}

// Objects of ARM say of functions that begin a thread, and of those that were compiled without rules, that they cannot be unwound. What
// begins an object has no rule either.
static inline bool may_have_caller(const struct pd_unwind_rule *rule)
{
	return !rule->is_plain && rule->count == 1 && rule->saved[0].kind == PD_SAVED_UNDEFINED &&
	       rule->saved[0].value == PD_UNDEFINED_MAYBE;
}

// The link register is no way on where it leads back to the same code.
static bool step_if_called(struct pd_unwind_walk *walk, const struct pd_unwind_rule *rule)
{
	uint64_t pc;

	if (step_by_fallback(walk))
		return true;
	if (!walk->has_link || !get_register(walk, walk->arch->ra, &pc))
		return false;
	return pd_unwind_ask(walk, (pc & walk->arch->code_mask) - 1).rule != rule && step_by_link(walk);
}

// ---- all frames ----

// What was found out for the last sample holds as long as the mappings do.
static inline struct pd_unwind_known ask_again(struct pd_unwind_walk *walk, uint64_t addr)
{
	struct pd_unwind_trail *trail = walk->trail;
	uint64_t sp = walk->registers.values[walk->arch->sp];
	struct pd_unwind_known known;

	while (walk->trod < walk->trod_end && walk->trod->sp < sp)
		walk->trod++;
	if (walk->trod < walk->trod_end && walk->trod->addr == addr) {
		known = walk->trod->known;
		walk->unwinder->effort.again++;
	} else {
		known = pd_unwind_ask(walk, addr);
	}
	if (trail->count < PD_UNWIND_TRAIL)
		trail->frames[trail->count++] = (struct pd_unwind_trod){ addr, sp, known };
	return known;
}

// One more frame, and from it to its caller. False at the end.
static bool take_frame(struct pd_unwind_walk *walk)
{
	uint64_t addr = walk->is_exact ? walk->pc : walk->pc - 1;
	struct pd_unwind_known known = ask_again(walk, addr);

	// nobody calls a trampoline of signals: its caller is where it returns to
	if (known.rule && known.rule->is_signal)
		addr = walk->pc;
	walk->frames[walk->count++] = addr;
	walk->object = known.object;
	if (known.rule && PD_UNLIKELY(may_have_caller(known.rule)))
		return step_if_called(walk, known.rule) || end_walk(walk, PD_UNWIND_OUTERMOST);
	if (known.rule)
		return step_by_rule(walk, &known);
	return step_without_rule(walk) || end_without_rule(walk, &known);
}

void pd_unwind_walk(struct pd_unwind_walk *walk)
{
	pd_unwind_begin(walk);
	walk->count = 0;
	walk->is_exact = walk->has_link = true;
	walk->steps_left = STEPS_MOST;
	walk->end = PD_UNWIND_DEPTH;
	walk->object = NULL;
	while (walk->count < walk->most && take_frame(walk))
		;
	walk->unwinder->effort.frames += walk->count;
	pd_unwind_keep_trail(walk);
}
