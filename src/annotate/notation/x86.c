/* SPDX-License-Identifier: MIT */
/*
 * x86 in AT&T's syntax: from the writer of LLVM, which capstone shares, to that of binutils. Sizes are said in the
 * mnemonic only where no register says them, numbers are hexadecimal and as wide as their operand, indexes have a scale.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "annotate/notation/x86.h"

static bool starts(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

// ---- bytes ----

static bool is_prefix(uint8_t byte)
{
	return byte && memchr("\x66\x67\xf2\xf3\xf0\x2e\x36\x3e\x26\x64\x65", byte, 11);
}

static void read_bytes(struct pd_x86 *a, const uint8_t *code, size_t size)
{
	struct pd_x86_bytes *b = &a->bytes;
	const uint8_t *end = code + size, *at = code;

	for (; at < end && is_prefix(*at); at++) {
		if (*at == 0xf2 || *at == 0xf3)
			b->prefix = *at;
		else if (*at == 0x66)
			b->data16++;
		else if (*at == 0x2e)
			b->code_segment = true;
	}
	if (a->kind->isa == PD_ISA_X86_64 && at < end && (*at & 0xf0) == 0x40)
		b->wide = *at++ & 8;
	if (at + 1 < end && *at == 0x0f) {
		at++;
		b->map = *at == 0x38 ? 2 : *at == 0x3a ? 3 : 1;
		at += b->map > 1;
	} else if (at + 3 < end && (*at == 0xc5 || *at == 0xc4 || *at == 0x62) &&
		   (a->kind->isa == PD_ISA_X86_64 || at[1] >= 0xc0)) {
		at += *at == 0xc5 ? 2 : *at == 0xc4 ? 3 : 4;
		b->map = 4;
	}
	if (at >= end)
		return;
	b->opcode = at++;
	if (at >= end)
		return;
	b->modrm = *at;
	b->has_displacement = *at >> 6 == 1 || *at >> 6 == 2;
	b->has_sib = at + 1 < end && *at >> 6 != 3 && (*at & 7) == 4;
	if (b->has_sib)
		b->sib = at[1];
	b->no_base = at + 1 < end && *at >> 6 == 0 && (*at & 7) == 4 && (at[1] & 7) == 5;
}

// ---- operands ----

static bool is_register(const struct pd_operand *operand)
{
	return operand->text[0] == '%' && !memchr(operand->text, ':', operand->size) &&
	       (!memchr(operand->text, '(', operand->size) || !strncmp(operand->text, "%st", 3));
}

unsigned pd_x86_register_width(const char *name, size_t size)
{
	static const struct {
		const char *names;
		unsigned width;
	} registers[] = { { "al bl cl dl ah bh ch dh sil dil bpl spl ", 8 },
			  { "ax bx cx dx si di bp sp ", 16 },
			  { "eax ebx ecx edx esi edi ebp esp ", 32 },
			  { "rax rbx rcx rdx rsi rdi rbp rsp ", 64 } };

	for (size_t i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		if (pd_word_is_in(registers[i].names, name, size))
			return registers[i].width;
	if (size < 2 || size > 4 || *name != 'r' || name[1] < '0' || name[1] > '9')
		return 0;
	switch (name[size - 1]) {
	case 'b':
		return 8;
	case 'w':
		return 16;
	case 'd':
		return 32;
	default:
		return 64;
	}
}

static unsigned register_width(const struct pd_operand *operand)
{
	return is_register(operand) ? pd_x86_register_width(operand->text + 1, operand->size - 1) : 0;
}

static bool has_general_register(const struct pd_x86 *a)
{
	for (size_t i = 0; i < a->count; i++)
		if (register_width(&a->operands[i]))
			return true;
	return false;
}

static void put_char(struct pd_x86 *a, char c)
{
	pd_notation_put(&a->writer->out, &c, 1);
}

// "(%rax, %rbx, 8)", also where the scale is 1.
static void put_address(struct pd_x86 *a, const char *text, size_t size)
{
	size_t commas = 0;
	bool no_index = a->bytes.has_sib && (a->bytes.sib >> 3 & 7) == 4 &&
			((a->bytes.sib & 7) != 4 || a->bytes.sib >> 6) && !a->bytes.no_base && !memchr(text, ',', size);

	for (size_t i = 0; i < size; i++) {
		commas += text[i] == ',';
		if (text[i] == ')' && no_index)
			pd_notation_printf(&a->writer->out, ",%%%ciz,%u", a->kind->isa == PD_ISA_X86_32 ? 'e' : 'r',
					   1u << (a->bytes.sib >> 6));
		if (text[i] == ')' && commas == 1)
			pd_notation_put(&a->writer->out, ",1", 2);
		if (text[i] != ' ')
			put_char(a, text[i]);
	}
}

// The segment of what string instructions write, and of what they compare with.
static bool is_string_destination(const struct pd_x86 *a, const struct pd_operand *operand)
{
	static const char *const names[] = { "stos", "movs", "scas", "cmps", "ins" };

	if (a->bytes.map)
		return false;

	if (operand->size != 6 || (memcmp(operand->text, "(%rdi)", 6) != 0 && memcmp(operand->text, "(%edi)", 6) != 0))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(a->mnemonic, names[i], strlen(names[i])) && strlen(a->mnemonic) <= strlen(names[i]) + 1)
			return true;
	return false;
}

static bool is_string_source(const struct pd_x86 *a, const struct pd_operand *operand)
{
	return operand->size == 6 && (!memcmp(operand->text, "(%rsi)", 6) || !memcmp(operand->text, "(%esi)", 6)) &&
	       (starts(a->mnemonic, "lods") || starts(a->mnemonic, "outs") || starts(a->mnemonic, "cmps") ||
		(starts(a->mnemonic, "movs") && strlen(a->mnemonic) <= 5 && a->bytes.map == 0));
}

static void put_memory(struct pd_x86 *a, const struct pd_operand *operand)
{
	const char *text = operand->text, *open;
	size_t size = operand->size, length;
	uint64_t number = 0;

	if (*text == '*') {
		put_char(a, '*');
		text++;
		size--;
	}
	if (size > 4 && *text == '%' && text[3] == ':') {
		pd_notation_put(&a->writer->out, text, 4);
		text += 4;
		size -= 4;
	}
	open = memchr(text, '(', size);
	if (pd_operand_number(text, size, &number, &length)) {
		if ((int64_t)number < 0 && open)
			pd_notation_printf(&a->writer->out, "-0x%" PRIx64, -number);
		else
			pd_notation_printf(&a->writer->out, "0x%" PRIx64,
					   a->kind->isa == PD_ISA_X86_32 ? (uint32_t)number : number);
	} else if ((a->bytes.has_displacement || a->bytes.no_base) && open) {
		pd_notation_put(&a->writer->out, "0x0", 3);
	}
	if (!open)
		return;
	if (is_string_destination(a, operand))
		pd_notation_put(&a->writer->out, "%es:", 4);
	else if (is_string_source(a, operand))
		pd_notation_put(&a->writer->out, "%ds:", 4);
	if (!strncmp(open, "(%rip)", 6)) {
		a->has_reference = true;
		a->reference = a->writer->addr + a->writer->notation->size + number;
		if (!number)
			pd_notation_put(&a->writer->out, "0x0", 3);
	}
	put_address(a, open, size - (size_t)(open - text));
}

static uint64_t mask(uint64_t number, unsigned width)
{
	return width >= 64 ? number : number & ((UINT64_C(1) << width) - 1);
}

// "%zmm1 {%k1} {z}"
static void put_masked(struct pd_x86 *a, const struct pd_operand *operand)
{
	for (size_t i = 0; i < operand->size; i++)
		if (operand->text[i] != ' ')
			put_char(a, operand->text[i]);
}

static void put_operand(struct pd_x86 *a, const struct pd_operand *operand)
{
	uint64_t number;
	size_t length;

	if (operand->text[0] == '$' && pd_operand_number(operand->text + 1, operand->size - 1, &number, &length))
		pd_notation_printf(&a->writer->out, "$0x%" PRIx64, mask(number, a->width));
	else if (operand->text[0] == '%' && memchr(operand->text, '{', operand->size))
		put_masked(a, operand);
	else if (is_register(operand) ||
		 (operand->text[0] == '*' && operand->text[1] == '%' && !memchr(operand->text, '(', operand->size) &&
		  !memchr(operand->text, ':', operand->size)))
		pd_notation_put(&a->writer->out, operand->text, operand->size);
	else
		put_memory(a, operand);
}

// ---- mnemonics ----

static const char *const sized[] = {
	"adc",        "add",   "and",     "bsf",      "bsr",      "bswap",     "bt",        "btc",
	"btr",        "bts",   "call",    "cmp",      "cmpxchg",  "cmps",      "dec",       "div",
	"idiv",       "imul",  "in",      "inc",      "iret",     "jmp",       "lar",       "lea",
	"leave",      "lods",  "lret",    "lsl",      "lzcnt",    "mov",       "movabs",    "movbe",
	"movs",       "mul",   "neg",     "nop",      "not",      "or",        "out",       "outs",
	"ins",        "pop",   "popcnt",  "push",     "rcl",      "rcr",       "ret",       "rol",
	"ror",        "sal",   "sar",     "sbb",      "scas",     "shl",       "shld",      "shr",
	"shrd",       "sldt",  "smsw",    "stos",     "str",      "sub",       "sysret",    "test",
	"tzcnt",      "xadd",  "xchg",    "xor",      "andn",     "bextr",     "blsi",      "blsmsk",
	"blsr",       "bzhi",  "mulx",    "pdep",     "pext",     "rorx",      "sarx",      "shlx",
	"shrx",       "adcx",  "adox",    "rdrand",   "rdseed",   "rdfsbase",  "rdgsbase",  "wrfsbase",
	"wrgsbase",   "rdpid", "ptwrite", "lldt",     "ltr",      "verr",      "verw",      "lmsw",
	"sidt",       "sgdt",  "lidt",    "lgdt",     "invpcid",  "incssp",    "rdssp",     "wrss",
	"movnti",     "pushf", "popf",    "cvtsi2sd", "cvtsi2ss", "vcvtsi2sd", "vcvtsi2ss", "vcvtusi2sd",
	"vcvtusi2ss",
};

static bool is_condition(const char *text, size_t length)
{
	static const char *const conditions[] = { "a",  "ae", "b",  "be", "e",  "g", "ge", "l",
						  "le", "ne", "no", "np", "ns", "o", "p",  "s" };

	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
		if (strlen(conditions[i]) == length && !memcmp(conditions[i], text, length))
			return true;
	return false;
}

// The mnemonic without its size; false if it has none.
static bool base_of(const char *mnemonic, size_t *length_out, unsigned *width_out)
{
	size_t length = strlen(mnemonic);

	if (length < 3)
		return false;
	switch (mnemonic[length - 1]) {
	case 'b':
		*width_out = 8;
		break;
	case 'w':
		*width_out = 16;
		break;
	case 'l':
		*width_out = 32;
		break;
	case 'q':
		*width_out = 64;
		break;
	default:
		return false;
	}
	*length_out = length - 1;
	if (starts(mnemonic, "cmov") && length > 5)
		return *width_out != 8 && is_condition(mnemonic + 4, length - 5);
	for (size_t i = 0; i < sizeof(sized) / sizeof(sized[0]); i++)
		if (strlen(sized[i]) == length - 1 && !memcmp(sized[i], mnemonic, length - 1))
			return true;
	return false;
}

static bool is_shift(const char *mnemonic)
{
	return strlen(mnemonic) >= 3 &&
	       (starts(mnemonic, "sh") || starts(mnemonic, "sa") || starts(mnemonic, "ro") || starts(mnemonic, "rc")) &&
	       (mnemonic[2] == 'l' || mnemonic[2] == 'r');
}

// A register says the size, unless it is that of a count or a port.
static bool register_has_size(const struct pd_x86 *a)
{
	const struct pd_operand *last = a->count ? &a->operands[a->count - 1] : NULL;

	if (!has_general_register(a))
		return false;
	if (is_shift(a->mnemonic) && a->count >= 2 && pd_operand_is(&a->operands[0], "%cl") && a->mnemonic[3] != 'd')
		return register_width(last) != 0;
	return true;
}

static bool is_vector(const struct pd_operand *operand)
{
	return operand->size > 4 && (!memcmp(operand->text, "%xmm", 4) || !memcmp(operand->text, "%mm", 3));
}

static void choose_mnemonic(struct pd_x86 *a)
{
	char *mnemonic = a->mnemonic;
	unsigned width = 0;
	size_t length;

	a->width = 64;
	for (size_t i = 0; i < a->count; i++)
		if (register_width(&a->operands[i]))
			a->width = register_width(&a->operands[i]);
	if (starts(mnemonic, "xabort"))
		a->width = 8;
	if (!base_of(mnemonic, &length, &width))
		return;
	if (!has_general_register(a) || starts(mnemonic, "movabs"))
		a->width = width;
	if (!strcmp(mnemonic, "movq") && a->count == 2 && (is_vector(&a->operands[0]) || is_vector(&a->operands[1])))
		return;
	if (register_has_size(a) || starts(mnemonic, "call") || starts(mnemonic, "jmp") || starts(mnemonic, "ret") ||
	    (width != 16 && (starts(mnemonic, "push") || starts(mnemonic, "pop") || starts(mnemonic, "leave"))))
		mnemonic[length] = 0;
}

// ---- all of it ----

static void put_target(struct pd_x86 *a, uint64_t target)
{
	if (a->kind->isa == PD_ISA_X86_32)
		target = (uint32_t)target;
	a->writer->notation->has_target = true;
	a->writer->notation->target = target;
	pd_notation_put_addr(a->writer, target);
}

static enum pd_flow flow_of(const char *mnemonic)
{
	if (starts(mnemonic, "jmp") || starts(mnemonic, "ljmp"))
		return PD_FLOW_JUMP;
	if (*mnemonic == 'j' || starts(mnemonic, "loop") || starts(mnemonic, "xbegin"))
		return PD_FLOW_BRANCH;
	if (starts(mnemonic, "call") || starts(mnemonic, "lcall"))
		return PD_FLOW_CALL;
	if (starts(mnemonic, "ret") || starts(mnemonic, "iret") || starts(mnemonic, "sysret") ||
	    starts(mnemonic, "lret"))
		return PD_FLOW_RETURN;
	return PD_FLOW_NEXT;
}

// "lock cmpxchgl": what stands before the mnemonic.
static void split_prefixes(struct pd_x86 *a, const char *text)
{
	const char *blank;

	while ((blank = strchr(text, ' ')) != NULL) {
		size_t length = strlen(a->prefixes);
		char word[16];

		snprintf(word, sizeof(word), "%.*s", (int)(blank - text), text);
		if (!strcmp(word, "repne"))
			strcpy(word, "repnz");
		snprintf(a->prefixes + length, sizeof(a->prefixes) - length, "%s ", word);
		text = blank + 1;
	}
	snprintf(a->mnemonic, sizeof(a->mnemonic), "%s", text);
}

bool pd_x86_put_target(struct pd_x86 *a)
{
	uint64_t target;
	size_t length;

	if (a->count != 1 || a->writer->notation->flow == PD_FLOW_NEXT || a->writer->notation->flow == PD_FLOW_RETURN ||
	    !pd_operand_number(a->operands[0].text, a->operands[0].size, &target, &length) ||
	    length != a->operands[0].size)
		return false;
	put_target(a, target);
	return true;
}

static void put_operands(struct pd_x86 *a)
{
	if (pd_x86_put_target(a))
		return;
	for (size_t i = 0; i < a->count; i++) {
		if (i)
			put_char(a, ',');
		put_operand(a, &a->operands[i]);
	}
}

// Instructions that do nothing say all their prefixes.
void pd_x86_adjust_padding(struct pd_x86 *a)
{
	static const char data16[] =
		"data16 data16 data16 data16 data16 data16 data16 data16 data16 data16 data16 data16 ";
	unsigned extra = a->bytes.data16 ? a->bytes.data16 - 1 : 0;
	struct pd_operand *operand = a->operands;

	if (a->count && operand->size > 4 && !memcmp(operand->text, "%cs:", 4)) {
		operand->text += 4;
		operand->size -= 4;
	}
	snprintf(a->prefixes, sizeof(a->prefixes), "%.*s%s", (int)((extra < 5 ? extra : 5) * 7), data16,
		 a->bytes.code_segment ? "cs " : "");
	if (!a->count && a->bytes.data16 && a->bytes.opcode && *a->bytes.opcode == 0x90) {
		strcpy(a->mnemonic, "xchg");
		a->operands[0] = a->operands[1] = a->kind->intel ? (struct pd_operand){ "ax", 2 } :
								   (struct pd_operand){ "%ax", 3 };
		a->count = 2;
	}
}

static void drop_first(struct pd_x86 *a)
{
	memmove(a->operands, a->operands + 1, --a->count * sizeof(*a->operands));
}

static void add_operand(struct pd_x86 *a, bool first, const char *text)
{
	if (first)
		memmove(a->operands + 1, a->operands, a->count * sizeof(*a->operands));
	a->operands[first ? 0 : a->count] = (struct pd_operand){ text, strlen(text) };
	a->count++;
}

// The stack of the coprocessor: the operand that is implied is said.
static void adjust_stack(struct pd_x86 *a)
{
	static const char *const of_top[] = { "fadd",  "fmul",  "fsub",   "fsubr",  "fdiv",
					      "fdivr", "fcomi", "fucomi", "fcompi", "fucompi" };
	size_t length = strlen(a->mnemonic);

	for (size_t i = 0; i < a->count && a->count == 2; i++)
		if (pd_operand_is(&a->operands[i], "%st(0)"))
			a->operands[i].size = 3;
	if (a->count != 1 || a->operands[0].text[0] != '%' || strncmp(a->operands[0].text, "%st", 3) != 0)
		return;
	for (size_t i = 0; i < sizeof(of_top) / sizeof(of_top[0]); i++) {
		if (!strcmp(a->mnemonic, of_top[i])) {
			if (length > 3 && !strcmp(a->mnemonic + length - 2, "pi"))
				strcpy(a->mnemonic + length - 2, "ip");
			add_operand(a, false, "%st");
			return;
		}
	}
	if (a->mnemonic[length - 1] == 'p' && (starts(a->mnemonic, "fadd") || starts(a->mnemonic, "fmul") ||
					       starts(a->mnemonic, "fsub") || starts(a->mnemonic, "fdiv")))
		add_operand(a, true, "%st");
	else if (starts(a->mnemonic, "fcmov"))
		add_operand(a, false, "%st");
}

static void adjust_special(struct pd_x86 *a)
{
	uint8_t opcode = a->bytes.opcode ? *a->bytes.opcode : 0;

	if (!strcmp(a->mnemonic, "wait"))
		strcpy(a->mnemonic, "fwait");
	else if (starts(a->mnemonic, "nop"))
		pd_x86_adjust_padding(a);
	else if (a->mnemonic[0] == 'f')
		adjust_stack(a);
	else if (starts(a->mnemonic, "out") && a->count == 2 && pd_operand_is(&a->operands[1], "%dx"))
		a->operands[1] = (struct pd_operand){ "(%dx)", 5 };
	else if (is_shift(a->mnemonic) && !a->bytes.map && (opcode == 0xd0 || opcode == 0xd1) && a->count == 2)
		drop_first(a);
}

// Jumps, calls, push and pop have 64 bits with or without REX.W.
static bool is_always_wide(const struct pd_x86_bytes *b)
{
	uint8_t opcode = *b->opcode, digit = b->modrm >> 3 & 7;

	return (opcode & 0xf0) == 0x50 || (opcode & 0xf0) == 0x70 || (opcode & 0xfe) == 0xc2 ||
	       (opcode & 0xfe) == 0xe8 || opcode == 0xeb ||
	       (opcode == 0xff && (digit == 2 || digit == 4 || digit == 6));
}

// Prefixes without an effect are said, too: linkers need room in accesses to thread-local storage.
static void put_unused_prefixes(struct pd_x86 *a)
{
	const struct pd_x86_bytes *b = &a->bytes;

	if (!b->wide || b->map || !b->opcode || starts(a->mnemonic, "nop"))
		return;
	for (unsigned i = 0; i < b->data16; i++)
		pd_notation_put(&a->writer->out, "data16 ", 7);
	if (is_always_wide(b))
		pd_notation_put(&a->writer->out, "rex.W ", 6);
}

void pd_x86_read(struct pd_x86 *a, struct pd_notation_writer *s)
{
	*a = (struct pd_x86){ .kind = s->kind, .writer = s };
	read_bytes(a, s->code, s->raw->size);
	split_prefixes(a, s->raw->mnemonic);
	a->count = pd_operands_split(s->raw->operands, a->operands);
	s->notation->flow = flow_of(a->mnemonic);
}

void pd_x86_put_mnemonic(struct pd_x86 *a)
{
	struct pd_notation_text *out = &a->writer->out;
	size_t before = out->size, width;

	put_unused_prefixes(a);
	pd_notation_put(out, a->prefixes, strlen(a->prefixes));
	width = out->size - before;
	if (a->count)
		pd_notation_printf(out, "%-*s ", (int)(width < 6 ? 6 - width : 0), a->mnemonic);
	else
		pd_notation_put(out, a->mnemonic, strlen(a->mnemonic));
}

void pd_x86_put_reference(struct pd_x86 *a)
{
	if (!a->has_reference)
		return;
	pd_notation_printf(&a->writer->out, "        # ");
	pd_notation_put_addr(a->writer, a->reference);
}

void pd_notate_att(struct pd_notation_writer *s)
{
	struct pd_x86 a;

	pd_x86_read(&a, s);
	choose_mnemonic(&a);
	adjust_special(&a);
	pd_x86_put_mnemonic(&a);
	put_operands(&a);
	pd_x86_put_reference(&a);
}
