/* SPDX-License-Identifier: MIT */
/*
 * perfdata folded: one line per stack, as stackcollapse scripts make them from perf script. Lines are sorted by bytes, as
 * sort does in the C locale.
 */
#include "front/cli.h"
#include "options/flame_options.h"

struct values {
	struct analysis_options analysis;
	struct pd_flame_options how;
	bool pid, tid, no_comm;
	bool all, full_names, normalize;
	const char *old;
};

static const struct option options[] = {
	GROUP(waiting_group, analysis.input),
	GROUP(input_group, analysis.input),
	GROUP(select_group, analysis.select),
	GROUP(parallelism_option, analysis.select.parallelism),
	GROUP(symbol_group, analysis.symbols),
	GROUP(threads_option, analysis.threads),
	CHOICE("weight", 0, "WHAT", how.weight, "|samples|period|latency",
	       "count samples or period, whatever the event; latency: shares of wall time; default: by event"),
	FLAG("by-pid", 0, pid, "start stacks with COMM-PID"),
	FLAG("by-tid", 0, tid, "start stacks with COMM-PID/TID"),
	FLAG("no-comm-frame", 0, no_comm, "start stacks with the outermost function, without COMM"),
	FLAG("kernel", 0, how.mark_kernel, "mark kernel functions with _[k]"),
	FLAG("jit", 0, how.mark_jit, "mark JIT-compiled functions with _[j]"),
	FLAG("inlined", 0, how.mark_inlined, "mark inlined functions with _[i]"),
	FLAG("all", 0, all, "all three marks"),
	FLAG("full-names", 0, full_names, "keep function arguments, quotes and the L of Java classes"),
	FLAG("reverse", 0, how.reverse, "start from the sampled function"),
	STRING("diff", 0, "OLD", old,
	       "print two numbers for each stack, that of the recording OLD first, as difffolded does"),
	FLAG("normalize", 0, normalize, "with --diff: scale the numbers of OLD to the total of FILE"),
	GROUP(flame_max_stack_option, how.max_stack),
	GROUP(unwind_option, analysis.no_unwind),
	{ 0 },
};

/* ---- the command ---- */

static struct pd_flame_options options_of(const struct values *values)
{
	struct pd_flame_options options = values->how;

	options.without_arguments = !values->full_names;
	options.mark_kernel |= values->all;
	options.mark_jit |= values->all;
	options.mark_inlined |= values->all;
	options.root = values->tid     ? PD_FLAME_ROOT_TID :
		       values->pid     ? PD_FLAME_ROOT_PID :
		       values->no_comm ? PD_FLAME_ROOT_NONE :
					 PD_FLAME_ROOT_COMM;
	options.threads = values->analysis.threads;
	return options;
}

static int print_pair(const struct call *call, const struct folded *old_stacks, const struct folded *new_stacks)
{
	const struct values *values = call->values;
	struct pd_error error;

	return code_of_print(pd_folded_compare(pd_text_bytes(old_stacks->text), pd_text_bytes(new_stacks->text),
					       values->normalize, call->out->text, &error),
			     &error);
}

static int run_folded(const struct call *call)
{
	const struct values *values = call->values;
	const struct pd_flame_options how = options_of(values);
	const struct folding folding = { .call = call, .options = &values->analysis, .how = &how, .warns = true };
	struct folded all = { .text = call->out->text };

	if (values->normalize && !values->old)
		return print_failure(CODE_USAGE, "--normalize needs --diff");
	return values->old ? flame_compare(&folding, values->old, NULL, print_pair) : flame_fold(&folding, NULL, &all);
}

const struct command cmd_folded = {
	.usage = "[OPTION]... [FILE | STORE [CONDITION]...]",
	.text = "Print the stacks of FILE folded, one line each: thread name and functions, outermost first, separated by semicolons, and "
		"a number. flamegraph.pl, speedscope and perfdata flame --folded read this.\n"
		"\n"
		"The number is in the unit of the event: ns for clocks of the CPU, off-CPU time and sched:sched_stat_*; events (cycles, page "
		"faults ...) where the recording has periods; else samples. --weight samples or period overrides this. If FILE has several "
		"events, each stack starts with its [EVENT]: numbers of different events do not add up, so choose one with "
		"--event for tools that add all lines.\n"
		"\n"
		"With --weight period, and --event where FILE has several events, the output equals that of current versions of "
		"stackcollapse-perf.pl on the text of perf script, which "
		"adds up periods (--all is its --all; --weight samples is what its older versions and other collapsers count). Names follow "
		"that script: [OBJECT] for an unresolved function, blanks in thread names as _, functions without arguments. "
		"Lines are sorted by bytes, for any number of threads.\n"
		"\n"
		"--diff OLD prints each stack that OLD or FILE has, with a number of each, 0 where one lacks it: nothing is lost that is "
		"only in one of them. --normalize makes recordings of different length comparable.",
	OPTIONS(options),
	HOW(how),
	DEFAULTS(.how = { .plain_names = true, .join_blanks = true, .event_frame = true }),
	EXAMPLES({ "perfdata folded perf.data > stacks.folded", "all stacks, for flame graphs and other tools" },
		 { "perfdata folded --all perf.data", "mark kernel, inlined and JIT-compiled functions" },
		 { "perfdata folded --event cycles --comm make --by-pid", "one event, by process of one program" },
		 { "perfdata folded --weight samples perf.data | flamegraph.pl", "count samples" },
		 { "perfdata folded --diff old.data new.data | flamegraph.pl", "what changed, by colour" }),
	.usual = "input time comms event",
	.max_words = SIZE_MAX,
	.run = run_folded,
};
