/* SPDX-License-Identifier: MIT */
/*
 * Builds the tree of a graph. It is made from the root down: the chains that reach a node are sorted by their next frame,
 * and only where enough of them agree they are followed. So what is too small to be shown costs only a lookup.
 */
#include "report/print/graph.h"

#include <inttypes.h>
#include <string.h>

#include "base/text/path.h"
#include "base/threads.h"
#include "report/keys/find.h"

enum {
	WORTH_A_PART = 1 << 14 /* entries */
};

/* As perf: the line, or how far it is from the beginning of the function. */
static char *line_of(struct pd_report *report, const struct pd_frame *frame)
{
	const struct pd_place *place = &frame->place;
	struct pd_text *text = report->scratch.text;
	struct pd_line line;

	pd_text_clear(text);
	if (pd_symbols_lines(report->symbols, place, &line, 1) && line.file && line.line) {
		pd_text_printf(text, "%s:%" PRIu32, report->options.source_paths ? line.file : pd_path_leaf(line.file),
			       line.line);
	} else {
		pd_text_printf(text, "+%" PRIu64, place->addr - place->function->start);
	}
	return pd_text_failed(text) ?
		       NULL :
		       pd_arena_text(&report->scratch.line_texts, pd_text_bytes(text).data, pd_text_bytes(text).size);
}

/* Before graphs are made: several threads make them, and only one may look for lines. */
static bool fill_lines(struct pd_report *report)
{
	size_t count = pd_profile_frame_count(report->profile);

	if (!report->graph.by_address)
		return true;
	report->scratch.lines = pd_alloc((count + 1) * sizeof(*report->scratch.lines));
	if (!report->scratch.lines)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		const struct pd_frame *frame = pd_profile_frame(report->profile, i);

		if (!frame->place.function)
			continue;
		report->scratch.lines[i] = line_of(report, frame);
		if (!report->scratch.lines[i])
			return false;
	}
	return true;
}

uint64_t pd_graph_node_least(const struct graph *graph, const struct node *parent)
{
	/* Never so small that nothing counts. */
	if (graph->report->graph.kind == PD_REPORT_GRAPH_FRACTAL && !graph->absolute)
		return (uint64_t)((double)(parent->all - parent->own) * graph->report->graph.least_percent / 100 +
				  0.999999);
	return graph->least;
}

/* What is the same as a frame, or stands for no frame. */
static uint32_t identity(const struct pd_report *report, uint32_t frame)
{
	/* Frames of one function look the same, unless addresses are to be distinguished. */
	return report->graph.by_address || frame == report->scratch.truncated ? frame : report->scratch.clones[frame];
}

static uint32_t add_node(struct graph *graph, uint32_t parent, const struct branch *branch)
{
	if (!PD_GROW(graph->nodes, graph->capacity, graph->count + 1))
		return NO_NODE;
	graph->nodes[graph->count] = (struct node){
		.who = branch->who,
		.first = branch->first,
		.all = branch->all,
		.all_samples = branch->all_samples,
		.passed = branch->passed,
		.parent = parent,
		.child = NO_NODE,
		.sibling = NO_NODE,
	};
	if (parent != NO_NODE) {
		graph->nodes[graph->count].sibling = graph->nodes[parent].child;
		graph->nodes[parent].child = (uint32_t)graph->count;
	}
	return (uint32_t)graph->count++;
}

/* The branch of a frame; NULL if there is no memory. */
static struct branch *branch_of(struct graph *graph, const struct walker *walker)
{
	uint32_t who = identity(graph->report, *walker->at);
	uint32_t *known = &graph->known[who];

	if (*known)
		return &graph->branches[*known - 1];
	if (!PD_GROW(graph->branches, graph->branch_capacity, graph->branch_count + 1))
		return NULL;
	graph->branches[graph->branch_count] = (struct branch){ .who = who, .first = walker->entry, .node = NO_NODE };
	*known = (uint32_t)++graph->branch_count;
	return &graph->branches[*known - 1];
}

/* Asks for the memory that a walker will need: chains are anywhere. */
static void prefetch_walker(const struct graph *graph, const struct walker *walker)
{
	__builtin_prefetch(walker->at);
	__builtin_prefetch(&graph->report->scratch.chains[walker->entry]);
}

/* Sorts what goes on from a node into branches; what ends there is the node's own. False if there is no memory. */
static bool find_branches(struct graph *graph, struct node *node)
{
	enum {
		AHEAD = 16
	};

	graph->branch_count = 0;
	for (size_t i = node->begin; i < node->end; i++) {
		const struct walker *walker = &graph->walkers[i];
		const struct chain *chain = &graph->report->scratch.chains[walker->entry];
		struct branch *branch;

		if (i + AHEAD < node->end)
			prefetch_walker(graph, walker + AHEAD);
		graph->turns[i] = NO_NODE;
		if (!walker->left) {
			node->own += chain->period;
			node->own_samples += chain->samples;
			continue;
		}
		branch = branch_of(graph, walker);
		if (!branch)
			return false;
		branch->all += chain->period;
		branch->all_samples += chain->samples;
		branch->count++;
		if (chain->branch_count && walker->at != &graph->report->scratch.truncated)
			pd_passed_add(&branch->passed, chain, walker->at);
		graph->turns[i] = (uint32_t)(branch - graph->branches);
	}
	return true;
}

