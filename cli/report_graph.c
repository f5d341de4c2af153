/* SPDX-License-Identifier: MIT */
/*
 * The call graph below a row: the chains of its samples as a tree in which equal beginnings are one,
 * drawn as perf report draws it, or flat, or folded. A run of frames without a branch is drawn as one.
 */
#include "report.h"

#include "parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

enum {
	MARGIN = 12,           /* blanks in front of a graph */
	DEPTH_MOST = 1024,     /* branches inside of each other that are drawn */
	WORTH_A_PART = 1 << 14 /* entries */
};

/* A frame below another one. */
struct node {
	uint32_t who; /* frame that stands for all that are the same */
	uint32_t parent;
	uint32_t child, sibling;   /* list of those that are large enough */
	uint32_t child_count;      /* of all */
	uint32_t first;            /* entry that has it first */
	uint64_t own, own_samples; /* of chains that end here */
	uint64_t all, all_samples;
	size_t begin, end; /* walkers that go on from here */
};

/* A chain on its way down the tree. */
struct walker {
	const uint32_t *at; /* the next frame */
	uint32_t left;      /* frames */
	uint32_t entry;
};

/* A child of the node that is looked at. */
struct branch {
	uint32_t who, first;
	uint32_t node;       /* NONE: too small to be looked at */
	size_t count, place; /* of its walkers */
	uint64_t all, all_samples;
};

struct graph {
	struct report *report;
	const struct table *table;
	struct node *nodes; /* [0] is the root */
	size_t count, capacity;
	struct walker *walkers, *spare; /* by node */
	uint32_t *turns;                /* branch of each walker */
	struct branch *branches;
	size_t branch_count, branch_capacity;
	uint32_t *known; /* by frame: number + 1 of a branch of the node that is looked at; 0 between */
	struct pd_text *out;
	bool absolute;  /* shares are of total, whatever the kind */
	uint64_t total; /* what percentages are of */
	uint64_t least; /* smaller nodes are left out */
	bool failed;
};

/* ---- options ---- */

/* Of a number that may be anything. */
static uint64_t whole(double number)
{
	if (!(number < 18446744073709551616.0))
		return UINT64_MAX;
	return number > 0 ? (uint64_t)number : 0;
}

static bool parse_word(struct graph_options *options, const char *word, size_t length)
{
	static const struct {
		const char *word;
		int kind, value;
		int caller, address;
	} words[] = {
		{ "graph", GRAPH_TREE, -1, -1, -1 },
		{ "fractal", GRAPH_FRACTAL, -1, -1, -1 },
		{ "flat", GRAPH_FLAT, -1, -1, -1 },
		{ "folded", GRAPH_FOLDED, -1, -1, -1 },
		{ "none", GRAPH_NONE, -1, -1, -1 },
		{ "caller", -1, -1, 1, -1 },
		{ "callee", -1, -1, 0, -1 },
		{ "function", -1, -1, -1, 0 },
		{ "address", -1, -1, -1, 1 },
		{ "percent", -1, GRAPH_PERCENT, -1, -1 },
		{ "period", -1, GRAPH_PERIOD, -1, -1 },
		{ "count", -1, GRAPH_COUNT, -1, -1 },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].word) != length || memcmp(words[i].word, word, length) != 0)
			continue;
		if (words[i].kind >= 0)
			options->kind = (enum graph_kind)words[i].kind;
		if (words[i].value >= 0)
			options->value = (enum graph_value)words[i].value;
		if (words[i].caller >= 0) {
			options->caller = words[i].caller;
			options->order_given = true;
		}
		if (words[i].address >= 0)
			options->by_address = words[i].address;
		return true;
	}
	return false;
}

bool graph_parse(struct graph_options *options, const char *argument)
{
	bool least_given = false;

	for (const char *at = argument; *at;) {
		size_t length = strcspn(at, ",");
		char *end;
		double number = strtod(at, &end);

		if (length && end == at + length && !least_given) {
			options->least = number;
			least_given = true;
		} else if (length && end == at + length && number >= 0) {
			options->most = whole(number);
		} else if (length && !parse_word(options, at, length)) {
			complain(
				"option --call-graph: '%.*s' is not one of graph, fractal, flat, folded, none, caller, "
				"callee, function, address, percent, period, count, or a number",
				(int)length, at);
			return false;
		}
		at += length;
		at += *at == ',';
	}
	return true;
}

