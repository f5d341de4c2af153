/* SPDX-License-Identifier: MIT */
/* Graphs as JSON: nodes with their children. */
#include "report/print/graph.h"

#include "base/text/json.h"

static void open_node(struct graph *graph, struct pd_json *json, uint32_t index)
{
	const struct node *node = &graph->nodes[index];
	const struct pd_frame *frame = NULL;

	pd_json_open(json, NULL, '{');
	if (node->who == graph->report->scratch.truncated) {
		pd_json_string(json, "symbol", "[truncated]");
		pd_json_string(json, "dso", NULL);
	} else {
		frame = pd_profile_frame(graph->report->profile, node->who);
		pd_json_string(json, "symbol", frame->place.function ? frame->place.function->name : NULL);
		pd_json_string(json, "dso", frame->place.dso ? frame->place.dso->name : NULL);
	}
	if (frame && !frame->place.function)
		pd_json_number(json, "address", frame->place.addr);
	pd_json_number(json, "period", node->all);
	pd_json_number(json, "samples", node->all_samples);
	if (graph->report->branch_notes && node->passed.count)
		pd_passed_json(&node->passed, json);
}

/* Chains are hundreds of frames deep, so the walk keeps its own stack: a node's next sibling in the drawn order. */
struct json_level {
	uint32_t *children;
	size_t count, next;
};

static bool push_level(struct graph *graph, struct json_level *levels, size_t *depth, uint32_t parent)
{
	struct json_level *level = &levels[*depth];

	level->next = 0;
	level->children = pd_graph_children(graph, parent, graph->least, &level->count);
	if (!level->children)
		return false;
	++*depth;
	return true;
}

static void walk_json(struct graph *graph, struct pd_json *json, struct json_level *levels)
{
	size_t depth = 0;

	if (!push_level(graph, levels, &depth, 0))
		return;
	while (depth) {
		struct json_level *level = &levels[depth - 1];

		if (level->next == level->count) {
			pd_free(level->children);
			if (--depth) {
				pd_json_close(json, ']');
				pd_json_close(json, '}');
			}
			continue;
		}
		open_node(graph, json, level->children[level->next]);
		pd_json_open(json, "children", '[');
		if (!push_level(graph, levels, &depth, level->children[level->next++])) {
			while (depth--)
				pd_free(levels[depth].children);
			return;
		}
	}
}

static size_t depth_of(const struct graph *graph)
{
	uint32_t *depths = pd_alloc((graph->count + 1) * sizeof(*depths));
	size_t most = 0;

	for (size_t i = 1; depths && i < graph->count; i++) {
		depths[i] = depths[graph->nodes[i].parent] + 1;
		if (depths[i] > most)
			most = depths[i];
	}
	pd_free(depths);
	return depths ? most : SIZE_MAX;
}

bool pd_graph_json(struct pd_report *report, const struct table *table, const struct row *row, struct pd_json *json)
{
	struct graph graph;
	struct json_level *levels;
	size_t depth;
	bool done;

	if (!report->scratch.known)
		report->scratch.known = pd_graph_scratch(report);
	if (!report->scratch.known || !pd_graphs_prepare(report) ||
	    !pd_graph_build(&graph, report, table, row, true, report->scratch.known))
		return false;
	depth = depth_of(&graph);
	levels = depth == SIZE_MAX ? NULL : pd_alloc((depth + 2) * sizeof(*levels));
	if (levels)
		walk_json(&graph, json, levels);
	done = levels && !graph.failed;
	pd_free(levels);
	pd_graph_fini(&graph);
	return done;
}
