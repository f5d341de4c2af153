/* SPDX-License-Identifier: MIT */
/* Rows of functions of which compilers leave the begin and the end out. */
#include "unwind/ends/ends.h"

#include <string.h>

#include "base/cursor.h"
#include "unwind/ends/steps.h"

static const struct pd_effect_set *find_effects(uint16_t elf_machine, unsigned word)
{
	static const struct pd_effect_set *const all[] = { &pd_effects_arm,    &pd_effects_arm64, &pd_effects_mips,
							   &pd_effects_mips64, &pd_effects_power, &pd_effects_riscv,
							   &pd_effects_s390 };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i]->elf_machine == elf_machine && (!word || all[i]->word == word))
			return all[i];
	return NULL;
}

const struct pd_effect_set *pd_effects_of(const struct pd_unwind_arch *arch)
{
	return find_effects(arch->elf_machine, arch->word);
}

bool pd_effects_are_known(uint16_t elf_machine)
{
	return find_effects(elf_machine, 0);
}

enum {
	MOST = 64,      // instructions
	LOOKED_AT = 32, // words of a function
	MOST_BYTES = 4 * MOST
};

// Rows of a function, of which those that are done are in place.
struct ends {
	struct pd_cfi_run *run;
	const struct pd_code *code;
	struct pd_ends_machine machine;
	struct pd_unwind_row *old; // as they were
	size_t old_count, at;      // the next one that is not done
	uint32_t rule;             // of the last old row that is done
	uint64_t from;             // addresses before are done
	bool is_whole;             // one rule is all that is said of the function
	bool resumes;              // the old rule holds there again, which no row says yet
	struct pd_known *states;   // before a return, from there back
	uint64_t before[MOST];     // addresses of the last instructions, in a ring
	uint64_t passed;           // how many there were
};

static uint64_t code_word(const struct ends *ends, const uint8_t *data, size_t left, unsigned *size_out)
{
	const struct pd_effect_set *effects = ends->machine.effects;
	uint64_t word = effects->unit == 2 ? pd_load_u16(data, ends->code->swap) : pd_load_u32(data, ends->code->swap);
	unsigned units = effects->units ? effects->units((uint32_t)word) : 1;

	*size_out = units * effects->unit;
	for (unsigned i = 1; i < units && *size_out <= left; i++)
		word = word << 16 | pd_load_u16(data + 2 * (size_t)i, ends->code->swap);
	return word;
}

static bool code_at(const struct ends *ends, uint64_t addr, struct pd_effect *effect_out)
{
	const struct pd_code *code = ends->code;
	uint64_t at = addr - code->addr, word;
	unsigned size;

	*effect_out = (struct pd_effect){ .kind = PD_EFFECT_UNKNOWN, .size = ends->machine.effects->unit };
	// addresses of hostile functions begin at 0 again
	if (addr < code->addr || at > code->bytes.size || code->bytes.size - at < ends->machine.effects->unit)
		return false;
	word = code_word(ends, code->bytes.data + at, code->bytes.size - at, &size);
	if (size > code->bytes.size - at)
		return false;
	*effect_out = ends->machine.effects->decode(word, addr);
	effect_out->size = (uint8_t)size;
	return true;
}

// ---- rows ----

static bool add_row(struct ends *ends, uint64_t addr, uint32_t rule)
{
	return pd_unwind_table_add(ends->run->compiler->table, addr, rule);
}

static uint64_t old_addr(const struct ends *ends, size_t i)
{
	return ends->run->compiler->table->base + ends->old[i].addr;
}

// Takes over the rows as far as they begin before an address, and knows the last one.
static bool keep_before(struct ends *ends, uint64_t addr)
{
	bool begins = ends->at < ends->old_count && old_addr(ends, ends->at) == ends->from;

	if (ends->resumes && addr > ends->from && !begins && !add_row(ends, ends->from, ends->rule))
		return false;
	ends->resumes &= addr <= ends->from;
	for (; ends->at < ends->old_count && old_addr(ends, ends->at) < addr; ends->at++) {
		ends->rule = ends->old[ends->at].rule;
		if (!add_row(ends, old_addr(ends, ends->at), ends->rule))
			return false;
	}
	ends->from = addr;
	return true;
}

