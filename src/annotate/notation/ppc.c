/* SPDX-License-Identifier: MIT */
/*
 * PowerPC: from capstone's writer to that of binutils. Numbers are decimal, registers of VSX are counted through, and some
 * instructions go by the names of what they are used for.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "annotate/notation/notation.h"

struct ppc {
	struct pd_notation_writer *s;
	char mnemonic[40];
	struct pd_operand operands[PD_OPERANDS];
	size_t count;
	uint32_t word;
};

static uint32_t word_of(const struct pd_notation_writer *s)
{
	const uint8_t *c = s->code;

	return s->kind->big ? (uint32_t)c[0] << 24 | (uint32_t)c[1] << 16 | (uint32_t)c[2] << 8 | c[3] :
			      (uint32_t)c[3] << 24 | (uint32_t)c[2] << 16 | (uint32_t)c[1] << 8 | c[0];
}

// A field of the word, as the manual counts bits: 0 is the highest.
static uint32_t bits(uint32_t word, unsigned first, unsigned last)
{
	return word >> (31 - last) & ((UINT32_C(1) << (last - first + 1)) - 1);
}

static enum pd_flow flow_of(const char *mnemonic)
{
	size_t length = strlen(mnemonic);
	bool hint = length > 1 && strchr("+-", mnemonic[length - 1]);

	length -= hint;
	if (*mnemonic != 'b' || pd_word_is_in("brh brw brd bpermd bcdadd. bcdsub. bcdcfn. bcdctn.", mnemonic, length))
		return PD_FLOW_NEXT;
	if (pd_word_is_in("b ba bctr", mnemonic, length))
		return PD_FLOW_JUMP;
	if (pd_word_is_in("blr", mnemonic, length))
		return PD_FLOW_RETURN;
	if (mnemonic[length - 1] == 'l' || (length > 2 && !memcmp(mnemonic + length - 2, "la", 2)))
		return PD_FLOW_CALL;
	return PD_FLOW_BRANCH;
}

// ---- names by use ----

static bool write_as(struct ppc *p, const char *mnemonic, const char *format, unsigned a, unsigned b, unsigned c)
{
	pd_notation_printf(&p->s->out, "%-7s ", mnemonic);
	switch (format[0]) {
	case '2':
		pd_notation_printf(&p->s->out, "r%u,r%u", a, b);
		break;
	case 'v':
		pd_notation_printf(&p->s->out, "vs%u,vs%u", a, b);
		break;
	case 'r':
		pd_notation_printf(&p->s->out, "r%u,r%u,r%u", a, b, c);
		break;
	default:
		pd_notation_printf(&p->s->out, "r%u,r%u,%u", a, b, c);
	}
	return true;
}

// Rotations of 32 bits of which all that is kept stands together.
static bool write_rotation(struct ppc *p)
{
	uint32_t word = p->word, rs = bits(word, 6, 10), ra = bits(word, 11, 15), sh = bits(word, 16, 20);
	uint32_t mb = bits(word, 21, 25), me = bits(word, 26, 30);
	bool dot = word & 1;

	if (!mb && me == 31)
		return write_as(p, dot ? "rotlwi." : "rotlwi", "n", ra, rs, sh);
	if (!mb && me == 31 - sh)
		return write_as(p, dot ? "slwi." : "slwi", "n", ra, rs, sh);
	if (me == 31 && sh == 32 - mb)
		return write_as(p, dot ? "srwi." : "srwi", "n", ra, rs, mb);
	if (!sh && me == 31)
		return write_as(p, dot ? "clrlwi." : "clrlwi", "n", ra, rs, mb);
	if (!sh && !mb)
		return write_as(p, dot ? "clrrwi." : "clrrwi", "n", ra, rs, 31 - me);
	pd_notation_printf(&p->s->out, "%-7s r%u,r%u,%u,%u,%u", dot ? "rlwinm." : "rlwinm", ra, rs, sh, mb, me);
	return true;
}

// The same of 64 bits.
static bool write_wide_rotation(struct ppc *p)
{
	uint32_t word = p->word, rs = bits(word, 6, 10), ra = bits(word, 11, 15);
	uint32_t sh = bits(word, 16, 20) | bits(word, 30, 30) << 5, m = bits(word, 21, 25) | bits(word, 26, 26) << 5;
	bool dot = word & 1;

	switch (bits(word, 27, 29)) {
	case 0:
		if (!m)
			return write_as(p, dot ? "rotldi." : "rotldi", "n", ra, rs, sh);
		if (sh == 64 - m)
			return write_as(p, dot ? "srdi." : "srdi", "n", ra, rs, m);
		if (!sh)
			return write_as(p, dot ? "clrldi." : "clrldi", "n", ra, rs, m);
		return false;
	case 1:
		if (m == 63 - sh)
			return write_as(p, dot ? "sldi." : "sldi", "n", ra, rs, sh);
		if (!sh)
			return write_as(p, dot ? "clrrdi." : "clrrdi", "n", ra, rs, 63 - m);
		return false;
	default:
		return false;
	}
}

// or, nor and the same of VSX with two equal operands.
static bool write_move(struct ppc *p)
{
	uint32_t word = p->word, rs = bits(word, 6, 10), ra = bits(word, 11, 15), rb = bits(word, 16, 20);
	bool dot = word & 1;

	switch (bits(word, 21, 30)) {
	case 444:
		return rs == rb && write_as(p, dot ? "mr." : "mr", "2", ra, rs, 0);
	case 124:
		return rs == rb && write_as(p, dot ? "not." : "not", "2", ra, rs, 0);
	default:
		return false;
	}
}

// Between general registers and those of VSX, of which the upper ones are vectors and the lower ones of floating point.
static bool write_vsx_move(struct ppc *p)
{
	static const struct {
		uint32_t code;
		const char *upper, *lower;
		bool to;
	} moves[] = {
		{ 51, "mfvrd", "mffprd", false },   { 115, "mfvrwz", "mffprwz", false },
		{ 179, "mtvrd", "mtfprd", true },   { 211, "mtvrwa", "mtfprwa", true },
		{ 243, "mtvrwz", "mtfprwz", true },
	};
	uint32_t word = p->word, t = bits(word, 6, 10), a = bits(word, 11, 15);
	char kind = word & 1 ? 'v' : 'f';

	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		if (moves[i].code != bits(word, 21, 30))
			continue;
		pd_notation_printf(&p->s->out, "%-7s ", word & 1 ? moves[i].upper : moves[i].lower);
		if (moves[i].to)
			pd_notation_printf(&p->s->out, "%c%u,r%u", kind, t, a);
		else
			pd_notation_printf(&p->s->out, "r%u,%c%u", a, kind, t);
		return true;
	}
	return false;
}

static bool write_vector_move(struct ppc *p)
{
	uint32_t word = p->word, t = bits(word, 6, 10) | (word & 1) << 5;
	uint32_t a = bits(word, 11, 15) | bits(word, 29, 29) << 5, b = bits(word, 16, 20) | bits(word, 30, 30) << 5;

	if (a != b)
		return false;
	switch (bits(word, 21, 28)) {
	case 146: // xxlor
		return write_as(p, "xxmr", "v", t, a, 0);
	case 162: // xxlnor
		return write_as(p, "xxlnot", "v", t, a, 0);
	case 240: // xvcpsgndp
		return write_as(p, "xvmovdp", "v", t, a, 0);
	case 208:
		return write_as(p, "xvmovsp", "v", t, a, 0);
	default:
		return false;
	}
}

static bool write_by_use(struct ppc *p)
{
	switch (p->word >> 26) {
	case 21:
		return write_rotation(p);
	case 30:
		return write_wide_rotation(p);
	case 31:
		return write_move(p) || write_vsx_move(p);
	case 60:
		return write_vector_move(p);
	default:
		return false;
	}
}

// ---- operands ----

// Forms that have a name of their own if an operand is what it mostly is.
static void adjust_names(struct ppc *p)
{
	static const struct {
		const char *name, *operand;
		size_t index;
		const char *other;
	} names[] = {
		{ "mtcrf", "0xff", 0, "mtcr" },      { "mtspr", "0x100", 0, "mtvrsave" },
		{ "mfspr", "0x100", 1, "mfvrsave" }, { "mtspr", "0xd", 0, "mtuamr" },
		{ "mfspr", "0xd", 1, "mfuamr" },     { "tbegin.", "0", 0, "tbegin." },
		{ "tend.", "0", 0, "tend." },        { "mtfsf", "0", 3, "mtfsf" },
		{ "isel", "cr0lt", 3, "isellt" },    { "isel", "cr0gt", 3, "iselgt" },
		{ "isel", "cr0eq", 3, "iseleq" },    { "dcbt", "8", 2, "dcbtds" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t index = names[i].index;

		if (index >= p->count || strcmp(p->mnemonic, names[i].name) != 0 ||
		    !pd_operand_is(&p->operands[index], names[i].operand))
			continue;
		strcpy(p->mnemonic, names[i].other);
		memmove(&p->operands[index], &p->operands[index + 1], (--p->count - index) * sizeof(*p->operands));
		break;
	}
	if (!strcmp(p->mnemonic, "sync"))
		strcpy(p->mnemonic, "hwsync");
	if ((!strcmp(p->mnemonic, "dcbt") || !strcmp(p->mnemonic, "dcbtst")) && p->count == 2)
		strcat(p->mnemonic, "ct");
}

// "cr7un" is "4*cr7+so"; of the first one only the condition is said.
static bool put_condition(struct ppc *p, const struct pd_operand *operand)
{
	const char *bit = operand->text + 3;

	if (operand->size != 5 || memcmp(operand->text, "cr", 2) != 0)
		return false;
	if (operand->text[2] != '0')
		pd_notation_printf(&p->s->out, "4*cr%c+", operand->text[2]);
	pd_notation_put(&p->s->out, memcmp(bit, "un", 2) != 0 ? bit : "so", 2);
	return true;
}

static bool has_vsx(const char *mnemonic)
{
	if (strstr(mnemonic, "qp"))
		return false;
	return !strncmp(mnemonic, "xx", 2) || !strncmp(mnemonic, "xv", 2) || !strncmp(mnemonic, "xs", 2) ||
	       !strncmp(mnemonic, "lx", 2) || !strncmp(mnemonic, "stx", 3) || !strncmp(mnemonic, "mtvsr", 5) ||
	       !strncmp(mnemonic, "mfvsr", 5);
}

// Of VSX, the registers v0 to v31 are the upper half, those of floating point the lower one.
static bool put_vsx(struct ppc *p, const struct pd_operand *operand)
{
	uint64_t number;
	size_t length;

	if ((operand->text[0] != 'v' && operand->text[0] != 'f') ||
	    !pd_operand_number(operand->text + 1, operand->size - 1, &number, &length))
		return false;
	pd_notation_printf(&p->s->out, "vs%" PRIu64, operand->text[0] == 'v' ? number + 32 : number);
	return true;
}

// "0x1b8(r1)" is "440(r1)".
static void put_operand(struct ppc *p, const struct pd_operand *operand)
{
	uint64_t number;
	size_t length = 0;

	if (strstr(p->mnemonic, "qp") && operand->text[0] == 'f') {
		pd_notation_put(&p->s->out, "v", 1);
		pd_notation_put(&p->s->out, operand->text + 1, operand->size - 1);
		return;
	}
	if ((has_vsx(p->mnemonic) && put_vsx(p, operand)) || put_condition(p, operand))
		return;
	if (pd_operand_number(operand->text, operand->size, &number, &length))
		pd_notation_printf(&p->s->out, "%" PRId64, (int64_t)number);
	pd_notation_put(&p->s->out, operand->text + length, operand->size - length);
}

static void put_target(struct ppc *p, uint64_t addr)
{
	p->s->notation->has_target = true;
	p->s->notation->target = addr;
	pd_notation_put_addr(p->s, addr);
}

// A branch that capstone says only half of.
static bool write_odd_branch(struct ppc *p)
{
	uint32_t word = p->word, bo = bits(word, 6, 10), bi = bits(word, 11, 15);
	uint64_t addr = p->s->addr + (uint64_t)(int64_t)(int16_t)(word & 0xfffc);

	if (word >> 26 != 16 || bo != 20 || bi != 31 || (word & 3) != 1)
		return false;
	pd_notation_printf(&p->s->out, "bcl     20,4*cr7+so,");
	p->s->notation->flow = PD_FLOW_CALL;
	put_target(p, addr);
	return true;
}

static void put_operands(struct ppc *p)
{
	for (size_t i = 0; i < p->count; i++) {
		uint64_t addr;
		size_t length;

		pd_notation_put(&p->s->out, ",", i > 0);
		if (i + 1 < p->count || p->s->notation->flow == PD_FLOW_NEXT ||
		    memcmp(p->operands[i].text, "0x", 2) != 0 ||
		    !pd_operand_number(p->operands[i].text, p->operands[i].size, &addr, &length)) {
			put_operand(p, &p->operands[i]);
			continue;
		}
		put_target(p, addr);
	}
}

void pd_notate_ppc(struct pd_notation_writer *s)
{
	struct ppc p = { .s = s, .word = word_of(s) };

	if (write_by_use(&p) || write_odd_branch(&p))
		return;
	snprintf(p.mnemonic, sizeof(p.mnemonic), "%s", s->raw->mnemonic);
	p.count = pd_operands_split(s->raw->operands, p.operands);
	s->notation->flow = flow_of(p.mnemonic);
	adjust_names(&p);
	if (!p.count && p.word >> 26 == 16) {
		pd_notation_printf(&s->out, "%-7s ", p.mnemonic);
		put_target(&p, s->addr);
		return;
	}
	if (!p.count) {
		pd_notation_put(&s->out, p.mnemonic, strlen(p.mnemonic));
		return;
	}
	pd_notation_printf(&s->out, "%-7s ", p.mnemonic);
	put_operands(&p);
}
