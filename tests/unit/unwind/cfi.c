/* SPDX-License-Identifier: MIT */
/*
 * Tables of unwind rules, made of call frame information by hand: what holds at which address, and what becomes of damage. Then
 * each allocation fails in turn; the linker wraps them (--wrap).
 */
#define FAILING_COUNTS_LIVE
#include "unit/failing.h"
#include "unwind/rules/cfi.h"
#include "unwind/rules/saved.h"

#include "unit/test.h"
#include "unit/unwind/rules.h"

// ---- sections ----

enum {
	BASE = 0x1000,
	END = 0x9000,
	AX = 0,
	BX = 3,
	BP = 6,
	SP = 7,
	RA = 16
};

// A common entry of x86-64: CFA = sp + 8, the return address below it; absolute addresses of 4 bytes (03).
#define COMMON 0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x03, 0x0c, 7, 8, 0x90, 1, 0, 0
// The same of a trampoline of signals.
#define COMMON_OF_SIGNALS 0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 'S', 0, 1, 0x78, 16, 1, 0x03, 0x0c, 7, 8, 0x90, 1, 0

// An entry of a function, at an offset of the section; its instructions fill 8 bytes.
#define FUNCTION(offset, high, size, ...) \
	0x15, 0, 0, 0, (offset) + 4, 0, 0, 0, 0, high, 0, 0, size, 0, 0, 0, 0, __VA_ARGS__

static const uint8_t usual[] = {
	COMMON,
	// push bp; mov bp, sp; ... ; leave
	FUNCTION(24, 0x20, 0x20, 0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6),
	// after it, with remembered rules
	FUNCTION(49, 0x21, 0x40, 0x44, 0x0e, 32, 0x0a, 0x44, 0x0e, 8, 0x0b),
};

static struct pd_cfi_section section_of(const uint8_t *data, size_t size)
{
	return (struct pd_cfi_section){ .bytes = { data, size }, .word = 8, .code_start = BASE, .code_end = END };
}

static bool compile(struct pd_unwind_table *table, const struct pd_cfi_section *section)
{
	const struct pd_unwind_arch *arch = pd_unwind_arch_of(PD_ARCH_X86, PD_REGS_ABI_64);

	if (!pd_unwind_table_init(table, BASE))
		return false;
	if (pd_cfi_compile(section, arch, table) && pd_unwind_table_sort(table))
		return true;
	pd_unwind_table_fini(table);
	return false;
}

static void check_usual(const struct pd_unwind_table *table)
{
	CHECK(!rule_at(table, BASE) && !rule_at(table, 0x1fff));
	CHECK(has_cfa(table, 0x2000, SP, 8) && has_saved(table, 0x2000, RA, PD_SAVED_AT_CFA, -8));
	CHECK(has_cfa(table, 0x2001, SP, 16) && has_saved(table, 0x2001, BP, PD_SAVED_AT_CFA, -16));
	CHECK(has_cfa(table, 0x2003, SP, 16) && has_cfa(table, 0x2004, BP, 16) && has_cfa(table, 0x201f, BP, 16));
	CHECK(!rule_at(table, 0x2020) && !rule_at(table, 0x20ff));
	CHECK(has_cfa(table, 0x2100, SP, 8) && has_cfa(table, 0x2104, SP, 32) && has_cfa(table, 0x2107, SP, 32));
	CHECK(has_cfa(table, 0x2108, SP, 32) && has_cfa(table, 0x213f, SP, 32) && !rule_at(table, 0x2140));
	CHECK(!rule_at(table, 0) && !rule_at(table, UINT64_MAX));
}

TEST(test_cfi__rules)
{
	struct pd_cfi_section section = section_of(usual, sizeof(usual));
	struct pd_unwind_table table;

	CHECK(compile(&table, &section));
	check_usual(&table);
	// the same twice is the same
	CHECK(pd_unwind_table_sort(&table));
	check_usual(&table);
	pd_unwind_table_fini(&table);
}