// Those before an address are replaced by rows that were added; from there on the old ones hold again.
static void drop_before(struct ends *ends, uint64_t addr)
{
	for (; ends->at < ends->old_count && old_addr(ends, ends->at) < addr; ends->at++)
		ends->rule = ends->old[ends->at].rule;
	ends->from = addr;
	ends->resumes = true;
}

// What holds at an address by the old rows.
static uint32_t old_number(const struct ends *ends, uint64_t addr)
{
	uint32_t rule = ends->rule;

	for (size_t i = ends->at; i < ends->old_count && old_addr(ends, i) <= addr; i++)
		rule = ends->old[i].rule;
	return rule;
}

// NULL: nothing.
static const struct pd_unwind_rule *old_rule(const struct ends *ends, uint64_t addr)
{
	uint32_t rule = old_number(ends, addr);

	return rule ? pd_unwind_table_at(ends->run->compiler->table, rule) : NULL;
}

// Rules that instructions can say better: those of ordinary functions.
static bool is_usual(const struct pd_unwind_rule *rule)
{
	const struct pd_saved *saved = rule ? pd_ends_saved_of(rule, rule->ra) : NULL;

	return rule && rule->kind == PD_CFA_REGISTER && !rule->is_signal &&
	       !(saved && saved->kind == PD_SAVED_UNDEFINED);
}

// The number of the rule for what holds at an address. More rules than there is room for are left out.
static uint32_t known_rule(struct ends *ends, uint64_t addr, const struct pd_cfi_state *state)
{
	uint32_t number = pd_cfi_rule(ends->run, state);

	return number ? number : old_number(ends, addr);
}

// ---- a function ----

static uint64_t limit_of(const struct ends *ends, uint64_t start)
{
	return ends->run->end - start < MOST_BYTES ? ends->run->end : start + MOST_BYTES;
}

// Whether a rule is right in where the frame is and what is saved there, and has all that is lost.
static bool agrees(const struct ends *ends, const struct pd_unwind_rule *rule, const struct pd_begun *b)
{
	uint64_t left = b->lost;
	int64_t cfa;

	for (size_t i = 0; i < rule->count; i++) {
		uint64_t bit = pd_effect_bit(rule->saved[i].number);

		// the link register may be in memory and itself
		if (rule->saved[i].number != rule->ra && bit & ends->machine.effects->kept & ~b->state.set)
			return false;
		left &= ~bit;
	}
	return !left && pd_begun_base(b, rule->cfa_register, &cfa) && rule->cfa == cfa;
}

// Callers are found by rules where they call, so that the link register has to be in memory there.
static uint32_t begun_rule(struct ends *ends, uint64_t addr, const struct pd_begun *b, const struct pd_effect *effect)
{
	struct pd_cfi_state state = pd_begun_visible(b);

	if (effect->kind == PD_EFFECT_UNKNOWN && !(state.set >> ends->machine.arch->ra & 1))
		return old_number(ends, addr);
	return known_rule(ends, addr, &state);
}

static bool is_of_called(const struct ends *ends, const struct pd_unwind_rule *rule)
{
	return is_usual(rule) && !rule->count && rule->cfa == ends->machine.arch->below_cfa &&
	       rule->cfa_register == ends->machine.arch->sp;
}