static bool is_merged(const struct graph *graph, const struct branch *branch)
{
	return branch->who != graph->report->scratch.truncated &&
	       pd_profile_frame(graph->report->profile, branch->who)->merged;
}

/* Nodes for the branches that are large enough, or the only way on: that is drawn in one with its node. What was merged are
 * several, and none of them is large enough. */
static bool add_children(struct graph *graph, uint32_t parent)
{
	uint64_t least = pd_graph_node_least(graph, &graph->nodes[parent]);
	size_t place = graph->nodes[parent].begin, count = graph->branch_count;
	bool only;

	for (size_t i = 0; i < graph->branch_count; i++)
		count += is_merged(graph, &graph->branches[i]);
	only = count == 1 && !graph->nodes[parent].own;
	graph->nodes[parent].child_count = (uint32_t)count;
	for (size_t i = 0; i < graph->branch_count; i++) {
		struct branch *branch = &graph->branches[i];

		if ((branch->all < least && !only) || is_merged(graph, branch))
			continue;
		branch->node = add_node(graph, parent, branch);
		if (branch->node == NO_NODE)
			return false;
		graph->nodes[branch->node].begin = branch->place = place;
		place += branch->count;
		graph->nodes[branch->node].end = place;
	}
	return true;
}

/* After the last frame there need not be anything to point at. What is truncated comes before the outermost caller, or after
 * it. */
static void walk_on(const struct pd_report *report, struct walker *walker)
{
	const struct chain *chain = &report->scratch.chains[walker->entry];
	const uint32_t *truncated = &report->scratch.truncated;

	walker->left--;
	if (!walker->left)
		return;
	if (report->graph.caller)
		walker->at = walker->at == truncated ? &chain->callers[chain->caller_count - 1] : walker->at - 1;
	else
		walker->at = walker->left == 1 && chain->truncated ? truncated : walker->at + 1;
}

/* As perf, which takes them out of the chain: a hidden caller's own caller comes after what it called. */
static void skip_hidden(const struct pd_report *report, struct walker *walker)
{
	while (report->options.hide_unresolved && walker->left && *walker->at != report->scratch.truncated &&
	       !(report->scratch.flags[*walker->at] & FRAME_FUNCTION))
		walk_on(report, walker);
}

/* Moves the walkers of a node one frame on, sorted by children. */
static void move_walkers(struct graph *graph, size_t begin, size_t end)
{
	size_t last = begin;

	for (size_t i = begin; i < end; i++) {
		struct branch *branch = graph->turns[i] == NO_NODE ? NULL : &graph->branches[graph->turns[i]];
		const struct walker *walker = &graph->walkers[i];

		if (!branch || branch->node == NO_NODE)
			continue;
		graph->spare[branch->place] = *walker;
		walk_on(graph->report, &graph->spare[branch->place]);
		skip_hidden(graph->report, &graph->spare[branch->place++]);
		last = branch->place > last ? branch->place : last;
	}
	memcpy(graph->walkers + begin, graph->spare + begin, (last - begin) * sizeof(*graph->walkers));
}

static bool expand(struct graph *graph, uint32_t index)
{
	size_t begin = graph->nodes[index].begin, end = graph->nodes[index].end;
	bool done = find_branches(graph, &graph->nodes[index]) && add_children(graph, index);

	if (done)
		move_walkers(graph, begin, end);
	for (size_t i = 0; i < graph->branch_count; i++)
		graph->known[graph->branches[i].who] = 0;
	return done;
}

/* The chain of a link from where the row's function is in it; false if there is none. */
static bool start_walker(const struct pd_report *report, const struct link *link, struct walker *walker)
{
	const struct chain *chain = &report->scratch.chains[link->entry];
	size_t first = link->from == WHOLE_CHAIN ? 0 : link->from, end = chain->caller_count;

	/* Down from the row's function, or from the outermost caller. */
	if (report->graph.caller) {
		first = pd_first_caller(report, chain->caller_count);
		end = link->from == WHOLE_CHAIN ? chain->caller_count : (size_t)link->from + 1;
	}
	if (first >= end)
		return false;
	*walker = (struct walker){
		.at = &chain->callers[report->graph.caller ? end - 1 : first],
		.left = (uint32_t)(end - first),
		.entry = link->entry,
	};
	if (chain->truncated && (!report->graph.caller || link->from == WHOLE_CHAIN)) {
		walker->at = report->graph.caller ? &report->scratch.truncated : walker->at;
		walker->left++;
	}
	skip_hidden(report, walker);
	return walker->left;
}

