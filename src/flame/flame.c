/* SPDX-License-Identifier: MIT */
/* Flame graphs for their users: lines of frames are read, merged into a tree when that is asked for, and printed. */
#include <perfdata/flame.h>

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/text/path.h"
#include "flame/graph.h"
#include "flame/stacks.h"

enum {
	VALUES_MAX = 400 * 1000 // in a page; slices of time are joined until there are not more
};

struct pd_flame {
	struct pd_flame_options options;
	struct flame_graph graph;
	struct stack_lines lines;
	struct stack_result result;
	uint64_t wrong_lines;
	bool finished;  // there is a tree
	bool has_total; // the first line is the sum, for drawings
	char title[512];
};

static void set_title(struct pd_flame *flame, const char *name)
{
	snprintf(flame->title, sizeof(flame->title), "%s", pd_path_name(name));
	flame->graph.title = flame->options.title ? flame->options.title : flame->title;
}

static struct pd_flame *new_flame(const struct pd_flame_options *options)
{
	struct pd_flame *flame = pd_alloc(sizeof(*flame));

	if (!flame)
		return NULL;
	memcpy(&flame->options, options,
	       options->size < sizeof(flame->options) ? options->size : sizeof(flame->options));
	if (!flame->options.name)
		flame->options.name = "profile";
	pd_tree_init(&flame->graph.tree);
	flame->graph.reverse = flame->options.reverse;
	flame->graph.inverted = flame->options.inverted;
	return flame;
}

void pd_flame_free(struct pd_flame *flame)
{
	if (!flame)
		return;
	pd_tree_fini(&flame->graph.tree);
	pd_lines_fini(&flame->lines);
	pd_stacks_fini(&flame->result);
	pd_free(flame);
}

void pd_flame_profile_options(const struct pd_flame_options *options, struct pd_profile_options *profile)
{
	profile->by = pd_stacks_profile_by(options);
	profile->unnamed_as_one = true;
	profile->max_stack = options->max_stack;
	profile->slices = options->slices;
	profile->latency = options->weight == PD_FLAME_WEIGHT_LATENCY;
}

static void take_result(struct pd_flame *flame)
{
	struct flame_graph *graph = &flame->graph;
	const struct stack_result *result = &flame->result;

	set_title(flame, flame->options.name);
	graph->events = result->events;
	graph->event_count = result->event_count;
	graph->units = result->units;
	graph->unit = pd_stacks_add_up(result) && result->event_count ? pd_flame_unit(result->units[0]) : NULL;
	graph->slice_count = result->slice_count;
	graph->slice_ns = result->slice_ns;
	graph->first_ns = result->first_ns;
	pd_flame_add_info(graph, result);
}

enum pd_status pd_flame_read(const struct pd_profile *profile, struct pd_symbols *symbols,
			     const struct pd_flame_options *options, struct pd_flame **flame_out,
			     struct pd_error *error)
{
	struct pd_flame *flame = new_flame(options);
	enum pd_status status;

	if (!flame)
		return pd_fail_memory(error);
	status = pd_stacks_read(profile, symbols, &flame->options, &flame->graph.tree, &flame->lines, &flame->result,
				error);
	if (status == PD_OK && !flame->lines.count)
		status = pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "%s: no samples match the filters",
				 flame->options.name);
	if (status < 0) {
		pd_flame_free(flame);
		return status;
	}
	take_result(flame);
	*flame_out = flame;
	return PD_OK;
}

static bool has_values(const struct stack_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		if (lines->items[i].value)
			return true;
	return false;
}

enum pd_status pd_flame_read_folded(const char *path, const struct pd_flame_options *options, pd_warn_fn *warn,
				    void *self, struct pd_flame **flame_out, struct pd_error *error)
{
	struct pd_flame *flame = new_flame(options);
	enum pd_status status;

	if (!flame)
		return pd_fail_memory(error);
	status = pd_flame_read_lines(&flame->graph, &flame->lines, path, warn, self, &flame->wrong_lines, error);
	flame->graph.unit = "counts";
	set_title(flame, strcmp(path, "-") != 0 ? path : "standard input");
	if (status == PD_OK && !flame->lines.failed && !flame->graph.tree.failed && !has_values(&flame->lines))
		status = pd_fail(error, PD_ERROR_NO_SAMPLES, PD_NO_OFFSET, "%s: no stacks found", flame->title);
	if (status < 0) {
		pd_flame_free(flame);
		return status;
	}
	*flame_out = flame;
	return PD_OK;
}

