/* SPDX-License-Identifier: MIT */
/* Tables of unwind rules made of .ARM.exidx and of SFrame, of bytes by hand. */
#include "unwind/rules/exidx.h"
#include "unwind/rules/sframe.h"

#include "unit/test.h"
#include "unit/unwind/rules.h"

enum {
	SP = 13,
	FP = 11,
	LR = 14,
	R4 = 4,
	END = 0x9000
};

// ---- ARM ----

// The list is at 0x1000, and what it refers to after it. Functions are at 0x2000 and so on: distances of 31 bits.
#define AT(place, to)                                                                         \
	((to) - (place)) & 0xff, ((to) - (place)) >> 8 & 0xff, ((to) - (place)) >> 16 & 0xff, \
		((to) - (place)) >> 24 & 0x7f

static const uint8_t arm[] = {
	// pop {r4, lr}; finish
	AT(0x1000, 0x2000),
	0xb0,
	0xb0,
	0xa8,
	0x80,
	// vsp = r11; vsp -= 16; pop {r4, r5, r6, r10, r11, lr}; finish
	AT(0x1008, 0x2100),
	AT(0x100c, 0x1030),
	// none: nobody calls it
	AT(0x1010, 0x2200),
	1,
	0,
	0,
	0,
	// a routine of a language, then vsp += 8; pop {r4 to r7, pc}
	AT(0x1018, 0x2300),
	AT(0x101c, 0x103c),
	// refuses
	AT(0x1020, 0x2400),
	0xb0,
	0x00,
	0x80,
	0x80,
	// nothing is saved
	AT(0x1028, 0x2500),
	0xb0,
	0xb0,
	0xb0,
	0x80,
	// 0x1030: model 1, one more word
	0x43,
	0x9b,
	0x01,
	0x81,
	0xb0,
	0xb0,
	0xc7,
	0x84,
	0xb0,
	0xb0,
	0xb0,
	0xb0,
	// 0x103c: a routine, then one more word
	0x00,
	0x10,
	0x00,
	0x00,
	0x0f,
	0x88,
	0x01,
	0x01,
	0xb0,
	0xb0,
	0xb0,
	0xb0,
};

static bool compile_arm(const uint8_t *data, size_t size, struct pd_unwind_table *table)
{
	const struct pd_exidx exidx = {
		.memory = { data, size }, .memory_addr = 0x1000, .addr = 0x1000, .size = 0x30, .code_end = END
	};

	return pd_unwind_table_init(table, 0) &&
	       pd_exidx_compile(&exidx, pd_unwind_arch_of(PD_ARCH_ARM, PD_REGS_ABI_32), table);
}

TEST(test_exidx__rules)
{
	struct pd_unwind_table table;

	CHECK(compile_arm(arm, sizeof(arm), &table));
	CHECK(!rule_at(&table, 0x1fff));
	CHECK(has_cfa(&table, 0x2000, SP, 8) && has_cfa(&table, 0x20ff, SP, 8));
	CHECK(has_saved(&table, 0x2000, R4, PD_SAVED_AT_CFA, -8) && has_saved(&table, 0x2000, LR, PD_SAVED_AT_CFA, -4));
	CHECK(has_cfa(&table, 0x2100, FP, 8));
	CHECK(has_saved(&table, 0x2100, R4, PD_SAVED_AT_CFA, -24) &&
	      has_saved(&table, 0x2100, 10, PD_SAVED_AT_CFA, -12));
	CHECK(has_saved(&table, 0x2100, FP, PD_SAVED_AT_CFA, -8) && has_saved(&table, 0x2100, LR, PD_SAVED_AT_CFA, -4));
	CHECK(has_saved(&table, 0x2200, LR, PD_SAVED_UNDEFINED, PD_UNDEFINED_MAYBE));
	CHECK(has_cfa(&table, 0x2300, SP, 28) && has_saved(&table, 0x2300, LR, PD_SAVED_AT_CFA, -4));
	CHECK(has_saved(&table, 0x2300, 7, PD_SAVED_AT_CFA, -8));
	CHECK(!rule_at(&table, 0x2400));
	CHECK(has_cfa(&table, 0x2500, SP, 0) && !rule_at(&table, 0x2500)->count && !rule_at(&table, END));
	pd_unwind_table_fini(&table);
}

