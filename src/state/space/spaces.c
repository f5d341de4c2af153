/* SPDX-License-Identifier: MIT */
#include "state/space/spaces.h"

#include <stdlib.h>

#include "base/lookup/search.h"
#include "state/order.h"

enum {
	// A lookup goes through so many ancestors at most; beyond that the family is hard.
	DEPTH_MOST = 8,
	INSERTED_MOST = 48
};

struct placed {
	uint64_t start, end;
	uint32_t rank;
};

struct builder {
	struct pd_spaces *spaces;
	const struct pd_maps *maps;
	struct pd_pool *keep, *temp;
	uint32_t *roots; // by space
	bool *hard;      // by root
	struct placed *placed;
};

// ---- families ----

// A parent that had nothing of its own at the fork is passed over.
static void skip_empty_parent(const struct pd_spaces *spaces, struct pd_space *space)
{
	const struct pd_space *parent = &spaces->items[space->parent];

	if (space->parent_changes)
		return;
	space->parent_changes = parent->parent_changes;
	space->parent = parent->parent;
}

static bool find_families(struct builder *b)
{
	struct pd_spaces *spaces = b->spaces;
	uint8_t *depths;

	if (!PD_POOL_ARRAY(b->temp, b->roots, spaces->count) || !PD_POOL_ARRAY(b->temp, b->hard, spaces->count) ||
	    !PD_POOL_ARRAY(b->temp, depths, spaces->count))
		return false;
	for (uint32_t i = 0; i < spaces->count; i++) {
		struct pd_space *space = &spaces->items[i];

		b->roots[i] = i;
		if (space->parent == PD_NONE)
			continue;
		// before it is passed over: a family is hard as a whole
		b->roots[i] = b->roots[space->parent];
		skip_empty_parent(spaces, space);
		if (space->parent == PD_NONE)
			continue;
		depths[i] = depths[space->parent];
		if (depths[i] < DEPTH_MOST)
			depths[i]++;
		else
			b->hard[b->roots[i]] = true;
	}
	return true;
}

// ---- by address ----