void pd_flame_summary(const struct pd_flame *flame, struct pd_flame_summary *summary_out)
{
	const struct stack_result *result = &flame->result;

	*summary_out = (struct pd_flame_summary){
		.samples = result->samples,
		.samples_in_file = result->samples_in_file,
		.cut = result->cut,
		.damaged = result->damaged,
		.unknown = result->unknown,
		.copied = result->copied,
		.wrong_lines = flame->wrong_lines,
		.unit = flame->graph.unit,
	};
}

// ---- the tree ----

static bool finish(struct pd_flame *flame)
{
	struct flame_graph *graph = &flame->graph;
	const struct tree_options limits = {
		.least = graph->unit ? flame->options.percent_limit : 0,
		.values = graph->slice_count ? VALUES_MAX : 0,
		.threads = flame->options.threads,
	};

	if (flame->finished)
		return !graph->tree.failed;
	flame->finished = true;
	if (!pd_tree_finish(&graph->tree, &flame->lines, &flame->result.values, &limits))
		return false;
	graph->slice_count = (graph->slice_count + graph->tree.joined - 1) / graph->tree.joined;
	graph->slice_ns *= graph->tree.joined;
	return true;
}

const struct flame_graph *pd_flame_graph(struct pd_flame *flame)
{
	return finish(flame) ? &flame->graph : NULL;
}

const struct stack_result *pd_flame_result(const struct pd_flame *flame)
{
	return &flame->result;
}

bool pd_flame_node(struct pd_flame *flame, size_t index, struct pd_flame_node *node_out)
{
	static const char *const kinds[] = {
#define KIND(NAME, name, hue, saturation) name,
#include "flame/kind.def"
#undef KIND
	};
	const struct tree *tree = &flame->graph.tree;
	const struct tree_node *node;
	const struct tree_frame *frame;

	if (!finish(flame) || index >= tree->node_count)
		return false;
	node = &tree->nodes[index];
	*node_out = (struct pd_flame_node){ "", "", "root", node->depth, node->total };
	if (!index)
		return true;
	frame = &tree->frames[node->frame];
	node_out->name = tree->texts.items[frame->name];
	node_out->object = tree->texts.items[frame->dso];
	node_out->kind = kinds[frame->kind];
	return true;
}

// ---- printing ----

static enum pd_status result_of(bool ok, const struct pd_text *text, struct pd_error *error)
{
	if (ok && !text->failed && text->sink_failed)
		return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "the output cannot be written");
	return ok && !text->failed ? PD_OK : pd_fail_memory(error);
}

enum pd_status pd_flame_print_folded(struct pd_flame *flame, struct pd_text *text, struct pd_error *error)
{
	return result_of(pd_lines_print(&flame->lines, &flame->graph.tree, flame->options.threads, text), text, error);
}

// A drawing says the sum; a page counts anew for each event and time.
static void add_total(struct pd_flame *flame)
{
	struct flame_graph *graph = &flame->graph;
	const size_t most = sizeof(graph->infos) / sizeof(graph->infos[0]);
	char amount[64];

	if (flame->has_total || !graph->unit)
		return;
	flame->has_total = true;
	memmove(graph->infos + 1, graph->infos, sizeof(graph->infos) - sizeof(graph->infos[0]));
	snprintf(graph->infos[0].text, sizeof(graph->infos[0].text), "%s",
		 pd_flame_amount(amount, graph->tree.nodes[0].total, graph->unit));
	graph->infos[0].bad = false;
	graph->info_count += graph->info_count < most;
}

enum pd_status pd_flame_print_svg(struct pd_flame *flame, double width, double min_width, struct pd_text *text,
				  struct pd_error *error)
{
	const struct flame_drawing drawing = { width, min_width };

	if (!finish(flame))
		return pd_fail_memory(error);
	add_total(flame);
	return result_of(pd_flame_write_svg(&flame->graph, &drawing, text), text, error);
}
