/* SPDX-License-Identifier: MIT */
/*
 * perfdata sample: one of N samples of each event, each of which then stands for N times as much, so that sums stay
 * what they were but for chance. The library does it (perfdata/extract.h).
 */
#include "files/extract.h"

#include <string.h>

struct values {
	struct extract_values common;
	struct option_number rate;
	struct option_number seed;
};

static const struct option options[] = {
	GROUP(extract_group, common),
	NUMBER("rate", 'n', "N", rate, "keep one of N samples (same as 1/N)"),
	NUMBER("seed", 0, "SEED", seed,
	       "choose samples at random, reproducibly for a SEED (default: every N-th sample)"),
	{ 0 },
};

/* "1/10" */
static bool take_rate(const char *word, uint64_t *rate_out)
{
	return !strncmp(word, "1/", 2) && pd_number_parse(word + 2, rate_out);
}

/* One of two words is the rate, the other one the file. */
static bool take_words(uint64_t *rate, const struct values *values, const struct call *call, struct call *rest)
{
	static const char *no_words[1];

	*rest = *call;
	*rate = values->rate.value;
	for (size_t i = 0; !values->rate.given && i < call->word_count; i++) {
		if (!take_rate(call->words[i], rate))
			continue;
		rest->words = call->word_count == 2 ? &call->words[1 - i] : no_words;
		rest->word_count = call->word_count - 1;
		break;
	}
	if (!values->rate.given && rest->word_count == call->word_count)
		return print_error("no rate given; 1/10 keeps one of ten samples");
	if (!*rate || rest->word_count > 1)
		return print_error(*rate ? "unexpected argument '%s' (only one FILE is accepted)" :
					   "invalid rate '1/0'",
				   call->words[call->word_count - 1]);
	return true;
}

static int run_sample(const struct call *call)
{
	const struct values *values = call->values;
	struct pd_extract_options extraction = { .by = PD_EXTRACT_RATE,
						 .random = values->seed.given,
						 .seed = values->seed.value };
	struct call rest;

	if (!take_words(&extraction.rate, values, call, &rest))
		return CODE_USAGE;
	return extract_run(&rest, &values->common, &extraction, NULL);
}

const struct command cmd_sample = {
	.usage = "[OPTION]... 1/N -o OUTPUT [FILE]",
	.text = "Keep one of N samples of each event, and all other records. Periods of kept samples (or of the event, where "
		"samples have none) are multiplied by N, so that totals stay statistically unchanged. Counter values of "
		"groups are unchanged: they are differences between samples. Frequency events whose samples have no period "
		"cannot be scaled; this is reported.\n\n"
		"Every N-th sample in the order of FILE is kept. If the workload is periodic, use --seed to choose at random.",
	OPTIONS(options),
	EXAMPLES({ "perfdata sample 1/10 -o tenth.data", "keep every tenth sample" },
		 { "perfdata sample 1/100 --seed 1 -o small.data big.data", "keep one of 100 samples at random" }),
	.max_words = 2,
	.run = run_sample,
};
