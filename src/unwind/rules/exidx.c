/* SPDX-License-Identifier: MIT */
#include "unwind/rules/exidx.h"

#include <string.h>

#include "object/dwarf/dwarf.h"
#include "unwind/ends/ends.h"

enum {
	ENTRY = 8,
	CANNOT_UNWIND = 1,
	INSTRUCTIONS_MOST = 4 + 255 * 4,
	WORD = 4,
	REGISTERS = 16,
	SP = 13,
	LR = 14,
	PC = 15
};

// Where the virtual stack pointer is, and which registers were saved: both from a register.
struct machine {
	uint8_t base;
	int64_t offset;
	uint32_t popped; // a bit for each register
	int64_t at[REGISTERS];
	bool refused, finished;
};

// ---- memory ----

static bool read_word(const struct pd_exidx *exidx, uint64_t addr, uint32_t *word_out)
{
	struct pd_cursor c = pd_cursor(exidx->memory.data, exidx->memory.size, exidx->big);

	pd_cursor_take(&c, addr - exidx->memory_addr);
	*word_out = pd_cursor_u32(&c);
	return !c.failed;
}

// A distance of 31 bits from its own place.
static uint64_t follow(uint64_t addr, uint32_t word)
{
	int32_t distance = (int32_t)(word << 1) >> 1;

	return (uint32_t)(addr + (uint64_t)(int64_t)distance);
}

static void put_word(uint8_t *to, uint32_t word)
{
	for (unsigned i = 0; i < WORD; i++)
		to[i] = (uint8_t)(word >> (24 - 8 * i));
}

// The instructions in a word and those that follow it: skip bytes of the first word are something else.
static size_t copy_words(const struct pd_exidx *exidx, uint64_t addr, uint32_t first, unsigned skip, unsigned more,
			 uint8_t *to)
{
	uint32_t word;

	put_word(to, first);
	for (unsigned i = 0; i < more; i++) {
		addr += WORD;
		if (!read_word(exidx, addr, &word))
			return 0;
		put_word(to + WORD + (size_t)i * WORD, word);
	}
	memmove(to, to + skip, WORD + (size_t)more * WORD - skip);
	return WORD + (size_t)more * WORD - skip;
}

// The instructions of a table, after a compact model or a routine of the language.
static size_t read_table(const struct pd_exidx *exidx, uint64_t addr, uint8_t *to)
{
	uint32_t word;

	if (!read_word(exidx, addr, &word))
		return 0;
	if (!(word >> 31)) {
		addr += WORD;
		return read_word(exidx, addr, &word) ? copy_words(exidx, addr, word, 1, word >> 24, to) : 0;
	}
	switch (word >> 24 & 0x7f) {
	case 0:
		return copy_words(exidx, addr, word, 1, 0, to);
	case 1:
	case 2:
		return copy_words(exidx, addr, word, 2, word >> 16 & 0xff, to);
	default:
		return 0;
	}
}

// ---- instructions ----

static void pop(struct machine *m, unsigned first, uint32_t mask)
{
	for (unsigned i = 0; mask; i++, mask >>= 1) {
		if (!(mask & 1))
			continue;
		m->at[first + i] = m->offset;
		m->popped |= 1u << (first + i);
		m->offset += WORD;
	}
}

static void pop_many(struct machine *m, unsigned op, unsigned next)
{
	uint32_t mask = (op & 0xf) << 8 | next;

	if (mask)
		pop(m, 4, mask);
	// what follows would be relative to a value in memory
	m->finished |= m->popped >> SP & 1;
	m->refused |= !mask;
}

// The stack pointer is that of another register, which must still be as it is.
static void move_base(struct machine *m, unsigned reg)
{
	if (m->popped || reg == SP || reg == PC) {
		m->refused = true;
		return;
	}
	m->base = (uint8_t)reg;
	m->offset = 0;
}

