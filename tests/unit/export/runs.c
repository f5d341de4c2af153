/* SPDX-License-Identifier: MIT */
/* Small numbers of Parquet, read back here. */
#include "table/file/runs.h"

#include "../test.h"

enum {
	MOST = 600
};

static uint64_t take_leb(const uint8_t **at)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (; **at & 0x80; shift += 7)
		value |= (uint64_t)(*(*at)++ & 0x7f) << shift;
	return value | (uint64_t) * (*at)++ << shift;
}

static size_t take_packed(const uint8_t **at, size_t groups, unsigned width, uint32_t *items)
{
	for (size_t bit = 0; bit < groups * 8 * width; bit++)
		items[bit / width] |= (uint32_t)((*at)[bit / 8] >> bit % 8 & 1) << bit % width;
	*at += groups * width;
	return groups * 8;
}

// How many there are; those that fill the last group are zero.
static size_t take_runs(struct pd_bytes bytes, unsigned width, uint32_t *items)
{
	const uint8_t *at = bytes.data, *end = bytes.size ? at + bytes.size : at;
	size_t count = 0;

	while (at < end && count < MOST) {
		uint64_t header = take_leb(&at);
		uint32_t value = 0;

		if (header & 1) {
			count += take_packed(&at, (size_t)(header >> 1), width, items + count);
			continue;
		}
		for (unsigned i = 0; i < (width + 7) / 8; i++)
			value |= (uint32_t)*at++ << 8 * i;
		for (; header > 1; header -= 2)
			items[count++] = value;
	}
	return count;
}

static bool comes_back(const uint32_t *items, size_t count, unsigned width)
{
	uint32_t read[2 * MOST] = { 0 };
	struct pd_text *text = pd_text_new();
	size_t found;
	bool same;

	pd_put_runs(text, items, count, width);
	found = take_runs(pd_text_bytes(text), width, read);
	same = found >= count && found < count + 8 && !memcmp(items, read, count * sizeof(*items));
	pd_text_free(text);
	return same;
}

TEST(test_runs__come_back)
{
	uint32_t items[MOST], state = 1;

	for (unsigned width = 1; width <= 32; width++) {
		for (size_t count = 0; count <= MOST - 8; count += 1 + count / 4) {
			for (size_t i = 0; i < count; i++) {
				state = state * 1664525 + 1013904223;
				// runs of all lengths, between others
				items[i] = i && state >> 28 < width % 16 ? items[i - 1] : state >> (32 - width);
			}
			CHECK(comes_back(items, count, width));
		}
	}
}

TEST(test_runs__are_short)
{
	static const uint32_t ones[500] = { 0 };
	struct pd_text *text = pd_text_new();

	pd_put_runs(text, ones, 500, 1);
	CHECK(pd_text_bytes(text).size == 3);
	CHECK(pd_runs_width(0) == 0 && pd_runs_width(1) == 0 && pd_runs_width(2) == 1 && pd_runs_width(256) == 8 &&
	      pd_runs_width(257) == 9);
	pd_text_free(text);
}

RUN(TEST_CASE(test_runs__come_back), TEST_CASE(test_runs__are_short))
