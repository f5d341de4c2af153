/* SPDX-License-Identifier: MIT */
/* perfdata trace and waiting: pairs of events, as perf prints them where it does. */
#include "options/symbol_options.h"

/* ---- trace ---- */

struct trace_values {
	struct input_options input;
	struct pd_syscalls_options how;
};
#undef VALUES
#define VALUES struct trace_values

static const struct option trace_options[] = {
	SET("summary", 's', how.text, PD_SYSCALLS_SUMMARY, "print a table of system calls for each thread only"),
	SET("with-summary", 'S', how.text, PD_SYSCALLS_BOTH, "print these tables after the calls"),
	FLAG("errno-summary", 0, how.errors, "in tables: also how often each error was returned"),
	STRING("event", 'e', "LIST", how.calls, "only these system calls: open*,close; after a '!' all others"),
	OPTION("duration", 0, MILLISECONDS, "MS", how.min_duration_ns,
	       "only calls that took so many milliseconds (0.5) or more"),
	FLAG("failure", 0, how.failed_only, "only calls that failed"),
	FLAG("failure-only", 0, how.failed_only, "the same"),
	STRING("pid", 'p', "LIST", how.pids, "only processes with these numbers: 1,5-9"),
	STRING("tid", 't', "LIST", how.tids, "only threads with these numbers"),
	STRING("filter-pids", 0, "LIST", how.without_pids, "no processes with these numbers"),
	INTEGER("max-events", 0, "N", how.max_lines, "print the first N calls"),
	FLAG("time", 'T', how.full_time, "print times as recorded, not those since the first call"),
	FLAG("no-comm", 0, how.without_names, "print the numbers of threads without their names"),
	GROUP(json_option, how.json),
	GROUP(input_group, input),
	{ 0 },
};

static enum pd_status print_trace(struct input *input, const void *how, struct pd_error *error)
{
	return pd_print_syscalls(input->out->text, input->file, how, error);
}

const struct command cmd_trace = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print each system call with its arguments, what it returned and how long it took; with -s for each thread how often it called "
		"what, and how long that took. The text is that of perf trace -i of perf 6.1, on standard output. FILE has raw_syscalls:sys_enter "
		"and raw_syscalls:sys_exit (perfdata trace record, perf trace record), or events of single calls, which perf does not read: "
		"syscalls:sys_enter_NAME and syscalls:sys_exit_NAME.\n"
		"\n"
		"Names are those of the machine that recorded: x86-64, i386, arm64, RISC-V or LoongArch. What arguments point to, such as the name "
		"of a file, is not recorded.",
	OPTIONS(trace_options),
	EXAMPLES({ "perfdata trace record -- make", "record the system calls of a command" },
		 { "perfdata trace perf.data", "each call, one after another" },
		 { "perfdata trace --duration 10 -e '!futex' perf.data", "calls that took 10 ms or more" },
		 { "perfdata trace -s perf.data", "which calls took how long, by thread" }),
	.max_words = 1,
	HOW(how),
	.print = print_trace,
};

/* ---- waiting ---- */

struct waiting_values {
	struct symbol_values shared;
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
	PRINT_OPTIONS,
};

static enum pd_status print_waiting(struct input *input, const void *how, struct pd_error *error)
{
	struct pd_why_options own = *(const struct pd_why_options *)how;

	own.symbols = symbols_of_input;
	own.self = input;
	return pd_print_why(input->out->text, input->file, &own, error);
}

const struct command cmd_waiting = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print the longest waits of threads in FILE, each with the thread that ended it, what that one had waited for meanwhile, who had woken "
		"that one, and so on, back to an interrupt (a timer or device) or to a thread that ran all the time. Then what all waits were "
		"spent on, by thread: the critical path; who preempted whom; how long waits were; how many threads waited for each CPU over time, and when "
		"most waited at once.\n"
		"\n"
		"FILE has sched:sched_switch and wakeups (perfdata waiting record). All waits by call chain are shown by --waiting of flame, report, folded "
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
