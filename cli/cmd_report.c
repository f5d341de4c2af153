/* SPDX-License-Identifier: MIT */
/*
 * perfdata report: the views of perf report that need no symbols, in its words.
 */
#include "cli.h"
#include "header_text.h"
#include "input.h"
#include "stats.h"

struct values {
	struct input_options input;
	bool header_only;
	bool show_info;
	bool stats;
	bool stdio;
};

static const struct option options[] = {
	INPUT_OPTIONS(struct values, input),
	{ "header-only", 0, OPTION_FLAG, NULL, offsetof(struct values, header_only),
	  "print the header: host, command, events" },
	{ "show-info", 'I', OPTION_FLAG, NULL, offsetof(struct values, show_info),
	  "with --header-only: topologies, caches and memory too" },
	{ "stats", 0, OPTION_FLAG, NULL, offsetof(struct values, stats),
	  "count the records by type and the samples by event" },
	{ "stdio", 0, OPTION_FLAG, NULL, offsetof(struct values, stdio),
	  "nothing: there is no other interface" },
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata report --header-only -I -i perf.data", "say all that the header has" },
	{ "perfdata report --stats -i perf.data", "count the records by type" },
	{ 0 },
};

static bool count(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	(void)stream;
	stats_count(self, record);
	return true;
}

static int print_stats(struct input *input)
{
	struct stats stats;
	int code;

	stats_init(&stats, input->file);
	code = input_walk(input, count, &stats);
	stats_print(&stats, input->out->text);
	stats_fini(&stats);
	return code;
}

static int run(const struct call *call)
{
	const struct values *values = call->values;
	struct input input;
	int code;

	if (!values->header_only && !values->stats) {
		complain("report has two views in this version: --header-only and --stats");
		return CODE_USAGE;
	}
	code = input_open(&input, &values->input, call, NULL, NULL);
	if (code != CODE_FINE)
		return code;
	/* As perf: the header alone is printed if both are asked for. */
	if (values->header_only)
		code = header_text(input.file, values->show_info, call->out->text);
	else
		code = print_stats(&input);
	return input_close(&input, code);
}

const struct command cmd_report = {
	.usage = "--header-only [-I] | --stats [OPTION]... [FILE]",
	.text = "Prints the views of perf report that need no symbols, line for line as perf 6.1 prints "
		"them: the header of a file, and counts of its records.\n"
		"\n"
		"Where perf 6.1 cannot read a file, or is wrong about one of the other byte order, the "
		"values are those of the file.",
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = 1,
	.run = run,
};
