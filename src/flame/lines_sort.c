/* SPDX-License-Identifier: MIT */
/*
 * Lines as words in a dictionary, with frames as characters. Several frames at once are a key; lines whose keys agree are
 * sorted by the frames that follow. On several threads, each sorts the lines that are between two that were picked.
 */
#include "base/lookup/search.h"
#include "base/memory.h"
#include "base/threads.h"
#include "flame/lines.h"

#include <stdlib.h>
#include <string.h>

enum {
	SHORT_RUN = 8,
	PICKS_PER_PART = 64,
	KEY_BITS = 64
};

struct keyed {
	uint64_t key;
	uint32_t line;
};

/* Lines that agree in so many frames, and are to be sorted yet. */
struct range {
	size_t begin, end;
	uint32_t depth;
};

struct sorter {
	const struct stack_lines *lines;
	unsigned bits;   /* of a frame in a key */
	uint32_t levels; /* frames in a key */
	size_t parts;
	uint32_t *order;
	uint8_t *part_of;                             /* by line */
	uint32_t bounds[PD_PARTS_MOST];               /* the first line of each part but the first one */
	uint32_t found[PD_PARTS_MOST][PD_PARTS_MOST]; /* lines for a part, by who found them */
	bool failed[PD_PARTS_MOST];
};

/* A thread's own. */
struct scratch {
	struct keyed *items, *spare;
	struct range *ranges;
	size_t range_count, range_capacity;
};

/* ---- keys ---- */

static uint64_t key_of(const struct sorter *sorter, uint32_t index, uint32_t depth)
{
	const struct stack_line *line = &sorter->lines->items[index];
	const uint32_t *frames = sorter->lines->frames + line->start;
	uint64_t key = 0;

	/* The end is before all frames. */
	for (uint32_t i = depth; i < depth + sorter->levels; i++)
		key = key << sorter->bits | (i < line->count ? (uint64_t)frames[i] + 1 : 0);
	return key;
}

static void sort_run(struct keyed *items, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct keyed item = items[i];
		size_t at = i;

		for (; at && items[at - 1].key > item.key; at--)
			items[at] = items[at - 1];
		items[at] = item;
	}
}

static void merge_runs(const struct keyed *items, size_t middle, size_t count, struct keyed *out)
{
	size_t left = 0, right = middle;

	if (items[middle - 1].key <= items[middle].key) {
		memcpy(out, items, count * sizeof(*items));
		return;
	}
	while (left < middle && right < count) {
		bool later = items[right].key < items[left].key;

		*out++ = items[later ? right : left];
		right += later;
		left += !later;
	}
	memcpy(out, items + left, (middle - left) * sizeof(*items));
	out += middle - left;
	memcpy(out, items + right, (count - right) * sizeof(*items));
}

/* Sorts by key and leaves the order of those that have the same. */
static void sort_keys(struct keyed *items, struct keyed *spare, size_t count)
{
	struct keyed *from = items, *to = spare, *swapped;

	for (size_t i = 0; i < count; i += SHORT_RUN)
		sort_run(items + i, count - i < SHORT_RUN ? count - i : SHORT_RUN);
	for (size_t width = SHORT_RUN; width < count; width *= 2) {
		for (size_t i = 0; i < count; i += 2 * width) {
			size_t rest = count - i;

			if (rest <= width)
				memcpy(to + i, from + i, rest * sizeof(*to));
			else
				merge_runs(from + i, width, rest < 2 * width ? rest : 2 * width, to + i);
		}
		swapped = from;
		from = to;
		to = swapped;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(*items));
}

/* ---- lines of a part ---- */

static bool push(struct scratch *scratch, size_t begin, size_t end, uint32_t depth)
{
	if (end - begin < 2)
		return true;
	if (!PD_GROW(scratch->ranges, scratch->range_capacity, scratch->range_count + 1))
		return false;
	scratch->ranges[scratch->range_count++] = (struct range){ begin, end, depth };
	return true;
}

/* Sorts by the next frames; lines that agree in them are left for later. */
static bool sort_range(const struct sorter *sorter, struct scratch *scratch, struct range range)
{
	struct keyed *items = scratch->items + range.begin;
	uint64_t last = ((uint64_t)1 << sorter->bits) - 1;
	size_t count = range.end - range.begin;

	for (size_t i = 0; i < count; i++)
		items[i].key = key_of(sorter, items[i].line, range.depth);
	sort_keys(items, scratch->spare, count);
	for (size_t i = 0, next; i < count; i = next) {
		for (next = i + 1; next < count && items[next].key == items[i].key; next++)
			;
		/* Of lines that agree all end if one does. */
		if ((items[i].key & last) != 0 &&
		    !push(scratch, range.begin + i, range.begin + next, range.depth + sorter->levels))
			return false;
	}
	return true;
}

