/* SPDX-License-Identifier: MIT */
/*
 * perfdata cut: the part of a recording that is of some time, with what is needed to understand it. The library does it
 * (perfdata/extract.h).
 */
#include "files/extract.h"
#include "options/select_options.h"

struct values {
	struct extract_values common;
	const char *time;
};

static const struct option options[] = {
	GROUP(extract_group, common),
	STRING("time", 0, "RANGE", time, "time range to keep: START,STOP or 10%/2 or 0%-10% or 12:00:01,12:00:05"),
	{ 0 },
};

static int run_cut(const struct call *call)
{
	const struct values *values = call->values;
	const struct pd_select_options selection = { .time = values->time };
	struct pd_extract_options extraction = { .by = PD_EXTRACT_TIME };
	int code;

	if (!values->time)
		return print_failure(CODE_USAGE, "no time range given; use --time RANGE");
	if (!select_take(&extraction.select, &selection))
		return CODE_USAGE;
	code = extract_run(call, &values->common, &extraction, NULL);
	pd_select_free(extraction.select);
	return code;
}

const struct command cmd_cut = {
	.usage = "[OPTION]... --time RANGE -o OUTPUT [FILE]",
	.text = "Extract a time range of FILE: its samples, lost, throttle and context-switch records, and everything needed "
		"to interpret them: thread names, mappings, forks and kernel text changes up to the end of the range, events "
		"and header features. Data without a timestamp, such as AUX data, is kept whole.\n\n"
		"START,STOP includes both ends. Parts such as 10%/2 or 10%-20% exclude the end, so adjacent parts never "
		"contain the same sample twice. docs/selecting.md lists all forms of RANGE.",
	OPTIONS(options),
	EXAMPLES({ "perfdata cut --time 10%/2 -o part.data", "keep the second tenth" },
		 { "perfdata cut --time 1234.5,1236 -o part.data", "keep 1.5 seconds, both ends included" },
		 { "perfdata cut --time 1234.5, -o - | perf report -i -", "everything from that time on, as a pipe" },
		 { "perfdata cut --time 12:00:01,12:00:05 -o part.data", "by wall-clock time" }),
	.max_words = 1,
	.run = run_cut,
};
