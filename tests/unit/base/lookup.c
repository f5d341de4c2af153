/* SPDX-License-Identifier: MIT */
/* Hash tables and binary search. */
#include "base/lookup/hash.h"
#include "base/lookup/last_values.h"
#include "base/lookup/heap.h"
#include "base/lookup/search.h"
#include "base/lookup/strings.h"
#include "base/lookup/u64_map.h"
#include "../test.h"

enum {
	KEYS = 5000
};

TEST(test_lookup__search_finds_the_first_that_does_not_fit)
{
	static const unsigned items[] = { 1, 3, 3, 3, 7 };
	size_t at;

	for (size_t count = 0; count <= 5; count++) {
		for (unsigned value = 0; value < 9; value++) {
			size_t expected = 0;

			while (expected < count && items[expected] < value)
				expected++;
			PD_SEARCH(at, 0, count, i, items[i] < value);
			CHECK(at == expected);
		}
	}
	PD_SEARCH(at, 2, 4, i, items[i] < 100);
	CHECK(at == 4);
	PD_SEARCH(at, 2, 4, i, items[i] < 1);
	CHECK(at == 2);
}

TEST(test_lookup__map_finds_what_was_added)
{
	struct pd_u64_map map = { .seed = 1 };

	CHECK(pd_u64_map_find(&map, 0) == 0);
	// 0 and the largest number are keys as others
	for (uint64_t key = 0; key < KEYS; key++)
		CHECK(pd_u64_map_add(&map, key - 1, key + 10));
	CHECK(map.count == KEYS);
	for (uint64_t key = 0; key < KEYS; key++)
		CHECK(pd_u64_map_find(&map, key - 1) == key + 10);
	CHECK(pd_u64_map_find(&map, KEYS) == 0);
	pd_u64_map_fini(&map);
	CHECK(map.seed == 1 && pd_u64_map_find(&map, 1) == 0);
}

TEST(test_lookup__map_replaces_and_has_a_limit)
{
	struct pd_u64_map map = { .max = 2 };

	CHECK(pd_u64_map_set(&map, 5, 1) && pd_u64_map_set(&map, 5, 2));
	CHECK(map.count == 1 && pd_u64_map_find(&map, 5) == 2);
	CHECK(pd_u64_map_add(&map, 6, 3) && pd_u64_map_add(&map, 7, 4));
	CHECK(map.count == 2 && pd_u64_map_find(&map, 6) == 3 && pd_u64_map_find(&map, 7) == 0);
	pd_u64_map_fini(&map);
}

TEST(test_lookup__map_copies_are_independent)
{
	struct pd_u64_map map = { .seed = 7 }, copy;

	CHECK(pd_u64_map_copy(&copy, &map) && pd_u64_map_find(&copy, 1) == 0);
	CHECK(pd_u64_map_add(&map, 1, 2) && pd_u64_map_copy(&copy, &map) && pd_u64_map_set(&map, 1, 3));
	CHECK(pd_u64_map_find(&copy, 1) == 2 && pd_u64_map_find(&map, 1) == 3);
	pd_u64_map_fini(&copy);
	pd_u64_map_fini(&map);
}

TEST(test_lookup__index_gives_all_numbers_of_a_hash)
{
	struct pd_index index = { 0 };
	uint64_t hash = pd_hash(1, "a", 1);
	size_t at = (uint32_t)hash;
	unsigned found = 0;

	CHECK(pd_index_next(&index, hash, &at) == PD_INDEX_END);
	for (uint32_t i = 0; i < KEYS; i++)
		CHECK(pd_index_add(&index, i % 1000 ? pd_hash_u64(1, i) : hash, i));
	at = (uint32_t)hash;
	for (uint32_t i; (i = pd_index_next(&index, hash, &at)) != PD_INDEX_END;)
		found += i % 1000 == 0;
	CHECK(found == KEYS / 1000);
	pd_index_fini(&index);
}

TEST(test_lookup__last_values_say_what_was_gained)
{
	struct pd_last_values last = { .places.seed = 1 };
	uint64_t gain;

	for (uint64_t id = 0; id < KEYS; id++)
		CHECK(pd_last_values_gain(&last, id, id, &gain) && gain == id);
	for (uint64_t id = 0; id < KEYS; id++)
		CHECK(pd_last_values_gain(&last, id, id + 7, &gain) && gain == 7);
	CHECK(pd_last_values_gain(&last, 3, 10, &gain) && gain == 0);
	// a counter that went back
	CHECK(pd_last_values_gain(&last, 3, 9, &gain) && gain == UINT64_MAX);
	CHECK(last.count == KEYS);
	pd_last_values_fini(&last);
	CHECK(last.places.seed == 1 && last.count == 0);
}

TEST(test_lookup__strings_are_kept_once)
{
	static const char text[] = "abcabd";
	struct pd_strings strings = { .seed = 1 };
	struct pd_arena arena = { 0 };

	CHECK(pd_strings_add(&strings, &arena, text, 0) == 0);
	CHECK(pd_strings_add(&strings, &arena, text, 3) == 1 && pd_strings_add(&strings, &arena, text + 3, 3) == 2);
	// the beginning of another one is a string of its own
	CHECK(pd_strings_add(&strings, &arena, text, 2) == 3 && pd_strings_add(&strings, &arena, text + 3, 2) == 3);
	CHECK(strcmp(strings.items[2], "abd") == 0 && strings.items[2] == pd_strings_once(&strings, &arena, "abd"));
	CHECK(strings.count == 4);
	pd_strings_fini(&strings);
	pd_arena_fini(&arena);
	CHECK(strings.count == 0 && strings.seed == 1);
}

TEST(test_lookup__last_search_finds_the_last_that_fits)
{
	static const unsigned items[] = { 1, 3, 3, 3, 7 };
	size_t at;

	for (size_t count = 0; count <= 5; count++) {
		for (unsigned value = 0; value < 9; value++) {
			size_t expected = 0;

			while (expected + 1 < count && items[expected + 1] <= value)
				expected++;
			PD_SEARCH_LAST(at, count, i, items[i] <= value);
			CHECK(at == expected);
		}
	}
}

TEST(test_lookup__heap_gives_the_largest_first)
{
	uint64_t items[KEYS], last = UINT64_MAX;
	struct pd_heap heap = { .items = items };

	for (uint64_t i = 0; i < KEYS; i++)
		pd_heap_push(&heap, pd_hash_u64(1, i) % 1000);
	for (size_t left = KEYS; left; left--) {
		CHECK(heap.count == left && heap.items[0] <= last);
		last = heap.items[0];
		pd_heap_pop(&heap);
	}
	CHECK(heap.count == 0);
}

RUN(TEST_CASE(test_lookup__search_finds_the_first_that_does_not_fit), TEST_CASE(test_lookup__map_finds_what_was_added),
    TEST_CASE(test_lookup__map_replaces_and_has_a_limit), TEST_CASE(test_lookup__map_copies_are_independent),
    TEST_CASE(test_lookup__index_gives_all_numbers_of_a_hash), TEST_CASE(test_lookup__last_values_say_what_was_gained),
    TEST_CASE(test_lookup__strings_are_kept_once), TEST_CASE(test_lookup__last_search_finds_the_last_that_fits),
    TEST_CASE(test_lookup__heap_gives_the_largest_first))