// From the begin to where rules know the frame by another register than the stack pointer, or to where instructions are not known.
// Before rules change for the first time they say that nothing was done yet, and some change too early.
static bool correct_begin(struct ends *ends, uint64_t start)
{
	const struct pd_unwind_rule *rule = old_rule(ends, start);
	uint64_t addr = start, limit = ends->run->end - start < MOST_BYTES ? ends->run->end : start + MOST_BYTES;
	struct pd_begun b = { .state = pd_ends_called(&ends->machine),
			      .frame = PD_UNWIND_NO_REGISTER,
			      .link = PD_UNWIND_NO_REGISTER };
	struct pd_effect effect;
	bool is_known = is_of_called(ends, rule), is_right;

	for (; addr < limit && is_known; addr += effect.size) {
		rule = old_rule(ends, addr);
		is_right = !is_usual(rule) || agrees(ends, rule, &b);
		if (is_right && (!rule || rule->cfa_register != b.state.cfa_register))
			break;
		is_known = code_at(ends, addr, &effect);
		if (!add_row(ends, addr, is_right ? old_number(ends, addr) : begun_rule(ends, addr, &b, &effect)))
			return false;
		is_known = is_known && pd_begun_step(&ends->machine, &b, &effect);
	}
	if (addr > start)
		drop_before(ends, addr < limit ? addr : limit);
	return true;
}

// Whether all that the rule of a whole function says is done.
static bool is_begun(const struct ends *ends, const struct pd_unwind_rule *rule, const struct pd_begun *b)
{
	uint64_t left = b->lost;
	int64_t cfa;

	for (size_t i = 0; i < rule->count; i++) {
		const struct pd_saved *saved = &rule->saved[i];

		if (pd_ends_is_kept(&ends->machine, saved->number) &&
		    (saved->kind != PD_SAVED_AT_CFA || !(b->state.set >> saved->number & 1) ||
		     b->state.registers[saved->number].value != saved->value))
			return false;
		left &= ~pd_effect_bit(saved->number);
	}
	return !left && pd_begun_base(b, rule->cfa_register, &cfa) && rule->cfa == cfa;
}

// The address from which on the rule of a whole function holds, if nothing was done at start. 0: it is not known.
static uint64_t find_begun(const struct ends *ends, uint64_t start, uint64_t limit)
{
	const struct pd_unwind_rule *rule = old_rule(ends, start);
	struct pd_begun b = pd_begun_at(&ends->machine);
	struct pd_effect effect;

	for (uint64_t addr = start; is_usual(rule) && addr < limit; addr += effect.size) {
		if (is_begun(ends, rule, &b))
			return addr;
		if (!code_at(ends, addr, &effect) || !pd_begun_step(&ends->machine, &b, &effect))
			return 0;
	}
	return 0;
}

// Before the rule of a whole function holds. What makes its frame, and all of it, is run where there is none yet: at the begin of the
// function, of one after it that has the same rule, or behind a return.
static bool correct_whole_begin(struct ends *ends, uint64_t start)
{
	uint64_t limit = limit_of(ends, start), end = find_begun(ends, start, limit);
	struct pd_begun b = pd_begun_at(&ends->machine);
	struct pd_cfi_state state;
	struct pd_effect effect;

	if (end <= start)
		return true;
	for (uint64_t addr = start; addr < end && code_at(ends, addr, &effect); addr += effect.size) {
		state = pd_begun_visible(&b);
		if (!add_row(ends, addr, known_rule(ends, addr, &state)))
			return false;
		pd_begun_step(&ends->machine, &b, &effect);
	}
	drop_before(ends, end);
	return true;
}

// The address of the instruction so many before the present one.
static uint64_t addr_before(const struct ends *ends, size_t count)
{
	return ends->before[(ends->passed - count) % MOST];
}

static bool leads_away(const struct pd_effect *effect)
{
	return effect->kind == PD_EFFECT_UNKNOWN || effect->kind == PD_EFFECT_JUMP || effect->kind == PD_EFFECT_RETURN;
}

// What is run with a jump does not lead to the instruction after it.
static bool is_delayed(const struct ends *ends, size_t count)
{
	struct pd_effect effect;

	return ends->machine.effects->has_delay && count < ends->passed && count < MOST &&
	       (!code_at(ends, addr_before(ends, count + 1), &effect) || leads_away(&effect));
}

