/* SPDX-License-Identifier: MIT */
/*
 * perfdata data convert: as perf has it, by one of the formats of perfdata export.
 */
#include "files/export.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct values {
	struct export_values all;
	const char *json;
	bool everything, time_of_day;
};

static const struct option options[] = {
	STRING("to-json", 0, "FILE", json, "write the samples as JSON to FILE"),
	FLAG("all", 0, everything, "ignored, for compatibility with perf: JSON has no other records than samples"),
	FLAG("tod", 0, time_of_day, "ignored, for compatibility with perf: JSON has the times of the file"),
	GROUP(input_group, all.input),
	GROUP(symbol_group, all.symbols),
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata data convert --to-json samples.json -i perf.data", "like perf data convert" },
	{ "perfdata export --to perf-json -o samples.json --comm make perf.data", "the same with filters" },
	{ 0 },
};

/* As perf, which writes over nothing unless it is forced to. */
static bool may_write(const struct values *values)
{
	if (values->all.input.force || access(values->json, F_OK) != 0)
		return true;
	return print_error("%s exists; --force overwrites it", values->json);
}

static int run_data(const struct call *call)
{
	const struct values *values = call->values;
	struct export_values all = values->all;
	struct call rest = *call;

	if (!call->word_count || strcmp(call->words[0], "convert") != 0)
		return print_failure(CODE_USAGE, "perfdata data: 'convert' is all there is");
	if (!values->json)
		return print_failure(CODE_USAGE, "nowhere to write; use --to-json FILE");
	if (!may_write(values))
		return CODE_OUTPUT;
	rest.words++;
	rest.word_count--;
	all.format = "perf-json";
	all.output = values->json;
	return export_samples(&all, &rest);
}

const struct command cmd_data = {
	.usage = "convert --to-json FILE [OPTION]... [FILE]",
	.text = "Convert the samples of FILE as perf data convert does. The JSON is that of perf 6.1, byte for byte, except where "
		"that is not valid JSON. An existing FILE is overwritten only with --force.\n"
		"\n"
		"perfdata export has more formats and filters.",
	OWN_TABLES,
	.usual = "to-json input force",
	.max_words = 2,
	.run = run_data,
};
