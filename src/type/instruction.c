/* SPDX-License-Identifier: MIT */
/* An instruction from its text: operands as perf reads them, which knows those of some instructions only. */
#include "type/inside.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORD_BYTES = 24
};

// Instructions of two operands that perf reads, with or without a letter for the size.
static const char two_operands[] =
	" adc add addsd and andpd andps bsr bt btr bts cmovae cmovbe cmove cmp cmpxchg divsd divss imul lea mov movapd movaps movdqa "
	"movdqu movsb movsd movsl movss movsw movupd movups movzb movzl movzw mulsd mulss or orps paddq pand pcmpeqb por rcl sbb sub "
	"subsd test tzcnt ucomisd ucomiss vaddsd vandpd vmovdqa vmovq vmovsd vmulsd vorpd vsubsd vucomisd xadd xchg xor xorpd xorps ";
static const char one_operand[] = " dec inc ";
static const char calls[] = " call ";
static const char returns[] = " ret ";
static const char spoils[] = " and dec idiv imul inc mul neg or sar shl shr ";

static bool is_in(const char *list, const char *word, size_t length)
{
	for (const char *at = list; (at = strstr(at, word)) != NULL; at++)
		if (at > list && at[-1] == ' ' && at[length] == ' ')
			return true;
	return false;
}

