/* SPDX-License-Identifier: MIT */
/*
 * perfdata folded: stacks on one line each, as stackcollapse scripts make them from perf script.
 *
 * Lines are sorted by their bytes, as sort does in the C locale, without making the lines first: the tree is walked
 * with two places for each child in the order, one for the line that ends there ("main") and one for what is below
 * ("main;"), between which other names may fall ("main.cold").
 */
#include "cli.h"
#include "stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct values {
	struct analysis_options analysis;
	const char *weight;
	bool pid, tid, no_comm;
	bool kernel, jit, inlined, all;
	bool full_names;
	bool reverse;
	struct option_number max_stack;
};

#define FLAG(name, member, help) { name, 0, OPTION_FLAG, NULL, offsetof(struct values, member), help }

static const struct option options[] = {
	INPUT_OPTIONS(struct values, analysis.input),
	SELECT_SAMPLE_OPTIONS(struct values, analysis.select),
	SELECT_PLACE_OPTIONS(struct values, analysis.select, 0),
	SYMBOL_OPTIONS(struct values, analysis.symbols),
	ANALYSIS_OPTIONS(struct values, analysis),
	{ "weight", 0, OPTION_STRING, "WHAT", offsetof(struct values, weight),
	  "what is counted: samples (the default) or period" },
	FLAG("by-pid", pid, "begin with COMM-PID"),
	FLAG("by-tid", tid, "begin with COMM-PID/TID"),
	FLAG("no-comm-frame", no_comm, "begin with the outermost function"),
	FLAG("kernel", kernel, "mark functions of the kernel with _[k]"),
	FLAG("jit", jit, "mark functions that were made at run time with _[j]"),
	FLAG("inlined", inlined, "mark functions that were inlined with _[i]"),
	FLAG("all", all, "mark all of these"),
	FLAG("full-names", full_names, "keep arguments of functions, quotes and the L of Java's classes"),
	FLAG("reverse", reverse, "begin with the function that was sampled"),
	{ "max-stack", 0, OPTION_NUMBER, "N", offsetof(struct values, max_stack), "most frames of a stack" },
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata folded perf.data > stacks.folded", "all stacks, for flame graphs and other tools" },
	{ "perfdata folded --all perf.data", "mark functions of the kernel, inlined ones and those made at run time" },
	{ "perfdata folded --event cycles --comm make --by-pid", "one event, the processes of one program" },
	{ "perfdata folded --weight period perf.data | sort -t' ' -k2nr | head", "by period" },
	{ 0 },
};

/* ---- the order of lines ---- */

/* A child of a node, twice: for the line that ends there and for what is below. */
struct item {
	uint32_t node;
	bool below;
};

struct printer {
	const struct tree *tree;
	struct output *out;
	uint64_t *self;         /* by node */
	uint32_t *end;          /* by node: the first one that is not below it */
	uint32_t *path;         /* nodes from the outermost to the present one */
	struct item *items;     /* of all nodes on the path */
	size_t item_room;
};

static const char *name_of(const struct tree *tree, uint32_t node)
{
	return tree->texts.items[tree->frames[tree->nodes[node].frame].name];
}

/* A semicolon stands behind the name of what is below. */
static int compare_items(const void *left, const void *right, void *self)
{
	const struct item *a = left, *b = right;
	const char *s = name_of(self, a->node), *t = name_of(self, b->node);
	size_t same = 0;
	int s_next, t_next;

	while (s[same] && s[same] == t[same])
		same++;
	s_next = s[same] ? (unsigned char)s[same] : a->below ? ';' : 0;
	t_next = t[same] ? (unsigned char)t[same] : b->below ? ';' : 0;
	return s_next - t_next;
}

static bool room_for(struct printer *printer, size_t count)
{
	size_t room = printer->item_room ? printer->item_room * 2 : 1024;
	struct item *items;

	if (count <= printer->item_room)
		return true;
	items = realloc(printer->items, room * sizeof(*items));
	if (!items)
		return false;
	printer->items = items;
	printer->item_room = room;
	return true;
}

/* Puts the children of a node behind count items, in the order of the lines backwards: the last one comes first. */
static bool push_children(struct printer *printer, uint32_t node, size_t *count)
{
	const struct tree *tree = printer->tree;
	size_t start = *count, used = start;

	for (uint32_t child = node + 1; child < printer->end[node]; child = printer->end[child]) {
		if (!room_for(printer, used + 2))
			return false;
		if (printer->self[child])
			printer->items[used++] = (struct item){ child, false };
		if (printer->end[child] > child + 1)
			printer->items[used++] = (struct item){ child, true };
	}
	qsort_r(printer->items + start, used - start, sizeof(*printer->items), compare_items,
		(void *)(uintptr_t)tree);
	for (size_t i = start, j = used; i + 1 < j; i++) {
		struct item swapped = printer->items[i];

		printer->items[i] = printer->items[--j];
		printer->items[j] = swapped;
	}
	*count = used;
	return true;
}

