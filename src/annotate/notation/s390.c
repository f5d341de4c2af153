/* SPDX-License-Identifier: MIT */
/* s390x: from capstone's writer to that of binutils. Numbers are decimal, and what a mnemonic implies is not said. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "annotate/notation/notation.h"

struct s390 {
	struct pd_notation_writer *s;
	char mnemonic[40];
	struct pd_operand operands[PD_OPERANDS];
	size_t count;
};

static bool is(const struct s390 *z, const char *list)
{
	return pd_word_is_in(list, z->mnemonic, strlen(z->mnemonic));
}

static bool starts(const struct s390 *z, const char *prefix)
{
	return !strncmp(z->mnemonic, prefix, strlen(prefix));
}

// The length of the name of a comparison that branches (j, b) or traps (t), without its condition; 0 for another instruction.
static size_t comparison_length(const struct s390 *z)
{
	static const char *const names[] = { "cgrj",  "cgrb",  "cgrt",  "crj",  "crb",   "crt",   "clgrj",
					     "clgrb", "clgrt", "clrj",  "clrb", "clrt",  "cgij",  "cgib",
					     "cgit",  "cij",   "cib",   "cit",  "clgij", "clgib", "clgit",
					     "clij",  "clib",  "clfit", "clgt", "clt" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (starts(z, names[i]))
			return strlen(names[i]);
	return 0;
}

static enum pd_flow flow_of(const struct s390 *z)
{
	size_t compared = comparison_length(z);

	if (is(z, "j jg br b"))
		return PD_FLOW_JUMP;
	if (is(z, "brasl bras basr bas balr bal bassm"))
		return PD_FLOW_CALL;
	if (starts(z, "j") || starts(z, "brc") || is(z, "brxh brxhg brxle brxlg bct bctr bctg bctgr bxh bxle bc bcr") ||
	    (compared && z->mnemonic[compared - 1] != 't') ||
	    (z->mnemonic[0] == 'b' && z->mnemonic[strlen(z->mnemonic) - 1] == 'r' && strlen(z->mnemonic) <= 4))
		return PD_FLOW_BRANCH;
	return PD_FLOW_NEXT;
}

// Whether the last operand is an address.
static bool has_addr(const struct s390 *z)
{
	const struct pd_operand *last = z->count ? &z->operands[z->count - 1] : NULL;

	if (!last || last->size < 3 || memcmp(last->text, "0x", 2) != 0 || memchr(last->text, '(', last->size))
		return false;
	return z->s->notation->flow != PD_FLOW_NEXT ||
	       is(z,
		  "larl lgrl lrl lhrl lghrl lgfrl llgfrl llhrl llghrl strl stgrl sthrl crl cgrl cgfrl clrl clgrl clgfrl chrl cghrl clhrl clghrl exrl pfdrl");
}

static void put_text(struct s390 *z, const char *text)
{
	pd_notation_put(&z->s->out, text, strlen(text));
}

// "0x130(8, %r15)" is "304(8,%r15)".
static void put_operand(struct s390 *z, const struct pd_operand *operand)
{
	for (size_t i = 0; i < operand->size;) {
		const char *text = operand->text + i;
		uint64_t number;
		size_t length;

		if (*text != '%' && pd_operand_number(text, operand->size - i, &number, &length)) {
			pd_notation_printf(&z->s->out, "%" PRId64, (int64_t)number);
			i += length;
			continue;
		}
		do {
			if (operand->text[i] != ' ')
				pd_notation_put(&z->s->out, operand->text + i, 1);
			i++;
		} while (i < operand->size && !strchr("(,", operand->text[i - 1]));
		while (i < operand->size && operand->text[i] == ' ')
			i++;
	}
}

static void put_operands(struct s390 *z)
{
	for (size_t i = 0; i < z->count; i++) {
		uint64_t addr;
		size_t length;

		put_text(z, i ? "," : "");
		if (i + 1 < z->count || !has_addr(z) ||
		    !pd_operand_number(z->operands[i].text, z->operands[i].size, &addr, &length)) {
			put_operand(z, &z->operands[i]);
			continue;
		}
		z->s->notation->has_target = z->s->notation->flow != PD_FLOW_NEXT;
		z->s->notation->target = addr;
		pd_notation_put_addr(z->s, addr);
	}
}

static uint64_t number_of(const struct s390 *z, size_t index)
{
	uint64_t number = 0;
	size_t length;

	if (index < z->count)
		pd_operand_number(z->operands[index].text, z->operands[index].size, &number, &length);
	return number;
}

// Rotations that clear the rest have a z for it; the bit that says so is none of the number.
static bool write_rotation(struct s390 *z)
{
	uint64_t last = number_of(z, 3);

	if (!is(z, "risbg risbgn") || z->count < 4 || !(last & 128))
		return false;
	strcat(z->mnemonic, "z");
	put_text(z, z->mnemonic);
	pd_notation_put_tab(z->s);
	for (size_t i = 0; i < z->count; i++) {
		put_text(z, i ? "," : "");
		if (i == 3)
			pd_notation_printf(&z->s->out, "%" PRIu64, last & 127);
		else
			put_operand(z, &z->operands[i]);
	}
	return true;
}

static void drop_first(struct s390 *z)
{
	memmove(z->operands, z->operands + 1, --z->count * sizeof(*z->operands));
}

// Conditions of two parts are called after what is not so.
static void adjust_comparison(struct s390 *z)
{
	char *condition = z->mnemonic + comparison_length(z);

	if (condition == z->mnemonic)
		return;
	if (!strcmp(condition, "he"))
		strcpy(condition, "nl");
	else if (!strcmp(condition, "le"))
		strcpy(condition, "nh");
	else if (!strcmp(condition, "lh"))
		strcpy(condition, "ne");
}

// Branches that are never taken, and flags that are none.
static void adjust_names(struct s390 *z)
{
	if ((starts(z, "vstrc") || starts(z, "vfae") || starts(z, "vfee") || starts(z, "vfene")) && z->count > 3 &&
	    pd_operand_is(&z->operands[z->count - 1], "0"))
		z->count--;
	adjust_comparison(z);
	if (is(z, "bcr") && z->count == 2 && pd_operand_is(z->operands, "0")) {
		strcpy(z->mnemonic, "nopr");
		drop_first(z);
		z->count = !pd_operand_is(z->operands, "%r0");
	} else if (is(z, "brc brcl") && z->count == 2 && pd_operand_is(z->operands, "0")) {
		strcpy(z->mnemonic, is(z, "brc") ? "jnop" : "jgnop");
		drop_first(z);
	} else if (is(z, "bc") && z->count == 2 && pd_operand_is(z->operands, "0")) {
		strcpy(z->mnemonic, "nop");
		drop_first(z);
	}
}

void pd_notate_s390(struct pd_notation_writer *s)
{
	struct s390 z = { .s = s };

	snprintf(z.mnemonic, sizeof(z.mnemonic) - 1, "%.30s", s->raw->mnemonic);
	z.count = pd_operands_split(s->raw->operands, z.operands);
	adjust_names(&z);
	s->notation->flow = flow_of(&z);
	if (write_rotation(&z))
		return;
	put_text(&z, z.mnemonic);
	if (!z.count)
		return;
	pd_notation_put_tab(s);
	put_operands(&z);
}