static void run_special(struct machine *m, struct pd_cursor *c, unsigned op)
{
	unsigned next;

	switch (op) {
	case 0xb0:
		m->finished = true;
		return;
	case 0xb1: // r0 to r3
		next = pd_cursor_u8(c);
		if (!next || next > 0xf)
			m->refused = true;
		else
			pop(m, 0, next);
		return;
	case 0xb2:
		m->offset += 0x204 + (int64_t)(pd_dwarf_uleb(c) & 0xffffff) * 4;
		return;
	case 0xb3: // registers of 8 bytes, and a word
		m->offset += 8 * (int64_t)((pd_cursor_u8(c) & 0xf) + 1) + 4;
		return;
	case 0xb4: // a code of pointer authentication
		m->offset += WORD;
		return;
	default:
		if (op >= 0xb8)
			m->offset += 8 * (int64_t)((op & 7) + 1) + 4;
		else
			m->refused = true;
	}
}

static void run_vector(struct machine *m, struct pd_cursor *c, unsigned op)
{
	if (op == 0xc6 || op == 0xc8 || op == 0xc9)
		m->offset += 8 * (int64_t)((pd_cursor_u8(c) & 0xf) + 1);
	else if (op == 0xc7)
		m->offset += 4 * (int64_t)__builtin_popcount(pd_cursor_u8(c) & 0xfu);
	else if (op < 0xc6 || (op >= 0xd0 && op <= 0xd7))
		m->offset += 8 * (int64_t)((op & 7) + 1);
	else
		m->refused = true;
}

static void run_instruction(struct machine *m, struct pd_cursor *c)
{
	unsigned op = pd_cursor_u8(c);

	if (op < 0x40)
		m->offset += (int64_t)(op & 0x3f) * 4 + 4;
	else if (op < 0x80)
		m->offset -= (int64_t)(op & 0x3f) * 4 + 4;
	else if (op < 0x90)
		pop_many(m, op, pd_cursor_u8(c));
	else if (op < 0xa0)
		move_base(m, op & 0xf);
	else if (op < 0xb0)
		pop(m, 4, ((2u << (op & 7)) - 1) | (op & 8 ? 1u << (LR - 4) : 0));
	else if (op < 0xc0)
		run_special(m, c, op);
	else
		run_vector(m, c, op);
}

// ---- rules ----

static uint64_t saved_word(unsigned number, unsigned kind, int64_t value)
{
	const struct pd_saved saved = { .number = (uint8_t)number, .kind = (uint8_t)kind, .value = (int32_t)value };
	uint64_t word;

	memcpy(&word, &saved, sizeof(word));
	return word;
}

static uint32_t make_rule(struct pd_unwind_table *table, const struct machine *m, bool outermost)
{
	struct pd_unwind_rule rule = {
		.cfa = (int32_t)m->offset, .kind = PD_CFA_REGISTER, .cfa_register = m->base, .ra = LR
	};
	uint64_t words[REGISTERS + 1];
	size_t count = 1;

	for (unsigned i = 0; i < PC; i++) {
		// a return address that was popped at once is that of the link register
		unsigned from = i == LR && m->popped >> PC & 1 ? PC : i;

		if (i == LR && outermost)
			words[count++] = saved_word(LR, PD_SAVED_UNDEFINED, PD_UNDEFINED_MAYBE);
		else if (m->popped >> from & 1)
			words[count++] = saved_word(i, PD_SAVED_AT_CFA, m->at[from] - m->offset);
	}
	rule.count = (uint8_t)(count - 1) & 0x7f;
	memcpy(words, &rule, sizeof(rule));
	return pd_unwind_table_rule(table, words, count);
}

