/* SPDX-License-Identifier: MIT */
/*
 * Address spaces. A space begins with what its parent had at the fork, which is not copied, and has changes of its own. Nearly
 * always no two of those overlap; then they are looked for by address, in the space and then in its parent as of the fork. The
 * few families where mappings hide each other, or forks follow each other without exec, are in intervals.h.
 */
#ifndef PD_STATE_SPACES_H
#define PD_STATE_SPACES_H

#include "state/space/intervals.h"

struct pd_space {
	uint32_t parent;         // PD_NONE: a root. Parents stand before their children.
	uint32_t parent_changes; // of the parent's changes, how many the child begins with
	uint32_t first, count;   // own changes
	uint32_t hard;           // number in the intervals and 1, or 0
};

struct pd_spaces {
	struct pd_space *items;
	size_t count;
	uint32_t *maps;   // of a space in one piece, by time
	uint32_t *ranks;  // places in that piece, by start
	size_t map_count; // of all spaces
	struct pd_intervals intervals;
};

// Fills in the rest when items (parent, parent_changes, first, count) and maps are there. Results go to `keep`. False if
// a pool gives no memory.
bool pd_spaces_build(struct pd_spaces *spaces, const struct pd_maps *maps, struct pd_pool *keep, struct pd_pool *temp);
// The mapping on top, or PD_NONE. [*begin, *end) shrinks to addresses of which the same is true at that moment.
uint32_t pd_spaces_find(const struct pd_spaces *spaces, const struct pd_maps *maps, uint32_t space,
			struct pd_moment when, uint64_t addr, uint64_t *begin, uint64_t *end);
// The turn of a space at a moment, which goes up with time and differs from those of all other spaces. [*from, *until)
// shrinks to where it is the same.
uint32_t pd_spaces_turn(const struct pd_spaces *spaces, const struct pd_maps *maps, uint32_t space,
			struct pd_moment when, struct pd_moment *from, struct pd_moment *until);

#endif