/* ---- lines ---- */

/* As perf: the line, or how far it is from the beginning of the function. */
static char *line_of(struct report *report, const struct pd_frame *frame)
{
	const struct pd_place *place = &frame->place;
	struct pd_line line;
	char *text;

	if (pd_symbols_lines(report->symbols, place, &line, 1) && line.file && line.line) {
		const char *slash = strrchr(line.file, '/');

		return asprintf(&text, "%s:%" PRIu32, slash ? slash + 1 : line.file, line.line) < 0 ? NULL : text;
	}
	return asprintf(&text, "+%" PRIu64, place->addr - place->function->start) < 0 ? NULL : text;
}

/* Before graphs are made: several threads make them, and only one may look for lines. */
static bool fill_lines(struct report *report)
{
	size_t count = pd_profile_frame_count(report->profile);

	if (!report->graph.by_address)
		return true;
	report->lines = calloc(count + 1, sizeof(*report->lines));
	if (!report->lines)
		return false;
	for (; report->line_count < count; report->line_count++) {
		const struct pd_frame *frame = pd_profile_frame(report->profile, (uint32_t)report->line_count);

		if (!frame->place.function)
			continue;
		report->lines[report->line_count] = line_of(report, frame);
		if (!report->lines[report->line_count])
			return false;
	}
	return true;
}

/* ---- the tree ---- */

/*
 * The tree is made from the root down: the chains that reach a node are sorted by their next frame, and only where
 * enough of them agree they are followed. So what is too small to be shown costs nothing but a look.
 */

static uint64_t least_of(const struct graph *graph, const struct node *parent)
{
	/* Never so small that nothing counts. */
	if (graph->report->graph.kind == GRAPH_FRACTAL && !graph->absolute)
		return (uint64_t)((double)(parent->all - parent->own) * graph->report->graph.least / 100 + 0.999999);
	return graph->least;
}

static uint32_t add_node(struct graph *graph, uint32_t parent, const struct branch *branch)
{
	if (graph->count == graph->capacity) {
		size_t capacity = graph->capacity ? graph->capacity * 2 : 64;
		struct node *nodes = realloc(graph->nodes, capacity * sizeof(*nodes));

		if (!nodes)
			return NONE;
		graph->nodes = nodes;
		graph->capacity = capacity;
	}
	graph->nodes[graph->count] = (struct node){
		.who = branch->who,
		.first = branch->first,
		.all = branch->all,
		.all_samples = branch->all_samples,
		.parent = parent,
		.child = NONE,
		.sibling = NONE,
	};
	if (parent != NONE) {
		graph->nodes[graph->count].sibling = graph->nodes[parent].child;
		graph->nodes[parent].child = (uint32_t)graph->count;
	}
	return (uint32_t)graph->count++;
}

/* The branch of a frame; NULL if there is no memory. */
static struct branch *branch_of(struct graph *graph, const struct walker *walker)
{
	struct report *report = graph->report;
	/* Frames of one function look the same, unless addresses are to be told apart. */
	uint32_t who = report->graph.by_address ? *walker->at : report->twins[*walker->at];
	uint32_t *known = &graph->known[who];

	if (*known)
		return &graph->branches[*known - 1];
	if (graph->branch_count == graph->branch_capacity) {
		size_t capacity = graph->branch_capacity ? graph->branch_capacity * 2 : 64;
		struct branch *branches = realloc(graph->branches, capacity * sizeof(*branches));

		if (!branches)
			return NULL;
		graph->branches = branches;
		graph->branch_capacity = capacity;
	}
	graph->branches[graph->branch_count] = (struct branch){ .who = who, .first = walker->entry, .node = NONE };
	*known = (uint32_t)++graph->branch_count;
	return &graph->branches[*known - 1];
}

