/* SPDX-License-Identifier: MIT */
#include "state/space/intervals.h"

#include <stdlib.h>
#include <string.h>

#include "base/lookup/search.h"

#define CLOSES UINT32_C(0x80000000)

// One step of the walk: a change is made, or all changes of a space are undone.
struct step {
	uint32_t what; // index of a change; CLOSES + a space
	uint32_t turn;
};

struct bound {
	uint64_t addr;
	uint32_t change; // number in the tree, times 2; plus 1 for the end
};

struct range {
	uint32_t low, high; // leaves
};

// What building one tree after another needs; made for the largest.
struct builder {
	struct pd_intervals *intervals;
	const struct pd_maps *maps;
	struct pd_pool *keep, *temp;
	uint32_t turn; // the last one used
	// by space
	uint32_t *child, *sibling, *done;
	// of the tree
	struct step *steps;
	size_t step_count;
	struct bound *bounds, *spare;
	struct range *ranges; // by change of the cover
	uint32_t *top;        // by node: the gap that put the top there, or PD_NONE
	uint32_t *fill;       // by node: where the next gap goes
	uint32_t *below;      // by gap that opened: the gap that was top before
	size_t below_capacity;
};

// ---- the walk ----

static void link_children(struct builder *b)
{
	struct pd_intervals *intervals = b->intervals;

	for (size_t i = 0; i < intervals->space_count; i++)
		b->child[i] = b->sibling[i] = PD_NONE;
	// backwards, so that the lists are in the order of the forks
	for (size_t i = intervals->space_count; i-- > 0;) {
		uint32_t parent = intervals->spaces[i].parent;

		if (parent == PD_NONE)
			continue;
		b->sibling[i] = b->child[parent];
		b->child[parent] = (uint32_t)i;
	}
}

static void begin_space(struct builder *b, uint32_t space, uint32_t tree)
{
	b->intervals->spaces[space].turn = ++b->turn;
	b->intervals->spaces[space].tree = tree;
	b->intervals->maps[b->turn] = PD_NONE;
}

static void make_change(struct builder *b, const struct pd_intervals_space *space, uint32_t number)
{
	struct pd_intervals_change *change = &b->intervals->changes[space->first + number];

	change->turn = ++b->turn;
	b->intervals->maps[b->turn] = change->map;
	b->steps[b->step_count++] = (struct step){ space->first + number, b->turn };
}

// Parents are found by their index, so the walk needs no stack however deep the tree is.
static void visit_family(struct builder *b, uint32_t root, uint32_t tree)
{
	uint32_t at = root;

	b->step_count = 0;
	begin_space(b, root, tree);
	for (;;) {
		struct pd_intervals_space *space = &b->intervals->spaces[at];
		uint32_t child = b->child[at];

		if (child != PD_NONE && b->intervals->spaces[child].parent_changes <= b->done[at]) {
			b->child[at] = b->sibling[child];
			begin_space(b, child, tree);
			at = child;
		} else if (b->done[at] < space->count) {
			make_change(b, space, b->done[at]++);
		} else if (at == root) {
			return; // nobody asks past the end
		} else {
			if (space->count)
				b->steps[b->step_count++] = (struct step){ CLOSES + at, ++b->turn };
			at = space->parent;
		}
	}
}

// ---- addresses ----

static void sort_byte(const struct bound *from, struct bound *to, size_t count, unsigned shift, size_t *at)
{
	size_t sum = 0;

	for (unsigned i = 0; i < 256; i++) {
		size_t size = at[i];

		at[i] = sum;
		sum += size;
	}
	for (size_t i = 0; i < count; i++)
		to[at[from[i].addr >> shift & 0xff]++] = from[i];
}

static int compare_bounds(const void *a, const void *b)
{
	uint64_t x = ((const struct bound *)a)->addr, y = ((const struct bound *)b)->addr;

	return x < y ? -1 : x > y;
}

// Most come in order.
static void sort_few(struct bound *bounds, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		struct bound bound = bounds[i];
		size_t at = i;

		for (; at > 0 && bounds[at - 1].addr > bound.addr; at--)
			bounds[at] = bounds[at - 1];
		bounds[at] = bound;
	}
}

// Sorts by address, byte for byte, leaving out bytes that are all the same. The result may be in the spare.
static struct bound *sort_bounds(struct builder *b, size_t count)
{
	struct bound *from = b->bounds, *to = b->spare;