// The rule of an entry; false if it has none that is understood.
static bool compile_entry(const struct pd_exidx *exidx, uint64_t addr, struct machine *m, bool *outermost_out)
{
	uint8_t instructions[INSTRUCTIONS_MOST];
	struct pd_cursor c;
	uint32_t word;
	size_t size;

	*m = (struct machine){ .base = SP };
	*outermost_out = false;
	if (!read_word(exidx, addr, &word))
		return false;
	if (word == CANNOT_UNWIND) {
		*outermost_out = true;
		return true;
	}
	if (word >> 31)
		size = copy_words(exidx, addr, word, 1, 0, instructions);
	else
		size = read_table(exidx, follow(addr, word), instructions);
	c = pd_cursor(instructions, size, exidx->big);
	while (pd_cursor_left(&c) && !m->finished && !m->refused)
		run_instruction(m, &c);
	return size && !c.failed && !m->refused && m->offset == (int32_t)m->offset;
}

// What goes through the list.
struct pass {
	const struct pd_exidx *exidx;
	struct pd_unwind_table *table;
	size_t known; // the first row of other rules at the present function or behind it
	struct pd_cfi_run *run;
};

static bool add_entry(const struct pass *p, uint64_t at, uint64_t start)
{
	struct machine m;
	bool outermost;
	uint32_t number = 0;

	if (compile_entry(p->exidx, at + WORD, &m, &outermost)) {
		number = make_rule(p->table, &m, outermost);
		if (!number)
			return false;
	}
	return pd_unwind_table_add(p->table, start, number);
}

// Whether other rules are known of a part of a function.
static bool has_known(struct pass *p, uint64_t start, uint64_t end)
{
	const struct pd_unwind_table *table = p->table;

	while (p->known < table->sorted_count && table->base + table->rows[p->known].addr <= start)
		p->known++;
	return p->known < table->sorted_count && table->base + table->rows[p->known].addr < end;
}

// A function and the next ones that have the same rule.
static bool add_function(struct pass *p, uint64_t at, uint64_t start, uint64_t end)
{
	size_t first = p->table->row_count;

	if (!add_entry(p, at, start))
		return false;
	if (!p->run || first == p->table->row_count || start >= end || has_known(p, start, end))
		return true;
	p->run->at = start;
	p->run->end = end;
	return pd_ends_correct_whole(p->run, p->exidx->code, first) && !p->run->compiler->out_of_memory;
}

// The begin of the function of an entry, and that of the next one. False if there is none, or it is damaged: they are sorted.
static bool read_entry(const struct pass *p, uint64_t at, uint64_t mask, uint64_t *start_out)
{
	const struct pd_exidx *exidx = p->exidx;
	uint32_t word;

	if (exidx->size - (at - exidx->addr) < ENTRY || !read_word(exidx, at, &word) || word >> 31)
		return false;
	*start_out = follow(at, word) & mask;
	return true;
}

static bool compile_list(struct pass *p, uint64_t mask)
{
	uint64_t start = 0, next = 0, at = p->exidx->addr;
	bool more = read_entry(p, at, mask, &next);

	while (more) {
		start = next;
		at += ENTRY;
		more = read_entry(p, at, mask, &next) && next >= start;
		if (!pd_unwind_table_find(p->table, start) &&
		    !add_function(p, at - ENTRY, start, more ? next : p->exidx->code_end))
			return false;
	}
	return pd_unwind_table_add(p->table, p->exidx->code_end, 0) && pd_unwind_table_sort(p->table);
}

// The code of all functions says more of each.
static bool compile_with_code(struct pass *p, const struct pd_unwind_arch *arch)
{
	const struct pd_cfi_common common = { .ra = LR };
	struct pd_cfi_compiler compiler = { .arch = arch,
					    .table = p->table,
					    .words_most = pd_cfi_words_most(p->table, p->exidx->size, p->exidx->code) };
	bool done;

	p->run = pd_alloc(sizeof(*p->run));
	if (!p->run)
		return false;
	p->run->compiler = &compiler;
	p->run->common = &common;
	done = compile_list(p, arch->code_mask);
	pd_free(p->run);
	return done;
}

bool pd_exidx_compile(const struct pd_exidx *exidx, const struct pd_unwind_arch *arch, struct pd_unwind_table *table)
{
	struct pass p = { .exidx = exidx, .table = table };

	return exidx->code ? compile_with_code(&p, arch) : compile_list(&p, arch->code_mask);
}
