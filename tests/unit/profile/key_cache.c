/* SPDX-License-Identifier: MIT */
/*
 * The cache of raw keys: tags that are added and found, lines that are full, tables that grow and are left, and threads that
 * use one table at the same time.
 */
#include "base/memory.h"
#include "base/threads.h"

// The table is compiled here, so that its memory can fail.
static bool no_memory;

static void *alloc_or_fail(size_t size)
{
	return no_memory ? NULL : pd_alloc(size);
}

static void *alloc_lines_or_fail(size_t size, void **memory_out)
{
	*memory_out = NULL;
	return no_memory ? NULL : pd_alloc_lines(size, memory_out);
}

#define pd_alloc alloc_or_fail
#define pd_alloc_lines alloc_lines_or_fail
#include "profile/collect/key_cache.c"
#undef pd_alloc
#undef pd_alloc_lines

#include <stdlib.h>

#include "../test.h"

enum {
	THREADS = 4
};

// Numbers that look like chance and are the same each time; no low half is 0 and none comes twice.
static uint64_t mixed(uint64_t number)
{
	number = (number ^ number >> 31) * UINT64_C(0x9e3779b97f4a7c15);
	number = (number ^ number >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return number ^ number >> 32;
}

static struct pd_tag tag_of(uint64_t number)
{
	return (struct pd_tag){ mixed(number + 1), mixed(~number) };
}

// A bucket that belongs to this number and no other one.
static uint32_t bucket_of(uint64_t number)
{
	return (uint32_t)number * 2654435761u % INT32_MAX;
}

// As a collector looks for it.
static uint32_t find_bucket(const struct pd_key_cache *cache, const struct pd_tag *tag)
{
	return pd_key_cache_find_in_both(cache, pd_key_cache_first(cache, tag), tag);
}

static uint32_t look_up_number(const struct pd_key_cache *cache, uint64_t number)
{
	struct pd_tag tag = tag_of(number);

	return find_bucket(cache, &tag);
}

static bool add_number(struct pd_key_cache *cache, uint64_t number)
{
	struct pd_tag tag = tag_of(number);

	return pd_key_cache_add(cache, &tag, bucket_of(number), NULL);
}

// A number whose tag has these lines; the search goes on after *last.
static uint64_t number_in_lines(const struct pd_key_cache *cache, size_t first, size_t second, uint64_t *last)
{
	for (uint64_t number = *last + 1;; number++) {
		struct pd_tag tag = tag_of(number);

		if (pd_key_cache_first(cache, &tag) == &cache->lines[first] &&
		    pd_key_cache_second(cache, &tag) == &cache->lines[second])
			return *last = number;
	}
}

// Whether all of them are found, each with its bucket.
static bool has_all(const struct pd_key_cache *cache, const uint64_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (look_up_number(cache, numbers[i]) != bucket_of(numbers[i]))
			return false;
	return true;
}

// A table of few lines.
struct small {
	_Alignas(64) struct pd_key_cache_line lines[2];
	struct pd_key_cache cache;
};

static struct pd_key_cache *make_small(struct small *small, size_t count)
{
	*small = (struct small){ .cache = { .lines = small->lines, .count = count } };
	return &small->cache;
}

// ---- one table ----

TEST(test_seen__a_line_is_one_of_the_cache)
{
	CHECK(sizeof(struct pd_key_cache_line) == 64);
	for (size_t count = 1; count <= 1 << 14; count *= 4) {
		struct pd_key_cache *cache = make(count);

		CHECK(cache && (uintptr_t)cache->lines % 64 == 0 && cache->count == count);
		destroy(cache);
	}
}

TEST(test_seen__what_was_added_is_found)
{
	enum {
		COUNT = 6000
	};
	struct pd_key_cache *cache = make(LINES_FIRST);
	size_t added = 0, found = 0;

	CHECK(cache);
	for (uint64_t i = 0; i < COUNT; i++)
		CHECK(look_up_number(cache, i) == PD_NOT_CACHED);
	for (uint64_t i = 0; i < COUNT; i++)
		added += add_number(cache, i);
	for (uint64_t i = 0; i < COUNT; i++) {
		uint32_t bucket = look_up_number(cache, i);

		CHECK(bucket == bucket_of(i) || bucket == PD_NOT_CACHED);
		found += bucket != PD_NOT_CACHED;
	}
	CHECK(found == added);
	// at half of its places there is room for nearly all
	CHECK(found > COUNT * 95 / 100);
	for (uint64_t i = COUNT; i < 3 * COUNT; i++)
		CHECK(look_up_number(cache, i) == PD_NOT_CACHED);
	destroy(cache);
}

TEST(test_seen__adding_again_changes_nothing)
{
	struct small small;
	struct pd_key_cache *cache = make_small(&small, 2);
	struct pd_tag tag = tag_of(5);
	struct small before;

	CHECK(pd_key_cache_add(cache, &tag, 7, NULL));
	before = small;
	CHECK(!pd_key_cache_add(cache, &tag, 7, NULL));
	CHECK(!pd_key_cache_add(cache, &tag, 8, NULL));
	CHECK(memcmp(before.lines, small.lines, sizeof(small.lines)) == 0);
	CHECK(find_bucket(cache, &tag) == 7);
}

TEST(test_seen__buckets_from_the_first_to_the_last)
{
	static const uint32_t buckets[] = { 0, 1, INT32_MAX - 2, INT32_MAX - 1 };

	for (size_t i = 0; i < sizeof(buckets) / sizeof(buckets[0]); i++) {
		struct small small;
		struct pd_key_cache *cache = make_small(&small, 1);
		struct pd_tag tag = tag_of(i);

		CHECK(pd_key_cache_add(cache, &tag, buckets[i], NULL));
		CHECK(find_bucket(cache, &tag) == buckets[i]);
	}
}

TEST(test_seen__a_full_line_keeps_what_it_has)
{
	struct small small;
	struct pd_key_cache *cache = make_small(&small, 1);
	uint64_t numbers[] = { 1, 2, 3 };

	for (size_t i = 0; i < PD_KEYS_IN_LINE; i++) {
		CHECK(add_number(cache, numbers[i]));
		CHECK(has_all(cache, numbers, i + 1));
		CHECK(look_up_number(cache, 4) == PD_NOT_CACHED);
	}
	// first and second line are the same one
	CHECK(!add_number(cache, 4));
	CHECK(look_up_number(cache, 4) == PD_NOT_CACHED);
	CHECK(has_all(cache, numbers, PD_KEYS_IN_LINE));
}

TEST(test_seen__the_second_line_has_what_the_first_has_no_room_for)
{
	struct small small;
	struct pd_key_cache *cache = make_small(&small, 2);
	uint64_t numbers[2 * PD_KEYS_IN_LINE + 1], last = 0;
	size_t count = sizeof(numbers) / sizeof(numbers[0]);

	for (size_t i = 0; i < count; i++)
		numbers[i] = number_in_lines(cache, 0, 1, &last);
	for (size_t i = 0; i + 1 < count; i++) {
		struct pd_tag tag = tag_of(numbers[i]);
		bool is_in_first = i < PD_KEYS_IN_LINE;

		CHECK(add_number(cache, numbers[i]));
		CHECK((pd_key_cache_find(&cache->lines[0], &tag) == bucket_of(numbers[i])) == is_in_first);
		CHECK((pd_key_cache_find(&cache->lines[1], &tag) == bucket_of(numbers[i])) == !is_in_first);
	}
	CHECK(has_all(cache, numbers, count - 1));
	CHECK(!add_number(cache, numbers[count - 1]));
	CHECK(look_up_number(cache, numbers[count - 1]) == PD_NOT_CACHED);
	// neither of them is taken twice
	for (size_t i = 0; i < count; i++)
		CHECK(!add_number(cache, numbers[i]));
	CHECK(has_all(cache, numbers, count - 1));
}

TEST(test_seen__tags_with_the_same_half_are_distinguished)
{
	for (size_t before = 0; before < PD_KEYS_IN_LINE; before++) {
		struct small small;
		struct pd_key_cache *cache = make_small(&small, 1);
		struct pd_tag tag = tag_of(100), low = { tag.low, tag.high + 1 }, high = { tag.low + 1, tag.high };

		for (size_t i = 0; i < before; i++)
			CHECK(add_number(cache, i));
		CHECK(pd_key_cache_add(cache, &tag, 5, NULL));
		CHECK(find_bucket(cache, &tag) == 5);
		CHECK(find_bucket(cache, &low) == PD_NOT_CACHED);
		CHECK(find_bucket(cache, &high) == PD_NOT_CACHED);
		// there can be one of a low half in a line
		CHECK(!pd_key_cache_add(cache, &low, 6, NULL));
		CHECK(find_bucket(cache, &low) == PD_NOT_CACHED);
		CHECK(find_bucket(cache, &tag) == 5);
		CHECK(pd_key_cache_add(cache, &high, 7, NULL) == (before + 1 < PD_KEYS_IN_LINE));
		CHECK(find_bucket(cache, &high) == (before + 1 < PD_KEYS_IN_LINE ? 7 : PD_NOT_CACHED));
		CHECK(find_bucket(cache, &tag) == 5);
	}
}

TEST(test_seen__the_same_half_in_another_line)
{
	struct small small;
	struct pd_key_cache *cache = make_small(&small, 2);
	struct pd_tag tag = tag_of(1), other = tag;

	do {
		other.high++;
	} while (pd_key_cache_first(cache, &other) == pd_key_cache_first(cache, &tag));
	CHECK(pd_key_cache_add(cache, &tag, 1, NULL) && pd_key_cache_add(cache, &other, 2, NULL));
	CHECK(find_bucket(cache, &tag) == 1 && find_bucket(cache, &other) == 2);
}

TEST(test_seen__no_half_is_no_tag)
{
	struct pd_tag none = { 0, 0 }, some = { 0, 77 };

	for (size_t count = 0; count <= PD_KEYS_IN_LINE; count++) {
		struct small small;
		struct pd_key_cache *cache = make_small(&small, 1);

		for (size_t i = 0; i < count; i++)
			CHECK(add_number(cache, i));
		CHECK(find_bucket(cache, &none) == PD_NOT_CACHED);
		CHECK(find_bucket(cache, &some) == PD_NOT_CACHED);
	}
}

// Another thread has said the low half and not yet the rest.
TEST(test_seen__a_place_that_is_only_claimed_has_no_bucket)
{
	for (size_t at = 0; at < PD_KEYS_IN_LINE; at++) {
		struct small small;
		struct pd_key_cache *cache = make_small(&small, 1), *copied = make(4);
		struct pd_tag tag = tag_of(50);

		for (size_t i = 0; i < at; i++)
			CHECK(add_number(cache, i));
		small.lines[0].low[at] = tag.low;
		CHECK(find_bucket(cache, &tag) == PD_NOT_CACHED);
		CHECK(!pd_key_cache_add(cache, &tag, 3, NULL));
		CHECK(find_bucket(cache, &tag) == PD_NOT_CACHED);
		CHECK(small.lines[0].bucket_plus_1[at] == 0);
		// nor is it taken along
		CHECK(copied);
		copy(cache, copied);
		CHECK(copied->used == at && find_bucket(copied, &tag) == PD_NOT_CACHED);
		CHECK(add_number(copied, 50) && find_bucket(copied, &tag) == bucket_of(50));
		destroy(copied);
	}
}

// Whether a key is found with its bucket and its sums. *number_out: of a key that has sums.
static bool is_summed(const struct pd_key_cache *cache, uint64_t number, const struct pd_key_sums *sums,
		      uint32_t *number_out)
{
	struct pd_tag tag = tag_of(number);
	uint32_t found = find_bucket(cache, &tag);
	const struct pd_summed_key *key;

	if (found == PD_NOT_CACHED || !(found & PD_KEY_HAS_SUMS))
		return false;
	key = pd_key_summed(cache, found);
	*number_out = found & ~PD_KEY_HAS_SUMS;
	return key->bucket == bucket_of(number) && memcmp(&key->sums, sums, sizeof(*sums)) == 0;
}

TEST(test_seen__keys_with_sums_keep_them_and_have_a_number_in_their_table)
{
	enum {
		KEYS = 6
	};
	const struct pd_key_sums sums = { { 7, UINT16_MAX, 1 }, 3 };
	struct pd_key_cache *cache = make(4), *copied = make(16);
	bool had[2][KEYS / 2] = { { false } };

	CHECK(cache && copied);
	for (uint64_t i = 0; i < KEYS; i++) {
		struct pd_tag tag = tag_of(i);

		CHECK(pd_key_cache_add(cache, &tag, bucket_of(i), i % 2 ? &sums : NULL));
	}
	copy(cache, copied);
	for (uint64_t i = 0; i < KEYS; i++) {
		const struct pd_key_cache *tables[] = { cache, copied };

		for (size_t k = 0; k < 2; k++) {
			uint32_t number = 0;

			if (i % 2) {
				CHECK(is_summed(tables[k], i, &sums, &number) && number < KEYS / 2 && !had[k][number]);
				had[k][number] = true;
			} else {
				CHECK(look_up_number(tables[k], i) == bucket_of(i));
			}
		}
	}
	CHECK(cache->summed_count == KEYS / 2 && copied->summed_count == KEYS / 2);
	CHECK(find_bucket(cache, &(struct pd_tag){ 1, 1 }) == PD_NOT_CACHED);
	destroy(cache);
	destroy(copied);
}

// ---- users ----

TEST(test_seen__a_table_lives_as_long_as_it_has_users)
{
	struct pd_key_cache_shared now = { .table = NULL };
	struct pd_key_cache *first, *second, *third;

	pd_key_cache_init(&now);
	first = pd_key_cache_enter(&now, NULL);
	CHECK(first && first->users == 1 && pd_key_cache_is_present(&now, first));
	CHECK(add_number(first, 1));
	second = pd_key_cache_enter(&now, NULL);
	CHECK(second == first && first->users == 2);
	pd_key_cache_leave(&now, first);
	CHECK(now.table == second && second->users == 1);
	CHECK(look_up_number(second, 1) == bucket_of(1));
	// who enters again is still one user
	CHECK(pd_key_cache_enter(&now, second) == second && second->users == 1);
	pd_key_cache_leave(&now, second);
	CHECK(!now.table);
	third = pd_key_cache_enter(&now, NULL);
	CHECK(third && third->users == 1 && look_up_number(third, 1) == PD_NOT_CACHED);
	pd_key_cache_leave(&now, third);
	pd_key_cache_fini(&now);
}

TEST(test_seen__no_memory_for_the_first_table)
{
	struct pd_key_cache_shared now = { .table = NULL };
	struct pd_key_cache *cache;

	pd_key_cache_init(&now);
	no_memory = true;
	cache = pd_key_cache_enter(&now, NULL);
	no_memory = false;
	CHECK(!cache && !now.table);
	cache = pd_key_cache_enter(&now, NULL);
	CHECK(cache);
	pd_key_cache_leave(&now, cache);
	pd_key_cache_fini(&now);
}

// ---- growing ----

// Of a user whose keys repeat, so that a larger table is worth it.
static void note(struct pd_key_cache_shared *now, struct pd_key_cache *cache, size_t added)
{
	struct pd_repeats repeats = { .asked = 100, .repeated = 90 };

	pd_key_cache_note(now, cache, added, &repeats);
}

// Adds numbers from *next on until there is another table.
static void fill(struct pd_key_cache_shared *now, struct pd_key_cache *cache, uint64_t *next)
{
	enum {
		SOME = 64
	};

	while (pd_key_cache_is_present(now, cache)) {
		size_t added = 0;

		for (size_t i = 0; i < SOME; i++)
			added += add_number(cache, (*next)++);
		note(now, cache, added);
	}
}

// How many of the first numbers are there; none of them with a wrong bucket, else SIZE_MAX.
static size_t count_found(const struct pd_key_cache *cache, uint64_t count)
{
	size_t found = 0;

	for (uint64_t i = 0; i < count; i++) {
		uint32_t bucket = look_up_number(cache, i);

		if (bucket != PD_NOT_CACHED && bucket != bucket_of(i))
			return SIZE_MAX;
		found += bucket != PD_NOT_CACHED;
	}
	return found;
}

TEST(test_seen__a_full_table_is_left_for_a_larger_one_with_the_same)
{
	struct pd_key_cache_shared now = { .table = NULL };
	struct pd_key_cache *cache, *other, *larger;
	uint64_t next = 0;
	size_t had;

	pd_key_cache_init(&now);
	cache = pd_key_cache_enter(&now, NULL);
	other = pd_key_cache_enter(&now, NULL);
	CHECK(cache && other == cache);
	fill(&now, cache, &next);
	had = count_found(cache, next);
	CHECK(had != SIZE_MAX && had > next * 9 / 10 && had <= next);
	CHECK(now.table->users == 0);
	larger = pd_key_cache_enter(&now, cache);
	CHECK(larger && larger != cache && larger->count == LINES_FIRST * GROWTH && larger->users == 1);
	CHECK(larger->used == had && count_found(larger, next) == had);
	// the other one still uses what it has
	CHECK(other->users == 1 && count_found(other, next) == had);
	CHECK(add_number(other, next) && look_up_number(other, next) == bucket_of(next));
	// and has nothing to say of the larger one
	note(&now, other, 1 << 20);
	CHECK(now.table == larger && !now.growing);
	CHECK(pd_key_cache_enter(&now, other) == larger && larger->users == 2);
	pd_key_cache_leave(&now, larger);
	pd_key_cache_leave(&now, larger);
	CHECK(!now.table);
	pd_key_cache_fini(&now);
}

TEST(test_seen__after_the_limit_comes_an_empty_one)
{
	struct pd_key_cache_shared now = { .table = NULL };
	struct pd_key_cache *cache;
	uint64_t next = 0;
	size_t count = LINES_FIRST;

	pd_key_cache_init(&now);
	cache = pd_key_cache_enter(&now, NULL);
	CHECK(cache);
	for (; count < PD_KEY_CACHE_LINES_MOST; count *= GROWTH) {
		CHECK(cache->count == count);
		fill(&now, cache, &next);
		cache = pd_key_cache_enter(&now, cache);
		CHECK(cache && cache->used > count);
	}
	CHECK(cache->count == PD_KEY_CACHE_LINES_MOST && count_found(cache, next) == cache->used);
	fill(&now, cache, &next);
	CHECK(next > (uint64_t)PD_KEY_CACHE_LINES_MOST * 3 / 2);
	cache = pd_key_cache_enter(&now, cache);
	CHECK(cache && cache->count == PD_KEY_CACHE_LINES_MOST && cache->used == 0);
	CHECK(count_found(cache, 100000) == 0);
	CHECK(add_number(cache, 0) && look_up_number(cache, 0) == bucket_of(0));
	pd_key_cache_leave(&now, cache);
	CHECK(!now.table);
	pd_key_cache_fini(&now);
}

TEST(test_seen__where_keys_do_not_repeat_the_table_stays_small)
{
	struct pd_repeats repeats = { .asked = 100, .repeated = 25 };
	struct pd_key_cache_shared now = { .table = NULL };
	struct pd_key_cache *cache;
	uint64_t next = 0;

	pd_key_cache_init(&now);
	cache = pd_key_cache_enter(&now, NULL);
	while (cache && cache->count < LINES_FREE) {
		fill(&now, cache, &next);
		cache = pd_key_cache_enter(&now, cache);
	}
	CHECK(cache && cache->count == LINES_FREE && cache->used);
	pd_key_cache_note(&now, cache, cache->count * PD_KEYS_IN_LINE, &repeats);
	// what is counted of the next table begins anew
	CHECK(!repeats.asked && !repeats.repeated);
	cache = pd_key_cache_enter(&now, cache);
	CHECK(cache && cache->count == LINES_FREE && !cache->used);
	repeats = (struct pd_repeats){ .asked = 100, .repeated = 26 };
	pd_key_cache_note(&now, cache, cache->count * PD_KEYS_IN_LINE, &repeats);
	cache = pd_key_cache_enter(&now, cache);
	CHECK(cache && cache->count == LINES_FREE * GROWTH);
	pd_key_cache_leave(&now, cache);
	pd_key_cache_fini(&now);
}

TEST(test_seen__repeats_are_those_of_one_key_in_many)
{
	struct pd_repeats repeats = { .tags = calloc(PD_REPEATS, sizeof(*repeats.tags)) };
	const uint64_t keys = (uint64_t)PD_REPEATS_OF * 100;
	size_t asked = 0;

	CHECK(repeats.tags);
	for (uint64_t i = 0; i < keys; i++)
		asked += pd_tag_hash(&(struct pd_tag){ i, i + 1 }) % PD_REPEATS_OF == 0;
	for (size_t round = 0; round < 3; round++)
		for (uint64_t i = 0; i < keys; i++)
			pd_repeats_note(&repeats, &(struct pd_tag){ i, i + 1 });
	// about a hundred; two that have one place are not found to repeat
	CHECK(asked > 50 && asked < 150);
	CHECK(repeats.asked == 3 * asked && repeats.repeated <= 2 * asked && repeats.repeated + 8 >= 2 * asked);
	free(repeats.tags);
}

TEST(test_seen__keys_of_one_low_half_have_places_of_their_own)
{
	struct pd_repeats repeats = { .tags = calloc(PD_REPEATS, sizeof(*repeats.tags)) };

	CHECK(repeats.tags);
	for (size_t round = 0; round < 2; round++)
		for (uint64_t i = 0; i < 3; i++)
			pd_repeats_ask(&repeats, &(struct pd_tag){ (i + 1) << 40, i + 1 });
	CHECK(repeats.asked == 6 && repeats.repeated == 3);
	free(repeats.tags);
}

TEST(test_seen__without_memory_to_grow_the_table_stays)
{
	struct pd_key_cache_shared now = { .table = NULL };
	struct pd_key_cache *cache;
	uint64_t next = 0;

	pd_key_cache_init(&now);
	cache = pd_key_cache_enter(&now, NULL);
	CHECK(cache);
	no_memory = true;
	while (next < (uint64_t)LINES_FIRST * PD_KEYS_IN_LINE * 2) {
		bool added = add_number(cache, next++);

		note(&now, cache, added);
	}
	no_memory = false;
	CHECK(now.table == cache && !now.growing && cache->users == 1);
	CHECK(count_found(cache, next) == cache->used);
	// as soon as there is memory
	note(&now, cache, 0);
	CHECK(!pd_key_cache_is_present(&now, cache));
	cache = pd_key_cache_enter(&now, cache);
	CHECK(cache && cache->count == LINES_FIRST * GROWTH && count_found(cache, next) == cache->used);
	pd_key_cache_leave(&now, cache);
	pd_key_cache_fini(&now);
}

TEST(test_seen__who_finds_no_new_table_keeps_the_old_one)
{
	struct pd_key_cache_shared now = { .table = NULL };
	struct pd_key_cache *cache, *other;
	uint64_t next = 0;

	pd_key_cache_init(&now);
	cache = pd_key_cache_enter(&now, NULL);
	CHECK(cache);
	fill(&now, cache, &next);
	// another one was there meanwhile, and took the new table along
	other = pd_key_cache_enter(&now, NULL);
	CHECK(other && other != cache);
	pd_key_cache_leave(&now, other);
	CHECK(!now.table && !pd_key_cache_is_present(&now, cache));
	no_memory = true;
	CHECK(!pd_key_cache_enter(&now, cache));
	no_memory = false;
	CHECK(cache->users == 1 && count_found(cache, next) > 0);
	other = pd_key_cache_enter(&now, cache);
	CHECK(other && other->count == LINES_FIRST && other->used == 0);
	pd_key_cache_leave(&now, other);
	pd_key_cache_fini(&now);
}

TEST(test_seen__a_table_that_nobody_entered_goes_at_the_end)
{
	struct pd_key_cache_shared now = { .table = NULL };
	struct pd_key_cache *cache;
	uint64_t next = 0;

	pd_key_cache_init(&now);
	cache = pd_key_cache_enter(&now, NULL);
	CHECK(cache);
	fill(&now, cache, &next);
	CHECK(now.table && now.table != cache && now.table->users == 0);
	pd_key_cache_leave(&now, cache);
	CHECK(now.table);
	// a sanitizer says whether it went
	pd_key_cache_fini(&now);
}

// ---- threads ----

struct crowd {
	struct pd_key_cache_shared now;
	uint64_t numbers, rounds;
	bool leaves; // now and then, so that tables go while others are used
	size_t wrong[THREADS], found[THREADS], lacked[THREADS];
	size_t lines[THREADS]; // of the table that the thread had at the end
};

// What a collector does of a number: it looks it up, and adds what it did not find.
static size_t take_number(struct crowd *crowd, size_t part, struct pd_key_cache *cache, uint64_t number)
{
	uint32_t bucket = look_up_number(cache, number);

	crowd->wrong[part] += bucket != PD_NOT_CACHED && bucket != bucket_of(number);
	crowd->found[part] += bucket != PD_NOT_CACHED;
	return bucket == PD_NOT_CACHED && add_number(cache, number);
}

static struct pd_key_cache *renew(struct crowd *crowd, struct pd_key_cache *cache, bool leave)
{
	if (leave) {
		pd_key_cache_leave(&crowd->now, cache);
		return pd_key_cache_enter(&crowd->now, NULL);
	}
	return pd_key_cache_is_present(&crowd->now, cache) ? cache : pd_key_cache_enter(&crowd->now, cache);
}

// Each thread has an order of its own; some of them look at the same at the same time.
static uint64_t number_at(const struct crowd *crowd, size_t part, uint64_t round, uint64_t i)
{
	return part / 2 ? (crowd->numbers - 1 - i) : (i + round * 997) % crowd->numbers;
}

static void use(void *self, size_t part)
{
	enum {
		NOTE_AFTER = 64,
		LEAVE_AFTER = 5000
	};
	struct crowd *crowd = self;
	struct pd_key_cache *cache = pd_key_cache_enter(&crowd->now, NULL);
	size_t added = 0;

	for (uint64_t step = 0; cache && step < crowd->rounds * crowd->numbers; step++) {
		uint64_t round = step / crowd->numbers, i = step % crowd->numbers;

		added += take_number(crowd, part, cache, number_at(crowd, part, round, i));
		if (added >= NOTE_AFTER) {
			note(&crowd->now, cache, added);
			added = 0;
		}
		if (step % 128 == 127)
			cache = renew(crowd, cache, crowd->leaves && (step + part * 1111) % LEAVE_AFTER < 128);
	}
	crowd->lacked[part] = !cache;
	if (!cache)
		return;
	crowd->lines[part] = cache->count;
	pd_key_cache_leave(&crowd->now, cache);
}

// The number of those that were found, or SIZE_MAX if something was wrong.
static size_t run_crowd(struct crowd *crowd)
{
	size_t found = 0, wrong = 0;

	pd_in_parts(THREADS, use, crowd);
	for (size_t part = 0; part < THREADS; part++) {
		found += crowd->found[part];
		wrong += crowd->wrong[part] + crowd->lacked[part];
	}
	return wrong ? SIZE_MAX : found;
}

TEST(test_seen__threads_that_add_the_same)
{
	struct crowd crowd = { .numbers = 5000, .rounds = 20 };
	struct pd_key_cache *cache;
	size_t found;

	pd_key_cache_init(&crowd.now);
	// one more user, so that the table is there afterwards
	cache = pd_key_cache_enter(&crowd.now, NULL);
	CHECK(cache);
	found = run_crowd(&crowd);
	CHECK(found != SIZE_MAX && found > crowd.numbers * (crowd.rounds - 2) * THREADS * 9 / 10);
	CHECK(crowd.now.table == cache && cache->users == 1);
	// no number has two places
	CHECK(count_found(cache, crowd.numbers) > crowd.numbers * 9 / 10);
	for (size_t i = 0; i < cache->count; i++) {
		const struct pd_key_cache_line *line = &cache->lines[i];

		for (size_t k = 0; k < PD_KEYS_IN_LINE; k++) {
			CHECK(!line->low[k] == !line->bucket_plus_1[k]);
			for (size_t other = 0; other < k; other++)
				CHECK(!line->low[k] || line->low[k] != line->low[other]);
		}
	}
	pd_key_cache_leave(&crowd.now, cache);
	CHECK(!crowd.now.table);
	pd_key_cache_fini(&crowd.now);
}

TEST(test_seen__threads_while_tables_grow)
{
	struct crowd crowd = { .numbers = 150000, .rounds = 2 };

	pd_key_cache_init(&crowd.now);
	// how much they find depends on how long one takes to grow a table, while others have no room
	CHECK(run_crowd(&crowd) != SIZE_MAX);
	CHECK(!crowd.now.growing);
	// one alone finds in the second round what it added in the first one
	crowd.found[0] = 0;
	use(&crowd, 0);
	CHECK(!crowd.wrong[0] && crowd.found[0] > crowd.numbers * 9 / 10);
	CHECK(crowd.lines[0] > LINES_FIRST * GROWTH && !crowd.now.growing);
	pd_key_cache_fini(&crowd.now);
}

TEST(test_seen__threads_that_come_and_go)
{
	struct crowd crowd = { .numbers = 40000, .rounds = 5, .leaves = true };

	pd_key_cache_init(&crowd.now);
	CHECK(run_crowd(&crowd) != SIZE_MAX);
	CHECK(!crowd.now.growing && (!crowd.now.table || crowd.now.table->users == 0));
	pd_key_cache_fini(&crowd.now);
}

RUN(TEST_CASE(test_seen__a_line_is_one_of_the_cache), TEST_CASE(test_seen__what_was_added_is_found),
    TEST_CASE(test_seen__adding_again_changes_nothing), TEST_CASE(test_seen__buckets_from_the_first_to_the_last),
    TEST_CASE(test_seen__a_full_line_keeps_what_it_has),
    TEST_CASE(test_seen__the_second_line_has_what_the_first_has_no_room_for),
    TEST_CASE(test_seen__tags_with_the_same_half_are_distinguished),
    TEST_CASE(test_seen__the_same_half_in_another_line), TEST_CASE(test_seen__no_half_is_no_tag),
    TEST_CASE(test_seen__keys_with_sums_keep_them_and_have_a_number_in_their_table),
    TEST_CASE(test_seen__a_place_that_is_only_claimed_has_no_bucket),
    TEST_CASE(test_seen__a_table_lives_as_long_as_it_has_users), TEST_CASE(test_seen__no_memory_for_the_first_table),
    TEST_CASE(test_seen__a_full_table_is_left_for_a_larger_one_with_the_same),
    TEST_CASE(test_seen__after_the_limit_comes_an_empty_one),
    TEST_CASE(test_seen__where_keys_do_not_repeat_the_table_stays_small),
    TEST_CASE(test_seen__repeats_are_those_of_one_key_in_many),
    TEST_CASE(test_seen__keys_of_one_low_half_have_places_of_their_own),
    TEST_CASE(test_seen__without_memory_to_grow_the_table_stays),
    TEST_CASE(test_seen__who_finds_no_new_table_keeps_the_old_one),
    TEST_CASE(test_seen__a_table_that_nobody_entered_goes_at_the_end), TEST_CASE(test_seen__threads_that_add_the_same),
    TEST_CASE(test_seen__threads_while_tables_grow), TEST_CASE(test_seen__threads_that_come_and_go))