// What holds at a return or a jump, and before the last instructions up to it. Returns how many there are of which it is known.
static size_t find_states(struct ends *ends)
{
	struct pd_effect effect;
	size_t count = 0;

	for (; count + 1 < MOST && count < ends->passed && addr_before(ends, count + 1) >= ends->from; count++) {
		uint64_t addr = addr_before(ends, count + 1);

		ends->states[count + 1] = ends->states[count];
		if (is_delayed(ends, count + 1) || !code_at(ends, addr, &effect) ||
		    !pd_known_step(&ends->machine, &ends->states[count + 1], &effect, old_rule(ends, addr)))
			break;
	}
	return count;
}

static bool has_saved(const struct ends *ends, const struct pd_unwind_rule *rule, const struct pd_cfi_state *state,
		      unsigned number)
{
	const struct pd_saved *saved = pd_ends_saved_of(rule, number);

	return saved && saved->kind == PD_SAVED_AT_CFA &&
	       (number == ends->machine.arch->ra || saved->value == state->registers[number].value);
}

// Whether a rule says the same of what is not taken back yet. Of the rest it may say where it was.
static bool is_as_good(const struct ends *ends, const struct pd_unwind_rule *rule, const struct pd_cfi_state *state)
{
	if (!is_usual(rule) || rule->cfa_register != state->cfa_register || rule->cfa != state->cfa)
		return false;
	for (uint64_t left = state->set; left; left &= left - 1)
		if (!has_saved(ends, rule, state, (unsigned)__builtin_ctzll(left)))
			return false;
	return true;
}

// A CFA of two registers is none that a row can have.
static bool add_end_row(struct ends *ends, uint64_t addr, const struct pd_known *known)
{
	bool is_good = known->added != PD_UNWIND_NO_REGISTER || is_as_good(ends, old_rule(ends, addr), &known->state);

	return add_row(ends, addr, is_good ? old_number(ends, addr) : known_rule(ends, addr, &known->state));
}

// A jump to another function ends this one if all was given back that the rules say there is; code of one function may be in
// two places.
static bool is_end(const struct ends *ends, uint64_t start, uint64_t addr, const struct pd_effect *effect, size_t count)
{
	const struct pd_known *known = &ends->states[count];
	const struct pd_unwind_rule *rule;

	if (effect->kind == PD_EFFECT_RETURN)
		return is_usual(old_rule(ends, addr));
	if (effect->target - start < ends->run->end - start)
		return false;
	rule = old_rule(ends, count ? addr_before(ends, count) : addr);
	return is_usual(rule) && known->added == PD_UNWIND_NO_REGISTER &&
	       known->state.cfa != ends->machine.arch->below_cfa && rule->cfa == known->state.cfa &&
	       rule->cfa_register == known->state.cfa_register;
}

// What holds at a return or a jump: after it, and what is run with it, the function has given back all.
static bool find_last(struct ends *ends, uint64_t addr, const struct pd_effect *effect, uint64_t *end_out)
{
	struct pd_known *last = &ends->states[0];
	struct pd_effect delayed;

	*last = (struct pd_known){ .state = pd_ends_called(&ends->machine), .added = PD_UNWIND_NO_REGISTER };
	*end_out = addr + effect->size;
	if (ends->machine.effects->has_delay) {
		if (*end_out >= ends->run->end || !code_at(ends, *end_out, &delayed) ||
		    !pd_known_step(&ends->machine, last, &delayed, old_rule(ends, *end_out)))
			return false;
		*end_out += delayed.size;
	}
	return !effect->count || pd_known_load(&ends->machine, last, effect, old_rule(ends, addr));
}

