/* SPDX-License-Identifier: MIT */
/*
 * x86 in Intel's syntax: from the writer of LLVM to that of binutils. Sizes stand in front of memory operands, in capitals;
 * numbers are hexadecimal and as wide as their operand, indexes have a scale.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "annotate/notation/x86.h"

static bool starts_with(const char *text, size_t size, const char *prefix)
{
	return size >= strlen(prefix) && !memcmp(text, prefix, strlen(prefix));
}

static void put_char(struct pd_x86 *a, char c)
{
	pd_notation_put(&a->writer->out, &c, 1);
}

// ---- widths ----

static const struct {
	const char *word, *said;
	unsigned width; // of a number beside it
} sizes[] = {
	{ "byte ptr ", "BYTE PTR ", 8 },
	{ "word ptr ", "WORD PTR ", 16 },
	{ "dword ptr ", "DWORD PTR ", 32 },
	{ "qword ptr ", "QWORD PTR ", 64 },
	{ "fword ptr ", "FWORD PTR ", 64 },
	{ "tbyte ptr ", "TBYTE PTR ", 64 },
	{ "xword ptr ", "TBYTE PTR ", 64 },
	{ "xmmword ptr ", "XMMWORD PTR ", 64 },
	{ "ymmword ptr ", "YMMWORD PTR ", 64 },
	{ "zmmword ptr ", "ZMMWORD PTR ", 64 },
	{ "opaque ptr ", "", 64 },
};

static unsigned width_of_memory(const struct pd_operand *operand)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		if (starts_with(operand->text, operand->size, sizes[i].word))
			return sizes[i].width;
	return 0;
}

// That of the first operand that has one.
static void choose_width(struct pd_x86 *a)
{
	unsigned width = 0;

	for (size_t i = 0; i < a->count && !width; i++) {
		width = pd_x86_register_width(a->operands[i].text, a->operands[i].size);
		width = width ? width : width_of_memory(&a->operands[i]);
	}
	a->width = width ? width : a->kind->isa == PD_ISA_X86_32 ? 32 : 64;
	if (!strcmp(a->mnemonic, "xabort"))
		a->width = 8;
}

// ---- operands ----

static uint64_t mask(uint64_t number, unsigned width)
{
	return width >= 64 ? number : number & ((UINT64_C(1) << width) - 1);
}

// The displacement at the end of an address; those that are relative to the instruction have no sign.
static void put_displacement(struct pd_x86 *a, bool minus, uint64_t number, bool relative)
{
	uint64_t value = minus ? -number : number;

	if (relative) {
		a->has_reference = true;
		a->reference = a->writer->addr + a->writer->notation->size + value;
		minus = false;
		number = value;
	}
	pd_notation_printf(&a->writer->out, "%c0x%" PRIx64, minus ? '-' : '+', number);
}

static bool is_index_alone(const struct pd_x86 *a)
{
	return a->bytes.has_sib && a->bytes.no_base;
}

// "rax + rcx*8 - 1" as "rax+rcx*8-0x1".
static void put_address(struct pd_x86 *a, const char *text, size_t size)
{
	bool relative = starts_with(text, size, "rip"), written = false, no_index;
	size_t parts = 1;

	for (size_t i = 0; i < size;) {
		size_t length = i, digits;
		uint64_t number;
		char sign = 0;

		while (length < size && text[length] != ' ')
			length++;
		if (length - i == 1 && (text[i] == '+' || text[i] == '-')) {
			sign = text[i];
			i += 2;
			for (length = i; length < size && text[length] != ' ';)
				length++;
		}
		if (i >= size)
			break;
		if (pd_operand_number(text + i, length - i, &number, &digits)) {
			put_displacement(a, sign == '-', number, relative);
			written = true;
		} else {
			if (sign)
				put_char(a, '+');
			pd_notation_put(&a->writer->out, text + i, length - i);
			if ((sign || is_index_alone(a)) && !memchr(text + i, '*', length - i))
				pd_notation_put(&a->writer->out, "*1", 2);
			parts += sign != 0;
		}
		i = length + 1;
	}
	no_index = a->bytes.has_sib && (a->bytes.sib >> 3 & 7) == 4 && ((a->bytes.sib & 7) != 4 || a->bytes.sib >> 6) &&
		   !a->bytes.no_base && parts == 1 && !written;
	if (no_index)
		pd_notation_printf(&a->writer->out, "+%ciz*%u", a->kind->isa == PD_ISA_X86_32 ? 'e' : 'r',
				   1u << (a->bytes.sib >> 6));
	if (!written && (relative || a->bytes.has_displacement || a->bytes.no_base))
		put_displacement(a, false, 0, relative);
}

static bool is_string(const struct pd_x86 *a, const char *names)
{
	size_t length = strlen(a->mnemonic);

	return !a->bytes.map && length > 3 &&
	       (pd_word_is_in(names, a->mnemonic, length) || pd_word_is_in(names, a->mnemonic, length - 1));
}

// The segment that string instructions use, where none is said.
static const char *segment_of(const struct pd_x86 *a, const char *address, size_t size)
{
	if (size != 3)
		return "";
	if (!memcmp(address + 1, "di", 2) && is_string(a, "stos movs scas cmps ins "))
		return "es:";
	return !memcmp(address + 1, "si", 2) && is_string(a, "lods movs cmps outs ") ? "ds:" : "";
}

// A register, with the masks behind it: {k1}{z}.
static void put_joined(struct pd_x86 *a, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] != ' ')
			put_char(a, text[i]);
}

static void put_memory(struct pd_x86 *a, const char *text, size_t size)
{
	const char *open = memchr(text, '[', size),
		   *close = open ? memchr(open, ']', size - (size_t)(open - text)) : NULL;
	size_t inside = close ? (size_t)(close - open) - 1 : 0, digits;
	uint64_t number;

	if (!close) {
		put_joined(a, text, size);
		return;
	}
	if (starts_with(text, size, "cs:") && !strcmp(a->mnemonic, "nop")) // the prefix is said
		text += 3, size -= 3;
	pd_notation_put(&a->writer->out, text, (size_t)(open - text));
	if (pd_operand_number(open + 1, inside, &number, &digits) && digits == inside) {
		pd_notation_printf(&a->writer->out, "%s0x%" PRIx64, open == text ? "ds:" : "",
				   a->kind->isa == PD_ISA_X86_32 ? (uint32_t)number : number);
	} else {
		const char *segment = open == text ? segment_of(a, open + 1, inside) : "";

		pd_notation_put(&a->writer->out, segment, strlen(segment));
		put_char(a, '[');
		put_address(a, open + 1, inside);
		put_char(a, ']');
	}
	put_joined(a, close + 1, size - (size_t)(close + 1 - text));
}

// Where an address without a register is part of the instruction, the register says the size.
static bool is_absolute(const struct pd_x86 *a)
{
	return !a->bytes.map && a->bytes.opcode && (*a->bytes.opcode & 0xfc) == 0xa0;
}

// What stands in front of memory. Gathering and broadcasting instructions say the size of an element.
static void put_size(struct pd_x86 *a, const char *said, bool broadcast)
{
	bool by_element = strstr(a->mnemonic, "gather") || strstr(a->mnemonic, "scatter");
	const char *end = a->mnemonic + strlen(a->mnemonic) - 2;

	if (is_absolute(a))
		return;
	if (by_element)
		said = !strcmp(end, "ps") || !strcmp(end, "dd") || !strcmp(end, "qd") ? "DWORD PTR " : "QWORD PTR ";
	if (broadcast)
		pd_notation_printf(&a->writer->out, "%.*s BCST ", (int)strcspn(said, " "), said);
	else
		pd_notation_put(&a->writer->out, said, strlen(said));
}

static void put_operand(struct pd_x86 *a, const struct pd_operand *operand)
{
	const char *text = operand->text, *many;
	size_t size = operand->size, digits;
	uint64_t number;

	if (pd_operand_number(text, size, &number, &digits) && digits == size) {
		pd_notation_printf(&a->writer->out, "0x%" PRIx64, mask(number, a->width));
		return;
	}
	many = memchr(text, '{', size);
	many = many && starts_with(many, size - (size_t)(many - text), "{1to") ? many : NULL;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		size_t length = strlen(sizes[i].word);

		if (!starts_with(text, size, sizes[i].word))
			continue;
		put_size(a, sizes[i].said, many != NULL);
		text += length;
		size -= length;
		break;
	}
	put_memory(a, text, many ? (size_t)(many - text) : size);
}

// ---- mnemonics ----

// The stack of the coprocessor: the operand that is implied is said.
static void adjust_stack(struct pd_x86 *a)
{
	static const struct pd_operand top = { "st", 2 };
	size_t length = strlen(a->mnemonic);

	for (size_t i = 0; i < a->count && a->count == 2; i++)
		if (pd_operand_is(&a->operands[i], "st(0)"))
			a->operands[i] = top;
	if (a->count != 1 || !starts_with(a->operands[0].text, a->operands[0].size, "st"))
		return;
	if (pd_word_is_in("fcompi fucompi ", a->mnemonic, length))
		memcpy(a->mnemonic + length - 2, "ip", 2);
	if (pd_word_is_in("faddp fmulp fsubp fsubrp fdivp fdivrp ", a->mnemonic, length)) {
		a->operands[a->count++] = top;
	} else if (!strncmp(a->mnemonic, "fcmov", 5) ||
		   pd_word_is_in("fadd fmul fsub fsubr fdiv fdivr fcomi fucomi fcomip fucomip ", a->mnemonic, length)) {
		a->operands[a->count++] = a->operands[0];
		a->operands[0] = top;
	}
}

// Shifts by one say it in decimal, as they have no number.
static void adjust_shift(struct pd_x86 *a)
{
	uint8_t opcode = a->bytes.opcode ? *a->bytes.opcode : 0;

	if (!a->bytes.map && (opcode == 0xd0 || opcode == 0xd1) && a->count == 2)
		a->shift_by_one = true;
}

static void adjust(struct pd_x86 *a)
{
	size_t length = strlen(a->mnemonic);

	if (!strcmp(a->mnemonic, "wait"))
		strcpy(a->mnemonic, "fwait");
	else if (!strncmp(a->mnemonic, "nop", 3))
		pd_x86_adjust_padding(a);
	else if (a->count && is_string(a, "stos movs scas cmps ins lods outs ") &&
		 !strchr("s", a->mnemonic[length - 1]))
		a->mnemonic[length - 1] = 0;
	else if (*a->mnemonic == 'f')
		adjust_stack(a);
	else
		adjust_shift(a);
}

void pd_notate_intel(struct pd_notation_writer *s)
{
	struct pd_x86 a;

	pd_x86_read(&a, s);
	choose_width(&a);
	adjust(&a);
	pd_x86_put_mnemonic(&a);
	if (!pd_x86_put_target(&a)) {
		for (size_t i = 0; i < a.count; i++) {
			if (i)
				put_char(&a, ',');
			if (i && a.shift_by_one)
				put_char(&a, '1');
			else
				put_operand(&a, &a.operands[i]);
		}
	}
	pd_x86_put_reference(&a);
}
