/* SPDX-License-Identifier: MIT */
/* perfdata data convert: as perf has it, by one of the formats of perfdata export. */
#include "files/export.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct values {
	struct export_values all;
	const char *json, *ctf;
};

static const struct option options[] = {
	STRING("to-json", 0, "FILE", json, "write the samples as JSON to FILE"),
	STRING("to-ctf", 0, "DIR", ctf, "write the samples as a trace of CTF 1.8 to the folder DIR"),
	FLAG("all", 0, all.how.tasks_and_maps,
	     "CTF: with records of threads and mappings; JSON has no other records than samples"),
	FLAG("tod", 0, all.how.wall_clock,
	     "CTF: with times of the wall clock, if they were recorded; JSON has the times of the file"),
	GROUP(input_group, all.analysis.input),
	GROUP(symbol_group, all.analysis.symbols),
	{ 0 },
};

/* As perf, which writes over nothing unless it is forced to. A folder is not written over at all. */
static bool may_write(const struct values *values)
{
	if (!values->json || values->all.analysis.input.force || access(values->json, F_OK) != 0)
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
	if (!values->json == !values->ctf)
		return print_failure(CODE_USAGE, "%s; use --to-json FILE or --to-ctf DIR",
				     values->json ? "only one form is written at a time" : "nowhere to write");
	if (!may_write(values))
		return CODE_OUTPUT;
	rest.words++;
	rest.word_count--;
	all.how.format = values->json ? "perf-json" : "ctf";
	all.output = values->json ? values->json : values->ctf;
	return export_samples(&all, &rest);
}

const struct command cmd_data = {
	.usage = "convert --to-json FILE | --to-ctf DIR [OPTION]... [FILE]",
	.text = "Convert the samples of FILE as perf data convert does. The JSON is that of perf 6.1, byte for byte, except where "
		"that is not valid JSON. An existing FILE is overwritten only with --force, and DIR may be there only if it is empty.\n"
		"\n"
		"perfdata export has more formats and filters.",
	OPTIONS(options),
	EXAMPLES({ "perfdata data convert --to-json samples.json -i perf.data", "like perf data convert" },
		 { "perfdata data convert --to-ctf trace --all -i perf.data",
		   "a folder for babeltrace2 and Trace Compass" },
		 { "perfdata export --to perf-json -o samples.json --comm make perf.data", "the same with filters" }),
	.usual = "to-json to-ctf all tod input force",
	.max_words = 2,
	.run = run_data,
};
