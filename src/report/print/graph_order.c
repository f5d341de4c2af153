/* SPDX-License-Identifier: MIT */
/* Nodes of a graph in the order in which perf draws them. */
#include "report/print/graph.h"

#include <stdlib.h>

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

static const struct pd_place *place_of(const struct graph *graph, uint32_t who)
{
	static const struct pd_place none;

	return who == graph->report->scratch.truncated ? &none : &pd_profile_frame(graph->report->profile, who)->place;
}

/* As perf: what has as much goes by objects, the kernel last, and by addresses downwards. */
static int compare_frames(const struct graph *graph, uint32_t a, uint32_t b)
{
	const struct pd_place *x = place_of(graph, a), *y = place_of(graph, b);
	uint64_t x_dso = x->dso ? x->dso->kernel ? 1 : x->dso->index + 2 : 0;
	uint64_t y_dso = y->dso ? y->dso->kernel ? 1 : y->dso->index + 2 : 0;
	bool functions = x->function && y->function && !graph->report->graph.by_address;
	int order = compare_numbers(x_dso, y_dso);

	if (!order && functions)
		order = compare_numbers(x->function->start, y->function->start);
	return order ? order : compare_numbers(x->addr, y->addr);
}

static uint32_t depth_in_tree(const struct graph *graph, uint32_t node)
{
	uint32_t depth = 0;

	for (; node; node = graph->nodes[node].parent)
		depth++;
	return depth;
}

/* In the order of a walk that comes to children before their parents. */
static int compare_places(const struct graph *graph, uint32_t x, uint32_t y)
{
	uint32_t x_depth = depth_in_tree(graph, x), y_depth = depth_in_tree(graph, y);
	uint32_t deeper = x_depth > y_depth ? x_depth - y_depth : y_depth - x_depth;

	for (uint32_t i = 0; i < deeper; i++) {
		if (x_depth > y_depth)
			x = graph->nodes[x].parent;
		else
			y = graph->nodes[y].parent;
	}
	if (x == y)
		return x_depth > y_depth ? -1 : x_depth < y_depth;
	while (graph->nodes[x].parent != graph->nodes[y].parent) {
		x = graph->nodes[x].parent;
		y = graph->nodes[y].parent;
	}
	return compare_frames(graph, graph->nodes[x].who, graph->nodes[y].who);
}

int pd_graph_compare(const void *a, const void *b, void *self)
{
	const struct graph *graph = self;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = compare_numbers(graph->nodes[x].all, graph->nodes[y].all);

	if (!order)
		order = compare_places(graph, x, y);
	return order ? order : compare_numbers(graph->nodes[y].first, graph->nodes[x].first);
}

/* Children that are large enough, the largest first. The caller frees them. */
uint32_t *pd_graph_children(struct graph *graph, uint32_t parent, uint64_t least, size_t *count_out)
{
	uint32_t *children = pd_realloc(NULL, (graph->nodes[parent].child_count + 1) * sizeof(*children));
	size_t count = 0;

	*count_out = 0;
	if (!children) {
		graph->failed = true;
		return NULL;
	}
	for (uint32_t child = graph->nodes[parent].child; child != NO_NODE; child = graph->nodes[child].sibling)
		if (graph->nodes[child].all >= least)
			children[count++] = child;
	qsort_r(children, count, sizeof(*children), pd_graph_compare, graph);
	*count_out = count;
	return children;
}
