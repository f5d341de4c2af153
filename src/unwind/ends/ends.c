/* SPDX-License-Identifier: MIT */
/* Rows of functions of which compilers leave the begin and the end out. */
#include "unwind/ends/ends.h"

#include <string.h>

#include "base/cursor.h"

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

// What holds at an address, and a register whose value the CFA is more, or less, or none.
struct known {
	struct pd_cfi_state state;
	uint8_t added;
	bool is_less;
};

// Rows of a function, of which those that are done are in place.
struct ends {
	struct pd_cfi_run *run;
	const struct pd_code *code;
	const struct pd_effect_set *effects;
	const struct pd_unwind_arch *arch;
	struct pd_unwind_row *old; // as they were
	size_t old_count, at;      // the next one that is not done
	uint32_t rule;             // of the last old row that is done
	uint64_t from;             // addresses before are done
	bool is_whole;             // one rule is all that is said of the function
	bool resumes;              // the old rule holds there again, which no row says yet
	struct known *states;      // before a return, from there back
	uint64_t before[MOST];     // addresses of the last instructions, in a ring
	uint64_t passed;           // how many there were
};

static uint64_t code_word(const struct ends *ends, const uint8_t *data, size_t left, unsigned *size_out)
{
	const struct pd_effect_set *effects = ends->effects;
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

	*effect_out = (struct pd_effect){ .kind = PD_EFFECT_UNKNOWN, .size = ends->effects->unit };
	// addresses of hostile functions begin at 0 again
	if (addr < code->addr || at > code->bytes.size || code->bytes.size - at < ends->effects->unit)
		return false;
	word = code_word(ends, code->bytes.data + at, code->bytes.size - at, &size);
	if (size > code->bytes.size - at)
		return false;
	*effect_out = ends->effects->decode(word, addr);
	effect_out->size = (uint8_t)size;
	return true;
}

static bool is_kept(const struct ends *ends, unsigned number)
{
	return ends->effects->kept >> number & 1;
}

static void save(struct pd_cfi_state *state, unsigned number, unsigned kind, int64_t value)
{
	state->registers[number] = (struct pd_cfi_register){ (uint8_t)kind, (int32_t)value };
	state->set |= pd_effect_bit(number);
}

static bool is_in_range(const struct pd_cfi_state *state)
{
	return state->cfa == (int32_t)state->cfa;
}

// The offset from the base of a word that is read or written.
static int64_t word_at(const struct ends *ends, const struct pd_effect *effect, size_t i)
{
	return effect->offset + ends->arch->word * (int64_t)i;
}

// ---- forwards from the begin ----

// What is known after the first instructions.
struct begun {
	struct pd_cfi_state state; // with all registers that were written to the frame
	uint64_t lost;             // those that have other values now
	uint8_t frame;             // a register that was set to a place in the frame, or none
	int64_t frame_cfa;         // the CFA is so much more
	uint8_t link;              // a copy of the link register, or none
};

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

// Where a base is: the CFA is so much more. False if it is elsewhere.
static bool find_base(const struct begun *b, unsigned base, int64_t *cfa_out)
{
	*cfa_out = base == b->state.cfa_register ? b->state.cfa : b->frame_cfa;
	return base == b->state.cfa_register || base == b->frame;
}

static void store(const struct ends *ends, struct begun *b, const struct pd_effect *effect)
{
	int64_t cfa;

	for (size_t i = 0; i < effect->count && find_base(b, effect->base, &cfa); i++) {
		uint8_t number = effect->regs[i] == b->link ? ends->arch->ra : effect->regs[i];

		if (is_kept(ends, number) && !((b->state.set | b->lost) & pd_effect_bit(number)))
			save(&b->state, number, PD_SAVED_AT_CFA, word_at(ends, effect, i) - cfa);
	}
}

