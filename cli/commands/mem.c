/* SPDX-License-Identifier: MIT */
/*
 * perfdata mem report: memory accesses, as a table or one by one; and c2c report: who shares lines of the cache.
 */
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
	EXAMPLES({ "perfdata mem report perf.data", "accesses by cost" },
		 { "perfdata mem report -s mem,snoop,tlb perf.data", "where data came from" },
		 { "perfdata mem report -D -p perf.data", "each access, with physical addresses" }),
	.usual = "type phys-data dump-raw-samples sort fields input",
	.max_words = 1,
	.run = run_mem_report,
};
