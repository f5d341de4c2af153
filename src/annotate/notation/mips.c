/* SPDX-License-Identifier: MIT */
/* MIPS: from capstone's writer to that of binutils. Registers go without $, by the names of the ABI; bits are hexadecimal, amounts not. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "annotate/notation/notation.h"

struct mips {
	struct pd_notation_writer *s;
	char mnemonic[40];
	struct pd_operand operands[PD_OPERANDS];
	size_t count;
	bool bits;       // of li: its operand is one of bits
	char number[16]; // an operand that is larger than it is said to be
};

static bool is(const struct mips *m, const char *list)
{
	return pd_word_is_in(list, m->mnemonic, strlen(m->mnemonic));
}

static void put_text(struct mips *m, const char *text)
{
	pd_notation_put(&m->s->out, text, strlen(text));
}

static enum pd_flow flow_of(const struct mips *m)
{
	if (is(m, "jr jr.hb") && m->count == 1)
		return pd_operand_is(m->operands, "$ra") ? PD_FLOW_RETURN : PD_FLOW_JUMP;
	if (is(m, "b j bc"))
		return PD_FLOW_JUMP;
	if (is(m, "jal jalr jalr.hb jalx bal bgezal bltzal bgezall bltzall balc jialc"))
		return PD_FLOW_CALL;
	if (is(m, "break bitswap"))
		return PD_FLOW_NEXT;
	return m->mnemonic[0] == 'b' ? PD_FLOW_BRANCH : PD_FLOW_NEXT;
}

static void drop(struct mips *m, size_t index)
{
	memmove(&m->operands[index], &m->operands[index + 1], (--m->count - index) * sizeof(*m->operands));
}

// Rotations and parts of 64 bits, whose mnemonics say that 32 are to be added to a number.
static void adjust_wide(struct mips *m)
{
	static const struct {
		const char *name, *other;
		size_t index;
	} names[] = {
		{ "rotr", "ror", 9 },   { "drotr", "dror", 9 },   { "drotr32", "dror32", 9 },
		{ "rotrv", "rorv", 9 }, { "drotrv", "drorv", 9 }, { "dextu", "dext", 2 },
		{ "dextm", "dext", 3 }, { "dinsu", "dins", 2 },   { "dinsm", "dins", 3 },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t number;
		size_t length, index = names[i].index;

		if (strcmp(m->mnemonic, names[i].name) != 0)
			continue;
		snprintf(m->mnemonic, sizeof(m->mnemonic), "%s", names[i].other);
		if (index < m->count &&
		    pd_operand_number(m->operands[index].text, m->operands[index].size, &number, &length)) {
			snprintf(m->number, sizeof(m->number), "0x%x", (unsigned)(number & 63) + 32);
			m->operands[index] = (struct pd_operand){ m->number, strlen(m->number) };
		}
		return;
	}
	if (is(m, "cfc1 ctc1") && m->count == 2 && pd_operand_is(&m->operands[1], "$31"))
		m->operands[1] = (struct pd_operand){ "c1_fcsr", 7 };
}

// Instructions that are used for something simpler.
static void adjust_names(struct mips *m)
{
	static const struct {
		const char *name;
		size_t zero; // operand
		const char *other;
	} names[] = {
		{ "addiu", 1, "li" },   { "dsubu", 1, "dnegu" }, { "subu", 1, "negu" },  { "ori", 1, "li" },
		{ "dsub", 1, "dneg" },  { "sub", 1, "neg" },     { "nor", 2, "not" },    { "bne", 1, "bnez" },
		{ "beq", 1, "beqz" },   { "bnel", 1, "bnezl" },  { "beql", 1, "beqzl" }, { "or", 2, "move" },
		{ "daddu", 2, "move" }, { "addu", 2, "move" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(m->mnemonic, names[i].name) != 0 || m->count != 3 ||
		    !pd_operand_is(&m->operands[names[i].zero], "$zero"))
			continue;
		m->bits = m->mnemonic[0] == 'o';
		snprintf(m->mnemonic, sizeof(m->mnemonic), "%s", names[i].other);
		drop(m, names[i].zero);
		return;
	}
	adjust_wide(m);
	if (is(m, "jalr") && m->count == 2 && pd_operand_is(m->operands, "$ra"))
		drop(m, 0);
	else if (is(m, "div divu ddiv ddivu") && m->count == 3 && pd_operand_is(m->operands, "$zero"))
		return;
	else if (is(m, "c.lt.s c.lt.d c.le.s c.le.d c.eq.s c.eq.d c.un.s c.un.d") && m->count == 3 &&
		 pd_operand_is(m->operands, "$fcc0"))
		drop(m, 0);
	else if (is(m, "sync rdhwr") && m->count && pd_operand_is(&m->operands[m->count - 1], "0"))
		m->count--;
}

// ---- operands ----

static void put_register(struct mips *m, const char *name, size_t size)
{
	static const char wide[][2][3] = { { "t0", "a4" }, { "t1", "a5" }, { "t2", "a6" }, { "t3", "a7" },
					   { "t4", "t0" }, { "t5", "t1" }, { "t6", "t2" }, { "t7", "t3" } };
	bool numbered = size && ((name[0] >= '0' && name[0] <= '9') || (name[0] == 'f' && size > 1 && name[1] != 'p'));

	if (size == 2 && !memcmp(name, "fp", 2)) {
		put_text(m, "s8");
		return;
	}
	for (size_t i = 0; i < 8 && m->s->kind->isa == PD_ISA_MIPS64; i++) {
		if (size == 2 && !memcmp(name, wide[i][0], 2)) {
			put_text(m, wide[i][1]);
			return;
		}
	}
	if (numbered)
		put_text(m, "$");
	pd_notation_put(&m->s->out, name, size);
}

static bool is_hex(const struct mips *m)
{
	return m->bits ||
	       is(m,
		  "andi ori xori lui sll srl sra dsll dsrl dsra dsll32 dsrl32 dsra32 ext ins dext dins dextm dextu dinsm dinsu "
		  "ror dror dror32 break syscall teq tne tge tlt sync cache pref");
}

static void put_number(struct mips *m, uint64_t number, bool in_place)
{
	if (is_hex(m) && !in_place)
		pd_notation_printf(&m->s->out, "0x%" PRIx64, number);
	else
		pd_notation_printf(&m->s->out, "%" PRId64, (int64_t)number);
}

// "0x20($sp)" is "32(sp)", "($sp)" is "0(sp)".
static void put_operand(struct mips *m, const struct pd_operand *operand)
{
	const char *text = operand->text, *end = text + operand->size;
	const char *open = memchr(text, '(', operand->size);
	uint64_t number;
	size_t length;

	if (open == text)
		put_text(m, "0");
	if (pd_operand_number(text, operand->size, &number, &length)) {
		put_number(m, number, open != NULL);
		text += length;
	}
	while (text < end) {
		if (*text != '$') {
			pd_notation_put(&m->s->out, text++, 1);
			continue;
		}
		length = 1;
		while (text + length < end && text[length] != ')' && text[length] != '(')
			length++;
		put_register(m, text + 1, length - 1);
		text += length;
	}
}

static void put_operands(struct mips *m)
{
	for (size_t i = 0; i < m->count; i++) {
		uint64_t addr;
		size_t length;

		put_text(m, i ? "," : "");
		if (i + 1 < m->count || m->s->notation->flow == PD_FLOW_NEXT || m->operands[i].text[0] == '$' ||
		    !pd_operand_number(m->operands[i].text, m->operands[i].size, &addr, &length)) {
			put_operand(m, &m->operands[i]);
			continue;
		}
		m->s->notation->has_target = true;
		m->s->notation->target = addr;
		pd_notation_put_addr(m->s, addr);
	}
}

bool pd_notate_odd_mips(const uint8_t *code, bool big, char *text, size_t size)
{
	static const char *const names[] = { "f",  "un",   "eq",  "ueq", "olt", "ult", "ole", "ule",
					     "sf", "ngle", "seq", "ngl", "lt",  "nge", "le",  "ngt" };
	uint32_t word = (uint32_t)code[big ? 0 : 3] << 24 | (uint32_t)code[big ? 1 : 2] << 16 |
			(uint32_t)code[big ? 2 : 1] << 8 | code[big ? 3 : 0];

	if (word >> 26 != 17 || (word >> 21 & 30) != 16 || (word & 0xf0) != 0x30)
		return false;
	snprintf(text, size, "c.%s.%c %*s$fcc%u,$f%u,$f%u", names[word & 15], word >> 21 & 1 ? 'd' : 's',
		 (int)(strlen(names[word & 15]) < 3 ? 3 - strlen(names[word & 15]) : 0), "", word >> 8 & 7,
		 word >> 11 & 31, word >> 16 & 31);
	return true;
}

void pd_notate_mips(struct pd_notation_writer *s)
{
	struct mips m = { .s = s };

	snprintf(m.mnemonic, sizeof(m.mnemonic), "%s", s->raw->mnemonic);
	m.count = pd_operands_split(s->raw->operands, m.operands);
	adjust_names(&m);
	s->notation->flow = flow_of(&m);
	put_text(&m, m.mnemonic);
	if (!m.count)
		return;
	pd_notation_put_tab(s);
	put_operands(&m);
}
