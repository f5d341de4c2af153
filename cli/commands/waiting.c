/* SPDX-License-Identifier: MIT */
/* perfdata waiting: why threads waited. */
#include "options/symbol_options.h"

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
