/* SPDX-License-Identifier: MIT */
/*
 * arm64: from capstone's writer to that of binutils. Immediates are hexadecimal where they are values, and decimal where
 * they are counts or offsets; conditions go by their first names, others are in a comment.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/notation/notation.h"

struct arm64 {
	struct pd_notation_writer *s;
	char mnemonic[40];
	struct pd_operand operands[PD_OPERANDS];
	size_t count;
};

struct condition {
	const char *name, *other; // as binutils and as capstone has it, NULL: the same
	const char *comment[3];
};

static const struct condition conditions[] = {
	{ "eq", NULL, { "none" } },        { "ne", NULL, { "any" } },
	{ "cs", "hs", { "hs", "nlast" } }, { "cc", "lo", { "lo", "ul", "last" } },
	{ "mi", NULL, { "first" } },       { "pl", NULL, { "nfrst" } },
	{ "vs", NULL, { NULL } },          { "vc", NULL, { NULL } },
	{ "hi", NULL, { "pmore" } },       { "ls", NULL, { "plast" } },
	{ "ge", NULL, { "tcont" } },       { "lt", NULL, { "tstop" } },
	{ "gt", NULL, { NULL } },          { "le", NULL, { NULL } },
};

static const struct condition *find_condition(const char *text, size_t size)
{
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
		const struct condition *c = &conditions[i];

		if (size == 2 && (!memcmp(text, c->name, 2) || (c->other && !memcmp(text, c->other, 2))))
			return c;
	}
	return NULL;
}

static void put_text(struct arm64 *a, const char *text)
{
	pd_notation_put(&a->s->out, text, strlen(text));
}

static void put_comment(struct arm64 *a, const struct condition *c, const char *begin, const char *prefix)
{
	for (size_t i = 0; i < 3 && c->comment[i]; i++) {
		put_text(a, i ? ", " : begin);
		put_text(a, prefix);
		put_text(a, c->comment[i]);
	}
}

static bool is(const struct arm64 *a, const char *list)
{
	return pd_word_is_in(list, a->mnemonic, strlen(a->mnemonic));
}

// ---- jumps ----

static enum pd_flow flow_of(const struct arm64 *a)
{
	if (!strncmp(a->mnemonic, "b.", 2) || !strncmp(a->mnemonic, "bc.", 3) || is(a, "cbz cbnz tbz tbnz"))
		return PD_FLOW_BRANCH;
	if (is(a, "b br braa braaz brab brabz"))
		return PD_FLOW_JUMP;
	if (is(a, "bl blr blraa blraaz blrab blrabz"))
		return PD_FLOW_CALL;
	return is(a, "ret retaa retab eret") ? PD_FLOW_RETURN : PD_FLOW_NEXT;
}

// Whether the last operand is an address.
static bool has_addr(const struct arm64 *a)
{
	const struct pd_operand *last = a->count ? &a->operands[a->count - 1] : NULL;

	if (!last || last->text[0] != '#')
		return false;
	if (is(a, "adr adrp ldr ldrsw prfm"))
		return a->count == 2;
	return a->s->notation->flow != PD_FLOW_NEXT && a->s->notation->flow != PD_FLOW_RETURN;
}

// ---- numbers ----

static bool is_wide(const struct arm64 *a)
{
	return a->count && a->operands[0].text[0] != 'w';
}

static bool is_general(const struct pd_operand *operand)
{
	return operand->text[0] == 'x' || operand->text[0] == 'w' || !memcmp(operand->text, "sp", 2);
}

// Immediates that are values.
static bool is_hex(const struct arm64 *a)
{
	return is(
		a,
		"add adds sub subs cmp cmn and ands orr eor tst bic movz movn movk mov ccmp ccmn fccmp fccmpe svc hvc smc brk hlt dcps1 dcps2 dcps3 "
		"hint movi mvni clrex irg addg subg msr isb dsb dmb sysl sys");
}

// "#0x10                \t// #16"
static void put_moved(struct arm64 *a, uint64_t number)
{
	uint64_t value = is_wide(a) ? number : (uint32_t)number;

	pd_notation_printf(&a->s->out, "#0x%-20" PRIx64, value);
	pd_notation_put_tab(a->s);
	pd_notation_printf(&a->s->out, "// #%" PRId64, is_wide(a) ? (int64_t)number : (int64_t)(int32_t)number);
}

static void put_number(struct arm64 *a, const char *text, size_t size, bool hex)
{
	uint64_t number;
	size_t length;

	if (!pd_operand_number(text, size, &number, &length)) {
		pd_notation_put(&a->s->out, "#", 1);
		pd_notation_put(&a->s->out, text, size);
		return;
	}
	if (length < size && text[length] == '.' && is(a, "fcmp fcmpe"))
		pd_notation_put(&a->s->out, "#0.0", 4);
	else if (length < size && text[length] == '.')
		pd_notation_printf(&a->s->out, "#%.18e", strtod(text, NULL));
	else if (hex && is(a, "mov") && a->count == 2 && is_general(&a->operands[0]))
		put_moved(a, number);
	else if (hex)
		pd_notation_printf(&a->s->out, "#0x%" PRIx64, is_wide(a) ? number : (uint32_t)number);
	else
		pd_notation_printf(&a->s->out, "#%" PRId64, (int64_t)number);
}

static size_t number_length(const char *text, size_t size)
{
	size_t length = 0;

	while (length < size && strchr("-+.xabcdefABCDEF0123456789", text[length]))
		length++;
	return length;
}

// Numbers inside of brackets and after shifts are decimal.
static void put_operand(struct arm64 *a, size_t index)
{
	const struct pd_operand *operand = &a->operands[index];
	const char *text = operand->text;
	bool hex = text[0] == '#' && is_hex(a);

	for (size_t i = 0; i < operand->size;) {
		size_t length;

		if (text[i] != '#') {
			pd_notation_put(&a->s->out, text + i++, 1);
			continue;
		}
		length = number_length(text + i + 1, operand->size - i - 1);
		put_number(a, text + i + 1, length, hex);
		i += 1 + length;
	}
}

// ---- all of it ----

static void put_addr(struct arm64 *a)
{
	const struct pd_operand *last = &a->operands[a->count - 1];
	uint64_t addr = 0;
	size_t length;

	pd_operand_number(last->text + 1, last->size - 1, &addr, &length);
	a->s->notation->has_target = a->s->notation->flow != PD_FLOW_NEXT;
	a->s->notation->target = addr;
	pd_notation_put_addr(a->s, addr);
}

// A shift by nothing only makes elements wider.
static void adjust_widening(struct arm64 *a)
{
	static const char *const names[][2] = {
		{ "ushll", "uxtl" }, { "ushll2", "uxtl2" }, { "sshll", "sxtl" }, { "sshll2", "sxtl2" }
	};

	for (size_t i = 0; i < 4; i++) {
		if (!strcmp(a->mnemonic, names[i][0]) && a->count == 3 && pd_operand_is(&a->operands[2], "#0")) {
			strcpy(a->mnemonic, names[i][1]);
			a->count = 2;
		}
	}
}

static void put_mnemonic(struct arm64 *a, const struct condition **condition_out)
{
	*condition_out = NULL;
	if (!strncmp(a->mnemonic, "b.", 2)) {
		*condition_out = find_condition(a->mnemonic + 2, strlen(a->mnemonic) - 2);
		if (*condition_out)
			memcpy(a->mnemonic + 2, (*condition_out)->name, 2);
	}
	put_text(a, a->mnemonic);
}

static void put_operands(struct arm64 *a)
{
	const struct pd_operand *last = &a->operands[a->count - 1];
	const struct condition *c = NULL;

	if (is(a, "csel csinc csinv csneg cset csetm cinc cinv cneg ccmp ccmn fcsel fccmp fccmpe"))
		c = find_condition(last->text, last->size);
	for (size_t i = 0; i < a->count; i++) {
		put_text(a, i ? ", " : "");
		if (i + 1 == a->count && has_addr(a))
			put_addr(a);
		else if (i + 1 == a->count && c)
			put_text(a, c->name);
		else
			put_operand(a, i);
	}
	if (c && c->comment[0]) {
		pd_notation_put_tab(a->s);
		pd_notation_printf(&a->s->out, "// %s = ", c->name);
		put_comment(a, c, "", "");
	}
}

void pd_notate_arm64(struct pd_notation_writer *s)
{
	struct arm64 a = { .s = s };
	const struct condition *c;

	snprintf(a.mnemonic, sizeof(a.mnemonic), "%s", s->raw->mnemonic);
	a.count = pd_operands_split(s->raw->operands, a.operands);
	s->notation->flow = flow_of(&a);
	adjust_widening(&a);
	put_mnemonic(&a, &c);
	if (!a.count)
		return;
	pd_notation_put_tab(s);
	put_operands(&a);
	if (c)
		put_comment(&a, c, "  // ", "b.");
}