// Registers that are read from where they were written to.
static uint64_t takes_back(const struct ends *ends, const struct begun *b, const struct pd_effect *effect)
{
	uint64_t registers = 0;
	int64_t cfa;

	for (size_t i = 0; effect->kind == PD_EFFECT_LOAD && i < effect->count && find_base(b, effect->base, &cfa); i++)
		if (b->state.set & pd_effect_bit(effect->regs[i]) &&
		    b->state.registers[effect->regs[i]].value == word_at(ends, effect, i) - cfa)
			registers |= pd_effect_bit(effect->regs[i]);
	return registers;
}

static void note_copies(struct begun *b, const struct pd_effect *effect, uint64_t lost)
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

static bool is_followed(const struct ends *ends, const struct begun *b, const struct pd_effect *effect)
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
		return !(b->lost >> ends->arch->ra & 1);
	default:
		return false;
	}
}

// What holds after an instruction. False if it is not known: a register is lost that the caller wants back, or the stack pointer.
static bool go_on(const struct ends *ends, struct begun *b, const struct pd_effect *effect)
{
	uint64_t sp = pd_effect_bit(b->state.cfa_register), lost = loses(effect) | (moves(effect) & ~sp);

	if (!is_followed(ends, b, effect))
		return false;
	if (effect->kind == PD_EFFECT_BRANCH || effect->kind == PD_EFFECT_RETURN)
		return true; // it was not done
	if (effect->kind == PD_EFFECT_STORE)
		store(ends, b, effect);
	if (lost & ((~b->state.set & ends->effects->kept) | sp))
		return false;
	b->lost = (b->lost | (lost & ends->effects->kept)) & ~takes_back(ends, b, effect);
	note_copies(b, effect, lost);
	if (moves(effect) & sp) {
		if (effect->base != b->state.cfa_register)
			return false;
		b->state.cfa -= effect->step ? effect->step : effect->offset;
	}
	return is_in_range(&b->state);
}

// As a rule has it: what was written below the stack pointer is not looked for there as long as it is not lost.
static struct pd_cfi_state visible(const struct begun *b)
{
	struct pd_cfi_state state = b->state;

