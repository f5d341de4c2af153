/* SPDX-License-Identifier: MIT */
/*
 * perfdata trace and waiting: pairs of events summed up, as perf prints them where it does.
 */
#include "files/input.h"

#include <stdlib.h>

/* ---- trace ---- */

struct trace_values {
	struct input_options input;
	struct pd_syscalls_options how;
	bool summary;
};
#undef VALUES
#define VALUES struct trace_values

static const struct option trace_options[] = {
	FLAG("summary", 's', summary, "a table of system calls for each thread; there is nothing else yet"),
	FLAG("errno-summary", 0, how.errors, "also how often each error was returned"),
	GROUP(input_group, input),
	{ 0 },
};

static const struct example trace_examples[] = {
	{ "perfdata trace record -- make", "record the system calls of a command" },
	{ "perfdata trace -s perf.data", "which calls took how long, by thread" },
	{ 0 },
};

static enum pd_status print_trace(struct input *input, const void *of_call, struct pd_error *error)
{
	struct pd_syscalls_options how = ((const struct trace_values *)of_call)->how;

	how.size = sizeof(how);
	return pd_print_syscalls(input->out->text, input->file, &how, error);
}

static int run_trace(const struct call *call)
{
	return input_print(call, &((const struct trace_values *)call->values)->input, print_trace);
}

const struct command cmd_trace = {
	.usage = "-s [OPTION]... [FILE]",
	.text = "Print for each thread its system calls: how many, how many of them failed, and how long they took, in all, at least, on average "
		"and at most. The text is that of perf trace -s of perf 6.1, on standard output. FILE has raw_syscalls:sys_enter and "
		"raw_syscalls:sys_exit (perfdata trace record, perf trace record), or events of single calls, which perf does not sum up: "
		"syscalls:sys_enter_NAME and syscalls:sys_exit_NAME.\n"
		"\n"
		"Names are those of the machine that recorded: x86-64, i386, arm64, RISC-V or LoongArch.",
	TABLES(trace_options, trace_examples, struct trace_values),
	.max_words = 1,
	.run = run_trace,
};

/* ---- waiting ---- */

struct waiting_values {
	struct input_options input;
	struct option_number tid, count;
	const char *from, *to;
	bool json;
};
#undef VALUES
#define VALUES struct waiting_values

static const struct option waiting_options[] = {
	NUMBER("why", 0, "TID", tid, "only waits of this thread"),
	STRING("from", 0, "TIME", from,
	       "only waits that end at this time (in seconds, as perfdata script prints it) or later"),
	STRING("to", 0, "TIME", to, "only waits that begin at this time or before"),
	NUMBER("count", 'n', "N", count, "show the N longest waits (default: 5)"),
	GROUP(json_option, json),
	GROUP(input_group, input),
	{ 0 },
};

static const struct example waiting_examples[] = {
	{ "perfdata waiting record -- make", "record switches and wakeups, with call chains" },
	{ "perfdata waiting perf.data", "the longest waits, and what all were spent on" },
	{ "perfdata waiting --why 4711 -n 1 perf.data",
	  "the longest wait of a thread, back to the interrupt that ended it" },
	{ "perfdata flame --waiting -o waiting.html perf.data", "all waits by stack, as a flame graph" },
	{ 0 },
};

static bool parse_time(const char *name, const char *text, uint64_t *time_ns)
{
	char *end;
	double seconds = text ? strtod(text, &end) : 0;

	if (text && (end == text || *end || !(seconds >= 0 && seconds < 1e10)))
		return print_error("option --%s: '%s' is not a time in seconds", name, text);
	*time_ns = (uint64_t)(seconds * 1e9);
	return true;
}

static enum pd_status print_waiting(struct input *input, const void *of_call, struct pd_error *error)
{
	const struct waiting_values *values = of_call;
	struct pd_why_options how = { .size = sizeof(how),
				      .tid = (uint32_t)values->tid.value,
				      .count = (size_t)values->count.value,
				      .json = values->json };

	if (!parse_time("from", values->from, &how.from_ns) || !parse_time("to", values->to, &how.to_ns))
		return PD_ERROR_OUTPUT;
	return pd_print_why(input->out->text, input->file, &how, error);
}

static int run_waiting(const struct call *call)
{
	const struct waiting_values *values = call->values;
	uint64_t time_ns;

	if (!parse_time("from", values->from, &time_ns) || !parse_time("to", values->to, &time_ns))
		return CODE_USAGE;
	return input_print(call, &values->input, print_waiting);
}

const struct command cmd_waiting = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print the longest waits of threads in FILE, each with the thread that ended it, what that one had waited for meanwhile, who had woken "
		"that one, and so on, back to an interrupt (a timer or device) or to a thread that ran all the time. Then what all waits were "
		"spent on, by thread: the critical path; and who preempted whom.\n"
		"\n"
		"FILE has sched:sched_switch and wakeups (perfdata waiting record). Stacks of waits are shown by --waiting of flame, report, folded "
		"and others.",
	TABLES(waiting_options, waiting_examples, struct waiting_values),
	.max_words = 1,
	.run = run_waiting,
};
