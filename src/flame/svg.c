/* SPDX-License-Identifier: MIT */
/*
 * A flame graph as a picture: SVG without script, for documents and for where no browser is. What a frame is stands in
 * its title element, which viewers show as a tooltip.
 *
 * Widths are shares of the whole tree. Where events do not add up, their graphs stand side by side, each as wide as the
 * others, and shares are of the event. Frames narrower than the limit are not drawn, nor is what is below them.
 */
#include "base/memory.h"
#include "base/text/xml.h"
#include "flame/graph.h"

#include <perfdata/print.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	ROW = 17, /* pixels from frame to frame */
	MARGIN = 12,
	HEAD = 58, /* title, information */
	LEGEND = 26,
	TONES = 4 /* shades of a kind */
};

#define CHARACTER_WIDTH 6.65 /* of the font below */

struct drawing {
	const struct flame_graph *graph;
	struct pd_text *out;
	double left, width, min_width;
	uint32_t depth;                 /* of the deepest frame that is drawn */
	double kinds[FRAME_KIND_COUNT]; /* percent that was sampled in frames of a kind; of all graphs */
	bool shown[FRAME_KIND_COUNT];   /* something of this kind is drawn */
	uint64_t *self;                 /* by node */
	double *used;                   /* pixels of the width that children have taken */
	uint32_t *parent;
	uint32_t *whole; /* the node that a node's share is of */
	uint32_t graphs; /* side by side */
	double *x;
};

static const struct {
	const char *name;
	int hue, saturation;
} styles[FRAME_KIND_COUNT] = {
#define KIND(NAME, name, hue, saturation) { name, hue, saturation },
#include "flame/kind.def"
#undef KIND
};

static const char *name_of(const struct flame_graph *graph, uint32_t node)
{
	const struct tree *tree = &graph->tree;

	return node ? tree->texts.items[tree->frames[tree->nodes[node].frame].name] : "all";
}

static enum frame_kind kind_of(const struct flame_graph *graph, uint32_t node)
{
	return node ? graph->tree.frames[graph->tree.nodes[node].frame].kind : FRAME_TASK;
}

/* Of its graph. */
static double share_of(const struct drawing *drawing, uint32_t node, uint64_t value)
{
	return (double)value / (double)drawing->graph->tree.nodes[drawing->whole[node]].total;
}

static double width_of(const struct drawing *drawing, uint32_t node)
{
	if (!node)
		return drawing->width;
	return share_of(drawing, node, drawing->graph->tree.nodes[node].total) * drawing->width / drawing->graphs;
}

static bool is_drawn(const struct drawing *drawing, uint32_t node)
{
	return !node || (drawing->x[drawing->parent[node]] >= 0 && width_of(drawing, node) >= drawing->min_width);
}

/* What was sampled in a node itself. Stacks that begin with the function that was sampled end with it. */
static uint64_t sampled_in(const struct drawing *drawing, uint32_t node)
{
	const struct tree_node *nodes = drawing->graph->tree.nodes;
	uint32_t parent = drawing->parent[node];

	if (!drawing->graph->reverse)
		return drawing->self[node];
	if (!node || kind_of(drawing->graph, node) == FRAME_EVENT)
		return 0;
	return !parent || kind_of(drawing->graph, parent) == FRAME_EVENT ? nodes[node].total : 0;
}

/* A node's parent is the last one before it that is a level above. */
static bool find_parents(struct drawing *drawing)
{
	const struct tree *tree = &drawing->graph->tree;

	drawing->parent = pd_alloc(tree->node_count * sizeof(*drawing->parent));
	drawing->whole = pd_alloc(tree->node_count * sizeof(*drawing->whole));
	drawing->graphs = drawing->graph->unit ? 1 : 0;
	if (!drawing->parent || !drawing->whole)
		return false;
	for (uint32_t i = 1; i < tree->node_count; i++) {
		uint32_t before = i - 1;

		while (tree->nodes[before].depth >= tree->nodes[i].depth)
			before = drawing->parent[before];
		drawing->parent[i] = before;
		if (!drawing->graph->unit) {
			drawing->whole[i] = before ? drawing->whole[before] : i;
			drawing->graphs += !before;
		}
	}
	return true;
}

