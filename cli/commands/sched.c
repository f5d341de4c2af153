/* SPDX-License-Identifier: MIT */
/*
 * perfdata sched timehist, latency and map: switches and wakeups as perf prints them.
 */
#include "files/input.h"

#include <perfdata/sched.h>

#include <string.h>

struct values {
	struct input_options input;
	struct pd_timehist_options how;
	bool no_call_graph;
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
	FLAG("no-call-graph", 0, no_call_graph, "do not warn that call chains are not printed"),
	GROUP(input_group, input),
	{ 0 },
};

static const struct example examples[] = {
	{ "perf sched record -- make", "record switches and wakeups" },
	{ "perfdata sched timehist perf.data", "each switch, with how long the thread waited and ran" },
	{ "perfdata sched timehist -s perf.data", "how long each thread ran" },
	{ "perfdata sched timehist -s --state perf.data",
	  "how long each thread slept, waited for disks, and for a CPU" },
	{ 0 },
};

static enum pd_status print_timehist(struct input *input, const void *of_call, struct pd_error *error)
{
	const struct values *values = of_call;
	struct pd_timehist_options how = values->how;
	enum pd_status status;

	how.size = sizeof(how);
	status = pd_print_timehist(input->out->text, input->file, &how, error);
	if (status >= 0 && output_flush(input->out) && how.has_chains && !values->no_call_graph && !how.summary_only &&
	    !input->quiet)
		print_error("%s: samples have call chains, which are not printed here; see perfdata script",
			    input->name);
	return status;
}

static int run_timehist(const struct call *call)
{
	const struct values *values = call->values;

	if (values->how.summary_only && (values->how.wakeups || values->how.next))
		return print_failure(CODE_USAGE, "-s and -%c cannot be combined", values->how.wakeups ? 'w' : 'n');
	return input_print(call, &values->input, print_timehist);
}

const struct command cmd_sched_timehist = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print the context switches of FILE as perf sched timehist of perf 6.1 does, byte for byte: when a thread was switched out, "
		"how long it had waited until it was woken (wait time), then for a CPU (sch delay), and how long it ran (run time). FILE has "
		"sched:sched_switch, and for delays sched:sched_waking or sched:sched_wakeup (perf sched record).\n"
		"\n"
		"Offsets, sizes and signs of fields are those of the formats in FILE, so recordings of any kernel and architecture can be read. "
		"Call chains are not printed: with --no-call-graph, perf prints none either.",
	OWN_TABLES,
	.usual = "summary with-summary wakeups next migrations state input",
	.max_words = 1,
	.run = run_timehist,
};

/* ---- latency ---- */

struct latency_values {
	struct input_options input;
	struct pd_sched_latency_options how;
};
#undef VALUES
#define VALUES struct latency_values

static const struct option latency_options[] = {
	FLAG("pids", 'p', how.by_thread, "a line for each thread, not for each name"),
	STRING("sort", 's', "KEYS", how.sort, "sort by these keys: avg (default), max, switch, runtime, pid"),
	GROUP(input_group, input),
	{ 0 },
};

static const struct example latency_examples[] = {
	{ "perf sched record -- make", "record switches and wakeups" },
	{ "perfdata sched latency perf.data", "who waited longest for a CPU" },
	{ "perfdata sched latency -p -s max perf.data", "by thread, the longest wait first" },
	{ 0 },
};

static enum pd_status print_latency(struct input *input, const void *of_call, struct pd_error *error)
{
	struct pd_sched_latency_options how = ((const struct latency_values *)of_call)->how;

	how.size = sizeof(how);
	return pd_print_sched_latency(input->out->text, input->file, &how, error);
}

static int run_latency(const struct call *call)
{
	return input_print(call, &((const struct latency_values *)call->values)->input, print_latency);
}

const struct command cmd_sched_latency = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print for each name of a thread how long its threads ran, how often they were switched in after they were woken or "
		"preempted, and how long they waited for a CPU then: on average, and at most, with the time when that was. The text is that of "
		"perf sched latency of perf 6.1. FILE has sched:sched_switch, sched:sched_stat_runtime, and sched:sched_waking or "
		"sched:sched_wakeup (perf sched record).",
	TABLES(latency_options, latency_examples, struct latency_values),
	.max_words = 1,
	.run = run_latency,
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
	GROUP(input_group, input),
	{ 0 },
};

static const struct example map_examples[] = {
	{ "perf sched record -- make", "record switches" },
	{ "perfdata sched map --compact perf.data", "who ran where, on the CPUs that had something to do" },
	{ 0 },
};

static enum pd_status print_map(struct input *input, const void *of_call, struct pd_error *error)
{
	struct pd_sched_map_options how = ((const struct map_values *)of_call)->how;

	how.size = sizeof(how);
	if (!input->out->color)
		how.color_cpus = how.color_pids = NULL;
	return pd_print_sched_map(input->out->text, input->file, &how, error);
}

static int run_map(const struct call *call)
{
	return input_print(call, &((const struct map_values *)call->values)->input, print_map);
}

const struct command cmd_sched_map = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print a line for each context switch of FILE: a column for each CPU with two characters for the thread that runs there, * where "
		"it has just changed, a dot for an idle CPU; what the characters stand for is printed when they are first used. The text is that "
		"of perf sched map of perf 6.1. FILE has sched:sched_switch.",
	TABLES(map_options, map_examples, struct map_values),
	.max_words = 1,
	.run = run_map,
};