	for (uint64_t left = state.set & ~b->lost; left; left &= left - 1) {
		unsigned number = (unsigned)__builtin_ctzll(left);

		if (state.registers[number].value < -state.cfa)
			state.set &= ~pd_effect_bit(number);
	}
	return state;
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

static const struct pd_saved *saved_of(const struct pd_unwind_rule *rule, unsigned number)
{
	for (size_t i = 0; i < rule->count; i++)
		if (rule->saved[i].number == number)
			return &rule->saved[i];
	return NULL;
}

// Rules that instructions can say better: those of ordinary functions.
static bool is_usual(const struct pd_unwind_rule *rule)
{
	const struct pd_saved *saved = rule ? saved_of(rule, rule->ra) : NULL;

	return rule && rule->kind == PD_CFA_REGISTER && !rule->is_signal &&
	       !(saved && saved->kind == PD_SAVED_UNDEFINED);
}

// The number of the rule for what holds at an address. More rules than there is room for are left out.
static uint32_t known_rule(struct ends *ends, uint64_t addr, const struct pd_cfi_state *state)
{
	uint32_t number = pd_cfi_rule(ends->run, state);

	return number ? number : old_number(ends, addr);
}

// ---- backwards from a return ----

// Whether the link register is about to come from another one.
static bool has_link(const struct ends *ends, const struct pd_cfi_state *state, unsigned number)
{
	uint8_t ra = ends->arch->ra;

	return state->set >> ra & 1 && state->registers[ra].kind == PD_SAVED_REGISTER &&
	       state->registers[ra].value == (int32_t)number;
}

// Whether what holds after an instruction that gives a register another value says something of that value.
static bool means(const struct ends *ends, const struct known *known, unsigned number)
{
	const struct pd_cfi_state *state = &known->state;

	return number == state->cfa_register || number == known->added || has_link(ends, state, number) ||
	       (is_kept(ends, number) && !(state->set >> number & 1));
}

static bool may_lose(const struct ends *ends, const struct known *known, uint64_t registers)
{
	for (; registers; registers &= registers - 1)
		if (means(ends, known, (unsigned)__builtin_ctzll(registers)))
			return false;
	return true;
}

static bool take_back(const struct ends *ends, struct known *known, const struct pd_effect *effect, size_t i)
{
	struct pd_cfi_state *state = &known->state;
	unsigned number = effect->regs[i];
	int64_t value = word_at(ends, effect, i) - state->cfa;

	if (!means(ends, known, number))
		return true;
	if (number == state->cfa_register || number == known->added || effect->base != state->cfa_register ||
	    value != (int32_t)value || (is_kept(ends, number) && has_link(ends, state, number)))
		return false;
	// the link register by way of another one
	save(state, is_kept(ends, number) ? number : ends->arch->ra, PD_SAVED_AT_CFA, value);
	return true;
}

// The stack pointer is read, too: where the rule says that it is.
static bool load_stack_pointer(const struct ends *ends, struct known *known, const struct pd_effect *effect, size_t i,
			       uint64_t addr)
{
	const struct pd_unwind_rule *rule = old_rule(ends, addr);
	const struct pd_saved *saved = rule ? saved_of(rule, effect->regs[i]) : NULL;

	if (!saved || saved->kind != PD_SAVED_AT_CFA || known->state.cfa != ends->arch->below_cfa ||
	    known->added != PD_UNWIND_NO_REGISTER)
		return false;
	known->state.cfa_register = effect->base;
	known->state.cfa = word_at(ends, effect, i) - saved->value;
	return true;
}

static bool load_back(const struct ends *ends, struct known *known, const struct pd_effect *effect, uint64_t addr)
{
	uint8_t sp = ends->arch->sp;

	if (effect->step && effect->base == known->state.cfa_register)
		known->state.cfa += effect->step;
	else if (effect->step && means(ends, known, effect->base))
		return false;
	for (size_t i = 0; i < effect->count; i++)
		if (effect->regs[i] == sp && known->state.cfa_register == sp &&
		    !load_stack_pointer(ends, known, effect, i, addr))
			return false;
	for (size_t i = 0; i < effect->count; i++)
		if (effect->regs[i] != sp && !take_back(ends, known, effect, i))
			return false;
	return true;
}

static bool set_back(const struct ends *ends, struct known *known, const struct pd_effect *effect)
{
	struct pd_cfi_state *state = &known->state;

	if (effect->regs[0] == state->cfa_register && effect->base != PD_UNWIND_NO_REGISTER) {
		state->cfa_register = effect->base;
		state->cfa += effect->offset;
		return true;
	}
	if (effect->regs[0] != known->added || effect->base == state->cfa_register)
		return !means(ends, known, effect->regs[0]);
	state->cfa += known->is_less ? -effect->offset : effect->offset;
	known->added = effect->base;
	return true;
}

static bool add_back(const struct ends *ends, struct known *known, const struct pd_effect *effect)
{
	uint8_t sp = known->state.cfa_register;

	if (effect->regs[0] != sp || effect->base != sp || effect->regs[1] == sp ||
	    known->added != PD_UNWIND_NO_REGISTER)
		return !means(ends, known, effect->regs[0]);
	known->added = effect->regs[1];
	known->is_less = effect->kind == PD_EFFECT_SUBTRACT;
	return true;
}

static bool link_back(const struct ends *ends, struct pd_cfi_state *state, const struct pd_effect *effect)
{
	uint8_t ra = ends->arch->ra;

	if (!(state->set >> ra & 1))
		save(state, ra, PD_SAVED_REGISTER, effect->regs[0]);
	return true;
}

// What holds before an instruction, by what holds after it. False if it is not known.
static bool go_back(const struct ends *ends, struct known *known, const struct pd_effect *effect, uint64_t addr)
{
	if (!may_lose(ends, known, effect->writes))
		return false;
	switch (effect->kind) {
	case PD_EFFECT_OTHER:
		return true;
	case PD_EFFECT_LOAD:
		return load_back(ends, known, effect, addr) && is_in_range(&known->state);
	case PD_EFFECT_SET:
		return set_back(ends, known, effect) && is_in_range(&known->state);
	case PD_EFFECT_ADD:
	case PD_EFFECT_SUBTRACT:
		return add_back(ends, known, effect);
	case PD_EFFECT_LINK:
		return link_back(ends, &known->state, effect);
	default:
		return false;
	}
}

// ---- a function ----

static struct pd_cfi_state called(const struct ends *ends)
{
	return (struct pd_cfi_state){ .kind = PD_CFA_REGISTER,
				      .cfa_register = ends->arch->sp,
				      .cfa = ends->arch->below_cfa };
}

static struct begun begin_of(const struct ends *ends)
{
	return (struct begun){ .state = called(ends), .frame = PD_UNWIND_NO_REGISTER, .link = PD_UNWIND_NO_REGISTER };
}

static uint64_t limit_of(const struct ends *ends, uint64_t start)
{
	return ends->run->end - start < MOST_BYTES ? ends->run->end : start + MOST_BYTES;
}

// Whether a rule is right in where the frame is and what is saved there, and has all that is lost.
static bool agrees(const struct ends *ends, const struct pd_unwind_rule *rule, const struct begun *b)
{
	uint64_t left = b->lost;
	int64_t cfa;

	for (size_t i = 0; i < rule->count; i++) {
		uint64_t bit = pd_effect_bit(rule->saved[i].number);

		// the link register may be in memory and itself
		if (rule->saved[i].number != rule->ra && bit & ends->effects->kept & ~b->state.set)
			return false;
		left &= ~bit;
	}
	return !left && find_base(b, rule->cfa_register, &cfa) && rule->cfa == cfa;
}

// Callers are found by rules where they call, so that the link register has to be in memory there.
static uint32_t begun_rule(struct ends *ends, uint64_t addr, const struct begun *b, const struct pd_effect *effect)
{
	struct pd_cfi_state state = visible(b);

	if (effect->kind == PD_EFFECT_UNKNOWN && !(state.set >> ends->arch->ra & 1))
		return old_number(ends, addr);
	return known_rule(ends, addr, &state);
}

static bool is_of_called(const struct ends *ends, const struct pd_unwind_rule *rule)
{
	return is_usual(rule) && !rule->count && rule->cfa == ends->arch->below_cfa &&
	       rule->cfa_register == ends->arch->sp;
}

// From the begin to where rules know the frame by another register than the stack pointer, or to where instructions are not known.
// Before rules change for the first time they say that nothing was done yet, and some change too early.
static bool correct_begin(struct ends *ends, uint64_t start)
{
	const struct pd_unwind_rule *rule = old_rule(ends, start);
	uint64_t addr = start, limit = ends->run->end - start < MOST_BYTES ? ends->run->end : start + MOST_BYTES;
	struct begun b = { .state = called(ends), .frame = PD_UNWIND_NO_REGISTER, .link = PD_UNWIND_NO_REGISTER };
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
		is_known = is_known && go_on(ends, &b, &effect);
	}
	if (addr > start)
		drop_before(ends, addr < limit ? addr : limit);
	return true;
}