static int compare_placed(const void *a, const void *b)
{
	const struct placed *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static void sort_placed(struct placed *placed, size_t count)
{
	if (count > INSERTED_MOST) {
		qsort(placed, count, sizeof(*placed), compare_placed);
		return;
	}
	for (size_t i = 1; i < count; i++) {
		struct placed one = placed[i];
		size_t at = i;

		for (; at > 0 && placed[at - 1].start > one.start; at--)
			placed[at] = placed[at - 1];
		placed[at] = one;
	}
}

// False if some of them overlap.
static bool place_maps(struct builder *b, const struct pd_space *space)
{
	uint32_t *ranks = b->spaces->ranks + space->first;
	bool sorted = true;

	for (uint32_t i = 0; i < space->count; i++) {
		const struct pd_range_of_map range = pd_map_range(b->maps, b->spaces->maps[space->first + i]);

		b->placed[i] = (struct placed){ range.start, range.end, i };
		sorted &= !i || b->placed[i - 1].start <= range.start;
	}
	if (!sorted)
		sort_placed(b->placed, space->count);
	for (uint32_t i = 0; i < space->count; i++) {
		if (i && b->placed[i - 1].end > b->placed[i].start)
			return false;
		ranks[i] = b->placed[i].rank;
	}
	return true;
}

static bool place_all(struct builder *b)
{
	struct pd_spaces *spaces = b->spaces;
	uint32_t largest = 0;

	for (size_t i = 0; i < spaces->count; i++)
		largest = spaces->items[i].count > largest ? spaces->items[i].count : largest;
	if (!PD_POOL_ARRAY(b->keep, spaces->ranks, spaces->map_count) || !PD_POOL_ARRAY(b->temp, b->placed, largest))
		return false;
	for (size_t i = 0; i < spaces->count; i++) {
		const struct pd_space *space = &spaces->items[i];

		if (space->count && !b->hard[b->roots[i]] && !place_maps(b, space))
			b->hard[b->roots[i]] = true;
	}
	return true;
}

// ---- what is hard ----

static void count_hard(const struct builder *b, struct pd_intervals *intervals)
{
	for (size_t i = 0; i < b->spaces->count; i++) {
		if (!b->hard[b->roots[i]])
			continue;
		intervals->space_count++;
		intervals->change_count += b->spaces->items[i].count;
	}
}

static void add_hard_changes(const struct builder *b, struct pd_intervals *intervals, const struct pd_space *space)
{
	for (uint32_t i = 0; i < space->count; i++) {
		uint32_t map = b->spaces->maps[space->first + i];

		intervals->changes[intervals->change_count++] =
			(struct pd_intervals_change){ .time_ns = pd_map_at(b->maps, map)->from.time_ns, .map = map };
	}
}

static void add_hard(const struct builder *b, struct pd_intervals *intervals, struct pd_space *space)
{
	const struct pd_space *parent = space->parent == PD_NONE ? NULL : &b->spaces->items[space->parent];

	intervals->spaces[intervals->space_count++] =
		(struct pd_intervals_space){ .parent = parent ? parent->hard - 1 : PD_NONE,
					     .parent_changes = space->parent_changes,
					     .first = (uint32_t)intervals->change_count,
					     .count = space->count };
	space->hard = (uint32_t)intervals->space_count;
	add_hard_changes(b, intervals, space);
}

static bool build_hard(struct builder *b)
{
	struct pd_intervals *intervals = &b->spaces->intervals;

	*intervals = (struct pd_intervals){ 0 };
	count_hard(b, intervals);
	if (!intervals->space_count)
		return true;
	if (!PD_POOL_ARRAY(b->keep, intervals->spaces, intervals->space_count) ||
	    !PD_POOL_ARRAY(b->keep, intervals->changes, intervals->change_count))
		return false;
	intervals->space_count = intervals->change_count = 0;
	for (size_t i = 0; i < b->spaces->count; i++)
		if (b->hard[b->roots[i]])
			add_hard(b, intervals, &b->spaces->items[i]);
	return pd_intervals_build(intervals, b->maps, b->keep, b->temp);
}

bool pd_spaces_build(struct pd_spaces *spaces, const struct pd_maps *maps, struct pd_pool *keep, struct pd_pool *temp)
{
	struct builder b = { .spaces = spaces, .maps = maps, .keep = keep, .temp = temp };

	return find_families(&b) && place_all(&b) && build_hard(&b);
}

// ---- lookups ----

static const struct pd_map *change_at(const struct pd_spaces *spaces, const struct pd_maps *maps,
				      const struct pd_space *space, uint32_t rank)
{
	return pd_map_at(maps, spaces->maps[space->first + rank]);
}

// How many changes of the space were made at a moment. Most are asked for when all were.
static uint32_t changes_at(const struct pd_spaces *spaces, const struct pd_maps *maps, const struct pd_space *space,
			   struct pd_moment when)
{
	uint32_t low, count = space->count;

	if (!count || !pd_moment_before(when, change_at(spaces, maps, space, count - 1)->from))
		return count;
	PD_SEARCH(low, 0, count - 1, i, !pd_moment_before(when, change_at(spaces, maps, space, i)->from));
	return low;
}

static void shrink(uint64_t *begin, uint64_t *end, uint64_t from, uint64_t to)
{
	*begin = from > *begin ? from : *begin;
	*end = to < *end ? to : *end;
}

// Of the first changes of a space itself the one at an address, or PD_NONE.
static uint32_t find_own(const struct pd_spaces *spaces, const struct pd_maps *maps, const struct pd_space *space,
			 uint32_t limit, uint64_t addr, uint64_t *begin, uint64_t *end)
{
	const uint32_t *numbers = spaces->maps + space->first, *ranks = spaces->ranks + space->first;
	struct pd_range_of_map range;
	uint32_t low;

	PD_SEARCH_LAST(low, space->count, i, pd_map_at(maps, numbers[ranks[i]])->start <= addr);
	range = pd_map_range(maps, numbers[ranks[low]]);
	if (addr < range.start) {
		shrink(begin, end, 0, range.start);
	} else if (addr < range.end) {
		shrink(begin, end, range.start, range.end);
		if (ranks[low] < limit)
			return numbers[ranks[low]];
	} else {
		shrink(begin, end, range.end,
		       low + 1 < space->count ? pd_map_at(maps, numbers[ranks[low + 1]])->start : UINT64_MAX);
	}
	return PD_NONE;
}

uint32_t pd_spaces_find(const struct pd_spaces *spaces, const struct pd_maps *maps, uint32_t space_index,
			struct pd_moment when, uint64_t addr, uint64_t *begin, uint64_t *end)
{
	const struct pd_space *space = &spaces->items[space_index];
	uint32_t limit, found = PD_NONE;

	if (space->hard)
		return pd_intervals_find(&spaces->intervals, maps, space->hard - 1, when, addr, begin, end);
	limit = changes_at(spaces, maps, space, when);
	for (;;) {
		if (space->count)
			found = find_own(spaces, maps, space, limit, addr, begin, end);
		if (found != PD_NONE || space->parent == PD_NONE)
			return found;
		limit = space->parent_changes;
		space = &spaces->items[space->parent];
	}
}

uint32_t pd_spaces_turn(const struct pd_spaces *spaces, const struct pd_maps *maps, uint32_t space_index,
			struct pd_moment when, struct pd_moment *from, struct pd_moment *until)
{
	const struct pd_space *space = &spaces->items[space_index];
	uint32_t count = changes_at(spaces, maps, space, when);

	if (count) {
		struct pd_moment last = change_at(spaces, maps, space, count - 1)->from;

		*from = pd_moment_before(*from, last) ? last : *from;
	}
	if (count < space->count) {
		struct pd_moment next = change_at(spaces, maps, space, count)->from;

		*until = pd_moment_before(next, *until) ? next : *until;
	}
	return 1 + space_index + space->first + count;
}
