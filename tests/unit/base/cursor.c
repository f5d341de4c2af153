/* SPDX-License-Identifier: MIT */
/* Reading and writing of numbers: bounds, byte orders, failures that stick. */
#include "base/cursor.h"
#include "base/buffer.h"
#include "../test.h"

static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };

TEST(test_cursor__numbers_in_both_orders)
{
	struct pd_cursor little = pd_cursor(bytes, 8, false), big = pd_cursor(bytes, 8, true);

	CHECK(pd_cursor_u64(&little) == 0x0807060504030201 && pd_cursor_u64(&big) == 0x0102030405060708);
	little = pd_cursor(bytes, 7, false), big = pd_cursor(bytes, 7, true);
	CHECK(pd_cursor_u8(&little) == 1 && pd_cursor_u8(&big) == 1);
	// from an odd place
	CHECK(pd_cursor_u16(&little) == 0x0302 && pd_cursor_u16(&big) == 0x0203);
	CHECK(pd_cursor_u32(&little) == 0x07060504 && pd_cursor_u32(&big) == 0x04050607);
	CHECK(!little.failed && pd_cursor_left(&little) == 0);
}

TEST(test_cursor__signed_and_double)
{
	static const uint8_t minus_two[] = { 0xff, 0xff, 0xff, 0xfe };
	static const uint8_t half[] = { 0x3f, 0xe0, 0, 0, 0, 0, 0, 0 };
	struct pd_cursor cursor = pd_cursor(minus_two, 4, true);

	CHECK(pd_cursor_s32(&cursor) == -2);
	cursor = pd_cursor(half, 8, true);
	CHECK(pd_cursor_f64(&cursor) == 0.5);
}

TEST(test_cursor__failure_sticks)
{
	struct pd_cursor cursor = pd_cursor(bytes, 9, false);

	pd_cursor_u64(&cursor);
	CHECK(pd_cursor_u16(&cursor) == 0);
	CHECK(cursor.failed && cursor.status == PD_ERROR_FORMAT && cursor.failed_at == bytes + 8);
	CHECK_STR(cursor.reason, "extends past the end");
	// the byte that is left is not given away any more
	CHECK(pd_cursor_u8(&cursor) == 0 && cursor.failed_at == bytes + 8);
	pd_cursor_fail(&cursor, "another");
	CHECK_STR(cursor.reason, "extends past the end");
	pd_cursor_blame(&cursor, "layout", "first");
	pd_cursor_blame(&cursor, "layout", "second");
	CHECK_STR(cursor.field, "first");
}

TEST(test_cursor__take_of_any_size)
{
	struct pd_cursor cursor = pd_cursor(bytes, 9, false);

	CHECK(pd_cursor_take(&cursor, 9) == bytes);
	CHECK(pd_cursor_take(&cursor, 0) == bytes + 9 && !cursor.failed);
	cursor = pd_cursor(bytes, 9, false);
	CHECK(!pd_cursor_take(&cursor, UINT64_MAX) && cursor.failed);
	cursor = pd_cursor(bytes, 9, false);
	CHECK(!pd_cursor_take(&cursor, 10) && cursor.failed);
}

TEST(test_cursor__count_that_would_overflow)
{
	struct pd_cursor cursor = pd_cursor(bytes, 9, false);

	CHECK(pd_cursor_count(&cursor, 1, 8) && pd_cursor_count(&cursor, 9, 1) && pd_cursor_count(&cursor, 0, 8));
	CHECK(!cursor.failed);
	// 2^61 * 8 is 0 in 64 bits
	CHECK(!pd_cursor_count(&cursor, UINT64_C(1) << 61, 8));
	CHECK(cursor.failed);
	cursor = pd_cursor(bytes, 9, false);
	CHECK(!pd_cursor_count(&cursor, 2, 8));
}

TEST(test_cursor__nothing_to_read)
{
	struct pd_cursor cursor = pd_cursor(NULL, 0, false);

	CHECK(pd_cursor_left(&cursor) == 0 && pd_cursor_u8(&cursor) == 0 && cursor.failed);
}

TEST(test_cursor__buffer_mirrors_it)
{
	for (unsigned big = 0; big < 2; big++) {
		uint8_t out[64];
		struct pd_buffer buffer = pd_buffer(out, sizeof(out), big);
		struct pd_cursor cursor;

		pd_buffer_u8(&buffer, 0x11);
		pd_buffer_u16(&buffer, 0x2233);
		pd_buffer_u32(&buffer, 0x44556677);
		pd_buffer_u64(&buffer, 0x8899aabbccddeeff);
		pd_buffer_s32(&buffer, -7);
		pd_buffer_f64(&buffer, -0.25);
		pd_buffer_zeros(&buffer, 3);
		pd_buffer_bytes(&buffer, "end", 3);
		CHECK(buffer.need == 33 && !pd_buffer_full(&buffer));
		cursor = pd_cursor(out, buffer.need, big);
		CHECK(pd_cursor_u8(&cursor) == 0x11 && pd_cursor_u16(&cursor) == 0x2233);
		CHECK(pd_cursor_u32(&cursor) == 0x44556677 && pd_cursor_u64(&cursor) == 0x8899aabbccddeeff);
		CHECK(pd_cursor_s32(&cursor) == -7 && pd_cursor_f64(&cursor) == -0.25);
		CHECK(memcmp(cursor.at, "\0\0\0end", 6) == 0);
	}
}

TEST(test_cursor__buffer_counts_what_does_not_fit)
{
	uint8_t out[4] = { 0xee, 0xee, 0xee, 0xee };
	struct pd_buffer buffer = pd_buffer(out, 3, false);

	pd_buffer_u16(&buffer, 0x0102);
	pd_buffer_u16(&buffer, 0x0304);
	CHECK(buffer.need == 4 && pd_buffer_full(&buffer) && !buffer.failed);
	CHECK(out[1] == 1 && out[2] == 0xee && out[3] == 0xee);
	// nothing is written after a gap
	pd_buffer_u8(&buffer, 5);
	pd_buffer_zeros(&buffer, 2);
	CHECK(buffer.need == 7 && out[2] == 0xee);
	buffer = pd_buffer(NULL, 0, false);
	pd_buffer_bytes(&buffer, NULL, 0);
	pd_buffer_zeros(&buffer, 0);
	pd_buffer_u64(&buffer, 1);
	CHECK(buffer.need == 8);
}

TEST(test_cursor__buffer_keeps_the_first_failure)
{
	struct pd_buffer buffer = pd_buffer(NULL, 0, false);

	pd_buffer_fail(&buffer, "first");
	pd_buffer_fail(&buffer, "second");
	pd_buffer_blame(&buffer, "layout", "a");
	pd_buffer_blame(&buffer, "layout", "b");
	CHECK_STR(buffer.reason, "first");
	CHECK_STR(buffer.field, "a");
}

RUN(TEST_CASE(test_cursor__numbers_in_both_orders), TEST_CASE(test_cursor__signed_and_double),
    TEST_CASE(test_cursor__failure_sticks), TEST_CASE(test_cursor__take_of_any_size),
    TEST_CASE(test_cursor__count_that_would_overflow), TEST_CASE(test_cursor__nothing_to_read),
    TEST_CASE(test_cursor__buffer_mirrors_it), TEST_CASE(test_cursor__buffer_counts_what_does_not_fit),
    TEST_CASE(test_cursor__buffer_keeps_the_first_failure))
