/* SPDX-License-Identifier: MIT */
/* Graphs as perf report draws them: as a tree, flat, or folded. A run of frames without a branch is drawn as one. */
#include "report/print/graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/print/print.h"

enum {
	MARGIN = 12,     /* blanks in front of a graph */
	DEPTH_MAX = 1024 /* branches inside of each other that are drawn */
};

static void name_frame(struct graph *graph, struct pd_text *text, uint32_t who)
{
	const struct pd_frame *frame;
	const char *name;

	if (who == graph->report->scratch.truncated) {
		pd_text_add(text, "[truncated]");
		return;
	}
	frame = pd_profile_frame(graph->report->profile, who);
	name = frame->place.function ? frame->place.function->name : NULL;
	if (!name)
		/* as C prints %#lx: nothing has no 0x */
		pd_text_printf(text, frame->place.addr ? "0x%" PRIx64 : "%" PRIx64, frame->place.addr);
	else if (graph->report->print.escape)
		pd_text_escaped(text, name, strlen(name));
	else
		pd_text_add(text, name);
	if (!name || !graph->report->scratch.lines)
		return;
	pd_text_add(text, " ");
	if (graph->report->print.escape)
		pd_text_escaped(text, graph->report->scratch.lines[who], strlen(graph->report->scratch.lines[who]));
	else
		pd_text_add(text, graph->report->scratch.lines[who]);
}

/* In a list of chains perf says nothing of branches. */
static void name_node(struct graph *graph, uint32_t node)
{
	const enum pd_report_graph_kind kind = graph->report->graph.kind;

	name_frame(graph, graph->out, graph->nodes[node].who);
	if (graph->report->branch_notes && kind != PD_REPORT_GRAPH_FLAT && kind != PD_REPORT_GRAPH_FOLDED)
		pd_passed_print(&graph->nodes[node].passed, graph->out);
}

static void print_share(const struct pd_report *report, struct pd_text *out, double percent)
{
	const char *color = report->print.color ? share_color(percent) : NULL;

	pd_text_printf(out, "%s%.2f%%%s", color ? color : "", percent, color ? SHARE_COLOR_END : "");
}

static void print_value(struct graph *graph, const struct node *node, uint64_t total)
{
	struct pd_text *out = graph->out;

	switch (graph->report->graph.value) {
	case PD_REPORT_GRAPH_PERCENT:
		print_share(graph->report, out, pd_percent(node->all, total));
		break;
	case PD_REPORT_GRAPH_PERIOD:
		pd_text_printf(out, "%" PRIu64, node->all);
		break;
	case PD_REPORT_GRAPH_COUNT:
		pd_text_printf(out, "%" PRIu64, node->all_samples);
		break;
	}
}

/* The end of the run that begins with a node: as long as all of it goes on to one child. */
static uint32_t run_end(const struct graph *graph, uint32_t node)
{
	while (!graph->nodes[node].own && graph->nodes[node].child_count == 1)
		node = graph->nodes[node].child;
	return node;
}

/* ---- tree ---- */

/* What stands in front of a line: a bar for each branch that goes on. */
struct prefix {
	char text[MARGIN + 3 + DEPTH_MAX * 11 + 1];
	size_t length;
};

static bool prefix_push(struct prefix *prefix, const char *text)
{
	size_t length = strlen(text);

	if (prefix->length + length >= sizeof(prefix->text))
		return false;
	memcpy(prefix->text + prefix->length, text, length);
	prefix->length += length;
	prefix->text[prefix->length] = 0;
	return true;
}

/* As perf, a number of entries to print at most counts anew for each list of branches. */
static size_t at_most(const struct graph *graph, size_t count)
{
	uint64_t most = graph->report->graph.max_lines;

	return most && most < count ? most : count;
}

static void print_branches(struct graph *graph, struct prefix *prefix, uint32_t parent);

/* Frames of a run below its first line, then what branches off at its end. */
static void print_run(struct graph *graph, struct prefix *prefix, uint32_t first, uint32_t last, size_t most)
{
	for (uint32_t node = first; node != last && most; most--) {
		node = graph->nodes[node].child;
		pd_text_add(graph->out, prefix->text);
		name_node(graph, node);
		pd_text_add(graph->out, "\n");
	}
	print_branches(graph, prefix, last);
}

static void print_branch(struct graph *graph, struct prefix *prefix, uint32_t node, uint64_t total, bool is_last)
{
	struct pd_text *out = graph->out;
	size_t length = prefix->length;

	pd_text_printf(out, "%s|          \n", prefix->text);
	pd_text_printf(out, "%s%c--", prefix->text, is_last ? ' ' : '|');
	print_value(graph, &graph->nodes[node], total);
	pd_text_add(out, "--");
	name_node(graph, node);
	pd_text_add(out, "\n");
	if (prefix_push(prefix, is_last ? "           " : "|          "))
		print_run(graph, prefix, node, run_end(graph, node), SIZE_MAX);
	prefix->length = length;
	prefix->text[length] = 0;
}

