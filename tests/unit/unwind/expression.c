/* SPDX-License-Identifier: MIT */
/* Expressions of unwind rules: operators, memory, bounds. */
#include "unwind/expression.h"

#include "unit/test.h"

static const uint8_t stack[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80 };

static struct pd_unwind_memory memory_of(uint8_t word)
{
	return (struct pd_unwind_memory){
		.data = stack, .start = 0x1000, .size = sizeof(stack), .word = word, .swap = PD_HOST_BIG
	};
}

static bool evaluate(struct pd_unwind_memory *memory, const uint64_t *cfa, const void *bytes, size_t size,
		     uint64_t *value_out)
{
	struct pd_unwind_registers registers = { .known = 1 << 7 | 1 << 16 };
	const struct pd_evaluation evaluation = {
		.registers = &registers, .memory = memory, .has_cfa = cfa, .cfa = cfa ? *cfa : 0
	};

	registers.values[7] = 0x1000;
	registers.values[16] = 0x40102b;
	return pd_unwind_evaluate(&evaluation, (struct pd_bytes){ bytes, size }, value_out);
}

#define VALUE(wanted, ...)                                                                         \
	do {                                                                                       \
		const uint8_t bytes[] = { __VA_ARGS__ };                                           \
		struct pd_unwind_memory memory = memory_of(8);                                     \
		uint64_t value = 0;                                                                \
                                                                                                   \
		CHECK(evaluate(&memory, NULL, bytes, sizeof(bytes), &value) && value == (wanted)); \
	} while (0)

#define FAILS(...)                                                             \
	do {                                                                   \
		const uint8_t bytes[] = { __VA_ARGS__ };                       \
		struct pd_unwind_memory memory = memory_of(8);                 \
		uint64_t value = 0;                                            \
                                                                               \
		CHECK(!evaluate(&memory, NULL, bytes, sizeof(bytes), &value)); \
	} while (0)

TEST(test_expression__operators)
{
	VALUE(5, 0x35);
	VALUE(0x80, 0x08, 0x80);
	VALUE(UINT64_MAX - 0x7f, 0x09, 0x80);
	VALUE(3, 0x31, 0x32, 0x22);                    // plus
	VALUE(UINT64_MAX, 0x31, 0x32, 0x1c);           // minus
	VALUE(6, 0x32, 0x33, 0x1e);                    // mul
	VALUE(UINT64_MAX - 1, 0x09, 0xfc, 0x32, 0x1b); // -4 / 2
	VALUE(1, 0x37, 0x33, 0x1d);                    // 7 % 3
	VALUE(8, 0x31, 0x33, 0x24);                    // shl
	VALUE(UINT64_MAX, 0x09, 0xfe, 0x31, 0x26);     // shra keeps the sign
	VALUE(7, 0x35, 0x23, 2);                       // plus_uconst
	VALUE(1, 0x09, 0xff, 0x31, 0x2d);              // -1 < 1
	VALUE(5, 0x09, 0xfb, 0x19);                    // abs
	VALUE(2, 0x31, 0x32, 0x33, 0x13);              // drop
	VALUE(1, 0x31, 0x32, 0x14);                    // over
	VALUE(1, 0x31, 0x32, 0x16);                    // swap
	VALUE(2, 0x31, 0x32, 0x33, 0x17);              // rot
	VALUE(1, 0x31, 0x32, 0x33, 0x15, 2);           // pick
	VALUE(4, 0x31, 0x28, 1, 0, 0x96, 0x34);        // bra
	VALUE(4, 0x34, 0x2f, 1, 0, 0x32);              // skip
}

// The rule of a PLT: where the CFA is depends on the place in the entry.
TEST(test_expression__plt)
{
	VALUE(0x1010, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22);
}

TEST(test_expression__memory)
{
	VALUE(UINT64_C(0x0807060504030201), 0x77, 0, 0x06);
	VALUE(UINT64_C(0x8070605040302010), 0x77, 8, 0x06); // the last word
	VALUE(0x0605, 0x77, 4, 0x94, 2);
	FAILS(0x77, 9, 0x06);
	FAILS(0x77, 0x7f, 0x06); // below it
	FAILS(0x77, 0, 0x94, 3);
}

TEST(test_expression__words_of_four_bytes)
{
	const uint8_t sum[] = { 0x0c, 0xff, 0xff, 0xff, 0xff, 0x32, 0x22 }, load[] = { 0x77, 4, 0x06 };
	struct pd_unwind_memory memory = memory_of(4);
	uint64_t value;

	CHECK(evaluate(&memory, NULL, sum, sizeof(sum), &value) && value == (PD_HOST_BIG ? value : 1));
	CHECK(evaluate(&memory, NULL, load, sizeof(load), &value) && value == 0x08070605);
}

TEST(test_expression__frame_address)
{
	const uint8_t above[] = { 0x38, 0x22 }, asks[] = { 0x9c };
	struct pd_unwind_memory memory = memory_of(8);
	const uint64_t cfa = 0x2000;
	uint64_t value;

	CHECK(evaluate(&memory, &cfa, above, sizeof(above), &value) && value == 0x2008);
	CHECK(evaluate(&memory, &cfa, asks, sizeof(asks), &value) && value == 0x2000);
	CHECK(!evaluate(&memory, NULL, asks, sizeof(asks), &value));
}

TEST(test_expression__bounds)
{
	FAILS(0x22);             // nothing to add
	FAILS(0x31, 0x30, 0x1b); // by zero
	FAILS(0x31, 0x30, 0x1d);
	FAILS(0x70, 0);             // a register without a value
	FAILS(0x92, 0x80, 0x01, 0); // one that is not kept
	FAILS(0x2f, 0xfd, 0xff);    // for ever
	FAILS(0x2f, 0xf0, 0xff);    // out of it
	FAILS(0x31, 0x28, 0x10, 0x00);
	FAILS(0x31, 0x12, 0x2f, 0xfc, 0xff); // the stack is full
	FAILS(0x0e, 1, 2, 3);                // cut off
	FAILS(0xf0);                         // not known
	FAILS(0x96);                         // no value
}

// Those of a chain share a number of steps.
TEST(test_expression__steps)
{
	static const uint8_t bytes[] = { 0x31, 0x32, 0x22 };
	struct pd_unwind_memory memory = memory_of(8);
	struct pd_unwind_registers registers = { .known = 0 };
	unsigned left = 5;
	const struct pd_evaluation evaluation = { .registers = &registers, .memory = &memory, .steps_left = &left };
	uint64_t value;

	CHECK(pd_unwind_evaluate(&evaluation, (struct pd_bytes){ bytes, sizeof(bytes) }, &value) && value == 3 &&
	      left == 2);
	CHECK(!pd_unwind_evaluate(&evaluation, (struct pd_bytes){ bytes, sizeof(bytes) }, &value) && !left);
}

RUN(TEST_CASE(test_expression__operators), TEST_CASE(test_expression__plt), TEST_CASE(test_expression__memory),
    TEST_CASE(test_expression__words_of_four_bytes), TEST_CASE(test_expression__frame_address),
    TEST_CASE(test_expression__bounds), TEST_CASE(test_expression__steps))