	if (count < 32) {
		sort_few(from, count);
		return from;
	}
	if (count < 128) {
		qsort(from, count, sizeof(*from), compare_bounds);
		return from;
	}
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t at[256] = { 0 };
		struct bound *swap = from;

		for (size_t i = 0; i < count; i++)
			at[from[i].addr >> shift & 0xff]++;
		if (at[from[0].addr >> shift & 0xff] == count)
			continue;
		sort_byte(from, to, count, shift, at);
		from = to;
		to = swap;
	}
	return from;
}

static size_t collect_bounds(struct builder *b)
{
	size_t count = 0;

	for (size_t i = 0; i < b->step_count; i++) {
		uint32_t what = b->steps[i].what;
		struct pd_range_of_map range;

		if (what & CLOSES)
			continue;
		range = pd_map_range(b->maps, b->intervals->changes[what].map);
		b->bounds[count++] = (struct bound){ range.start, what * 2 };
		b->bounds[count++] = (struct bound){ range.end, what * 2 + 1 };
	}
	return count;
}

// Makes the leaves and says for each change which it covers.
static bool make_leaves(struct builder *b, struct pd_intervals_tree *tree)
{
	size_t count = collect_bounds(b), unique = 0;
	struct bound *sorted = sort_bounds(b, count);
	uint64_t *bounds;

	for (size_t i = 0; i < count; i++)
		unique += !i || sorted[i].addr != sorted[i - 1].addr;
	bounds = pd_pool_array(b->keep, unique, sizeof(*bounds));
	if (!bounds)
		return false;
	unique = 0;
	for (size_t i = 0; i < count; i++) {
		struct range *range = &b->ranges[sorted[i].change / 2];

		if (!i || sorted[i].addr != sorted[i - 1].addr)
			bounds[unique++] = sorted[i].addr;
		if (sorted[i].change & 1)
			range->high = (uint32_t)(unique - 1);
		else
			range->low = (uint32_t)(unique - 1);
	}
	tree->bounds = bounds;
	tree->leaf_count = (uint32_t)(unique - 1);
	return true;
}

// ---- nodes ----

struct nodes {
	uint32_t low, high;
};

static struct nodes nodes_of(const struct range *range, uint32_t leaf_count)
{
	return (struct nodes){ range->low + leaf_count, range->high + leaf_count };
}

// The next node that a range consists of, or 0.
static uint32_t next_node(struct nodes *nodes)
{
	for (; nodes->low < nodes->high; nodes->low >>= 1, nodes->high >>= 1) {
		if (nodes->low & 1)
			return nodes->low++;
		if (nodes->high & 1)
			return --nodes->high;
	}
	return 0;
}

static void count_range(struct builder *b, uint32_t change, uint32_t leaf_count, struct pd_intervals_node *nodes)
{
	struct nodes walk = nodes_of(&b->ranges[change], leaf_count);

	for (uint32_t node; (node = next_node(&walk)) != 0;)
		nodes[node].first++;
}

static uint64_t count_gaps(struct builder *b, uint32_t leaf_count, struct pd_intervals_node *nodes)
{
	uint64_t total = 0;

	for (size_t i = 0; i < b->step_count; i++) {
		uint32_t what = b->steps[i].what;

		if (what & CLOSES) {
			const struct pd_intervals_space *space = &b->intervals->spaces[what - CLOSES];

			for (uint32_t k = 0; k < space->count; k++)
				count_range(b, space->first + k, leaf_count, nodes);
		} else {
			count_range(b, what, leaf_count, nodes);
		}
	}
	for (uint32_t i = 0; i <= 2 * leaf_count; i++) {
		uint32_t size = nodes[i].first;

		nodes[i].first = (uint32_t)total;
		b->fill[i] = (uint32_t)total;
		b->top[i] = PD_NONE;
		total += size;
	}
	return total;
}

static void link_up(struct pd_intervals_node *nodes, uint32_t leaf_count)
{
	for (uint32_t i = 2; i < 2 * leaf_count; i++) {
		uint32_t up = i >> 1;

		nodes[i].up = nodes[up].first != nodes[up + 1].first ? up : nodes[up].up;
	}
}

static void open_range(struct builder *b, const struct step *step, uint32_t leaf_count, struct pd_intervals_gap *gaps)
{
	struct nodes walk = nodes_of(&b->ranges[step->what], leaf_count);

	for (uint32_t node; (node = next_node(&walk)) != 0;) {
		uint32_t gap = b->fill[node]++;

		gaps[gap] = (struct pd_intervals_gap){ step->turn, step->turn };
		b->below[gap] = b->top[node];
		b->top[node] = gap;
	}
}