static void print_branches(struct graph *graph, struct prefix *prefix, uint32_t parent)
{
	bool fractal = graph->report->graph.kind == PD_REPORT_GRAPH_FRACTAL;
	/* Shares are of what goes on: samples that end in the parent do not count. */
	uint64_t total = fractal ? graph->nodes[parent].all - graph->nodes[parent].own : graph->total;
	size_t count;
	uint32_t *children =
		pd_graph_children(graph, parent, pd_graph_node_least(graph, &graph->nodes[parent]), &count);

	for (size_t i = 0; i < at_most(graph, count); i++)
		print_branch(graph, prefix, children[i], total, i + 1 == count);
	pd_free(children);
}

/* A graph with one root that has all samples of the row begins with its name. */
static void print_single(struct graph *graph, struct prefix *prefix, uint32_t root)
{
	struct pd_text *out = graph->out;
	uint32_t last = run_end(graph, root), node = root;

	/* The row itself says the name that it is sorted by. */
	if (graph->report->symbol_first) {
		if (node == last) {
			print_branches(graph, prefix, last);
			return;
		}
		node = graph->nodes[node].child;
	}
	pd_text_printf(out, "%s|\n%s---", prefix->text, prefix->text);
	name_node(graph, node);
	pd_text_add(out, "\n");
	prefix_push(prefix, "   ");
	print_run(graph, prefix, node, last, at_most(graph, SIZE_MAX) - 1);
}

static void print_tree(struct graph *graph, uint64_t row_total)
{
	struct prefix prefix = { .length = 0 };
	size_t count, before = pd_text_bytes(graph->out).size;
	uint32_t *roots = pd_graph_children(graph, 0, pd_graph_node_least(graph, &graph->nodes[0]), &count);

	prefix_push(&prefix, "            ");
	if (count == 1 && graph->nodes[roots[0]].all == row_total)
		print_single(graph, &prefix, roots[0]);
	else if (count)
		print_branches(graph, &prefix, 0);
	if (pd_text_bytes(graph->out).size != before)
		pd_text_add(graph->out, "\n");
	pd_free(roots);
}

/* ---- flat and folded ---- */

/* Nodes at which chains end and that are large enough, the largest first. The caller frees them. */
static uint32_t *ends_of(struct graph *graph, size_t *count_out)
{
	uint32_t *ends = pd_alloc((graph->count + 1) * sizeof(*ends));
	size_t count = 0;

	*count_out = 0;
	if (!ends) {
		graph->failed = true;
		return NULL;
	}
	for (size_t i = 1; i < graph->count; i++) {
		struct node *node = &graph->nodes[i];

		/* Here a node stands for its own samples only. */
		node->all = node->own;
		node->all_samples = node->own_samples;
		if (node->own && node->own >= graph->least)
			ends[count++] = (uint32_t)i;
	}
	qsort_r(ends, count, sizeof(*ends), pd_graph_compare, graph);
	*count_out = count;
	return ends;
}

static void print_path(struct graph *graph, uint32_t end, const char *between, const char *before)
{
	uint32_t depth = 0, *path;

	for (uint32_t node = end; node; node = graph->nodes[node].parent)
		depth++;
	path = pd_alloc((depth + 1) * sizeof(*path));
	if (!path) {
		graph->failed = true;
		return;
	}
	for (uint32_t node = end, i = depth; node; node = graph->nodes[node].parent)
		path[--i] = node;
	for (uint32_t i = 0; i < depth; i++) {
		pd_text_add(graph->out, i ? between : before);
		name_node(graph, path[i]);
	}
	pd_free(path);
}

static void print_ends(struct graph *graph)
{
	bool flat = graph->report->graph.kind == PD_REPORT_GRAPH_FLAT;
	struct pd_text *out = graph->out;
	size_t count;
	uint32_t *ends = ends_of(graph, &count);

	for (size_t i = 0; i < at_most(graph, count); i++) {
		pd_text_add(out, flat ? "           " : "");
		print_value(graph, &graph->nodes[ends[i]], graph->total);
		pd_text_add(out, flat ? "\n" : " ");
		print_path(graph, ends[i], flat ? "\n                " : ";", flat ? "                " : "");
		pd_text_add(out, flat ? "\n\n" : "\n");
	}
	pd_free(ends);
}

bool pd_graph_print(struct pd_report *report, const struct table *table, const struct row *row, uint32_t *known,
		    struct pd_text *out)
{
	uint64_t row_total = pd_row_weight(report, row);
	struct graph graph;
	bool done;

	if (!pd_graph_build(&graph, report, table, row, report->graph.kind != PD_REPORT_GRAPH_FRACTAL, known))
		return false;
	graph.out = out;
	if (report->graph.kind == PD_REPORT_GRAPH_FLAT || report->graph.kind == PD_REPORT_GRAPH_FOLDED)
		print_ends(&graph);
	else
		print_tree(&graph, row_total);
	done = !graph.failed;
	pd_graph_fini(&graph);
	return done;
}
