/* SPDX-License-Identifier: MIT */
/*
 * perfdata filter: a recording with the samples that were asked for, and what is needed to understand them. The library
 * does it (perfdata/extract.h).
 */
#include "files/extract.h"
#include "options/select_options.h"

struct values {
	struct extract_values common;
	struct pd_select_options select;
	struct symbol_options symbols;
};

static const struct option options[] = {
	GROUP(extract_group, common),
	GROUP(select_group_d, select),
	FLAG("records", 0, common.how.records, "apply --where to every record, not only to samples"),
	FLAG("prune", 0, common.how.prune, "drop records of processes without a kept sample"),
	GROUP(symbol_group, symbols),
	{ 0 },
};

static int run_filter(const struct call *call)
{
	const struct values *values = call->values;
	struct pd_extract_options extraction = values->common.how;
	int code = CODE_USAGE;

	if (!select_take(&extraction.select, &values->select))
		return CODE_USAGE;
	if (extraction.records && !pd_select_where(extraction.select))
		print_error("--records requires --where");
	else
		code = extract_run(call, &values->common, &extraction, &values->symbols);
	pd_select_free(extraction.select);
	return code;
}

const struct command cmd_filter = {
	.usage = "[OPTION]... -o OUTPUT [FILE]",
	.text = "Keep only the samples that match the filters, which are the same as those of report and script. With several "
		"filters, samples have to match all. docs/selecting.md describes the conditions of --where.\n\n"
		"All other records are kept, because samples depend on them; --prune keeps only those of processes that have "
		"samples, and of their ancestors. A condition on the record type, or on a field that samples do not have, is "
		"applied to every record, as with --records.\n\n"
		"A pipe is filtered as it is read, with little memory. Filters by thread name, object, function or part of "
		"the time, and --prune, need the whole input first: it is buffered in a temporary file.",
	OPTIONS(options),
	DEFAULTS(.common.how.by = PD_EXTRACT_MATCHING),
	EXAMPLES({ "perfdata filter --comm gcc --prune -o gcc.data", "keep one program only" },
		 { "perfdata filter --where 'period > 1000 && cpu in (0, 2)' -o part.data", "filter by sample fields" },
		 { "perfdata filter --where 'sched:sched_switch.prev_pid == 5' -o 5.data",
		   "filter by a tracepoint field" },
		 { "perfdata filter --where 'type != SWITCH' -o small.data", "drop a record type" },
		 { "perf record -o - -a -- sleep 5 | perfdata filter --pid 42 -o 42.data", "filter while recording" }),
	.max_words = 1,
	.run = run_filter,
};
