/* SPDX-License-Identifier: MIT */
#include "base/lookup/hash.h"
#include "base/radix.h"
#include "../test.h"

enum {
	COUNT = 3000
};

struct item {
	uint64_t key;
	uint32_t place;
};

static uint64_t key_of(const void *item)
{
	return ((const struct item *)item)->key;
}

static bool comes_sorted(uint64_t mask, unsigned shift)
{
	static struct item items[COUNT], spare[COUNT];
	const struct item *sorted;

	for (uint32_t i = 0; i < COUNT; i++)
		items[i] = (struct item){ (pd_hash_u64(1, i) & mask) << shift, i };
	sorted = pd_radix_sort(items, spare, COUNT, sizeof(*items), key_of);
	for (size_t i = 1; i < COUNT; i++)
		if (sorted[i].key < sorted[i - 1].key ||
		    (sorted[i].key == sorted[i - 1].key && sorted[i].place < sorted[i - 1].place))
			return false;
	return pd_radix_is_sorted(sorted, COUNT, sizeof(*sorted), key_of);
}

TEST(test_radix__equal_items_keep_their_order)
{
	CHECK(comes_sorted(0, 0));
	CHECK(comes_sorted(0xff, 0) && comes_sorted(0xff, 8) && comes_sorted(0xff, 56));
	CHECK(comes_sorted(UINT32_MAX, 0) && comes_sorted(UINT64_MAX, 0));
}

TEST(test_radix__few_items)
{
	struct item items[2] = { { 7, 0 }, { 3, 1 } }, spare[2];
	const struct item *sorted = pd_radix_sort(items, spare, 0, sizeof(*items), key_of);

	CHECK(sorted == items && pd_radix_is_sorted(items, 1, sizeof(*items), key_of));
	CHECK(!pd_radix_is_sorted(items, 2, sizeof(*items), key_of));
	sorted = pd_radix_sort(items, spare, 2, sizeof(*items), key_of);
	CHECK(sorted == spare && sorted[0].key == 3 && sorted[1].key == 7);
}

RUN(TEST_CASE(test_radix__equal_items_keep_their_order), TEST_CASE(test_radix__few_items))