static bool compile_function(struct pd_unwind_table *table, bool is_signal, const uint8_t code[8])
{
	static const uint8_t signal[] = { COMMON_OF_SIGNALS };
	uint8_t bytes[] = { COMMON, FUNCTION(24, 0x20, 0x20, 0, 0, 0, 0, 0, 0, 0, 0) };
	struct pd_cfi_section section = section_of(bytes, sizeof(bytes));

	if (is_signal)
		memcpy(bytes, signal, sizeof(signal));
	memcpy(bytes + sizeof(bytes) - 8, code, 8);
	return compile(table, &section);
}

#define WITH(is_signal, ...)                     \
	struct pd_unwind_table table;            \
	const uint8_t code[8] = { __VA_ARGS__ }; \
                                                 \
	CHECK(compile_function(&table, (is_signal), code))

TEST(test_cfi__signal)
{
	WITH(true, 0);
	CHECK(rule_at(&table, 0x2000) && rule_at(&table, 0x2000)->is_signal);
	pd_unwind_table_fini(&table);
}

TEST(test_cfi__expressions)
{
	WITH(false, 0x0f, 2, 0x77, 8, 0x10, 3, 1, 0x30);
	CHECK(rule_at(&table, 0x2000)->kind == PD_CFA_EXPRESSION);
	CHECK(has_saved(&table, 0x2000, BX, PD_SAVED_AT_EXPRESSION, 6));
	CHECK(memcmp(table.expressions + 4, "\x77\x08", 2) == 0 && table.expressions[0] + table.expressions[3] == 2);
	pd_unwind_table_fini(&table);
}

TEST(test_cfi__registers)
{
	WITH(false, 0x09, 16, 0, 0x14, 3, 2, 0x07, 6);
	CHECK(has_saved(&table, 0x2000, RA, PD_SAVED_REGISTER, AX) && has_saved(&table, 0x2000, BX, PD_SAVED_CFA, -16));
	CHECK(has_saved(&table, 0x2000, BP, PD_SAVED_UNDEFINED, 0));
	pd_unwind_table_fini(&table);
}

TEST(test_cfi__restored)
{
	WITH(false, 0x90, 3, 0x41, 0xd0, 0x41, 0x07, 16, 0);
	CHECK(has_saved(&table, 0x2000, RA, PD_SAVED_AT_CFA, -24) &&
	      has_saved(&table, 0x2001, RA, PD_SAVED_AT_CFA, -8));
	CHECK(has_saved(&table, 0x2002, RA, PD_SAVED_UNDEFINED, 0));
	pd_unwind_table_fini(&table);
}

// What is not known ends the rules of a function, and only these.
TEST(test_cfi__unknown_instruction)
{
	WITH(false, 0x44, 0x0e, 16, 0x44, 0x3f, 0, 0, 0);
	CHECK(has_cfa(&table, 0x2000, SP, 8) && has_cfa(&table, 0x2004, SP, 16) && !rule_at(&table, 0x2008));
	pd_unwind_table_fini(&table);
}

TEST(test_cfi__nothing_to_restore)
{
	WITH(false, 0x41, 0x0b);
	CHECK(has_cfa(&table, 0x2000, SP, 8) && !rule_at(&table, 0x2001));
	pd_unwind_table_fini(&table);
}

TEST(test_cfi__past_the_function)
{
	WITH(false, 0x7f, 0x0e, 16);
	CHECK(has_cfa(&table, 0x2000, SP, 8) || !rule_at(&table, 0x2000));
	CHECK(!rule_at(&table, 0x2020));
	pd_unwind_table_fini(&table);
}

TEST(test_cfi__functions_that_were_thrown_away)
{
	const uint8_t bytes[] = { COMMON, FUNCTION(24, 0x00, 0x20, 0, 0, 0, 0, 0, 0, 0, 0),
				  FUNCTION(49, 0xf0, 0x20, 0, 0, 0, 0, 0, 0, 0, 0) };
	struct pd_cfi_section section = section_of(bytes, sizeof(bytes));
	struct pd_unwind_table table;

	CHECK(compile(&table, &section) && !table.row_count);
	pd_unwind_table_fini(&table);
}

