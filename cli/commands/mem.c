/* SPDX-License-Identifier: MIT */
/* perfdata mem report: memory accesses; and c2c report: lines of the cache that CPUs share. */
#include "report/options.h"

#include <perfdata/mem.h>

static int print_samples(struct input *input)
{
	const struct report_values *values = input->call->values;
	const struct pd_mem_options options = { .size = sizeof(options),
						.symbols = symbols_of_input,
						.self = input,
						.separator = values->separator,
						.phys_addr = values->options.mem_phys_addr,
						.page_size = values->options.mem_page_size,
						.hide_unresolved = values->options.hide_unresolved };
	struct pd_error error;

	return code_of_print(pd_print_mem_samples(input->out->text, input->file, &options, &error), &error);
}

#undef VALUES
#define VALUES struct report_values

static const struct option options[] = {
	CHOICE("type", 't', "TYPE", options.mem_type, "load,store|load|store", "columns for these accesses"),
	FLAG("phys-data", 'p', options.mem_phys_addr, "add a column with physical addresses"),
	FLAG("data-page-size", 0, options.mem_page_size, "add a column with the size of pages"),
	FLAG("dump-raw-samples", 'D', raw, "print a line for each sample, with -p, -U, -x and --data-page-size"),
	STRING("field-separator", 'x', "CHAR", separator, "column separator instead of blanks"),
	GROUP_HERE(report_group),
	{ 0 },
};

static int run_mem_report(const struct call *call)
{
	const struct report_values *values = call->values;
	struct input input;

	return values->raw ? input_run(&input, &values->analysis.input, call, print_samples) : cmd_report.run(call);
}

const struct command cmd_mem_report = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print where memory accesses of FILE went, as perf mem report does: perfdata report --mem-mode -n, whose options all "
		"can be given; percentages are of weights, most often cycles. FILE has sources of data (perf mem record).",
	OPTIONS(options),
	HOW(options),
	DEFAULTS(.options.mem_mode = true, .options.show_samples = true, .options.max_stack = 127, .percent_limit = -1),
	.max_words = 1,
	.run = run_mem_report,
};

struct c2c_values {
	struct symbol_values shared;
	struct pd_c2c_options how;
	struct option_tags nodes;
	bool stdio;
};
#undef VALUES
#define VALUES struct c2c_values

static const struct option c2c_options[] = {
	CHOICE("display", 'd', "WHAT", how.display, "default|tot|lcl|rmt|peer", "loads that lines are sorted by"),
	STRING("coalesce", 'c', "FIELDS", how.coalesce, "tell accesses apart by pid, tid, iaddr (default), dso"),
	OPTION("node-info", 'N', TAGGED, NULL, nodes, "nodes of CPUs with shares; -NN with lists of CPUs"),
	FLAG("stats", 0, how.stats_only, "print sums only"),
	FLAG("show-all", 0, how.show_all, "print all lines"),
	FLAG("no-source", 0, how.no_source, "no column with source lines"),
	FLAG("full-symbols", 0, how.full_symbols, "names of functions are not cut"),
	GROUP(json_option, how.json),
	GROUP(input_group, shared.input),
	GROUP(symbol_group, shared.symbols),
	GROUP(stdio_option, stdio),
	{ 0 },
};

static enum pd_status print_c2c(struct input *input, const void *how, struct pd_error *error)
{
	const struct c2c_values *values = input->call->values;
	struct pd_c2c_options own = *(const struct pd_c2c_options *)how;

	own.node_info = values->nodes.count;
	own.symbols = symbols_of_input;
	own.self = input;
	return pd_print_c2c(input->out->text, input->file, &own, error);
}

const struct command cmd_c2c_report = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print which lines of the cache CPUs share, as perf c2c report --stdio of perf 6.1 does: sums, lines by loads of "
		"what another cache had modified (HITM), and the accesses in each. FILE has sources of data (perf c2c record).",
	OPTIONS(c2c_options),
	.max_words = 1,
	HOW(how),
	.print = print_c2c,
};
