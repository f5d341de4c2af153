/* SPDX-License-Identifier: MIT */
/*
 * perfdata evlist: the events of a file, as perf evlist prints them, or as JSON.
 */
#include "files/input.h"

#include <perfdata/header.h>

struct values {
	struct input_options input;
	struct pd_print_events_options shown;
};

/* Not all of input_group: -v is what perf means by it here. */
static const struct option options[] = {
	GROUP(input_option, input.path),
	GROUP(force_option, input.force),
	GROUP(quiet_option, input.quiet),
	FLAG("verbose", 'v', shown.details, "print all non-zero fields of the perf_event_attr of each event"),
	FLAG("freq", 'F', shown.frequency, "print the sampling frequency or period of each event"),
	FLAG("group", 'g', shown.groups, "print event groups"),
	FLAG("trace-fields", 0, shown.trace_fields, "print the fields of tracepoints"),
	FLAG("json", 'j', shown.json, "print one JSON object per event, with all of this"),
	{ 0 },
};

/* ---- the command ---- */

static bool pass(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	if (record->type == PD_RECORD_SAMPLE)
		pd_stream_pass(stream);
	return pd_trace_take(self, record, NULL) == PD_OK;
}

static int list_events(struct input *input)
{
	const struct values *values = input->call->values;
	struct pd_trace *trace;
	struct pd_print_events_options shown = values->shown;
	struct pd_error error;
	int code = CODE_OK;

	shown.size = sizeof(shown);
	if (pd_trace_new(input->file, NULL, &trace, &error) != PD_OK)
		return print_failure(CODE_UNREADABLE, "%s", error.message);
	/* The events of a pipe are records, and so are the tracing data of simpleperf. */
	if (pd_file_header(input->file)->mode == PD_MODE_PIPE || values->shown.trace_fields)
		code = input_visit(input, pass, trace);
	if (code == CODE_OK && !pd_file_event_count(input->file)) {
		print_error("%s: no events in the file", input->name);
		code = CODE_NOTHING;
	}
	if (code == CODE_OK)
		pd_print_events(input->out->text, input->file, trace, &shown);
	pd_trace_free(trace);
	return code;
}

static int run_evlist(const struct call *call)
{
	const struct values *values = call->values;
	struct input input;

	if (values->shown.groups && (values->shown.details || values->shown.frequency || values->shown.trace_fields))
		return print_failure(CODE_USAGE, "--group cannot be combined with --verbose, --freq or --trace-fields");
	return input_run(&input, &values->input, call, list_events);
}

const struct command cmd_evlist = {
	.usage = "[-v | -F | -g] [--trace-fields] [OPTION]... [FILE]",
	.text = "List the events of FILE, one per line, byte for byte as perf evlist (6.1).\n"
		"\n"
		"With --json each line is an object: index, name, group (leader, members and name, if any), "
		"unit, scale, trace_fields (of tracepoints), attr with all fields, and ids.",
	OPTIONS(options),
	EXAMPLES({ "perfdata evlist -i perf.data", "list the events" },
		 { "perfdata evlist -v perf.data", "list their attributes" },
		 { "perfdata evlist --json perf.data | jq .attr.sample_type", "process them as JSON" }),
	.max_words = 1,
	.run = run_evlist,
};
