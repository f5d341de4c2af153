/* SPDX-License-Identifier: MIT */
/* perfdata lock contention, report and info: waiting for locks of the kernel as perf prints it. */
#include "options/symbol_options.h"

#include <limits.h>

struct values {
	struct symbol_values shared;
	struct pd_lock_options how;
	struct option_number skip, stack, entries;
};
#undef VALUES
#define VALUES struct values

#define SHARED_OPTIONS GROUP(time_range_option, how.time), PRINT_OPTIONS

static const struct option contention_options[] = {
	FLAG("threads", 't', how.by_thread, "a row for each thread, not for each caller"),
	STRING("key", 'k', "COLUMN", how.sort,
	       "sort by contended, wait_total (default), wait_max, wait_min or avg_wait"),
	STRING("field", 'F', "COLUMNS", how.fields, "show these columns only"),
	NUMBER("entries", 'E', "N", entries, "show the first N rows"),
	FLAG("stacks", 0, how.stacks, "show the call chain of each row, as perf does with -v"),
	NUMBER("max-stack", 0, "N", stack, "entries of call chains that are looked at (default: 8)"),
	NUMBER("stack-skip", 0, "N", skip, "entries of call chains that are never callers (default: 3)"),
	SHARED_OPTIONS,
};

typedef enum pd_status print_locks(struct pd_text *text, struct pd_file *file, const struct pd_lock_options *how,
				   struct pd_error *error);

static enum pd_status print(struct input *input, const void *how, print_locks *locks, struct pd_error *error)
{
	const struct values *values = input->call->values;
	struct pd_lock_options own = *(const struct pd_lock_options *)how;

	own.skip = values->skip.given ? (unsigned)values->skip.value + 1 : 0;
	own.max_stack = values->stack.given && !values->stack.value ? PD_LOCK_NO_STACK : (unsigned)values->stack.value;
	/* as perf, which shows a row before it counts */
	own.entries = values->entries.given && !values->entries.value ? 1 : values->entries.value;
	own.symbols = symbols_of_input;
	own.self = input;
	own.no_header = input->quiet;
	own.broken = input->verbose;
	return locks(input->out->text, input->file, &own, error);
}

static bool check_contention(const struct call *call)
{
	const struct values *values = call->values;

	if (values->skip.value > INT_MAX || values->stack.value > INT_MAX)
		return print_error("option --%s: at most %d", values->skip.value > INT_MAX ? "stack-skip" : "max-stack",
				   INT_MAX);
	return true;
}

static enum pd_status print_contention(struct input *input, const void *how, struct pd_error *error)
{
	return print(input, how, pd_print_lock_contention, error);
}

const struct command cmd_lock_contention = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print who waited for locks of the kernel: how often, how long in all, at most and on average, the type of the lock, and the caller, "
		"which is the first function that does not belong to locks. The text is that of perf lock contention of perf 6.1, on standard "
		"output. FILE has lock:contention_begin and lock:contention_end with call chains (perfdata lock record).",
	OPTIONS(contention_options),
	EXAMPLES({ "perfdata lock record -- make", "record waiting for locks" },
		 { "perfdata lock contention perf.data", "the callers that waited longest" },
		 { "perfdata lock contention -t -k wait_max -E 5 perf.data",
		   "the threads with the longest single waits" }),
	.max_words = 1,
	HOW(how),
	.check = check_contention,
	.print = print_contention,
};

/* ---- report ---- */

static const struct option report_options[] = {
	FLAG("threads", 't', how.by_thread, "a row for each thread, not for each lock"),
	FLAG("combine-locks", 'c', how.combine, "one row for all locks of the same name"),
	STRING("key", 'k', "COLUMN", how.sort,
	       "sort by acquired (default), contended, avg_wait, wait_total, wait_max or wait_min"),
	STRING("field", 'F', "COLUMNS", how.fields, "show these columns only"),
	NUMBER("entries", 'E', "N", entries, "show the first N rows"),
	SHARED_OPTIONS,
};

static enum pd_status print_report(struct input *input, const void *how, struct pd_error *error)
{
	return print(input, how, pd_print_lock_report, error);
}

const struct command cmd_lock_report = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print each lock of the kernel: how often it was acquired and waited for, and how long. The text is that of perf lock report of perf "
		"6.1, on standard output. FILE has lock:lock_acquire, lock_acquired, lock_contended and lock_release, which only kernels with "
		"LOCKDEP have, or lock:contention_begin and lock:contention_end: then locks are called as who waited first for them.",
	OPTIONS(report_options),
	EXAMPLES({ "perfdata lock report perf.data", "the locks that were taken most often" },
		 { "perfdata lock report -c -k wait_total perf.data", "by name, those that were waited for longest" }),
	.max_words = 1,
	HOW(how),
	.print = print_report,
};

/* ---- info ---- */

static const struct option info_options[] = {
	FLAG("map", 'm', how.map, "list locks with their addresses"),
	FLAG("threads", 't', how.by_thread, "list threads (default), also with --map"),
	SHARED_OPTIONS,
};

static enum pd_status print_info(struct input *input, const void *how, struct pd_error *error)
{
	return print(input, how, pd_print_lock_info, error);
}

const struct command cmd_lock_info = {
	.usage = "[OPTION]... [FILE]",
	.text = "List the threads that used locks, or the locks with their addresses, as perf lock info of perf 6.1 does.",
	OPTIONS(info_options),
	EXAMPLES({ "perfdata lock info -m perf.data", "the locks by name" }),
	.max_words = 1,
	HOW(how),
	.print = print_info,
};
