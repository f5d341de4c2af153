/* SPDX-License-Identifier: MIT */
/*
 * perfdata trace: pairs of events summed up as perf prints them.
 */
#include "files/print_file.h"

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
	return print_file(call, &((const struct trace_values *)call->values)->input, print_trace);
}

const struct command cmd_trace = {
	.usage = "-s [OPTION]... [FILE]",
	.text = "Print for each thread its system calls: how many, how many of them failed, and how long they took, in all, at least, on average "
		"and at most. The text is that of perf trace -s of perf 6.1, on standard output. FILE has raw_syscalls:sys_enter and "
		"raw_syscalls:sys_exit (perfdata trace record, perf trace record), or events of single calls, which perf does not sum up: "
		"syscalls:sys_enter_NAME and syscalls:sys_exit_NAME.\n"
		"\n"
		"Names are those of the machine that recorded: x86-64, i386, arm64, RISC-V or LoongArch.",
	.options = trace_options,
	.examples = trace_examples,
	.values_size = sizeof(struct trace_values),
	.max_words = 1,
	.run = run_trace,
};