// .debug_frame has other ids, absolute addresses, and only what .eh_frame lacks.
TEST(test_cfi__debug_frame)
{
	static const uint8_t bytes[] = {
		0x14,
		0,
		0,
		0,
		0xff,
		0xff,
		0xff,
		0xff,
		4,
		0,
		8,
		0,
		1,
		0x78,
		16,
		0x0c,
		7,
		8,
		0x90,
		1,
		0,
		0,
		0,
		0,
		// 0x2000 has a rule already
		0x1c,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0x20,
		0,
		0,
		0,
		0,
		0,
		0,
		0x20,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0x0e,
		64,
		0,
		0,
		0,
		0,
		0,
		0,
		0x1c,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0x30,
		0,
		0,
		0,
		0,
		0,
		0,
		0x20,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		0x0e,
		48,
		0,
		0,
		0,
		0,
		0,
		0,
	};
	struct pd_cfi_section section = section_of(usual, sizeof(usual)), debug = section_of(bytes, sizeof(bytes));
	struct pd_unwind_table table;

	debug.is_debug = true;
	CHECK(compile(&table, &section));
	CHECK(pd_cfi_compile(&debug, pd_unwind_arch_of(PD_ARCH_X86, PD_REGS_ABI_64), &table) &&
	      pd_unwind_table_sort(&table));
	check_usual(&table);
	CHECK(has_cfa(&table, 0x3000, SP, 48) && has_cfa(&table, 0x301f, SP, 48) && !rule_at(&table, 0x3020));
	pd_unwind_table_fini(&table);
}

// Cut off anywhere, and with each byte changed, a table is made or none.
TEST(test_cfi__damage)
{
	uint8_t bytes[sizeof(usual)];
	struct pd_unwind_table table;

	for (size_t size = 0; size < sizeof(usual); size++) {
		struct pd_cfi_section section = section_of(usual, size);

		CHECK(compile(&table, &section));
		pd_unwind_table_fini(&table);
	}
	for (size_t i = 0; i < sizeof(usual) * 256; i++) {
		struct pd_cfi_section section = section_of(bytes, sizeof(bytes));

		memcpy(bytes, usual, sizeof(bytes));
		bytes[i / 256] = (uint8_t)i;
		CHECK(compile(&table, &section));
		for (uint64_t addr = BASE; addr < END; addr += 0x1f)
			rule_at(&table, addr);
		pd_unwind_table_fini(&table);
	}
	CHECK(live == 0);
}

TEST(test_cfi__without_memory)
{
	struct pd_cfi_section section = section_of(usual, sizeof(usual));
	struct pd_unwind_table table;
	bool done = false;

	for (long n = 0; !done && n < 1000; n++) {
		left = n;
		done = compile(&table, &section);
		if (left >= 0)
			CHECK(done);
		left = -1;
		CHECK(done || live == 0);
	}
	CHECK(done);
	check_usual(&table);
	pd_unwind_table_fini(&table);
	CHECK(live == 0);
}

static bool unpack(const uint8_t *bytes, size_t size, struct pd_unwind_table *table_out)
{
	uint8_t *block = pd_realloc(NULL, size + 1);

	if (!block)
		return false;
	memcpy(block, bytes, size);
	if (pd_unwind_unpack(table_out, block, block, size))
		return true;
	pd_free(block);
	return false;
}

// What the index keeps: the same again; damage is found, or leads nowhere.
TEST(test_cfi__packed)
{
	struct pd_cfi_section section = section_of(usual, sizeof(usual));
	struct pd_unwind_table table, again;
	uint8_t bytes[1024];
	size_t size;

	CHECK(compile(&table, &section));
	size = pd_unwind_packed_size(&table);
	CHECK(size < sizeof(bytes));
	pd_unwind_pack(&table, bytes);
	pd_unwind_table_fini(&table);
	CHECK(unpack(bytes, size, &again));
	check_usual(&again);
	pd_unwind_table_fini(&again);
	for (size_t i = 0; i < size; i++)
		CHECK(!unpack(bytes, i, &again));
	for (size_t i = 0; i < size * 256; i++) {
		uint8_t was = bytes[i / 256];

		bytes[i / 256] = (uint8_t)i;
		if (unpack(bytes, size, &again)) {
			for (uint64_t addr = BASE; addr < END; addr += 0x1f)
				has_saved(&again, addr, RA, PD_SAVED_AT_CFA, 0);
			pd_unwind_table_fini(&again);
		}
		bytes[i / 256] = was;
	}
	CHECK(live == 0);
}

