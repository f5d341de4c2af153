/* SPDX-License-Identifier: MIT */
/*
 * Sorting in parts: each thread sorts its own, then neighbours are merged. Nearly everything is decided by
 * two words that lie in a row in memory; what they stand for is looked at only if both agree.
 */
#include "report.h"

#include "parts.h"

#include <stdlib.h>
#include <string.h>

enum {
	WORTH_A_PART = 1 << 12,
	FEW = 8, /* that are put in their places one by one */
};

struct sorting {
	struct sorted *items, *spare;
	size_t count, parts;
	size_t step; /* parts in a row that are in order */
	sort_fn *compare;
	const void *self;
};

static bool is_before(const struct sorting *sorting, const struct sorted *a, const struct sorted *b)
{
	int order;

	if (a->first != b->first)
		return a->first < b->first;
	if (a->second != b->second)
		return a->second < b->second;
	order = sorting->compare(sorting->self, a->number, b->number);
	return order ? order < 0 : a->number < b->number;
}

static void sort_few(const struct sorting *sorting, struct sorted *items, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct sorted item = items[i];
		size_t at = i;

		for (; at && is_before(sorting, &item, &items[at - 1]); at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

/* Two runs, one behind the other; the spare has room for the first. */
static void merge(const struct sorting *sorting, struct sorted *items, size_t first, size_t count, struct sorted *spare)
{
	size_t left = 0, right = first, to = 0;

	if (!first || first == count || is_before(sorting, &items[first - 1], &items[first]))
		return;
	memcpy(spare, items, first * sizeof(*spare));
	while (left < first && right < count)
		items[to++] = is_before(sorting, &items[right], &spare[left]) ? items[right++] : spare[left++];
	memcpy(&items[to], &spare[left], (first - left) * sizeof(*spare));
}

static void sort_run(const struct sorting *sorting, struct sorted *items, size_t count, struct sorted *spare)
{
	if (count <= FEW) {
		sort_few(sorting, items, count);
		return;
	}
	sort_run(sorting, items, count / 2, spare);
	sort_run(sorting, items + count / 2, count - count / 2, spare);
	merge(sorting, items, count / 2, count, spare);
}

static void sort_part(void *self, size_t part)
{
	const struct sorting *sorting = self;
	size_t begin = part_begin(sorting->count, sorting->parts, part);
	size_t end = part_begin(sorting->count, sorting->parts, part + 1);

	sort_run(sorting, sorting->items + begin, end - begin, sorting->spare + begin);
}

/* Where the part behind so many steps begins. */
static size_t step_begin(const struct sorting *sorting, size_t steps)
{
	size_t part = steps * sorting->step;

	return part_begin(sorting->count, sorting->parts, part < sorting->parts ? part : sorting->parts);
}

static void merge_pair(void *self, size_t pair)
{
	const struct sorting *sorting = self;
	size_t begin = step_begin(sorting, 2 * pair);
	size_t middle = step_begin(sorting, 2 * pair + 1), end = step_begin(sorting, 2 * pair + 2);

	merge(sorting, sorting->items + begin, middle - begin, end - begin, sorting->spare + begin);
}

bool sort_all(struct sorted *items, size_t count, sort_fn *compare, const void *self, size_t threads)
{
	struct sorting sorting = { .items = items, .count = count, .compare = compare, .self = self };

	sorting.parts = part_count(thread_count(threads), count, WORTH_A_PART);
	sorting.spare = malloc((count + 1) * sizeof(*sorting.spare));
	if (!sorting.spare)
		return false;
	parts_do(sorting.parts, sort_part, &sorting);
	for (sorting.step = 1; sorting.step < sorting.parts; sorting.step *= 2)
		parts_do((sorting.parts + 2 * sorting.step - 1) / (2 * sorting.step), merge_pair, &sorting);
	free(sorting.spare);
	return true;
}
