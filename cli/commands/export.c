/* SPDX-License-Identifier: MIT */
/*
 * perfdata export: the samples of a recording as a file of another program.
 */
#include "files/export.h"

struct values {
	struct export_values all;
	struct option_number max_stack;
};

static const struct option options[] = {
	STRING("to", 't', "FORMAT", all.format, "what to write, by name"),
	STRING("output", 'o', "FILE", all.output, "write to FILE instead of standard output"),
	GROUP(input_group, all.input),
	GROUP(select_group, all.select),
	GROUP(symbol_group, all.symbols),
	STRING("binary", 0, "OBJECT", all.object,
	       "for compilers: object by name or path (default: the one with the most branches)"),
	GROUP(unwind_option, all.unwind),
	GROUP(flame_max_stack_option, max_stack),
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata export --to pprof -o cpu.pb.gz perf.data", "for go tool pprof and services that store profiles" },
	{ "perfdata export --to csv --time 10%-20% --comm make -o make.csv", "the samples of one program as a table" },
	{ "perfdata export --to jsonl perf.data | jq .comm", "one JSON object per line" },
	{ 0 },
};

static int run_export(const struct call *call)
{
	const struct values *values = call->values;
	struct export_values all = values->all;

	all.max_stack = (unsigned)values->max_stack.value;
	return export_samples(&all, call);
}

const struct command cmd_export = {
	.usage = "--to FORMAT [OPTION]... [FILE]",
	.text = "Write the samples of FILE as a file of another program: {export formats}. Functions, source lines, inlined functions and "
		"build ids are included as far as the format has fields for them.\n"
		"\n"
		"The value of a sample is in the unit of its event, as in perfdata report: nanoseconds for clocks of the CPU, off-CPU time and "
		"sched:sched_stat_*; events (cycles, page faults ...) where the recording has periods; else samples.\n"
		"\n"
		"What the format has no field for is counted on standard error. Strings of the file are written as valid UTF-8 without "
		"control characters. Two exports of a file are equal byte for byte.\n"
		"\n"
		"The output file appears when it is complete. A perf.data file is never overwritten, and a terminal never gets binary data.",
	.options = options,
	.examples = examples,
	.usual = "to output input time comms event",
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run_export,
};