/* Asks for the memory that a walker will need: chains are anywhere. */
static void expect_walker(const struct graph *graph, const struct walker *walker)
{
	__builtin_prefetch(walker->at);
	__builtin_prefetch(&graph->report->chains[walker->entry]);
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
		const struct chain *chain = &graph->report->chains[walker->entry];
		struct branch *branch;

		if (i + AHEAD < node->end)
			expect_walker(graph, walker + AHEAD);
		graph->turns[i] = NONE;
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
		graph->turns[i] = (uint32_t)(branch - graph->branches);
	}
	return true;
}

/* Nodes for the branches that are large enough, or the only way on: that is drawn in one with its node. */
static bool add_children(struct graph *graph, uint32_t parent)
{
	uint64_t least = least_of(graph, &graph->nodes[parent]);
	bool only = graph->branch_count == 1 && !graph->nodes[parent].own;
	size_t place = graph->nodes[parent].begin;

	graph->nodes[parent].child_count = (uint32_t)graph->branch_count;
	for (size_t i = 0; i < graph->branch_count; i++) {
		struct branch *branch = &graph->branches[i];

		if (branch->all < least && !only)
			continue;
		branch->node = add_node(graph, parent, branch);
		if (branch->node == NONE)
			return false;
		graph->nodes[branch->node].begin = branch->place = place;
		place += branch->count;
		graph->nodes[branch->node].end = place;
	}
	return true;
}

/* Behind the last frame there need not be anything to point at. */
static void walk_on(struct walker *walker, ptrdiff_t step)
{
	walker->at = walker->left > 1 ? walker->at + step : walker->at;
	walker->left--;
}

/* As perf, which takes them out of the chain: a hidden caller's own caller comes behind what it called. */
static void skip_hidden(const struct report *report, struct walker *walker)
{
	ptrdiff_t step = report->graph.caller ? -1 : 1;

	while (report->hide_unresolved && walker->left && !(report->looks[*walker->at] & LOOK_FUNCTION))
		walk_on(walker, step);
}

