/* SPDX-License-Identifier: MIT */
/*
 * RISC-V: from capstone's writer to that of binutils. Compressed instructions go by the names of the full ones, immediate
 * operands have no mnemonics of their own, and what two instructions compute together as an address is said at the second.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "annotate/notation/notation.h"

struct riscv {
	struct pd_notation_writer *s;
	char mnemonic[40];
	struct pd_operand operands[PD_OPERANDS];
	size_t count;
	bool has_addr; // that is computed
	uint64_t addr;
};

static bool is(const struct riscv *r, const char *list)
{
	return pd_word_is_in(list, r->mnemonic, strlen(r->mnemonic));
}

static bool operand_is(const struct riscv *r, size_t index, const char *text)
{
	return index < r->count && pd_operand_is(&r->operands[index], text);
}

static void rename_to(struct riscv *r, const char *name)
{
	snprintf(r->mnemonic, sizeof(r->mnemonic), "%s", name);
}

static void drop(struct riscv *r, size_t index)
{
	memmove(&r->operands[index], &r->operands[index + 1], (--r->count - index) * sizeof(*r->operands));
}

static uint64_t number_at(const struct riscv *r, size_t index)
{
	uint64_t number = 0;
	size_t length;

	if (index < r->count)
		pd_operand_number(r->operands[index].text, r->operands[index].size, &number, &length);
	return number;
}

// ---- mnemonics ----

// "c.add a0, a5" is "add a0,a0,a5".
static void expand(struct riscv *r)
{
	if (strncmp(r->mnemonic, "c.", 2) != 0)
		return;
	memmove(r->mnemonic, r->mnemonic + 2, strlen(r->mnemonic) - 1);
	if (is(r, "addi4spn"))
		rename_to(r, "addi");
	else if (is(r, "addi16sp"))
		rename_to(r, "addi");
	else if (strlen(r->mnemonic) > 2 && !strcmp(r->mnemonic + strlen(r->mnemonic) - 2, "sp"))
		r->mnemonic[strlen(r->mnemonic) - 2] = 0;
	if (r->count != 2 || !is(r, "add addi addw addiw sub subw and andi or xor slli srli srai"))
		return;
	r->operands[2] = r->operands[1];
	r->operands[1] = r->operands[0];
	r->count = 3;
}

static void adjust_addition(struct riscv *r)
{
	if (is(r, "addi") && operand_is(r, 1, "zero")) {
		rename_to(r, "li");
		drop(r, 1);
	} else if (is(r, "mv") && operand_is(r, 1, "zero")) {
		rename_to(r, "li");
		r->operands[1] = (struct pd_operand){ "0", 1 };
	} else if (is(r, "addi") && operand_is(r, 2, "0")) {
		rename_to(r, "mv");
		drop(r, 2);
	} else if (is(r, "addiw") && operand_is(r, 2, "0")) {
		rename_to(r, "sext.w");
		drop(r, 2);
	} else if (is(r, "andi") && operand_is(r, 2, "0xff")) {
		rename_to(r, "zext.b");
		drop(r, 2);
	}
}

// Immediates need no mnemonic of their own.
static void adjust_immediate(struct riscv *r)
{
	static const char *const names[][2] = {
		{ "addi", "add" },   { "addiw", "addw" }, { "andi", "and" },   { "ori", "or" },     { "xori", "xor" },
		{ "slli", "sll" },   { "srli", "srl" },   { "srai", "sra" },   { "slliw", "sllw" }, { "srliw", "srlw" },
		{ "sraiw", "sraw" }, { "csrsi", "csrs" }, { "csrci", "csrc" }, { "csrwi", "csrw" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(r->mnemonic, names[i][0])) {
			rename_to(r, names[i][1]);
			return;
		}
	}
}

// "jalr ra, ra, 0x63a" is "jalr 1594(ra)", "jalr zero, ra, 0" is "ret".
static void adjust_jump(struct riscv *r, char *place, size_t size)
{
	if (is(r, "jr") && operand_is(r, 0, "ra")) {
		rename_to(r, "ret");
		r->count = 0;
	} else if (is(r, "jal") && r->count == 2 && operand_is(r, 0, "ra")) {
		drop(r, 0);
	} else if (is(r, "jalr") && r->count == 3) {
		int64_t offset = (int64_t)number_at(r, 2);

		if (offset)
			snprintf(place, size, "%" PRId64 "(%.*s)", offset, (int)r->operands[1].size,
				 r->operands[1].text);
		else
			snprintf(place, size, "%.*s", (int)r->operands[1].size, r->operands[1].text);
		r->operands[1] = (struct pd_operand){ place, strlen(place) };
		r->count = 2;
		if (operand_is(r, 0, "zero"))
			rename_to(r, operand_is(r, 1, "ra") ? "ret" : "jr");
		if (operand_is(r, 0, "zero") || operand_is(r, 0, "ra"))
			drop(r, 0);
		if (is(r, "ret"))
			r->count = 0;
	}
}

static enum pd_flow flow_of(const struct riscv *r)
{
	if (is(r, "ret mret sret uret"))
		return PD_FLOW_RETURN;
	if (is(r, "j jr"))
		return PD_FLOW_JUMP;
	if (is(r, "jal jalr"))
		return PD_FLOW_CALL;
	return is(r, "beq bne blt bge bltu bgeu beqz bnez blez bgez bltz bgtz bgt ble bgtu bleu") ? PD_FLOW_BRANCH :
												    PD_FLOW_NEXT;
}

// ---- addresses in two parts ----

// The number of a register, or 32.
static unsigned register_of(const char *name, size_t size)
{
	static const char *const names[] = { "zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
					     "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
					     "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6" };

	for (unsigned i = 0; i < 32; i++)
		if (strlen(names[i]) == size && !memcmp(names[i], name, size))
			return i;
	return 32;
}

static void compute_addr(struct riscv *r, unsigned base, uint64_t offset)
{
	struct pd_notation_state *state = r->s->state;

	if (base >= 32)
		return;
	if (state->known >> base & 1) {
		state->known &= ~(UINT32_C(1) << base);
		r->has_addr = true;
		r->addr = state->upper[base] + offset;
	} else if (base == 0 || base == 4) {
		r->has_addr = true;
		r->addr = offset;
	}
	if (r->s->kind->isa == PD_ISA_RISCV32)
		r->addr = (uint32_t)r->addr;
}

static void note_upper(struct riscv *r)
{
	unsigned rd = r->count ? register_of(r->operands[0].text, r->operands[0].size) : 32;
	uint64_t value = (uint64_t)(int64_t)(int32_t)((uint32_t)number_at(r, 1) << 12);

	if (rd >= 32)
		return;
	r->s->state->upper[rd] = is(r, "auipc") ? r->s->addr + value : value;
	r->s->state->known |= UINT32_C(1) << rd;
}

// Before mnemonics are changed.
static void follow_addr(struct riscv *r)
{
	const struct pd_operand *last = r->count ? &r->operands[r->count - 1] : NULL;
	const char *open = last && r->s->raw->size == 4 ? memchr(last->text, '(', last->size) : NULL;
	unsigned base;

	if (is(r, "auipc lui")) {
		note_upper(r);
	} else if (r->s->raw->size == 4 && is(r, "jalr jr") && r->count == 1) {
		compute_addr(r, register_of(last->text, last->size), 0);
	} else if (r->s->raw->size == 2 && is(r, "addiw") && operand_is(r, 2, "0")) {
		return;
	} else if (is(r, "addi addiw jalr") && r->count == 3) {
		base = register_of(r->operands[1].text, r->operands[1].size);
		if (base || is(r, "jalr"))
			compute_addr(r, base, number_at(r, 2));
		if (is(r, "addiw"))
			r->addr = (uint64_t)(int64_t)(int32_t)r->addr;
	} else if (open && open != last->text) {
		compute_addr(r, register_of(open + 1, last->size - (size_t)(open - last->text) - 2),
			     number_at(r, r->count - 1));
	}
}

// ---- operands ----

static void put_operand(struct riscv *r, size_t index)
{
	const struct pd_operand *operand = &r->operands[index];
	size_t length = 0;
	uint64_t number;

	if (pd_operand_number(operand->text, operand->size, &number, &length)) {
		if (is(r, "auipc lui"))
			pd_notation_printf(&r->s->out, "0x%" PRIx64, number & 0xfffff);
		else if (is(r, "sll srl sra sllw srlw sraw"))
			pd_notation_printf(&r->s->out, "0x%" PRIx64, number);
		else
			pd_notation_printf(&r->s->out, "%" PRId64, (int64_t)number);
	}
	pd_notation_put(&r->s->out, operand->text + length, operand->size - length);
}

static void put_operands(struct riscv *r)
{
	for (size_t i = 0; i < r->count; i++) {
		uint64_t distance;
		size_t length;

		pd_notation_put(&r->s->out, ",", i > 0);
		if (i + 1 < r->count || r->s->notation->flow == PD_FLOW_NEXT ||
		    memchr(r->operands[i].text, '(', r->operands[i].size) ||
		    !pd_operand_number(r->operands[i].text, r->operands[i].size, &distance, &length)) {
			put_operand(r, i);
			continue;
		}
		r->s->notation->has_target = true;
		r->s->notation->target = r->s->addr + distance;
		pd_notation_put_addr(r->s, r->s->notation->target);
	}
}

void pd_notate_riscv(struct pd_notation_writer *s)
{
	struct riscv r = { .s = s };
	char place[64];

	rename_to(&r, s->raw->mnemonic);
	r.count = pd_operands_split(s->raw->operands, r.operands);
	expand(&r);
	follow_addr(&r);
	adjust_addition(&r);
	adjust_immediate(&r);
	adjust_jump(&r, place, sizeof(place));
	s->notation->flow = flow_of(&r);
	pd_notation_put(&s->out, r.mnemonic, strlen(r.mnemonic));
	if (r.count) {
		pd_notation_put_tab(s);
		put_operands(&r);
	}
	if (r.has_addr) {
		pd_notation_put(&s->out, " # ", 3);
		pd_notation_put_addr(s, r.addr);
	}
}