static void end_range(struct builder *b, uint32_t change, uint32_t turn, uint32_t leaf_count,
		      struct pd_intervals_gap *gaps)
{
	struct nodes walk = nodes_of(&b->ranges[change], leaf_count);

	for (uint32_t node; (node = next_node(&walk)) != 0;) {
		uint32_t below = b->below[b->top[node]];

		b->top[node] = below;
		gaps[b->fill[node]++] = (struct pd_intervals_gap){ turn, below == PD_NONE ? 0 : gaps[below].top };
	}
}

static void fill_gaps(struct builder *b, uint32_t leaf_count, struct pd_intervals_gap *gaps)
{
	for (size_t i = 0; i < b->step_count; i++) {
		const struct step *step = &b->steps[i];
		const struct pd_intervals_space *space;

		if (!(step->what & CLOSES)) {
			open_range(b, step, leaf_count, gaps);
			continue;
		}
		space = &b->intervals->spaces[step->what - CLOSES];
		for (uint32_t k = space->count; k-- > 0;)
			end_range(b, space->first + k, step->turn, leaf_count, gaps);
	}
}

static bool make_nodes(struct builder *b, struct pd_intervals_tree *tree)
{
	uint32_t leaf_count = tree->leaf_count;
	struct pd_intervals_node *nodes = pd_pool_array(b->keep, 2 * (size_t)leaf_count + 1, sizeof(*nodes));
	struct pd_intervals_gap *gaps;
	uint64_t total;

	if (!nodes)
		return false;
	total = count_gaps(b, leaf_count, nodes);
	if (total >= UINT32_MAX) {
		b->keep->full = true;
		return false;
	}
	if (total > b->below_capacity) {
		b->below_capacity = (size_t)total * 2;
		b->below = pd_pool_array(b->temp, b->below_capacity, sizeof(*b->below));
	}
	gaps = pd_pool_array(b->keep, (size_t)total, sizeof(*gaps));
	if (!gaps || !b->below)
		return false;
	fill_gaps(b, leaf_count, gaps);
	link_up(nodes, leaf_count);
	tree->nodes = nodes;
	tree->gaps = gaps;
	return true;
}

// ---- all ----

static bool builder_init(struct builder *b)
{
	struct pd_intervals *intervals = b->intervals;
	size_t spaces = intervals->space_count, largest = 0;

	for (size_t i = 0; i < intervals->tree_count; i++) {
		if (intervals->trees[i].change_count > largest)
			largest = intervals->trees[i].change_count;
	}
	intervals->maps = pd_pool_array(b->keep, 2 * spaces + intervals->change_count + 1, sizeof(*intervals->maps));
	b->child = pd_pool_array(b->temp, spaces, sizeof(*b->child));
	b->sibling = pd_pool_array(b->temp, spaces, sizeof(*b->sibling));
	b->done = pd_pool_array(b->temp, spaces, sizeof(*b->done));
	b->steps = pd_pool_array(b->temp, spaces + largest, sizeof(*b->steps));
	b->bounds = pd_pool_array(b->temp, 2 * largest, sizeof(*b->bounds));
	b->spare = pd_pool_array(b->temp, 2 * largest, sizeof(*b->spare));
	b->ranges = pd_pool_array(b->temp, intervals->change_count, sizeof(*b->ranges));
	b->top = pd_pool_array(b->temp, 4 * largest + 1, sizeof(*b->top));
	b->fill = pd_pool_array(b->temp, 4 * largest + 1, sizeof(*b->fill));
	return intervals->maps && b->child && b->sibling && b->done && b->steps && b->bounds && b->spare && b->ranges &&
	       b->top && b->fill;
}

static bool make_families(struct pd_intervals *intervals, struct pd_pool *keep)
{
	for (size_t i = 0; i < intervals->space_count; i++) {
		struct pd_intervals_space *space = &intervals->spaces[i];

		space->tree = space->parent == PD_NONE ? (uint32_t)intervals->tree_count++ :
							 intervals->spaces[space->parent].tree;
	}
	intervals->trees = pd_pool_array(keep, intervals->tree_count, sizeof(*intervals->trees));
	if (!intervals->trees)
		return false;
	for (size_t i = 0; i < intervals->space_count; i++)
		intervals->trees[intervals->spaces[i].tree].change_count += intervals->spaces[i].count;
	return true;
}

bool pd_intervals_build(struct pd_intervals *intervals, const struct pd_maps *maps, struct pd_pool *keep,
			struct pd_pool *temp)
{
	struct builder b = { .intervals = intervals, .maps = maps, .keep = keep, .temp = temp };