// At a return or a jump.
static bool correct_end(struct ends *ends, uint64_t start, uint64_t addr, const struct pd_effect *effect)
{
	uint64_t end;
	size_t count;

	if (!find_last(ends, addr, effect, &end))
		return keep_before(ends, addr);
	count = find_states(ends);
	if (!is_end(ends, start, addr, effect, count))
		return keep_before(ends, addr);
	if (!keep_before(ends, count ? addr_before(ends, count) : addr))
		return false;
	for (size_t i = count; i; i--)
		if (!add_end_row(ends, addr_before(ends, i), &ends->states[i]))
			return false;
	if (!add_end_row(ends, addr, &ends->states[0]) ||
	    (ends->machine.effects->has_delay && !add_end_row(ends, addr + effect->size, &ends->states[0])))
		return false;
	drop_before(ends, end);
	return true;
}

static bool leaves(const struct pd_effect *effect)
{
	return effect->kind == PD_EFFECT_RETURN || effect->kind == PD_EFFECT_JUMP;
}

// After a return or a jump a whole function may begin, or another one with the same rule.
static bool begin_again(struct ends *ends, uint64_t addr, const struct pd_effect *effect)
{
	if (effect->is_conditional || addr >= ends->run->end)
		return true;
	return keep_before(ends, addr) && correct_whole_begin(ends, addr);
}

static bool correct_all(struct ends *ends, uint64_t start)
{
	struct pd_effect effect;

	if (!(ends->is_whole ? correct_whole_begin(ends, start) : correct_begin(ends, start)))
		return false;
	for (uint64_t addr = start; addr < ends->run->end && code_at(ends, addr, &effect); addr += effect.size) {
		if (addr >= ends->from && leaves(&effect) &&
		    (!correct_end(ends, start, addr, &effect) ||
		     (ends->is_whole && !begin_again(ends, addr + effect.size, &effect))))
			return false;
		ends->before[ends->passed++ % MOST] = addr;
	}
	return keep_before(ends, ends->run->end);
}

// Which instructions a function has: as most of its first words are.
static const struct pd_effect_set *choose_effects(const struct pd_code *code, uint64_t start, uint64_t end)
{
	const struct pd_effect_set *effects = code->effects;
	uint64_t at = (start - code->addr) & ~UINT64_C(3);
	size_t count = 0, likely = 0;

	if (!effects->other || start < code->addr)
		return effects;
	for (; count < LOOKED_AT && 4 * count < end - start && at < code->bytes.size && code->bytes.size - at >= 4;
	     at += 4, count++)
		likely += effects->is_likely(pd_load_u32(code->bytes.data + at, code->swap));
	return 2 * likely > count ? effects : effects->other;
}

static bool correct(struct pd_cfi_run *run, const struct pd_code *code, size_t first, bool is_whole)
{
	struct pd_unwind_table *table = run->compiler->table;
	struct ends ends = { .run = run,
			     .code = code,
			     .machine = { .arch = run->compiler->arch },
			     .is_whole = is_whole,
			     .old_count = table->row_count - first };
	uint64_t start = ends.old_count ? table->base + table->rows[first].addr : 1;
	bool done = false;

	ends.machine.effects = choose_effects(code, start, run->end);
	if (start % ends.machine.effects->unit)
		return true;
	ends.from = start;
	ends.old = pd_realloc(NULL, ends.old_count * sizeof(*ends.old));
	ends.states = pd_realloc(NULL, MOST * sizeof(*ends.states));
	if (ends.old && ends.states) {
		memcpy(ends.old, table->rows + first, ends.old_count * sizeof(*ends.old));
		table->row_count = first;
		done = correct_all(&ends, start);
	}
	pd_free(ends.old);
	pd_free(ends.states);
	return done;
}

bool pd_ends_correct(struct pd_cfi_run *run, const struct pd_code *code, size_t first)
{
	return correct(run, code, first, false);
}

bool pd_ends_correct_whole(struct pd_cfi_run *run, const struct pd_code *code, size_t first)
{
	return correct(run, code, first, true);
}