// A rule of many registers for every three bytes: rules take no more memory than a multiple of the section.
TEST(test_cfi__rules_without_end)
{
	enum {
		REGISTERS = 60,
		ROWS = 20000,
		HEAD = 24 + 17
	};
	static uint8_t bytes[HEAD + 2 * REGISTERS + 3 * ROWS] = { COMMON };
	const uint32_t size = sizeof(bytes) - 24 - 4, back = 24 + 4, start = BASE, code = ROWS + 16;
	struct pd_cfi_section section = section_of(bytes, sizeof(bytes));
	struct pd_unwind_table table;
	uint8_t *at = bytes + HEAD;

	memcpy(bytes + 24, &size, 4);
	memcpy(bytes + 28, &back, 4);
	memcpy(bytes + 32, &start, 4);
	memcpy(bytes + 36, &code, 4);
	for (unsigned i = 0; i < REGISTERS; i++, at += 2)
		memcpy(at, (const uint8_t[]){ (uint8_t)(0x80 | i), 1 }, 2);
	for (unsigned i = 0; i < ROWS; i++, at += 3)
		memcpy(at, (const uint8_t[]){ (uint8_t)(0x80 | i % REGISTERS), (uint8_t)(i / REGISTERS & 0x7f), 0x41 },
		       3);
	section.code_end = BASE + 2 * ROWS;
	CHECK(compile(&table, &section));
	CHECK(table.rule_count < sizeof(bytes) / 2 + 5000 && table.row_count > 500);
	CHECK(has_saved(&table, BASE, 1, PD_SAVED_AT_CFA, -8) && !rule_at(&table, BASE + ROWS - 8));
	pd_unwind_table_fini(&table);
}

// Registers of perf by number of DWARF: each once.
TEST(test_cfi__architectures)
{
	for (unsigned machine = PD_ARCH_X86; machine <= PD_ARCH_CSKY; machine++) {
		for (uint64_t abi = PD_REGS_ABI_32; abi <= PD_REGS_ABI_64; abi++) {
			const struct pd_unwind_arch *arch = pd_unwind_arch_of((enum pd_arch)machine, abi);
			uint64_t seen = 0;

			CHECK(arch && (arch->word == 4 || arch->word == 8));
			for (unsigned i = 0; i < arch->register_count; i++) {
				uint8_t number = arch->registers[i];

				if (number == PD_UNWIND_NO_REGISTER)
					continue;
				CHECK(number < PD_UNWIND_REGISTERS && !(seen >> number & 1));
				seen |= UINT64_C(1) << number;
			}
			CHECK(seen >> arch->sp & 1);
		}
	}
	CHECK(!pd_unwind_arch_of(PD_ARCH_UNKNOWN, PD_REGS_ABI_64));
	CHECK(!pd_unwind_memory_is_big(PD_ARCH_X86, "x86_64", true) &&
	      pd_unwind_memory_is_big(PD_ARCH_S390, NULL, false));
	CHECK(!pd_unwind_memory_is_big(PD_ARCH_POWERPC, "ppc64le", true) &&
	      pd_unwind_memory_is_big(PD_ARCH_POWERPC, "ppc64", false));
}

RUN(TEST_CASE(test_cfi__rules), TEST_CASE(test_cfi__signal), TEST_CASE(test_cfi__expressions),
    TEST_CASE(test_cfi__registers), TEST_CASE(test_cfi__restored), TEST_CASE(test_cfi__unknown_instruction),
    TEST_CASE(test_cfi__nothing_to_restore), TEST_CASE(test_cfi__past_the_function),
    TEST_CASE(test_cfi__functions_that_were_thrown_away), TEST_CASE(test_cfi__debug_frame), TEST_CASE(test_cfi__damage),
    TEST_CASE(test_cfi__without_memory), TEST_CASE(test_cfi__packed), TEST_CASE(test_cfi__rules_without_end),
    TEST_CASE(test_cfi__architectures))