static void print_line(const struct printer *printer, uint32_t node)
{
	const struct tree *tree = printer->tree;
	size_t depth = 0;

	for (uint32_t at = node; at; at = tree->nodes[at].parent)
		printer->path[depth++] = at;
	while (depth) {
		pd_text_add(printer->out->text, name_of(tree, printer->path[--depth]));
		pd_text_add(printer->out->text, depth ? ";" : " ");
	}
	pd_text_printf(printer->out->text, "%" PRIu64 "\n", printer->self[node]);
}

static bool print_lines(struct printer *printer)
{
	size_t count = 0;

	if (!push_children(printer, 0, &count))
		return false;
	while (count && output_spill(printer->out)) {
		struct item item = printer->items[--count];

		if (!item.below)
			print_line(printer, item.node);
		else if (!push_children(printer, item.node, &count))
			return false;
	}
	return true;
}

static bool prepare(struct printer *printer)
{
	const struct tree *tree = printer->tree;
	size_t count = tree->finished_count;
	uint32_t deepest = 0;

	printer->self = calloc(count, sizeof(*printer->self));
	printer->end = calloc(count, sizeof(*printer->end));
	if (!printer->self || !printer->end)
		return false;
	for (size_t i = 0; i < tree->value_count; i++)
		printer->self[tree->values[i].node] += tree->values[i].value;
	for (uint32_t i = (uint32_t)count; i-- > 0;) {
		uint32_t parent = tree->nodes[i].parent;

		/* The last child comes first on the way back, and has the end of its parent. */
		if (!printer->end[i])
			printer->end[i] = i + 1;
		if (i && !printer->end[parent])
			printer->end[parent] = printer->end[i];
		if (tree->nodes[i].depth > deepest)
			deepest = tree->nodes[i].depth;
	}
	printer->path = calloc((size_t)deepest + 1, sizeof(*printer->path));
	return printer->path != NULL;
}

static int print_tree(struct tree *tree, struct output *out)
{
	struct printer printer = { .tree = tree, .out = out };
	bool fine = tree_finish(tree, 1) && prepare(&printer) && print_lines(&printer);

	free(printer.self);
	free(printer.end);
	free(printer.path);
	free(printer.items);
	if (fine)
		return CODE_FINE;
	complain("out of memory");
	return CODE_UNREADABLE;
}

/* ---- the command ---- */

static bool fill_request(struct stack_request *request, const struct values *values)
{
	const char *weight = values->weight ? values->weight : "samples";

	if (strcmp(weight, "samples") != 0 && strcmp(weight, "period") != 0) {
		complain("option --weight: '%s' is neither samples nor period", weight);
		return false;
	}
	*request = (struct stack_request){
		.style = { .folded = true,
			   .tidy = !values->full_names,
			   .mark_kernel = values->kernel || values->all,
			   .mark_jit = values->jit || values->all,
			   .mark_inlined = values->inlined || values->all,
			   .join_blanks = true },
		.root = values->tid ? ROOT_TID : values->pid ? ROOT_PID : values->no_comm ? ROOT_NONE : ROOT_COMM,
		.event_frame = true,
		.period = !strcmp(weight, "period"),
		.reverse = values->reverse,
		.max_stack = (unsigned)values->max_stack.value,
	};
	return true;
}

static int run(const struct call *call)
{
	const struct values *values = call->values;
	struct stack_request request;
	struct stack_result result = { 0 };
	struct analysis analysis;
	struct tree tree;
	int code;

	if (!fill_request(&request, values))
		return CODE_USAGE;
	tree_init(&tree);
	code = analysis_begin(&analysis, &values->analysis, call);
	if (code == CODE_FINE)
		code = stacks_read(&analysis, &values->analysis, &request, &tree, &result);
	if (code == CODE_FINE)
		code = print_tree(&tree, call->out);
	tree_fini(&tree);
	stacks_fini(&result);
	return analysis_close(&analysis, code);
}

const struct command cmd_folded = {
	.usage = "[OPTION]... [FILE]",
	.text = "Prints the stacks of FILE folded: the thread's name and the functions from the outermost to the one that was "
		"sampled, parted by semicolons, and how many samples had this stack. This is what stackcollapse-perf.pl makes of "
		"perf script, and what flame graph tools, speedscope and perfdata flame --folded read.\n"
		"\n"
		"Names are those of that script: [OBJECT] where the function is not known, blanks in names of threads as _, "
		"functions without their arguments. Where the file has several events, each stack begins with its [EVENT]; "
		"--event chooses one. Lines are sorted by their bytes and do not depend on the number of threads.",
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run,
};