// Whether all that the rule of a whole function says is done.
static bool is_begun(const struct ends *ends, const struct pd_unwind_rule *rule, const struct begun *b)
{
	uint64_t left = b->lost;
	int64_t cfa;

	for (size_t i = 0; i < rule->count; i++) {
		const struct pd_saved *saved = &rule->saved[i];

		if (is_kept(ends, saved->number) &&
		    (saved->kind != PD_SAVED_AT_CFA || !(b->state.set >> saved->number & 1) ||
		     b->state.registers[saved->number].value != saved->value))
			return false;
		left &= ~pd_effect_bit(saved->number);
	}
	return !left && find_base(b, rule->cfa_register, &cfa) && rule->cfa == cfa;
}

// The address from which on the rule of a whole function holds, if nothing was done at start. 0: it is not known.
static uint64_t find_begun(const struct ends *ends, uint64_t start, uint64_t limit)
{
	const struct pd_unwind_rule *rule = old_rule(ends, start);
	struct begun b = begin_of(ends);
	struct pd_effect effect;

	for (uint64_t addr = start; is_usual(rule) && addr < limit; addr += effect.size) {
		if (is_begun(ends, rule, &b))
			return addr;
		if (!code_at(ends, addr, &effect) || !go_on(ends, &b, &effect))
			return 0;
	}
	return 0;
}

