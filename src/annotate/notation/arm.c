/* SPDX-License-Identifier: MIT */
/*
 * ARM and Thumb: from capstone's writer to that of binutils. Immediates are decimal, larger ones with a comment; widths are said
 * where an instruction exists in both; conditions go by their first names.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "annotate/notation/notation.h"

struct arm {
	struct pd_notation_writer *s;
	bool thumb;
	char base[24], condition[4], suffix[16]; // of the mnemonic: "mov", "cc", ".w"
	char shift[32];                          // an operand: "lsr #5"
	struct pd_operand operands[PD_OPERANDS];
	size_t count;
	bool has_value, names_addr; // what is said in a comment
	int64_t value;
	uint64_t addr;
};

static const char conditions[] = "eq ne cs hs cc lo mi pl vs vc hi ls ge lt gt le al";

// ---- mnemonics ----

static bool is(const struct arm *a, const char *list)
{
	return pd_word_is_in(list, a->base, strlen(a->base));
}

// Words that seem to end in a condition, and do not.
static bool is_whole(const char *text, size_t length)
{
	static const char words[] =
		"teq svc smull umull smlal umlal mls bics movs lsls adcs sbcs muls mvns rscs cps smmls vmls vls "
		"vcls vclt vcle vceq vcge vcgt vabal vmull vmlal vmlsl vmul smlsl smlal umaal sev hlt asrs "
		"vrecps vqdmlal smlalbb vcvt hvc bfc pldw";

	return pd_word_is_in(words, text, length);
}

static void split_mnemonic(struct arm *a)
{
	const char *text = a->s->raw->mnemonic, *dot = strchr(text, '.');
	size_t length = dot ? (size_t)(dot - text) : strlen(text);

	if (length >= sizeof(a->base))
		length = sizeof(a->base) - 1;
	if (length > 2 && pd_word_is_in(conditions, text + length - 2, 2) && !is_whole(text, length) &&
	    strncmp(text, "it", 2) != 0) {
		memcpy(a->condition, text + length - 2, 2);
		length -= 2;
	}
	memcpy(a->base, text, length);
	if (dot)
		snprintf(a->suffix, sizeof(a->suffix), "%s", dot);
	if (!strcmp(a->condition, "hs"))
		strcpy(a->condition, "cs");
	else if (!strcmp(a->condition, "lo"))
		strcpy(a->condition, "cc");
}

static bool has_suffix(const struct arm *a, const char *suffix)
{
	return !strcmp(a->suffix, suffix);
}

// Thumb instructions that exist in both widths say when they are wide.
static void adjust_width(struct arm *a)
{
	static const char both[] =
		"adc add and bic cmn cmp eor ldr ldrb ldrh ldrsb ldrsh lsl lsr asr ror mov mul mvn nop orr rev rev16 revsh "
		"sbc str strb strh sub sxtb sxth uxtb uxth tst ldmia stmia b adcs adds ands bics eors lsls lsrs asrs "
		"rors movs mvns orrs sbcs subs";

	if (!a->thumb)
		return;
	if (a->s->raw->size == 4 && is(a, both) && !a->suffix[0])
		strcpy(a->suffix, ".w");
	else if (a->s->raw->size == 4 && has_suffix(a, ".w") && !is(a, both))
		a->suffix[0] = 0;
	else if (a->s->raw->size == 2 && is(a, "b") && !a->suffix[0])
		strcpy(a->suffix, ".n");
}

// "lsr.w sl, sl, #5" is "mov.w sl, sl, lsr #5".
static void adjust_shift(struct arm *a)
{
	bool flags = strlen(a->base) == 4;

	if (!is(a, "lsl lsr asr ror lsls lsrs asrs rors") || a->count != 3 || a->operands[2].text[0] != '#' ||
	    !a->thumb || a->s->raw->size == 2)
		return;
	snprintf(a->shift, sizeof(a->shift), "%.3s %.*s", a->base, (int)a->operands[2].size, a->operands[2].text);
	strcpy(a->base, flags ? "movs" : "mov");
	a->operands[2] = (struct pd_operand){ a->shift, strlen(a->shift) };
}

// Narrow forms whose first operand is one of the others, too.
static void adjust_narrow(struct arm *a)
{
	if (a->thumb && a->s->raw->size == 2 && is(a, "muls mul") && a->count == 3)
		a->count = 2;
	else if (a->thumb && a->s->raw->size == 2 && is(a, "add") && a->count == 3 &&
		 pd_operand_is(&a->operands[1], "sp") && a->operands[2].text[0] != '#')
		a->count = 2;
	else if (!a->thumb && is(a, "ldrd strd") && a->count > 2)
		memmove(a->operands + 1, a->operands + 2, (--a->count - 1) * sizeof(*a->operands));
}

static void insert_stack(struct arm *a)
{
	memmove(a->operands + 1, a->operands, a->count++ * sizeof(*a->operands));
	a->operands[0] = (struct pd_operand){ "sp!", 3 };
}

// What a load relative to the instruction reads.
static void note_literal(struct arm *a, int64_t offset)
{
	uint64_t pc = a->s->addr + (a->thumb ? 4 : 8);

	a->names_addr = true;
	a->has_value = false;
	a->addr = (uint32_t)((pc & ~UINT64_C(3)) + (uint64_t)offset);
}

static void adjust_names(struct arm *a)
{
	bool wide = a->s->raw->size == 4;
	uint64_t number;
	size_t length;

	if (is(a, "push") && wide && a->thumb && a->count && memchr(a->operands[0].text, ',', a->operands[0].size)) {
		strcpy(a->base, "stmdb");
		a->suffix[0] = 0;
		insert_stack(a);
	} else if (is(a, "pop") && wide && a->thumb && a->count &&
		   memchr(a->operands[0].text, ',', a->operands[0].size)) {
		strcpy(a->base, "ldmia");
		insert_stack(a);
	} else if (is(a, "ldm stm") && (a->thumb || wide)) {
		strcat(a->base, "ia");
	} else if (is(a, "adr") && a->thumb && !wide && a->count == 2 &&
		   pd_operand_number(a->operands[1].text + 1, a->operands[1].size - 1, &number, &length)) {
		strcpy(a->base, "add");
		a->operands[2] = a->operands[1];
		a->operands[1] = (struct pd_operand){ "pc", 2 };
		a->count = 3;
		note_literal(a, (int64_t)number);
	} else if (is(a, "rsbs rsb") && !wide && a->count == 3 && pd_operand_is(&a->operands[2], "#0")) {
		strcpy(a->base, is(a, "rsbs") ? "negs" : "neg");
		a->count = 2;
	}
}

static enum pd_flow flow_of(const struct arm *a)
{
	if (is(a, "bx") && a->count && pd_operand_is(a->operands, "lr"))
		return a->condition[0] ? PD_FLOW_BRANCH : PD_FLOW_RETURN;
	if (is(a, "b bx tbb tbh cbz cbnz bxj"))
		return a->condition[0] || a->base[0] == 'c' ? PD_FLOW_BRANCH : PD_FLOW_JUMP;
	if (is(a, "bl blx"))
		return PD_FLOW_CALL;
	if (is(a, "pop ldmia ldm ldr") && a->count && strstr(a->s->raw->operands, "pc") &&
	    !strstr(a->s->raw->operands, "[pc"))
		return a->base[0] == 'l' && a->base[2] == 'r' && a->operands[0].text[0] != 'p' ? PD_FLOW_NEXT :
												 PD_FLOW_RETURN;
	return PD_FLOW_NEXT;
}

// ---- operands ----

static void put_text(struct arm *a, const char *text)
{
	pd_notation_put(&a->s->out, text, strlen(text));
}

// Offsets of eight bits of wide Thumb instructions have no comment.
static bool is_short_offset(const struct arm *a, const struct pd_operand *operand, int64_t number)
{
	return a->thumb && a->s->raw->size == 4 && is(a, "ldr ldrb ldrh ldrsb ldrsh str strb strh pld") &&
	       (number < 0 || operand->text[0] == '#' || operand->text[operand->size - 1] == '!');
}

static void put_number(struct arm *a, const struct pd_operand *operand, const char *text, size_t size)
{
	uint64_t number;
	size_t length;
	int64_t value;

	if (!pd_operand_number(text, size, &number, &length) || (length < size && text[length] == '.')) {
		pd_notation_put(&a->s->out, text, size);
		return;
	}
	value = (int64_t)number;
	if (operand->text[0] == '#' && value < 0 && a->thumb && a->s->raw->size == 4 &&
	    is(a,
	       "mov movs mvn cmp cmn add adds sub subs and ands orr orrs eor bic bics tst teq adc adcs sbc sbcs rsb rsbs mvns"))
		value = (uint32_t)value;
	pd_notation_printf(&a->s->out, "%" PRId64, value);
	if (operand->text[0] == '[' && strstr(operand->text, "[pc, #") == operand->text)
		note_literal(a, value);
	else if (!is_short_offset(a, operand, value)) {
		a->has_value = true;
		a->value = a->thumb && is(a, "ldrd strd") && value < 0 ? -value : value;
	}
}

static void put_operand(struct arm *a, const struct pd_operand *operand)
{
	const char *text = operand->text, *end = text + operand->size;

	while (text < end) {
		size_t length = 1;

		if (*text == '#') {
			while (text + length < end && strchr("-+.xabcdefABCDEF0123456789", text[length]))
				length++;
			put_text(a, "#");
			put_number(a, operand, text + 1, length - 1);
		} else if (!strncmp(text, "sb", 2) && (text + 2 == end || strchr(",]}! ", text[2])) &&
			   (text == operand->text || strchr(" [{-", text[-1]))) {
			put_text(a, "r9");
			length = 2;
		} else if (*text == ']' && a->thumb && a->s->raw->size == 2 &&
			   !memchr(operand->text, ',', operand->size)) {
			put_text(a, ", #0]");
		} else {
			pd_notation_put(&a->s->out, text, 1);
		}
		text += length;
	}
}

static void put_target(struct arm *a, const struct pd_operand *operand)
{
	uint64_t addr = 0;
	size_t length;

	pd_operand_number(operand->text + 1, operand->size - 1, &addr, &length);
	a->s->notation->has_target = true;
	a->s->notation->target = addr;
	pd_notation_put_addr(a->s, addr);
}

// "mrc p15, #0, r2, c13, c0, #3" is "mrc 15, 0, r2, cr13, cr0, {3}".
static void put_coprocessor(struct arm *a, size_t index)
{
	const struct pd_operand *operand = &a->operands[index];
	bool last = index == 5;

	if (last)
		put_text(a, "{");
	else if (operand->text[0] == 'c')
		put_text(a, "cr");
	else if (operand->text[0] == 'a') {
		put_text(a, "APSR_nzcv");
		return;
	}
	if (pd_operand_is(operand, "sb"))
		put_text(a, "r9");
	else if (!pd_operand_is(operand, "pc") && strchr("pc#", operand->text[0]))
		pd_notation_put(&a->s->out, operand->text + 1, operand->size - 1);
	else
		pd_notation_put(&a->s->out, operand->text, operand->size);
	if (last)
		put_text(a, "}");
}

static void put_operands(struct arm *a)
{
	for (size_t i = 0; i < a->count; i++) {
		const struct pd_operand *operand = &a->operands[i];

		put_text(a, i ? ", " : "");
		if (is(a, "mrc mcr mrc2 mcr2") && a->count == 6)
			put_coprocessor(a, i);
		else if (i + 1 == a->count && operand->text[0] == '#' && a->s->notation->flow != PD_FLOW_NEXT &&
			 a->s->notation->flow != PD_FLOW_RETURN)
			put_target(a, operand);
		else if (is(a, "vmrs") && pd_operand_is(operand, "apsr_nzcv"))
			put_text(a, "APSR_nzcv");
		else if (is(a, "svc") || (is(a, "add sub") && i == 3 && operand->text[0] == '#'))
			pd_notation_put(&a->s->out, operand->text + 1, operand->size - 1);
		else if (is(a, "vcmp vcmpe") && pd_operand_is(operand, "#0"))
			put_text(a, "#0.0");
		else if (!strncmp(a->base, "it", 2) && pd_operand_is(operand, "hs"))
			put_text(a, "cs");
		else if (!strncmp(a->base, "it", 2) && pd_operand_is(operand, "lo"))
			put_text(a, "cc");
		else
			put_operand(a, operand);
	}
}

static void put_comment(struct arm *a)
{
	bool wide = a->s->raw->size == 4;

	if (a->names_addr) {
		pd_notation_put_tab(a->s);
		put_text(a, wide ? "@ " : "@ (");
		if (is(a, "add"))
			pd_notation_printf(&a->s->out, "adr %.*s, ", (int)a->operands[0].size, a->operands[0].text);
		pd_notation_put_addr(a->s, a->addr);
		put_text(a, wide ? "" : ")");
	} else if (a->has_value && (a->value > 32 || a->value < -16)) {
		pd_notation_put_tab(a->s);
		pd_notation_printf(&a->s->out, "@ 0x%" PRIx32, (uint32_t)a->value);
	}
}

// What ARM has no instruction of its own for, and says so.
static bool write_by_use(struct arm *a)
{
	const char *mnemonic = a->s->raw->mnemonic, *operands = a->s->raw->operands;

	if (a->thumb)
		return false;
	if (!strcmp(mnemonic, "mov") && !strcmp(operands, "r0, r0"))
		put_text(a, "nop                     @ (mov r0, r0)");
	else if (!strcmp(mnemonic, "str") && a->count == 2 && pd_operand_is(&a->operands[1], "[sp, #-4]!"))
		pd_notation_printf(&a->s->out, "push    {%.*s}            @ (str %s)", (int)a->operands[0].size,
				   a->operands[0].text, operands);
	else
		return false;
	return true;
}

void pd_notate_arm(struct pd_notation_writer *s)
{
	struct arm a = { .s = s, .thumb = s->kind->isa == PD_ISA_THUMB };

	split_mnemonic(&a);
	a.count = pd_operands_split(s->raw->operands, a.operands);
	if (write_by_use(&a))
		return;
	adjust_names(&a);
	adjust_shift(&a);
	adjust_narrow(&a);
	adjust_width(&a);
	s->notation->flow = flow_of(&a);
	put_text(&a, a.base);
	put_text(&a, a.condition);
	put_text(&a, a.suffix);
	if (!a.count)
		return;
	pd_notation_put_tab(s);
	put_operands(&a);
	put_comment(&a);
}
