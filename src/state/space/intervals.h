/* SPDX-License-Identifier: MIT */
/*
 * Which mapping covers an address, in each of many address spaces, at each moment.
 *
 * Spaces form trees: a child begins as its parent was at the fork. All spaces of a tree are put on one line
 * of turns, by a walk that visits a child where it was forked and comes back: then a change is seen in one
 * unbroken stretch of turns, in its own space from the change on and in all that was forked later. So a
 * change is a rectangle of addresses and turns, never split, however many forks there are. Two stretches
 * lie apart or one inside the other, and of those around a turn the one that began last hides the others.
 *
 * The rectangles of a tree lie in a segment tree over the addresses. A node keeps who is on top from which turn
 * on, so a lookup goes up from one leaf and asks the nodes that have something. Memory is linear in the changes,
 * but for ranges that overlap in all ways, where it has a logarithm more.
 */
#ifndef PD_STATE_INTERVALS_H
#define PD_STATE_INTERVALS_H

#include <perfdata/state.h>

#include "state/maps.h"

enum {
	PD_NONE = UINT32_MAX
};

struct pd_intervals_space {
	uint32_t parent;         // PD_NONE: a root. Parents stand before their children.
	uint32_t parent_changes; // of the parent's changes, how many the child begins with
	uint32_t first, count;   // own changes
	uint32_t turn;           // of its beginning
	uint32_t tree;           // its tree
};

struct pd_intervals_change {
	uint64_t time_ns;
	uint32_t map; // index in the mappings
	uint32_t turn;
};

struct pd_intervals_node {
	uint32_t first; // of its gaps; those of the next node end them
	uint32_t up;    // the nearest node above that has gaps, or 0
};

// Between this turn and the next gap the change of turn `top` is on top.
struct pd_intervals_gap {
	uint32_t turn;
	uint32_t top; // 0: nothing
};

struct pd_intervals_tree {
	const uint64_t *bounds; // ascending; leaf n is from bounds[n] to bounds[n + 1]
	const struct pd_intervals_node *nodes;
	const struct pd_intervals_gap *gaps;
	uint32_t leaf_count;
	uint32_t change_count;
};

struct pd_intervals {
	struct pd_intervals_space *spaces;
	size_t space_count;
	struct pd_intervals_change *changes; // of a space in one piece, by time
	size_t change_count;
	struct pd_intervals_tree *trees;
	size_t tree_count;
	uint32_t *maps; // by turn
};

// Fills in the rest when spaces (parent, parent_changes, first, count) and changes (time_ns, map) are there.
// Results go to `keep`. False if a pool gives no memory.
bool pd_intervals_build(struct pd_intervals *intervals, const struct pd_maps *maps, struct pd_pool *keep,
			struct pd_pool *temp);
// The mapping on top, or PD_NONE. [*begin, *end) shrinks to addresses of which the same is true at that moment.
uint32_t pd_intervals_find(const struct pd_intervals *intervals, const struct pd_maps *maps, uint32_t space,
			   struct pd_moment when, uint64_t addr, uint64_t *begin, uint64_t *end);

#endif