/* Places every node; those that are not drawn have an x below 0. */
static bool lay_out(struct drawing *drawing)
{
	const struct tree *tree = &drawing->graph->tree;

	drawing->self = pd_alloc(tree->node_count * sizeof(*drawing->self));
	drawing->used = pd_alloc(tree->node_count * sizeof(*drawing->used));
	drawing->x = pd_alloc(tree->node_count * sizeof(*drawing->x));
	if (!drawing->self || !drawing->used || !drawing->x || !find_parents(drawing))
		return false;
	for (size_t i = 0; i < tree->value_count; i++)
		drawing->self[tree->values[i].node] += tree->values[i].value;
	drawing->x[0] = drawing->left;
	for (uint32_t i = 0; i < tree->node_count; i++) {
		const struct tree_node *node = &tree->nodes[i];
		uint32_t parent = drawing->parent[i];

		if (i) {
			bool drawn = is_drawn(drawing, i);

			drawing->x[i] = drawn ? drawing->x[parent] + drawing->used[parent] : -1;
			drawing->used[parent] += width_of(drawing, i);
			if (drawn && node->depth > drawing->depth)
				drawing->depth = node->depth;
		}
		drawing->kinds[kind_of(drawing->graph, i)] +=
			100 * share_of(drawing, i, sampled_in(drawing, i)) / drawing->graphs;
		drawing->shown[kind_of(drawing->graph, i)] |= drawing->x[i] >= 0;
	}
	return true;
}

static unsigned tone_of(const char *name)
{
	unsigned hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return (hash >> 13) % TONES;
}

static void put_rules(const struct drawing *drawing, bool dark)
{
	for (size_t kind = 0; kind < FRAME_KIND_COUNT; kind++) {
		for (int tone = 0; tone < TONES && (drawing->shown[kind] || drawing->kinds[kind] > 0); tone++) {
			int light = dark ? 30 + tone * 3 : 80 - tone * 4;

			pd_text_printf(drawing->out, ".%s%d{fill:hsl(%d %d%% %d%%)}\n", styles[kind].name, tone,
				       styles[kind].hue,
				       dark ? styles[kind].saturation * 6 / 10 : styles[kind].saturation, light);
		}
	}
}

static void put_head(const struct drawing *drawing, double height)
{
	const struct flame_graph *graph = drawing->graph;
	struct pd_text *text = drawing->out;
	double width = drawing->width + 2 * MARGIN;

	pd_text_printf(text,
		       "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		       "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f "
		       "%.0f\" role=\"img\">\n<title>",
		       width, height, width, height);
	pd_xml_characters(text, graph->title, 1000);
	pd_text_add(text, "</title>\n<style>\n"
			  ".page{fill:#fbfbfa}\n"
			  "text{font:11px ui-monospace,\"DejaVu Sans Mono\",Menlo,Consolas,monospace;fill:#17191c}\n"
			  ".title{font:600 16px system-ui,sans-serif}\n"
			  ".facts,.legend{font:12px system-ui,sans-serif;fill:#565c66}\n"
			  ".bad{fill:#a04400}\n");
	put_rules(drawing, false);
	pd_text_add(text, "@media (prefers-color-scheme:dark){\n.page{fill:#15181c}\ntext{fill:#eceef1}\n"
			  ".facts,.legend{fill:#a2a9b4}\n.bad{fill:#f2a65e}\n");
	put_rules(drawing, true);
	pd_text_printf(text, "}\n</style>\n<rect class=\"page\" width=\"%.0f\" height=\"%.0f\"/>\n", width, height);
	pd_text_printf(text, "<text class=\"title\" x=\"%d\" y=\"26\">", MARGIN);
	pd_xml_characters(text, graph->title, (size_t)(drawing->width / 8.5));
	pd_text_printf(text, "</text>\n<text class=\"facts\" x=\"%d\" y=\"46\">", MARGIN);
	for (size_t i = 0; i < graph->info_count; i++) {
		pd_text_add(text, i ? " \xc2\xb7 " : "");
		pd_text_add(text, graph->infos[i].bad ? "<tspan class=\"bad\">" : "<tspan>");
		pd_xml_characters(text, graph->infos[i].text, sizeof(graph->infos[i].text));
		pd_text_add(text, "</tspan>");
	}
	pd_text_add(text, "</text>\n");
}

