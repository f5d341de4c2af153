/* SPDX-License-Identifier: MIT */
/*
 * perfdata head and tail: the first or the last samples by time, with what is needed to understand them. The library does
 * it (perfdata/extract.h).
 */
#include "files/extract.h"

#include <math.h>
#include <stdlib.h>

struct values {
	struct extract_values common;
	struct option_number count;
	const char *seconds;
};

static const struct option options[] = {
	GROUP(extract_group, common),
	NUMBER("count", 'n', "N", count, "number of samples (default: 10)"),
	STRING("seconds", 's', "S", seconds, "keep the samples of S seconds (may be fractional) instead of N samples"),
	{ 0 },
};

enum {
	DEFAULT_COUNT = 10
};

#define NS_PER_S 1000000000

static bool take_options(struct pd_extract_options *extraction, const struct values *values)
{
	char *rest;
	double seconds;

	extraction->sample_count = values->count.given ? values->count.value : DEFAULT_COUNT;
	if (values->count.given && (values->seconds || !values->count.value))
		return print_error(values->seconds ? "--count and --seconds cannot be combined" :
						     "option --count: must be at least 1");
	if (!values->seconds)
		return true;
	seconds = strtod(values->seconds, &rest);
	if (*rest || rest == values->seconds || !isfinite(seconds) || seconds <= 0 || seconds > 1e9)
		return print_error("option --seconds: '%s' is not a number of seconds", values->seconds);
	extraction->span_ns = (uint64_t)(seconds * NS_PER_S);
	extraction->span_ns += !extraction->span_ns;
	return true;
}

static int extract(const struct call *call, enum pd_extract_by by)
{
	const struct values *values = call->values;
	struct pd_extract_options extraction = { .by = by };

	if (!take_options(&extraction, values))
		return CODE_USAGE;
	return extract_run(call, &values->common, &extraction, NULL);
}

static int run_head(const struct call *call)
{
	return extract(call, PD_EXTRACT_FIRST);
}

static int run_tail(const struct call *call)
{
	return extract(call, PD_EXTRACT_LAST);
}

const struct command cmd_head = {
	.usage = "[OPTION]... -o OUTPUT [FILE]",
	.text = "Write the first samples of FILE by time, the other records up to that time, and everything needed to "
		"interpret them. Records keep the order of FILE.\n\n"
		"A pipe is read only until there are enough samples. The output is then sorted by time, and lacks what "
		"recorders write at the end, such as build ids.",
	OPTIONS(options),
	EXAMPLES({ "perfdata head -n 1000 -o first.data", "the first thousand samples of perf.data" },
		 { "perfdata head --seconds 2.5 -o begin.data", "the first two and a half seconds" },
		 { "perf record -o - -a -- sleep 60 | perfdata head -n 100 -o few.data", "stop after 100 samples" }),
	.max_words = 1,
	.run = run_head,
};

const struct command cmd_tail = {
	.usage = "[OPTION]... -o OUTPUT [FILE]",
	.text = "Write the last samples of FILE by time, the other records from that time on, and everything needed to "
		"interpret them, which may be older. Records keep the order of FILE.\n\n"
		"FILE is read twice and takes 16 bytes of memory per sample kept. A pipe is buffered in a temporary file.",
	OPTIONS(options),
	EXAMPLES({ "perfdata tail -n 1000 -o last.data", "the last thousand samples of perf.data" },
		 { "perfdata tail --seconds 1 -o end.data", "the last second" }),
	.max_words = 1,
	.run = run_tail,
};