// Before the rule of a whole function holds. What makes its frame, and all of it, is run where there is none yet: at the begin of the
// function, of one after it that has the same rule, or behind a return.
static bool correct_whole_begin(struct ends *ends, uint64_t start)
{
	uint64_t limit = limit_of(ends, start), end = find_begun(ends, start, limit);
	struct begun b = begin_of(ends);
	struct pd_cfi_state state;
	struct pd_effect effect;

	if (end <= start)
		return true;
	for (uint64_t addr = start; addr < end && code_at(ends, addr, &effect); addr += effect.size) {
		state = visible(&b);
		if (!add_row(ends, addr, known_rule(ends, addr, &state)))
			return false;
		go_on(ends, &b, &effect);
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

	return ends->effects->has_delay && count < ends->passed && count < MOST &&
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
		    !go_back(ends, &ends->states[count + 1], &effect, addr))
			break;
	}
	return count;
}

static bool has_saved(const struct ends *ends, const struct pd_unwind_rule *rule, const struct pd_cfi_state *state,
		      unsigned number)
{
	const struct pd_saved *saved = saved_of(rule, number);

	return saved && saved->kind == PD_SAVED_AT_CFA &&
	       (number == ends->arch->ra || saved->value == state->registers[number].value);
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
static bool add_end_row(struct ends *ends, uint64_t addr, const struct known *known)
{
	bool is_good = known->added != PD_UNWIND_NO_REGISTER || is_as_good(ends, old_rule(ends, addr), &known->state);

	return add_row(ends, addr, is_good ? old_number(ends, addr) : known_rule(ends, addr, &known->state));
}

// A jump to another function ends this one if all was given back that the rules say there is; code of one function may be in
// two places.
static bool is_end(const struct ends *ends, uint64_t start, uint64_t addr, const struct pd_effect *effect, size_t count)
{
	const struct known *known = &ends->states[count];
	const struct pd_unwind_rule *rule;

	if (effect->kind == PD_EFFECT_RETURN)
		return is_usual(old_rule(ends, addr));
	if (effect->target - start < ends->run->end - start)
		return false;
	rule = old_rule(ends, count ? addr_before(ends, count) : addr);
	return is_usual(rule) && known->added == PD_UNWIND_NO_REGISTER && known->state.cfa != ends->arch->below_cfa &&
	       rule->cfa == known->state.cfa && rule->cfa_register == known->state.cfa_register;
}

// What holds at a return or a jump: after it, and what is run with it, the function has given back all.
static bool find_last(struct ends *ends, uint64_t addr, const struct pd_effect *effect, uint64_t *end_out)
{
	struct known *last = &ends->states[0];
	struct pd_effect delayed;

	*last = (struct known){ .state = called(ends), .added = PD_UNWIND_NO_REGISTER };
	*end_out = addr + effect->size;
	if (ends->effects->has_delay) {
		if (*end_out >= ends->run->end || !code_at(ends, *end_out, &delayed) ||
		    !go_back(ends, last, &delayed, *end_out))
			return false;
		*end_out += delayed.size;
	}
	return !effect->count || load_back(ends, last, effect, addr);
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
	    (ends->effects->has_delay && !add_end_row(ends, addr + effect->size, &ends->states[0])))
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
			     .arch = run->compiler->arch,
			     .is_whole = is_whole,
			     .old_count = table->row_count - first };
	uint64_t start = ends.old_count ? table->base + table->rows[first].addr : 1;
	bool done = false;

	ends.effects = choose_effects(code, start, run->end);
	if (start % ends.effects->unit)
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