/* Where the lines of a part begin. */
static size_t first_of(const struct sorter *sorter, size_t part)
{
	size_t first = 0;

	for (size_t i = 0; i < part; i++)
		for (size_t finder = 0; finder < sorter->parts; finder++)
			first += sorter->found[i][finder];
	return first;
}

static void sort_part(void *self, size_t part)
{
	struct sorter *sorter = self;
	size_t begin = first_of(sorter, part), count = first_of(sorter, part + 1) - begin, at = 0;
	struct scratch scratch = {
		.items = pd_realloc(NULL, (count + 1) * sizeof(*scratch.items)),
		.spare = pd_realloc(NULL, (count + 1) * sizeof(*scratch.spare)),
	};
	bool done = scratch.items && scratch.spare;

	for (size_t i = 0; done && i < sorter->lines->count; i++)
		if (sorter->part_of[i] == part)
			scratch.items[at++].line = (uint32_t)i;
	done = done && push(&scratch, 0, count, 0);
	while (done && scratch.range_count)
		done = sort_range(sorter, &scratch, scratch.ranges[--scratch.range_count]);
	for (size_t i = 0; done && i < count; i++)
		sorter->order[begin + i] = scratch.items[i].line;
	sorter->failed[part] = !done;
	pd_free(scratch.items);
	pd_free(scratch.spare);
	pd_free(scratch.ranges);
}

/* ---- lines for parts ---- */

static int compare_lines(const void *left, const void *right, void *self)
{
	const struct stack_lines *lines = self;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	const struct stack_line *x = &lines->items[a], *y = &lines->items[b];
	uint32_t count = x->count < y->count ? x->count : y->count;
	uint32_t same = lines_common(lines, x, y);

	if (same < count)
		return lines->frames[x->start + same] < lines->frames[y->start + same] ? -1 : 1;
	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* Takes lines from all over, sorts them, and so finds some that part all lines into parts of about the same size. */
static bool find_bounds(struct sorter *sorter)
{
	size_t count = sorter->parts * PICKS_PER_PART;
	uint32_t *picks = pd_realloc(NULL, count * sizeof(*picks));

	if (!picks)
		return false;
	for (size_t i = 0; i < count; i++)
		picks[i] = (uint32_t)pd_part_begin(sorter->lines->count, count, i);
	qsort_r(picks, count, sizeof(*picks), compare_lines, (void *)sorter->lines);
	for (size_t i = 1; i < sorter->parts; i++)
		sorter->bounds[i] = picks[i * PICKS_PER_PART];
	pd_free(picks);
	return true;
}

static void find_part(void *self, size_t finder)
{
	struct sorter *sorter = self;
	size_t end = pd_part_begin(sorter->lines->count, sorter->parts, finder + 1);
	uint32_t found[PD_PARTS_MOST] = { 0 };

	for (size_t i = pd_part_begin(sorter->lines->count, sorter->parts, finder); i < end; i++) {
		uint32_t line = (uint32_t)i;
		size_t after;

		PD_SEARCH(after, 1, sorter->parts, part,
			  compare_lines(&line, &sorter->bounds[part], (void *)sorter->lines) >= 0);
		sorter->part_of[i] = (uint8_t)(after - 1);
		found[after - 1]++;
	}
	for (size_t i = 0; i < sorter->parts; i++)
		sorter->found[i][finder] = found[i];
}

static bool sort(struct sorter *sorter)
{
	if (sorter->parts > 1 && !find_bounds(sorter))
		return false;
	pd_in_parts(sorter->parts, find_part, sorter);
	pd_in_parts(sorter->parts, sort_part, sorter);
	for (size_t i = 0; i < sorter->parts; i++)
		if (sorter->failed[i])
			return false;
	return true;
}

uint32_t *pd_lines_sort(const struct stack_lines *lines, uint32_t frame_limit, size_t parts)
{
	struct sorter *sorter = pd_alloc(sizeof(*sorter));
	uint32_t *order = NULL;

	if (!sorter)
		return NULL;
	sorter->lines = lines;
	sorter->parts = lines->count < parts * PICKS_PER_PART ? 1 : parts;
	for (sorter->bits = 1; sorter->bits < 32 && frame_limit >> sorter->bits;)
		sorter->bits++;
	sorter->levels = KEY_BITS / sorter->bits;
	sorter->part_of = pd_realloc(NULL, lines->count + 1);
	sorter->order = pd_realloc(NULL, (lines->count + 1) * sizeof(*sorter->order));
	if (sorter->part_of && sorter->order && (!lines->count || sort(sorter))) {
		order = sorter->order;
		sorter->order = NULL;
	}
	pd_free(sorter->order);
	pd_free(sorter->part_of);
	pd_free(sorter);
	return order;
}