/* What an amount of a node is in. */
static const char *unit_of(const struct drawing *drawing, uint32_t node)
{
	const struct flame_graph *graph = drawing->graph;
	const char *name = name_of(graph, drawing->whole[node]);

	for (size_t i = 0; !graph->unit && i < graph->event_count; i++) {
		size_t length = strlen(graph->events[i]);

		if (name[0] == '[' && !strncmp(name + 1, graph->events[i], length) && !strcmp(name + 1 + length, "]"))
			return pd_flame_unit(graph->units[i]);
	}
	return graph->unit ? graph->unit : "events";
}

static void put_node(const struct drawing *drawing, uint32_t node, double y)
{
	const struct flame_graph *graph = drawing->graph;
	const struct tree *tree = &graph->tree;
	const char *name = name_of(graph, node);
	const char *dso = node ? tree->texts.items[tree->frames[tree->nodes[node].frame].dso] : "";
	double width = width_of(drawing, node);
	size_t fits = width > 8 ? (size_t)((width - 6) / CHARACTER_WIDTH) : 0, characters = pd_xml_length(name);
	struct pd_text *text = drawing->out;
	uint64_t total = tree->nodes[node].total;
	char amount[64];

	pd_text_add(text, "<g><title>");
	pd_xml_characters(text, name, SIZE_MAX);
	if (*dso) {
		pd_text_add(text, " (");
		pd_xml_characters(text, dso, SIZE_MAX);
		pd_text_add(text, ")");
	}
	if (node || graph->unit)
		pd_text_printf(text, ": %s, %.2f%%</title>", pd_flame_amount(amount, total, unit_of(drawing, node)),
			       100 * share_of(drawing, node, total));
	else
		pd_text_printf(text, ": %" PRIu32 " events, each by itself</title>", drawing->graphs);
	pd_text_printf(text, "<rect class=\"%s%u\" x=\"%.2f\" y=\"%.0f\" width=\"%.2f\" height=\"%d\" rx=\"1.5\"/>",
		       styles[kind_of(graph, node)].name, tone_of(name), drawing->x[node], y,
		       width > 1.2 ? width - 0.6 : width, ROW - 1);
	if (fits >= 3) {
		pd_text_printf(text, "<text x=\"%.2f\" y=\"%.0f\">", drawing->x[node] + 3, y + 12);
		pd_xml_characters(text, name, characters <= fits ? characters : fits - 1);
		pd_text_add(text, characters <= fits ? "</text>" : "\xe2\x80\xa6</text>");
	}
	pd_text_add(text, "</g>\n");
}

static void put_legend(const struct drawing *drawing, double y)
{
	struct pd_text *text = drawing->out;
	double x = MARGIN;

	for (size_t kind = 0; kind < FRAME_KIND_COUNT; kind++) {
		char label[64];

		if (drawing->kinds[kind] <= 0)
			continue;
		snprintf(label, sizeof(label), "%s %.1f%%", styles[kind].name, drawing->kinds[kind]);
		pd_text_printf(text,
			       "<rect class=\"%s1\" x=\"%.0f\" y=\"%.0f\" width=\"11\" height=\"11\" rx=\"2\"/>"
			       "<text class=\"legend\" x=\"%.0f\" y=\"%.0f\">%s</text>\n",
			       styles[kind].name, x, y - 10, x + 16, y, label);
		x += 34 + 7.0 * (double)strlen(label);
	}
}

bool pd_flame_write_svg(const struct flame_graph *graph, const struct flame_drawing *options, struct pd_text *out)
{
	struct drawing drawing = {
		.graph = graph,
		.out = out,
		.left = MARGIN,
		.width = options->width - 2 * MARGIN,
		.min_width = options->min_width,
	};
	bool ok = lay_out(&drawing);

	if (ok) {
		double rows = (double)(drawing.depth + 1) * ROW;
		double height = HEAD + rows + LEGEND + MARGIN;

		put_head(&drawing, height);
		for (uint32_t i = 0; i < graph->tree.node_count && pd_text_flush_large(out); i++) {
			double depth = graph->tree.nodes[i].depth;
			double y = graph->inverted ? HEAD + depth * ROW : HEAD + rows - (depth + 1) * ROW;

			if (drawing.x[i] >= 0)
				put_node(&drawing, i, y);
		}
		put_legend(&drawing, HEAD + rows + LEGEND);
		pd_text_add(out, "</svg>\n");
		pd_text_flush_large(out);
		ok = !out->failed;
	}
	pd_free(drawing.self);
	pd_free(drawing.used);
	pd_free(drawing.x);
	pd_free(drawing.parent);
	pd_free(drawing.whole);
	return ok;
}
