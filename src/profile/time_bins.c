/* SPDX-License-Identifier: MIT */
#include "profile/time_bins.h"

#include <stdlib.h>

#include "base/memory.h"

static int compare_portions(const void *a, const void *b)
{
	const struct pd_portion *x = a, *y = b;

	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	return x->strip < y->strip ? -1 : x->strip > y->strip;
}

// In memory of their own, by bucket. False if there is none.
static bool sort_by_bucket(struct pd_portions *portions)
{
	size_t buckets = 0, begin = 0;
	struct pd_portion *sorted;
	uint32_t *at;

	for (size_t i = 0; i < portions->count; i++)
		buckets = portions->items[i].bucket >= buckets ? (size_t)portions->items[i].bucket + 1 : buckets;
	at = pd_alloc(buckets * sizeof(*at));
	sorted = pd_realloc(NULL, portions->count * sizeof(*sorted));
	if (!at || !sorted) {
		pd_free(at);
		pd_free(sorted);
		return false;
	}
	for (size_t i = 0; i < portions->count; i++)
		at[portions->items[i].bucket]++;
	for (size_t i = 0; i < buckets; i++) {
		uint32_t count = at[i];

		at[i] = (uint32_t)begin;
		begin += count;
	}
	for (size_t i = 0; i < portions->count; i++)
		sorted[at[portions->items[i].bucket]++] = portions->items[i];
	pd_free(at);
	pd_free(portions->items);
	portions->items = sorted;
	portions->capacity = portions->count;
	return true;
}

// Those of a bucket came in the order of time, most of them.
static void sort_strips(struct pd_portion *portions, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (compare_portions(&portions[i - 1], &portions[i]) > 0) {
			qsort(portions, count, sizeof(*portions), compare_portions);
			return;
		}
}

static void sort_portions(struct pd_portions *portions)
{
	size_t begin = 0;

	if (!sort_by_bucket(portions)) {
		qsort(portions->items, portions->count, sizeof(*portions->items), compare_portions);
		return;
	}
	for (size_t end = 1; end <= portions->count; end++) {
		if (end < portions->count && portions->items[end].bucket == portions->items[begin].bucket)
			continue;
		sort_strips(portions->items + begin, end - begin);
		begin = end;
	}
}

// Joins sorted ones that agree. Returns how many differ.
static size_t join_portions(struct pd_portions *portions)
{
	size_t kept = 0, differing = 0;

	for (size_t i = 0; i < portions->count; i++) {
		const struct pd_portion *portion = &portions->items[i];
		struct pd_portion *last = kept ? &portions->items[kept - 1] : NULL;
		bool same = last && last->bucket == portion->bucket && last->strip == portion->strip;

		differing += !same;
		if (same && last->samples <= UINT16_MAX - portion->samples) {
			last->samples += portion->samples;
			last->period += portion->period;
		} else {
			portions->items[kept++] = *portion;
		}
	}
	portions->count = kept;
	return differing;
}

void pd_portions_pack(struct pd_portions *portions)
{
	sort_portions(portions);
	while (join_portions(portions) > PD_PORTIONS_MOST && portions->shift < 16) {
		portions->shift++;
		for (size_t i = 0; i < portions->count; i++)
			if (portions->items[i].strip != PD_STRIP_NONE)
				portions->items[i].strip /= 2;
	}
}
