/* SPDX-License-Identifier: MIT */
#include "profile/time_bins.h"

#include <stdlib.h>

#include "base/memory.h"

static int compare_binned(const void *a, const void *b)
{
	const struct pd_binned *x = a, *y = b;

	if (x->bucket != y->bucket)
		return x->bucket < y->bucket ? -1 : 1;
	return x->bin < y->bin ? -1 : x->bin > y->bin;
}

// In memory of their own, by bucket. False if there is none.
static bool sort_by_bucket(struct pd_binned_list *binned)
{
	size_t buckets = 0, begin = 0;
	struct pd_binned *sorted;
	uint32_t *at;

	for (size_t i = 0; i < binned->count; i++)
		buckets = binned->items[i].bucket >= buckets ? (size_t)binned->items[i].bucket + 1 : buckets;
	at = pd_alloc(buckets * sizeof(*at));
	sorted = pd_realloc(NULL, binned->count * sizeof(*sorted));
	if (!at || !sorted) {
		pd_free(at);
		pd_free(sorted);
		return false;
	}
	for (size_t i = 0; i < binned->count; i++)
		at[binned->items[i].bucket]++;
	for (size_t i = 0; i < buckets; i++) {
		uint32_t count = at[i];

		at[i] = (uint32_t)begin;
		begin += count;
	}
	for (size_t i = 0; i < binned->count; i++)
		sorted[at[binned->items[i].bucket]++] = binned->items[i];
	pd_free(at);
	pd_free(binned->items);
	binned->items = sorted;
	binned->capacity = binned->count;
	return true;
}

// Those of a bucket came in the order of time, most of them.
static void sort_bins(struct pd_binned *binned, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (compare_binned(&binned[i - 1], &binned[i]) > 0) {
			qsort(binned, count, sizeof(*binned), compare_binned);
			return;
		}
}

static void sort_binned(struct pd_binned_list *binned)
{
	size_t begin = 0;

	if (!sort_by_bucket(binned)) {
		qsort(binned->items, binned->count, sizeof(*binned->items), compare_binned);
		return;
	}
	for (size_t end = 1; end <= binned->count; end++) {
		if (end < binned->count && binned->items[end].bucket == binned->items[begin].bucket)
			continue;
		sort_bins(binned->items + begin, end - begin);
		begin = end;
	}
}

// Joins sorted ones that agree. Returns how many differ.
static size_t join_binned(struct pd_binned_list *binned)
{
	size_t kept = 0, differing = 0;

	for (size_t i = 0; i < binned->count; i++) {
		const struct pd_binned *entry = &binned->items[i];
		struct pd_binned *last = kept ? &binned->items[kept - 1] : NULL;
		bool same = last && last->bucket == entry->bucket && last->bin == entry->bin;

		differing += !same;
		if (same && last->samples <= UINT16_MAX - entry->samples) {
			last->samples += entry->samples;
			last->period += entry->period;
		} else {
			binned->items[kept++] = *entry;
		}
	}
	binned->count = kept;
	return differing;
}

void pd_binned_pack(struct pd_binned_list *binned)
{
	sort_binned(binned);
	while (join_binned(binned) > PD_BINNED_MAX && binned->shift < 16) {
		binned->shift++;
		for (size_t i = 0; i < binned->count; i++)
			if (binned->items[i].bin != PD_BIN_NONE)
				binned->items[i].bin /= 2;
	}
}