/* Moves the walkers of a node one frame on, sorted by children. */
static void move_walkers(struct graph *graph, size_t begin, size_t end)
{
	ptrdiff_t step = graph->report->graph.caller ? -1 : 1;
	size_t last = begin;

	for (size_t i = begin; i < end; i++) {
		struct branch *branch = graph->turns[i] == NONE ? NULL : &graph->branches[graph->turns[i]];
		const struct walker *walker = &graph->walkers[i];

		if (!branch || branch->node == NONE)
			continue;
		graph->spare[branch->place] = *walker;
		walk_on(&graph->spare[branch->place], step);
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
static bool start_walker(const struct report *report, const struct link *link, struct walker *walker)
{
	const struct chain *chain = &report->chains[link->entry];
	size_t first = link->from == WHOLE_CHAIN ? 0 : link->from, end = chain->caller_count;

	/* Down from the row's function, or from the outermost caller. */
	if (report->graph.caller) {
		first = first_caller(report, chain->caller_count);
		end = link->from == WHOLE_CHAIN ? chain->caller_count : (size_t)link->from + 1;
	}
	if (first >= end)
		return false;
	*walker = (struct walker){
		.at = &chain->callers[report->graph.caller ? end - 1 : first],
		.left = (uint32_t)(end - first),
		.entry = link->entry,
	};
	skip_hidden(report, walker);
	return walker->left;
}

struct chaining {
	struct report *report;
	size_t count, parts;
};

static void fill_chains_part(void *self, size_t part)
{
	const struct chaining *chaining = self;
	const struct pd_profile *profile = chaining->report->profile;
	size_t end = part_begin(chaining->count, chaining->parts, part + 1);

	for (size_t i = part_begin(chaining->count, chaining->parts, part); i < end; i++) {
		const struct pd_profile_entry *entry = pd_profile_entry(profile, i);
		const struct pd_stack *stack = pd_profile_stack(profile, entry->stack);

		chaining->report->chains[i] =
			(struct chain){ stack->callers, stack->caller_count, entry->period, entry->samples };
	}
}

/* What graphs want of entries and stacks, close together. */
static bool fill_chains(struct report *report)
{
	struct chaining chaining = { .report = report, .count = entries_before(report, SIZE_MAX) };

	report->chains = malloc((chaining.count + 1) * sizeof(*report->chains));
	if (!report->chains)
		return false;
	chaining.parts = part_count(thread_count(report->threads), chaining.count, WORTH_A_PART);
	parts_do(chaining.parts, fill_chains_part, &chaining);
	return true;
}

static bool make_room(struct graph *graph, size_t count)
{
	graph->walkers = malloc((count + 1) * sizeof(*graph->walkers));
	graph->spare = malloc((count + 1) * sizeof(*graph->spare));
	graph->turns = malloc((count + 1) * sizeof(*graph->turns));
	return graph->walkers && graph->spare && graph->turns;
}

static void graph_fini(struct graph *graph)
{
	free(graph->nodes);
	free(graph->walkers);
	free(graph->spare);
	free(graph->turns);
	free(graph->branches);
}

static bool graph_build(struct graph *graph, const struct row *row)
{
	struct report *report = graph->report;
	bool done = make_room(graph, row->link_count) && add_node(graph, NONE, &(struct branch){ .who = NONE }) == 0;

	/* A sample without a chain has no place in a graph. */
	for (size_t i = 0; done && i < row->link_count; i++) {
		struct walker *walker = &graph->walkers[graph->nodes[0].end];

		if (!start_walker(report, &graph->table->links[row->first_link + i], walker))
			continue;
		graph->nodes[0].end++;
		graph->nodes[0].all += report->chains[walker->entry].period;
		graph->nodes[0].all_samples += report->chains[walker->entry].samples;
	}
	for (uint32_t i = 0; done && i < graph->count; i++)
		done = expand(graph, i);
	return done;
}

/* ---- names ---- */

static void name_frame(struct graph *graph, struct pd_text *text, uint32_t who)
{
	const struct pd_frame *frame = pd_profile_frame(graph->report->profile, who);
	const char *name = frame->place.function ? frame->place.function->name : NULL;

	if (!name)
		/* as C prints %#lx: nothing has no 0x */
		pd_text_printf(text, frame->place.addr ? "0x%" PRIx64 : "%" PRIx64, frame->place.addr);
	else if (graph->report->escape)
		pd_text_escaped(text, name, strlen(name));
	else
		pd_text_add(text, name);
	if (!name || !graph->report->lines)
		return;
	pd_text_add(text, " ");
	if (graph->report->escape)
		pd_text_escaped(text, graph->report->lines[who], strlen(graph->report->lines[who]));
	else
		pd_text_add(text, graph->report->lines[who]);
}

static void print_share(const struct report *report, struct pd_text *out, double percent)
{
	const char *color = report->color ? share_color(percent) : NULL;

	pd_text_printf(out, "%s%.2f%%%s", color ? color : "", percent, color ? SHARE_COLOR_END : "");
}

static void print_value(struct graph *graph, const struct node *node, uint64_t total)
{
	struct pd_text *out = graph->out;

	switch (graph->report->graph.value) {
	case GRAPH_PERCENT:
		print_share(graph->report, out, percent_of(node->all, total));
		break;
	case GRAPH_PERIOD:
		pd_text_printf(out, "%" PRIu64, node->all);
		break;
	case GRAPH_COUNT:
		pd_text_printf(out, "%" PRIu64, node->all_samples);
		break;
	}
}

/* ---- children in order ---- */

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a > b ? -1 : a < b;
}

/* As perf: what has as much goes by objects, the kernel last, and by addresses downwards. */
static int compare_frames(const struct graph *graph, uint32_t a, uint32_t b)
{
	const struct pd_place *x = &pd_profile_frame(graph->report->profile, a)->place;
	const struct pd_place *y = &pd_profile_frame(graph->report->profile, b)->place;
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

static int compare_nodes(const void *a, const void *b, void *self)
{
	const struct graph *graph = self;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int order = compare_numbers(graph->nodes[x].all, graph->nodes[y].all);

	if (!order)
		order = compare_places(graph, x, y);
	return order ? order : compare_numbers(graph->nodes[y].first, graph->nodes[x].first);
}

/* Children that are large enough, the largest first. The caller frees them. */
static uint32_t *children_of(struct graph *graph, uint32_t parent, uint64_t least, size_t *count_out)
{
	uint32_t *children = malloc((graph->nodes[parent].child_count + 1) * sizeof(*children));
	size_t count = 0;

	*count_out = 0;
	if (!children) {
		graph->failed = true;
		return NULL;
	}
	for (uint32_t child = graph->nodes[parent].child; child != NONE; child = graph->nodes[child].sibling)
		if (graph->nodes[child].all >= least)
			children[count++] = child;
	qsort_r(children, count, sizeof(*children), compare_nodes, graph);
	*count_out = count;
	return children;
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
	char text[MARGIN + 3 + DEPTH_MOST * 11 + 1];
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
	uint64_t most = graph->report->graph.most;

	return most && most < count ? most : count;
}

static void print_branches(struct graph *graph, struct prefix *prefix, uint32_t parent);

/* Frames of a run below its first line, then what branches off at its end. */
static void print_run(struct graph *graph, struct prefix *prefix, uint32_t first, uint32_t last, size_t most)
{
	for (uint32_t node = first; node != last && most; most--) {
		node = graph->nodes[node].child;
		pd_text_add(graph->out, prefix->text);
		name_frame(graph, graph->out, graph->nodes[node].who);
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
	name_frame(graph, out, graph->nodes[node].who);
	pd_text_add(out, "\n");
	if (prefix_push(prefix, is_last ? "           " : "|          "))
		print_run(graph, prefix, node, run_end(graph, node), SIZE_MAX);
	prefix->length = length;
	prefix->text[length] = 0;
}

static void print_branches(struct graph *graph, struct prefix *prefix, uint32_t parent)
{
	bool fractal = graph->report->graph.kind == GRAPH_FRACTAL;
	/* Shares are of what goes on: samples that end in the parent do not count. */
	uint64_t total = fractal ? graph->nodes[parent].all - graph->nodes[parent].own : graph->total;
	size_t count;
	uint32_t *children = children_of(graph, parent, least_of(graph, &graph->nodes[parent]), &count);

	for (size_t i = 0; i < at_most(graph, count); i++)
		print_branch(graph, prefix, children[i], total, i + 1 == count);
	free(children);
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
	name_frame(graph, out, graph->nodes[node].who);
	pd_text_add(out, "\n");
	prefix_push(prefix, "   ");
	print_run(graph, prefix, node, last, at_most(graph, SIZE_MAX) - 1);
}

static void print_tree(struct graph *graph, uint64_t row_total)
{
	struct prefix prefix = { .length = 0 };
	size_t count, before = pd_text_bytes(graph->out).size;
	uint32_t *roots = children_of(graph, 0, least_of(graph, &graph->nodes[0]), &count);

	prefix_push(&prefix, "            ");
	if (count == 1 && graph->nodes[roots[0]].all == row_total)
		print_single(graph, &prefix, roots[0]);
	else if (count)
		print_branches(graph, &prefix, 0);
	if (pd_text_bytes(graph->out).size != before)
		pd_text_add(graph->out, "\n");
	free(roots);
}

/* ---- flat and folded ---- */

/* Nodes at which chains end and that are large enough, the largest first. The caller frees them. */
static uint32_t *ends_of(struct graph *graph, size_t *count_out)
{
	uint32_t *ends = malloc((graph->count + 1) * sizeof(*ends));
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
	qsort_r(ends, count, sizeof(*ends), compare_nodes, graph);
	*count_out = count;
	return ends;
}

static void print_path(struct graph *graph, uint32_t end, const char *between, const char *before)
{
	uint32_t depth = 0, *path;

	for (uint32_t node = end; node; node = graph->nodes[node].parent)
		depth++;
	path = malloc((depth + 1) * sizeof(*path));
	if (!path) {
		graph->failed = true;
		return;
	}
	for (uint32_t node = end, i = depth; node; node = graph->nodes[node].parent)
		path[--i] = node;
	for (uint32_t i = 0; i < depth; i++) {
		pd_text_add(graph->out, i ? between : before);
		name_frame(graph, graph->out, graph->nodes[path[i]].who);
	}
	free(path);
}

static void print_ends(struct graph *graph)
{
	bool flat = graph->report->graph.kind == GRAPH_FLAT;
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
	free(ends);
}

/* ---- all ---- */

uint64_t graph_least(const struct report *report, const struct table *table)
{
	return whole((double)table->totals[0] * report->graph.least / 100);
}

static bool build_for(struct graph *graph, struct report *report, const struct table *table, const struct row *row,
		      bool absolute, uint32_t *known)
{
	*graph = (struct graph){
		.report = report, .table = table, .total = table->totals[0], .absolute = absolute, .known = known
	};
	graph->least = graph_least(report, table);
	if (graph_build(graph, row))
		return true;
	graph_fini(graph);
	return false;
}

bool graphs_prepare(struct report *report)
{
	return report->chains || (frames_look(report) && fill_lines(report) && fill_chains(report));
}

/* struct graph's known. */
void *graph_room(const struct report *report)
{
	return calloc(pd_profile_frame_count(report->profile) + 1, sizeof(uint32_t));
}

static uint64_t graph_total(const struct report *report, const struct row *row)
{
	return report->children ? row->amounts->children_period : row->amounts->period;
}

bool graph_wanted(const struct report *report, const struct table *table, const struct row *row)
{
	return row->link_count &&
	       (report->graph.kind != GRAPH_TREE || graph_total(report, row) >= graph_least(report, table));
}

bool graph_print(struct report *report, const struct table *table, const struct row *row, void *room,
		 struct pd_text *out)
{
	uint64_t row_total = graph_total(report, row);
	struct graph graph;
	bool done;

	if (!build_for(&graph, report, table, row, report->graph.kind != GRAPH_FRACTAL, room))
		return false;
	graph.out = out;
	if (report->graph.kind == GRAPH_FLAT || report->graph.kind == GRAPH_FOLDED)
		print_ends(&graph);
	else
		print_tree(&graph, row_total);
	done = !graph.failed;
	graph_fini(&graph);
	return done;
}

/* ---- JSON ---- */

static void open_node(struct graph *graph, struct pd_json *json, uint32_t index)
{
	const struct node *node = &graph->nodes[index];
	const struct pd_frame *frame = pd_profile_frame(graph->report->profile, node->who);

	pd_json_open(json, NULL, '{');
	pd_json_string(json, "symbol", frame->place.function ? frame->place.function->name : NULL);
	pd_json_string(json, "dso", frame->place.dso ? frame->place.dso->name : NULL);
	if (!frame->place.function)
		pd_json_number(json, "address", frame->place.addr);
	pd_json_number(json, "period", node->all);
	pd_json_number(json, "samples", node->all_samples);
}

/* Chains are hundreds of frames deep, so the walk keeps its own stack: a node's next sibling in the drawn order. */
struct level {
	uint32_t *children;
	size_t count, next;
};

static bool push_level(struct graph *graph, struct level *levels, size_t *depth, uint32_t parent)
{
	struct level *level = &levels[*depth];

	level->next = 0;
	level->children = children_of(graph, parent, graph->least, &level->count);
	if (!level->children)
		return false;
	++*depth;
	return true;
}

static void walk_json(struct graph *graph, struct pd_json *json, struct level *levels)
{
	size_t depth = 0;

	if (!push_level(graph, levels, &depth, 0))
		return;
	while (depth) {
		struct level *level = &levels[depth - 1];

		if (level->next == level->count) {
			free(level->children);
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
				free(levels[depth].children);
			return;
		}
	}
}

static size_t depth_of(const struct graph *graph)
{
	uint32_t *depths = calloc(graph->count + 1, sizeof(*depths));
	size_t most = 0;

	for (size_t i = 1; depths && i < graph->count; i++) {
		depths[i] = depths[graph->nodes[i].parent] + 1;
		if (depths[i] > most)
			most = depths[i];
	}
	free(depths);
	return depths ? most : SIZE_MAX;
}

bool graph_json(struct report *report, const struct table *table, const struct row *row, struct pd_json *json)
{
	struct graph graph;
	struct level *levels;
	size_t depth;
	bool done;

	if (!report->known)
		report->known = graph_room(report);
	if (!report->known || !graphs_prepare(report) || !build_for(&graph, report, table, row, true, report->known))
		return false;
	depth = depth_of(&graph);
	levels = depth == SIZE_MAX ? NULL : malloc((depth + 2) * sizeof(*levels));
	if (levels)
		walk_json(&graph, json, levels);
	done = levels && !graph.failed;
	free(levels);
	graph_fini(&graph);
	return done;
}