TEST(test_exidx__cut)
{
	struct pd_unwind_table table;

	for (size_t size = 0; size < sizeof(arm); size++) {
		CHECK(compile_arm(arm, size, &table));
		CHECK(size < 8 || has_cfa(&table, 0x2000, SP, 8));
		pd_unwind_table_fini(&table);
	}
}

// ---- SFrame ----

enum {
	X86_SP = 7,
	X86_FP = 6,
	X86_RA = 16,
	RA_FIXED = 0xf8
};

#define U32(n) (n) & 0xff, (n) >> 8 & 0xff, (n) >> 16 & 0xff, (n) >> 24 & 0xff

static const uint8_t second[] = {
	0xe2,
	0xde,
	2,
	1,
	3,
	0,
	RA_FIXED,
	0,
	U32(2),
	U32(5),
	U32(16),
	U32(0),
	U32(40),
	// at 0x2000 from the section at 0x1000: 32 bytes, 3 rows of 1 byte
	U32(0x1000),
	U32(32),
	U32(0),
	U32(3),
	0,
	0,
	0,
	0,
	// at 0x2100: 64 bytes, 2 rows repeated every 16
	U32(0x1100),
	U32(64),
	U32(10),
	U32(2),
	16,
	16,
	0,
	0,
	// sp + 8; sp + 16 and the frame pointer at -16; frame pointer + 16
	0,
	3,
	8,
	1,
	5,
	16,
	0xf0,
	4,
	4,
	16,
	0xf0,
	// sp + 8; sp + 16
	0,
	3,
	8,
	6,
	3,
	16,
};

static bool compile_sframe(const uint8_t *data, size_t size, struct pd_unwind_table *table)
{
	const struct pd_sframe sframe = { .bytes = { data, size }, .addr = 0x1000, .code_end = END };

	return pd_unwind_table_init(table, 0) &&
	       pd_sframe_compile(&sframe, pd_unwind_arch_of(PD_ARCH_X86, PD_REGS_ABI_64), table);
}

TEST(test_sframe__rules)
{
	uint8_t data[sizeof(second)];
	struct pd_unwind_table table;

	memcpy(data, second, sizeof(data));
	data[28 + 20 + 8] = 11; // rows of the other one begin after 11 bytes
	CHECK(compile_sframe(data, sizeof(data), &table));
	CHECK(!rule_at(&table, 0x1fff) && has_cfa(&table, 0x2000, X86_SP, 8));
	CHECK(has_saved(&table, 0x2000, X86_RA, PD_SAVED_AT_CFA, -8) && rule_at(&table, 0x2000)->count == 1);
	CHECK(has_cfa(&table, 0x2001, X86_SP, 16) && has_saved(&table, 0x2001, X86_FP, PD_SAVED_AT_CFA, -16));
	CHECK(has_cfa(&table, 0x2004, X86_FP, 16) && has_cfa(&table, 0x201f, X86_FP, 16) && !rule_at(&table, 0x2020));
	for (uint64_t at = 0x2100; at < 0x2140; at += 16)
		CHECK(has_cfa(&table, at, X86_SP, 8) && has_cfa(&table, at + 6, X86_SP, 16));
	CHECK(!rule_at(&table, 0x2140));
	pd_unwind_table_fini(&table);
}

TEST(test_sframe__cut)
{
	struct pd_unwind_table table;

	for (size_t size = 0; size < sizeof(second); size++) {
		CHECK(compile_sframe(second, size, &table));
		pd_unwind_table_fini(&table);
	}
}

RUN(TEST_CASE(test_exidx__rules), TEST_CASE(test_exidx__cut), TEST_CASE(test_sframe__rules),
    TEST_CASE(test_sframe__cut))
