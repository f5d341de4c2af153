/* SPDX-License-Identifier: MIT */
/* perfdata sched timehist, latency and map: switches and wakeups as perf prints them. */
#include "options/symbol_options.h"

#include <limits.h>

#include <perfdata/sched.h>

struct values {
	struct symbol_values shared;
	struct pd_timehist_options how;
	bool call_graph;
	struct option_number stack;
};

static const struct option options[] = {
	FLAG("summary", 's', how.summary_only, "print a table of threads only"),
	FLAG("with-summary", 'S', how.summary, "print a table of threads after the switches"),
	FLAG("wakeups", 'w', how.wakeups, "print wakeups, too"),
	FLAG("next", 'n', how.next, "print the next thread of each switch"),
	FLAG("migrations", 'M', how.migrations, "print migrations, and count them in the table"),
	FLAG("cpu-visual", 'V', how.cpu_visual, "print a column for each CPU"),
	FLAG("idle-hist", 'I', how.idle, "print idle time only, by the thread that ran before"),
	FLAG("state", 0, how.state,
	     "print the state in which threads are switched out; in the table, how long they waited by state"),
	STRING("pid", 'p', "LIST", how.pids, "only processes with these numbers: 1,5-9"),
	STRING("tid", 't', "LIST", how.tids, "only threads with these numbers"),
	STRING("prio", 0, "LIST", how.prios, "only threads with these priorities: 100-119,125"),
	FLAG("show-prio", 0, how.show_prio, "print priorities; OLD->NEW if that of a thread changed while it ran"),
	FLAG("pre-migrations", 'P', how.pre_migrations, "print how long threads waited before they were migrated"),
	STRING("cpu", 'C', "CPUS", how.cpus, "only switches of these CPUs, as 0-3,7"),
	STRING("time", 0, "START,STOP", how.time, "only this part of the time, in seconds as they are printed"),
	FLAG("call-graph", 'g', call_graph, "print call chains behind switches (default)"),
	FLAG("no-call-graph", 0, how.no_chains, "print no call chains"),
	NUMBER("max-stack", 0, "N", stack, "functions of a call chain that are printed (default: 5)"),
	PRINT_OPTIONS,
};

static enum pd_status print_timehist(struct input *input, const void *how, struct pd_error *error)
{
	const struct option_number *stack = &((const struct values *)input->call->values)->stack;
	struct pd_timehist_options own = *(const struct pd_timehist_options *)how;

	own.max_stack = stack->given && !stack->value ? PD_TIMEHIST_NO_STACK : (uint32_t)stack->value;
	own.symbols = symbols_of_input;
	own.self = input;
	return pd_print_timehist(input->out->text, input->file, &own, error);
}

static bool check_timehist(const struct call *call)
{
	const struct values *values = call->values;
	const struct pd_timehist_options *how = &values->how;

	if (values->stack.value > INT_MAX)
		return print_error("option --max-stack: at most %d", INT_MAX);
	return !how->summary_only || (!how->wakeups && !how->next) ||
	       print_error("-s and -%c cannot be combined", how->wakeups ? 'w' : 'n');
}

const struct command cmd_sched_timehist = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print the context switches of FILE as perf sched timehist of perf 6.1 does, byte for byte: when a thread was switched out, "
		"how long it had waited until it was woken (wait time), then for a CPU (sch delay), and how long it ran (run time). FILE has "
		"sched:sched_switch, and for delays sched:sched_waking or sched:sched_wakeup (perfdata sched record).\n"
		"\n"
		"Offsets, sizes and signs of fields are those of the formats in FILE, so recordings of any kernel and architecture can be read. "
		"Where all events have call chains (perfdata sched record -g), each line of a switch ends with its chain.",
	OPTIONS(options),
	EXAMPLES({ "perfdata sched record -- make", "record switches and wakeups" },
		 { "perfdata sched timehist perf.data", "each switch, with how long the thread waited and ran" },
		 { "perfdata sched timehist -s perf.data", "how long each thread ran" },
		 { "perfdata sched timehist -s --state perf.data",
		   "how long each thread slept, waited for disks, and for a CPU" }),
	.usual = "summary with-summary wakeups next migrations state input",
	.max_words = 1,
	HOW(how),
	.check = check_timehist,
	.print = print_timehist,
};

/* ---- latency ---- */

struct latency_values {
	struct input_options input;
	struct pd_sched_latency_options how;
	struct option_number cpu;
};
#undef VALUES
#define VALUES struct latency_values

static const struct option latency_options[] = {
	FLAG("pids", 'p', how.by_thread, "a line for each thread, not for each name"),
	NUMBER("CPU", 'C', "N", cpu,
	       "for a recording of CPU N alone: wait times begin at each wakeup and migration; all CPUs are counted, as in perf"),
	STRING("sort", 's', "KEYS", how.sort, "sort by these keys: avg (default), max, switch, runtime, pid"),
	GROUP(json_option, how.json),
	GROUP(input_group, input),
	{ 0 },
};

static enum pd_status print_latency(struct input *input, const void *how, struct pd_error *error)
{
	struct pd_sched_latency_options own = *(const struct pd_sched_latency_options *)how;

	own.one_cpu = ((const struct latency_values *)input->call->values)->cpu.given;
	return pd_print_sched_latency(input->out->text, input->file, &own, error);
}

const struct command cmd_sched_latency = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print for each name of a thread how long its threads ran, how often they were switched in after they were woken or "
		"preempted, and how long they waited for a CPU then: on average, and at most, with the time when that was. The text is that of "
		"perf sched latency of perf 6.1. FILE has sched:sched_switch, sched:sched_stat_runtime, and sched:sched_waking or "
		"sched:sched_wakeup (perfdata sched record).",
	OPTIONS(latency_options),
	EXAMPLES({ "perfdata sched record -- make", "record switches and wakeups" },
		 { "perfdata sched latency perf.data", "who waited longest for a CPU" },
		 { "perfdata sched latency -p -s max perf.data", "by thread, the longest wait first" }),
	.max_words = 1,
	HOW(how),
	.print = print_latency,
};

/* ---- map ---- */

struct map_values {
	struct input_options input;
	struct pd_sched_map_options how;
};
#undef VALUES
#define VALUES struct map_values

static const struct option map_options[] = {
	FLAG("compact", 0, how.compact, "columns only for CPUs that have switched so far"),
	STRING("cpus", 0, "CPUS", how.cpus, "only these CPUs, as 0-3,7"),
	STRING("color-cpus", 0, "CPUS", how.color_cpus, "highlight these CPUs"),
	STRING("color-pids", 0, "TIDS", how.color_pids, "highlight these threads"),
	GROUP(json_option, how.json),
	GROUP(input_group, input),
	{ 0 },
};

static enum pd_status print_map(struct input *input, const void *how, struct pd_error *error)
{
	struct pd_sched_map_options own = *(const struct pd_sched_map_options *)how;

	own.no_color = !input->out->color;
	return pd_print_sched_map(input->out->text, input->file, &own, error);
}

const struct command cmd_sched_map = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print a line for each context switch of FILE: a column for each CPU with two characters for the thread that runs there, * where "
		"it has just changed, a dot for an idle CPU; what the characters stand for is printed when they are first used. The text is that "
		"of perf sched map of perf 6.1. FILE has sched:sched_switch.",
	OPTIONS(map_options),
	EXAMPLES({ "perfdata sched record -- make", "record switches" },
		 { "perfdata sched map --compact perf.data", "who ran where, on the CPUs that had something to do" }),
	.max_words = 1,
	HOW(how),
	.print = print_map,
};
