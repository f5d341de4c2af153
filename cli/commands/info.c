/* SPDX-License-Identifier: MIT */
/* perfdata info: what a file is, where and how it was made and what is in it, on one screen. */
#include "files/input.h"

#include <perfdata/summary.h>

struct values {
	struct input_options input;
	bool json;
	bool header;
	bool full;
};

static const struct option options[] = {
	GROUP(input_group, input),
	GROUP(json_option, json),
	FLAG("header", 0, header, "print the header as perf report --header-only"),
	FLAG("full", 'I', full, "same as --header, with CPU and NUMA topology and caches"),
	{ 0 },
};

static int print_info(struct input *input)
{
	const struct values *values = input->call->values;
	struct pd_text *text = input->out->text;
	const struct pd_summary_options summary_options = { .size = sizeof(summary_options),
							    .progress = input_progress,
							    .self = input };
	struct pd_summary *summary;
	struct pd_error error;
	enum pd_status status;

	if (values->header || values->full)
		return input_print_header(input, values->full);
	status = pd_summary_read(input->file, &summary_options, &summary, &error);
	progress_clear(&input->progress);
	/* What was read up to an error is shown. */
	if (summary && values->json) {
		pd_json_summary(text, summary, input->name);
		pd_text_add(text, "\n");
	} else if (summary) {
		pd_print_summary(text, summary, input->name);
	}
	pd_summary_free(summary);
	return code_with_error(status, &error);
}

static int run_info(const struct call *call)
{
	const struct values *values = call->values;
	struct input_options wanted = values->input;
	struct input input;

	if (values->json && (values->header || values->full))
		return print_failure(
			CODE_USAGE,
			"--json cannot be combined with --header or -I; see perfdata dump --features --json");
	wanted.verify = true;
	return input_run(&input, &wanted, call, print_info);
}

const struct command cmd_info = {
	.usage = "[OPTION]... [FILE]",
	.text = "Print a summary of FILE: file format, machine and command of the recording, events with their numbers of samples, "
		"duration, losses, and missing information.",
	OPTIONS(options),
	EXAMPLES({ "perfdata info perf.data", "summary of a recording" },
		 { "perfdata info --header perf.data", "its header as perf prints it" },
		 { "perfdata info --json perf.data | jq .events", "the events as JSON" }),
	.max_words = 1,
	.run = run_info,
};