struct chaining {
	struct pd_report *report;
	size_t count, parts;
};

/* They begin or end a chain. Where callees are ignored it may have none. */
static void fill_branches(const struct pd_report *report, const struct pd_profile_entry *entry, struct chain *chain)
{
	chain->branches = pd_key_branches(report, entry, &chain->branch_count);
	if (chain->branch_count * 2 > chain->caller_count)
		chain->branch_count = 0;
	else if (chain->branch_count && chain->branches->flags & PD_PASSED_REVERSED)
		chain->first_branch = chain->caller_count - chain->branch_count * 2;
}

static void fill_chains_part(void *self, size_t part)
{
	const struct chaining *chaining = self;
	const struct pd_profile *profile = chaining->report->profile;
	size_t end = pd_part_begin(chaining->count, chaining->parts, part + 1);

	for (size_t i = pd_part_begin(chaining->count, chaining->parts, part); i < end; i++) {
		struct chain *chain = &chaining->report->scratch.chains[i];
		struct pd_profile_entry entry;
		const struct pd_stack *stack;

		pd_profile_entry(profile, i, &entry);
		stack = report_stack(chaining->report, entry.stack);
		*chain = (struct chain){ .callers = stack->callers,
					 .caller_count = stack->caller_count,
					 .truncated = stack->unfinished,
					 .period = entry.period,
					 .samples = entry.samples };
		fill_branches(chaining->report, &entry, chain);
	}
}

/* What graphs want of entries and stacks, close together. */
static bool fill_chains(struct pd_report *report)
{
	struct chaining chaining = { .report = report, .count = pd_entries_before(report, SIZE_MAX) };

	report->scratch.truncated = (uint32_t)pd_profile_frame_count(report->profile);
	report->scratch.chains = pd_alloc((chaining.count + 1) * sizeof(*report->scratch.chains));
	if (!report->scratch.chains)
		return false;
	chaining.parts = pd_part_count(report->options.threads, chaining.count, WORTH_A_PART);
	pd_in_parts(chaining.parts, fill_chains_part, &chaining);
	return true;
}

static bool allocate_walkers(struct graph *graph, size_t count)
{
	graph->walkers = pd_realloc(NULL, (count + 1) * sizeof(*graph->walkers));
	graph->spare = pd_realloc(NULL, (count + 1) * sizeof(*graph->spare));
	graph->turns = pd_realloc(NULL, (count + 1) * sizeof(*graph->turns));
	return graph->walkers && graph->spare && graph->turns;
}

void pd_graph_fini(struct graph *graph)
{
	pd_free(graph->nodes);
	pd_free(graph->walkers);
	pd_free(graph->spare);
	pd_free(graph->turns);
	pd_free(graph->branches);
}

static bool build_tree(struct graph *graph, const struct row *row)
{
	struct pd_report *report = graph->report;
	bool done = allocate_walkers(graph, row->link_count) &&
		    add_node(graph, NO_NODE, &(struct branch){ .who = NO_NODE }) == 0;

	/* A sample without a chain has no place in a graph. */
	for (size_t i = 0; done && i < row->link_count; i++) {
		struct walker *walker = &graph->walkers[graph->nodes[0].end];

		if (!start_walker(report, &graph->table->links[row->first_link + i], walker))
			continue;
		graph->nodes[0].end++;
		graph->nodes[0].all += report->scratch.chains[walker->entry].period;
		graph->nodes[0].all_samples += report->scratch.chains[walker->entry].samples;
	}
	for (uint32_t i = 0; done && i < graph->count; i++)
		done = expand(graph, i);
	return done;
}

bool pd_graph_build(struct graph *graph, struct pd_report *report, const struct table *table, const struct row *row,
		    bool absolute, uint32_t *known)
{
	*graph = (struct graph){
		.report = report, .table = table, .total = table->totals[0], .absolute = absolute, .known = known
	};
	graph->least = pd_graph_least(report, table);
	if (build_tree(graph, row))
		return true;
	pd_graph_fini(graph);
	return false;
}

bool pd_graphs_prepare(struct pd_report *report)
{
	return report->scratch.chains || (pd_frames_classify(report) && fill_lines(report) && fill_chains(report));
}

uint32_t *pd_graph_scratch(const struct pd_report *report)
{
	return pd_alloc((pd_profile_frame_count(report->profile) + 1) * sizeof(uint32_t));
}

bool pd_graph_is_shown(const struct pd_report *report, const struct table *table, const struct row *row)
{
	return row->link_count && (report->graph.kind != PD_REPORT_GRAPH_TREE ||
				   pd_row_weight(report, row) >= pd_graph_least(report, table));
}
