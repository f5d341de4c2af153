/* SPDX-License-Identifier: MIT */
/* The arena and growing arrays. */
#include "base/memory.h"
#include "../test.h"

// A size that the compiler does not see through.
static volatile size_t huge = SIZE_MAX;

TEST(test_memory__arena_gives_zeroed_and_aligned_memory)
{
	struct pd_arena arena = { 0 };

	for (unsigned round = 0; round < 3; round++) {
		for (size_t size = 0; size < 3000; size += 7) {
			uint8_t *at = pd_arena_alloc(&arena, size);

			CHECK(at && (uintptr_t)at % 16 == 0);
			for (size_t i = 0; i < size; i++)
				CHECK(at[i] == 0);
			memset(at, 0xee, size);
		}
		// what is used again must be zeroed again
		pd_arena_reset(&arena);
	}
	pd_arena_fini(&arena);
	CHECK(!arena.blocks && arena.used == 0);
}

TEST(test_memory__arena_parts_do_not_overlap)
{
	struct pd_arena arena = { 0 };
	uint8_t *parts[500];

	for (size_t i = 0; i < 500; i++) {
		parts[i] = pd_arena_alloc(&arena, i * 3);
		CHECK(parts[i]);
		memset(parts[i], (int)(i & 0xff), i * 3);
	}
	for (size_t i = 0; i < 500; i++)
		for (size_t j = 0; j < i * 3; j++)
			CHECK(parts[i][j] == (i & 0xff));
	pd_arena_fini(&arena);
}

TEST(test_memory__arena_gives_large_blocks_back)
{
	struct pd_arena arena = { 0 };

	CHECK(pd_arena_alloc(&arena, 8 << 20));
	CHECK(arena.used >= 8 << 20);
	pd_arena_reset(&arena);
	CHECK(arena.used <= 1 << 20);
	CHECK(pd_arena_alloc(&arena, 100));
	pd_arena_fini(&arena);
}

TEST(test_memory__arena_has_a_limit)
{
	struct pd_arena arena = { .limit = 100000 };
	size_t got = 0;

	while (got < 1000000 && pd_arena_alloc(&arena, 1000))
		got += 1000;
	CHECK(got >= 80000 && got <= 100000);
	CHECK(!pd_arena_alloc(&arena, huge));
	CHECK(!pd_arena_alloc(&arena, huge / 2));
	pd_arena_reset(&arena);
	CHECK(pd_arena_alloc(&arena, 1000));
	pd_arena_fini(&arena);
}

TEST(test_memory__arena_copies)
{
	struct pd_arena arena = { 0 };

	CHECK_STR(pd_arena_text(&arena, "textual", 4), "text");
	CHECK_STR(pd_arena_text(&arena, NULL, 0), "");
	CHECK(memcmp(pd_arena_copy(&arena, "ab\0cd", 5), "ab\0cd", 5) == 0);
	CHECK(pd_arena_copy(&arena, NULL, 0));
	CHECK(!pd_arena_text(&arena, "", huge));
	pd_arena_fini(&arena);
}

TEST(test_memory__grow_keeps_what_was_there)
{
	uint64_t *items = NULL;
	size_t capacity = 0;

	for (size_t i = 0; i < 1000; i++) {
		CHECK(PD_GROW(items, capacity, i + 1));
		CHECK(capacity > i);
		items[i] = i;
	}
	for (size_t i = 0; i < 1000; i++)
		CHECK(items[i] == i);
	CHECK(!PD_GROW(items, capacity, SIZE_MAX));
	CHECK(!PD_GROW(items, capacity, SIZE_MAX / 8 + 1));
	CHECK(items[999] == 999);
	pd_free(items);
}

TEST(test_memory__alloc)
{
	uint8_t *memory = pd_alloc(0);

	CHECK(memory);
	memory = pd_realloc(memory, 10);
	CHECK(memory);
	memory = pd_realloc(memory, 0);
	CHECK(memory);
	pd_free(memory);
	pd_free(NULL);
	memory = pd_alloc(100);
	CHECK(memory);
	for (size_t i = 0; i < 100; i++)
		CHECK(memory[i] == 0);
	pd_free(memory);
}

RUN(TEST_CASE(test_memory__arena_gives_zeroed_and_aligned_memory), TEST_CASE(test_memory__arena_parts_do_not_overlap),
    TEST_CASE(test_memory__arena_gives_large_blocks_back), TEST_CASE(test_memory__arena_has_a_limit),
    TEST_CASE(test_memory__arena_copies), TEST_CASE(test_memory__grow_keeps_what_was_there),
    TEST_CASE(test_memory__alloc))
