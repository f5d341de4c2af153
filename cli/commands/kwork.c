/* SPDX-License-Identifier: MIT */
/* perfdata kwork report, latency, timehist and top: interrupts, softirqs and work queues as perf prints them. */
#include "options/symbol_options.h"

struct values {
	struct symbol_values shared;
	struct pd_kwork_options how;
};
#undef VALUES
#define VALUES struct values

#define SHARED_OPTIONS STRING("kwork", 'k', "KINDS", how.classes, "only these: irq, softirq, workqueue"), COMMON_OPTIONS
#define COMMON_OPTIONS                                                                     \
	STRING("cpu", 'C', "CPUS", how.cpus, "only work of these CPUs, as 0-3,7"),         \
		STRING("name", 'n', "NAME", how.name, "only work of this name, as TIMER"), \
		GROUP(time_range_option, how.time), PRINT_OPTIONS

static enum pd_status print(struct input *input, const void *how, enum pd_kwork_mode mode, struct pd_error *error)
{
	struct pd_kwork_options own = *(const struct pd_kwork_options *)how;

	own.mode = mode;
	own.symbols = symbols_of_input;
	own.self = input;
	return pd_print_kwork(input->out->text, input->file, &own, error);
}

#define TEXT(what)                                                                                                                               \
	what " The text is that of perf kwork of perf 6.1, with -k after the command. FILE has the events irq:irq_handler_*, irq:softirq_* and " \
	     "workqueue:workqueue_* (perfdata kwork record)."

static const struct option report_options[] = {
	STRING("sort", 's', "KEYS", how.sort, "sort by runtime, max, count"),
	FLAG("with-summary", 'S', how.summary, "print sums after the table"),
	SHARED_OPTIONS,
};

static enum pd_status print_report(struct input *input, const void *how, struct pd_error *error)
{
	return print(input, how, PD_KWORK_REPORT, error);
}

const struct command cmd_kwork_report = {
	.usage = "[OPTION]... [FILE]",
	.text = TEXT(
		"Print how long interrupts, softirqs and works of queues took on each CPU, in all and at most, and how many there were."),
	OPTIONS(report_options),
	EXAMPLES({ "perfdata kwork record -- sleep 1", "record what the kernel does meanwhile" },
		 { "perfdata kwork report -S perf.data", "what took longest, and the sums" }),
	.max_words = 1,
	HOW(how),
	.print = print_report,
};

static const struct option latency_options[] = {
	STRING("sort", 's', "KEYS", how.sort, "sort by avg, max, count"),
	SHARED_OPTIONS,
};

static enum pd_status print_latency(struct input *input, const void *how, struct pd_error *error)
{
	return print(input, how, PD_KWORK_LATENCY, error);
}

const struct command cmd_kwork_latency = {
	.usage = "[OPTION]... [FILE]",
	.text = TEXT(
		"Print how long softirqs and works of queues waited on each CPU until they began, on average and at most."),
	OPTIONS(latency_options),
	EXAMPLES({ "perfdata kwork latency -k softirq perf.data", "which softirqs waited" }),
	.max_words = 1,
	HOW(how),
	.print = print_latency,
};

static const struct option timehist_options[] = { SHARED_OPTIONS };

static enum pd_status print_timehist(struct input *input, const void *how, struct pd_error *error)
{
	return print(input, how, PD_KWORK_TIMEHIST, error);
}

const struct command cmd_kwork_timehist = {
	.usage = "[OPTION]... [FILE]",
	.text = TEXT(
		"Print a line for each interrupt, softirq and work of a queue: when it ran, on which CPU, how long, and how long it had waited."),
	OPTIONS(timehist_options),
	EXAMPLES({ "perfdata kwork timehist -k irq -C 0 perf.data", "the interrupts of the first CPU" }),
	.max_words = 1,
	HOW(how),
	.print = print_timehist,
};

static const struct option top_options[] = {
	STRING("sort", 's', "KEYS", how.sort, "sort by rate, runtime, tid"),
	STRING("kwork", 'k', "KINDS", how.classes, "only these: irq, softirq, sched (the threads)"),
	COMMON_OPTIONS,
};

static enum pd_status print_top(struct input *input, const void *how, struct pd_error *error)
{
	return print(input, how, PD_KWORK_TOP, error);
}

const struct command cmd_kwork_top = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print the load of each CPU, and how long each thread ran, without the interrupts and softirqs in between. The text is "
		"that of perf kwork of perf 7.2, with -k after the command. FILE has the events sched:sched_switch, irq:irq_handler_* and "
		"irq:softirq_* (perfdata kwork record).",
	OPTIONS(top_options),
	EXAMPLES({ "perfdata kwork top -C 0 perf.data", "what ran on the first CPU" }),
	.max_words = 1,
	HOW(how),
	.print = print_top,
};