// The same word, or without the letter for the size.
static bool is_one_of(const char *list, const char *word)
{
	char shorter[WORD_BYTES];
	size_t length = strlen(word);

	if (is_in(list, word, length))
		return true;
	if (length < 2 || !strchr("bwlq", word[length - 1]))
		return false;
	memcpy(shorter, word, length - 1);
	shorter[length - 1] = 0;
	return is_in(list, shorter, length - 1);
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

// ---- operands ----

// The number of DWARF of the first register in a text.
static int register_of(const char *text)
{
	static const char *const names[] = {
		"rax eax ax al ",  "rdx edx dx dl ",  "rcx ecx cx cl ",  "rbx ebx bx bl ",
		"rsi esi si sil ", "rdi edi di dil ", "rbp ebp bp bpl ", "rsp esp sp spl "
	};
	char word[WORD_BYTES] = { 0 };
	size_t length = 0;
	long number;

	if (*text != '%')
		return PD_TYPE_NO_REGISTER;
	for (text++; length < sizeof(word) - 2 && isalnum((unsigned char)*text); text++)
		word[length++] = *text;
	if (strcmp(word, "rip") == 0)
		return PD_TYPE_PC;
	if (word[0] == 'r' && isdigit((unsigned char)word[1])) {
		number = strtol(word + 1, NULL, 10);
		return number < PD_TYPE_VECTORS ? (int)number : PD_TYPE_NO_REGISTER;
	}
	if (begins(word, "xmm")) {
		number = strtol(word + 3, NULL, 10) + PD_TYPE_VECTORS;
		return number < PD_TYPE_REGISTERS ? (int)number : PD_TYPE_NO_REGISTER;
	}
	word[length++] = ' ';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (begins(names[i], word) || (strstr(names[i], word) && strstr(names[i], word)[-1] == ' '))
			return (int)i;
	return PD_TYPE_NO_REGISTER;
}

static int64_t number_of(const char *text, char **end_out)
{
	return (int64_t)(*text == '-' ? (uint64_t)0 - strtoull(text + 1, end_out, 0) : strtoull(text, end_out, 0));
}

static void read_memory(const char *text, struct pd_type_operand *operand)
{
	const char *reg;
	char *end;

	operand->is_memory = true;
	if (*text == '%') {
		operand->is_percpu = begins(text, "%gs:");
		while (*text && !isdigit((unsigned char)*text) && *text != '(')
			text++;
	}
	if (isdigit((unsigned char)*text) || *text == '-')
		operand->offset = number_of(text, &end);
	// the second register is not looked at
	reg = strchr(text, '%');
	if (reg)
		operand->reg = (int8_t)register_of(reg);
}

static void read_operand(const char *text, struct pd_type_operand *operand)
{
	char *end = NULL;

	*operand = (struct pd_type_operand){ .reg = PD_TYPE_NO_REGISTER };
	if (strchr(text, '(')) {
		read_memory(text, operand);
	} else if (begins(text, "%gs:")) {
		operand->is_percpu = true;
		operand->offset = number_of(text + 4, &end);
		operand->is_constant = end > text + 4;
	} else if (*text == '%') {
		operand->reg = (int8_t)register_of(text);
	} else if (*text == '$') {
		operand->offset = number_of(text + 1, &end);
		operand->is_constant = end > text + 1;
	}
}

// Where the first operand ends, or NULL.
static char *end_of_first(char *text)
{
	char *comma = strchr(text, ','), *bracket = strchr(text, '(');

	if (!comma || !bracket || bracket > comma)
		return comma;
	comma = strchr(bracket, ')');
	return comma && comma[1] == ',' ? comma + 1 : NULL;
}

static void read_operands(char *text, const char *word, struct pd_type_instruction *out)
{
	char *end;

	if (is_one_of(one_operand, word)) {
		read_operand(text, &out->to);
	} else if (is_one_of(two_operands, word)) {
		end = end_of_first(text);
		if (!end)
			return;
		*end++ = 0;
		read_operand(text, &out->from);
		read_operand(end + strspn(end, " "), &out->to);
	}
}

// ---- words ----

static bool is_jump(const char *word)
{
	static const char jumps[] =
		" ja jae jb jbe jc jcxz je jecxz jg jge jl jle jmp jna jnae jnb jnbe jnc jne jng jnge jnl jnle jno jnp jns "
		"jnz jo jp jpe jpo jrcxz js jz ";

	return is_one_of(jumps, word);
}

static uint8_t action_of(const char *word, const struct pd_type_instruction *i)
{
	bool is_register = !i->to.is_memory && i->to.reg >= 0;

	if (begins(word, "add"))
		return PD_TYPE_ADD;
	if (begins(word, "sub"))
		return PD_TYPE_SUBTRACT;
	if (begins(word, "lea"))
		return PD_TYPE_ADDRESS;
	if (begins(word, "mov"))
		return PD_TYPE_MOVE;
	if (is_one_of(" xor ", word) && is_register && i->from.reg == i->to.reg && !i->from.is_memory)
		return PD_TYPE_CLEAR;
	return is_register && is_one_of(spoils, word) ? PD_TYPE_SPOIL : PD_TYPE_OTHER;
}

static bool has_part(const char *word, const char *const *parts)
{
	for (; *parts; parts++)
		if (strstr(word, *parts))
			return true;
	return false;
}

static bool begins_with_one(const char *word, const char *const *beginnings)
{
	for (; *beginnings; beginnings++)
		if (begins(word, *beginnings))
			return true;
	return false;
}

// As perf, which looks for parts of words for processors of Intel.
static uint8_t fuses(const char *word)
{
	static const char *const parts[] = { "add", "sub", "and", "inc", "dec", NULL };
	static const char *const beginnings[] = { "add", "sub", "and", "inc", "dec", "or", "xor", NULL };
	uint8_t processors = 0;

	if (strstr(word, "test") || (strstr(word, "cmp") && !strstr(word, "xchg")))
		processors |= PD_TYPE_NEHALEM | PD_TYPE_LATER;
	if (has_part(word, parts))
		processors |= PD_TYPE_LATER;
	if (begins(word, "test") || (begins(word, "cmp") && !strstr(word, "xchg")))
		processors |= PD_TYPE_BULLDOZER | PD_TYPE_ZEN_3;
	if (begins_with_one(word, beginnings))
		processors |= PD_TYPE_ZEN_3;
	return processors;
}

static void classify(const char *word, struct pd_type_instruction *out)
{
	out->is_call = is_one_of(calls, word);
	out->is_return = is_one_of(returns, word);
	out->is_jump = is_jump(word);
	out->is_conditional = out->is_jump && !strstr(word, "jmp");
	out->is_stack = begins(word, "push") || (begins(word, "pop") && !begins(word, "popcnt")) ||
			begins(word, "call") || begins(word, "ret");
	out->fuses = fuses(word);
	out->never_fused = strstr(word, "jmp") || begins(word, "lea");
	out->action = action_of(word, out);
}

static char *take_word(char *text, char *word)
{
	size_t length = strcspn(text, " \t");

	memset(word, 0, WORD_BYTES);
	memcpy(word, text, length < WORD_BYTES ? length : WORD_BYTES - 1);
	text += length;
	return text + strspn(text, " \t");
}

void pd_type_instruction_read(const struct pd_notation *notation, uint64_t addr, struct pd_type_instruction *out)
{
	char text[sizeof(notation->text)], word[WORD_BYTES], locked[WORD_BYTES], *at, *end;

	*out = (struct pd_type_instruction){ .addr = addr,
					     .target = notation->target,
					     .has_target = notation->has_target,
					     .named = notation->named,
					     .has_named = notation->has_name };
	out->from.reg = out->to.reg = PD_TYPE_NO_REGISTER;
	memcpy(text, notation->text, sizeof(text));
	text[sizeof(text) - 1] = 0;
	end = strchr(text, '#');
	if (end)
		*end = 0;
	for (end = text + strlen(text); end > text && (end[-1] == ' ' || end[-1] == '\t'); end--)
		;
	*end = 0;
	at = take_word(text, word);
	if (strcmp(word, "lock") == 0) {
		at = take_word(at, locked);
		read_operands(at, locked, out);
	} else {
		read_operands(at, word, out);
	}
	classify(word, out);
}
