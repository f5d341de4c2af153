/* SPDX-License-Identifier: MIT */
/*
 * Sorting in parts: each thread sorts its own, then neighbours are merged. Nearly everything is decided by
 * two words that lie in a row in memory, of which many are sorted by digits; what they stand for is looked at only if both agree.
 */
#include "base/sort.h"

#include "base/memory.h"
#include "base/radix.h"
#include "base/threads.h"

#include <string.h>

enum {
	WORTH_A_PART = 1 << 12,
	FEW = 8,        /* that are put in their places one by one */
	MANY = 1 << 12, /* that are worth counting their digits */
};

struct sorting {
	struct pd_sorted *items, *spare;
	size_t count, parts;
	size_t step; /* parts in a row that are in order */
	pd_sort_fn *compare;
	const void *self;
};

static bool is_before(const struct sorting *sorting, const struct pd_sorted *a, const struct pd_sorted *b)
{
	int order;

	if (a->first != b->first)
		return a->first < b->first;
	if (a->second != b->second)
		return a->second < b->second;
	order = sorting->compare(sorting->self, a->number, b->number);
	return order ? order < 0 : a->number < b->number;
}

static void sort_few(const struct sorting *sorting, struct pd_sorted *items, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct pd_sorted item = items[i];
		size_t at = i;

		for (; at && is_before(sorting, &item, &items[at - 1]); at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

/* Two runs, one after the other; the spare has room for the first. */
static void merge(const struct sorting *sorting, struct pd_sorted *items, size_t first, size_t count,
		  struct pd_sorted *spare)
{
	size_t left = 0, right = first, to = 0;

	if (!first || first == count || is_before(sorting, &items[first - 1], &items[first]))
		return;
	memcpy(spare, items, first * sizeof(*spare));
	while (left < first && right < count)
		items[to++] = is_before(sorting, &items[right], &spare[left]) ? items[right++] : spare[left++];
	memcpy(&items[to], &spare[left], (first - left) * sizeof(*spare));
}

static void sort_run(const struct sorting *sorting, struct pd_sorted *items, size_t count, struct pd_sorted *spare)
{
	if (count <= FEW) {
		sort_few(sorting, items, count);
		return;
	}
	sort_run(sorting, items, count / 2, spare);
	sort_run(sorting, items + count / 2, count - count / 2, spare);
	merge(sorting, items, count / 2, count, spare);
}

static uint64_t first_of(const void *item)
{
	return ((const struct pd_sorted *)item)->first;
}

static uint64_t second_of(const void *item)
{
	return ((const struct pd_sorted *)item)->second;
}

/* By digits of both words, then those that agree in both. */
static void sort_many(const struct sorting *sorting, struct pd_sorted *items, size_t count, struct pd_sorted *spare)
{
	struct pd_sorted *other = pd_radix_sort(items, spare, count, sizeof(*items), second_of), *sorted;

	sorted = pd_radix_sort(other, other == items ? spare : items, count, sizeof(*items), first_of);
	if (sorted != items)
		memcpy(items, sorted, count * sizeof(*items));
	for (size_t begin = 0, end; begin < count; begin = end) {
		for (end = begin + 1;
		     end < count && items[end].first == items[begin].first && items[end].second == items[begin].second;)
			end++;
		sort_run(sorting, items + begin, end - begin, spare + begin);
	}
}

static void sort_part(void *self, size_t part)
{
	const struct sorting *sorting = self;
	size_t begin = pd_part_begin(sorting->count, sorting->parts, part);
	size_t end = pd_part_begin(sorting->count, sorting->parts, part + 1);

	if (end - begin < MANY)
		sort_run(sorting, sorting->items + begin, end - begin, sorting->spare + begin);
	else
		sort_many(sorting, sorting->items + begin, end - begin, sorting->spare + begin);
}

/* Where the part after so many steps begins. */
static size_t step_begin(const struct sorting *sorting, size_t steps)
{
	size_t part = steps * sorting->step;

	return pd_part_begin(sorting->count, sorting->parts, part < sorting->parts ? part : sorting->parts);
}

static void merge_pair(void *self, size_t pair)
{
	const struct sorting *sorting = self;
	size_t begin = step_begin(sorting, 2 * pair);
	size_t middle = step_begin(sorting, 2 * pair + 1), end = step_begin(sorting, 2 * pair + 2);

	merge(sorting, sorting->items + begin, middle - begin, end - begin, sorting->spare + begin);
}

bool pd_sort(struct pd_sorted *items, size_t count, pd_sort_fn *compare, const void *self, size_t threads)
{
	struct sorting sorting = { .items = items, .count = count, .compare = compare, .self = self };

	sorting.parts = pd_part_count(threads, count, WORTH_A_PART);
	sorting.spare = pd_alloc((count + 1) * sizeof(*sorting.spare));
	if (!sorting.spare)
		return false;
	pd_in_parts(sorting.parts, sort_part, &sorting);
	for (sorting.step = 1; sorting.step < sorting.parts; sorting.step *= 2)
		pd_in_parts((sorting.parts + 2 * sorting.step - 1) / (2 * sorting.step), merge_pair, &sorting);
	pd_free(sorting.spare);
	return true;
}
