/* SPDX-License-Identifier: MIT */
/*
 * perfdata folded: stacks on one line each, as stackcollapse scripts make them from perf script.
 * Lines are sorted by their bytes, as sort does in the C locale.
 */
#include "cli.h"
#include "stacks.h"

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
		.threads = values->analysis.threads.given ? (size_t)values->analysis.threads.value : 0,
	};
	return true;
}

static int run(const struct call *call)
{
	const struct values *values = call->values;
	struct stack_request request;
	struct stack_result result = { 0 };
	struct stack_lines lines = { 0 };
	struct analysis analysis;
	struct tree tree;
	int code;

	if (!fill_request(&request, values))
		return CODE_USAGE;
	tree_init(&tree);
	code = analysis_begin(&analysis, &values->analysis, call);
	if (code == CODE_FINE)
		code = stacks_read(&analysis, &values->analysis, &request, &tree, &lines, &result);
	if (code == CODE_FINE && !lines_print(&lines, &tree, request.threads, call->out)) {
		complain("out of memory");
		code = CODE_UNREADABLE;
	}
	if (code == CODE_FINE && !values->analysis.input.quiet)
		copied_stacks_tell(analysis.input.name, result.copied, result.samples);
	lines_fini(&lines);
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