	// turns and steps have 31 bits
	if (intervals->change_count + 2 * intervals->space_count >= CLOSES / 2) {
		keep->full = true;
		return false;
	}
	if (!make_families(intervals, keep) || !builder_init(&b))
		return false;
	link_children(&b);
	for (size_t i = 0; i < intervals->space_count; i++) {
		struct pd_intervals_tree *tree;

		if (intervals->spaces[i].parent != PD_NONE)
			continue;
		visit_family(&b, (uint32_t)i, intervals->spaces[i].tree);
		tree = &intervals->trees[intervals->spaces[i].tree];
		if (tree->change_count && (!make_leaves(&b, tree) || !make_nodes(&b, tree)))
			return false;
	}
	return true;
}

// ---- lookups ----

static bool is_until(struct pd_moment from, struct pd_moment when)
{
	return from.time_ns < when.time_ns || from.order <= when.order;
}

// How many changes of the space were made at a moment.
static uint32_t changes_at(const struct pd_intervals *intervals, const struct pd_maps *maps,
			   const struct pd_intervals_space *space, struct pd_moment when)
{
	const struct pd_intervals_change *changes = intervals->changes + space->first;
	uint32_t low, count = space->count;

	// most ask when all has been mapped
	if (count && changes[count - 1].time_ns < when.time_ns)
		return count;
	PD_SEARCH_LAST(low, count, i, changes[i].time_ns <= when.time_ns);
	low += count && changes[low].time_ns <= when.time_ns;
	// of those at this very time, some may come later in the stream
	while (low && changes[low - 1].time_ns == when.time_ns &&
	       pd_map_at(maps, changes[low - 1].map)->from.order > when.order) {
		uint32_t end = low - 1;

		PD_SEARCH(low, 0, end, i, is_until(pd_map_at(maps, changes[i].map)->from, when));
	}
	return low;
}

// The change on top of a node at a turn, or 0.
static uint32_t top_at(const struct pd_intervals_gap *gaps, uint32_t count, uint32_t turn)
{
	uint32_t low;

	PD_SEARCH_LAST(low, count, i, gaps[i].turn <= turn);
	return count && gaps[low].turn <= turn ? gaps[low].top : 0;
}

static uint32_t leaf_of(const struct pd_intervals_tree *tree, uint64_t addr)
{
	const uint64_t *bounds = tree->bounds;
	uint32_t low;

	PD_SEARCH_LAST(low, tree->leaf_count, i, bounds[i] <= addr);
	return low;
}

// The leaf of an address, or PD_NONE. [*begin, *end) shrinks to the leaf, or to where none is.
static uint32_t find_leaf(const struct pd_intervals_tree *tree, uint64_t addr, uint64_t *begin, uint64_t *end)
{
	uint64_t low = 0, high = UINT64_MAX;
	uint32_t leaf = PD_NONE;

	if (!tree->leaf_count)
		return PD_NONE;
	if (addr < tree->bounds[0]) {
		high = tree->bounds[0];
	} else if (addr >= tree->bounds[tree->leaf_count]) {
		low = tree->bounds[tree->leaf_count];
	} else {
		leaf = leaf_of(tree, addr);
		low = tree->bounds[leaf];
		high = tree->bounds[leaf + 1];
	}
	*begin = low > *begin ? low : *begin;
	*end = high < *end ? high : *end;
	return leaf;
}

uint32_t pd_intervals_find(const struct pd_intervals *intervals, const struct pd_maps *maps, uint32_t space_index,
			   struct pd_moment when, uint64_t addr, uint64_t *begin, uint64_t *end)
{
	const struct pd_intervals_space *space = &intervals->spaces[space_index];
	const struct pd_intervals_tree *tree = &intervals->trees[space->tree];
	uint32_t leaf = find_leaf(tree, addr, begin, end);
	uint32_t changes, turn, best = 0;

	if (leaf == PD_NONE)
		return PD_NONE;
	changes = changes_at(intervals, maps, space, when);
	turn = changes ? intervals->changes[space->first + changes - 1].turn : space->turn;
	for (uint32_t node = leaf + tree->leaf_count; node; node = tree->nodes[node].up) {
		uint32_t first = tree->nodes[node].first;
		uint32_t top = top_at(tree->gaps + first, tree->nodes[node + 1].first - first, turn);

		best = top > best ? top : best;
	}
	return best ? intervals->maps[best] : PD_NONE;
}
