/* SPDX-License-Identifier: MIT */
/*
 * perfdata trace and waiting: pairs of events summed up, as perf prints them where it does.
 */
#include "files/input.h"

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

static enum pd_status print_trace(struct input *input, const void *how, struct pd_error *error)
{
	return pd_print_syscalls(input->out->text, input->file, how, error);
}

const struct command cmd_trace = {
	.usage = "-s [OPTION]... [FILE]",
	.text = "Print for each thread its system calls: how many, how many of them failed, and how long they took, in all, at least, on average "
		"and at most. The text is that of perf trace -s of perf 6.1, on standard output. FILE has raw_syscalls:sys_enter and "
		"raw_syscalls:sys_exit (perfdata trace record, perf trace record), or events of single calls, which perf does not sum up: "
		"syscalls:sys_enter_NAME and syscalls:sys_exit_NAME.\n"
		"\n"
		"Names are those of the machine that recorded: x86-64, i386, arm64, RISC-V or LoongArch.",
	OPTIONS(trace_options),
	EXAMPLES({ "perfdata trace record -- make", "record the system calls of a command" },
		 { "perfdata trace -s perf.data", "which calls took how long, by thread" }),
	.max_words = 1,
	HOW(how),
	.print = print_trace,
};

/* ---- waiting ---- */

struct waiting_values {
	struct input_options input;
	struct pd_why_options how;
};
#undef VALUES
#define VALUES struct waiting_values

static const struct option waiting_options[] = {
	INTEGER("why", 0, "TID", how.tid, "only waits of this thread"),
	OPTION("from", 0, SECONDS, "TIME", how.from_ns,
	       "only waits that end at this time (in seconds, as perfdata script prints it) or later"),
	OPTION("to", 0, SECONDS, "TIME", how.to_ns, "only waits that begin at this time or before"),
	INTEGER("count", 'n', "N", how.count, "show the N longest waits (default: 5)"),
	GROUP(json_option, how.json),
	GROUP(input_group, input),
	{ 0 },
};

static enum pd_status print_waiting(struct input *input, const void *how, struct pd_error *error)
{
	return pd_print_why(input->out->text, input->file, how, error);
}

const struct command cmd_waiting = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print the longest waits of threads in FILE, each with the thread that ended it, what that one had waited for meanwhile, who had woken "
		"that one, and so on, back to an interrupt (a timer or device) or to a thread that ran all the time. Then what all waits were "
		"spent on, by thread: the critical path; and who preempted whom.\n"
		"\n"
		"FILE has sched:sched_switch and wakeups (perfdata waiting record). Stacks of waits are shown by --waiting of flame, report, folded "
		"and others.",
	OPTIONS(waiting_options),
	EXAMPLES({ "perfdata waiting record -- make", "record switches and wakeups, with call chains" },
		 { "perfdata waiting perf.data", "the longest waits, and what all were spent on" },
		 { "perfdata waiting --why 4711 -n 1 perf.data",
		   "the longest wait of a thread, back to the interrupt that ended it" },
		 { "perfdata flame --waiting -o waiting.html perf.data", "all waits by stack, as a flame graph" }),
	.max_words = 1,
	HOW(how),
	.print = print_waiting,
};
