/* SPDX-License-Identifier: MIT */
/* perfdata evlist: the events of a file, as perf evlist prints them, or as JSON. */
#include "files/input.h"

#include <perfdata/header.h>

struct values {
	struct input_options input;
	struct pd_print_events_options how;
};

/* Not all of input_group: -v is what perf means by it here. */
static const struct option options[] = {
	GROUP(input_option, input.path),
	GROUP(force_option, input.force),
	GROUP(quiet_option, input.quiet),
	FLAG("verbose", 'v', how.details, "print all non-zero fields of the perf_event_attr of each event"),
	FLAG("freq", 'F', how.frequency, "print the sampling frequency or period of each event"),
	FLAG("group", 'g', how.groups, "print event groups"),
	FLAG("trace-fields", 0, how.trace_fields, "print the fields of tracepoints"),
	FLAG("json", 'j', how.json, "print one JSON object per event, with all of this"),
	{ 0 },
};

static enum pd_status print_events(struct input *input, const void *how, struct pd_error *error)
{
	struct pd_print_events_options own = *(const struct pd_print_events_options *)how;

	own.progress = input_progress;
	own.self = input;
	return pd_print_evlist(input->out->text, input->file, &own, error);
}

static bool check_options(const struct call *call)
{
	const struct pd_print_events_options *how = &((const struct values *)call->values)->how;

	return !how->groups || !(how->details || how->frequency || how->trace_fields) ||
	       print_error("--group cannot be combined with --verbose, --freq or --trace-fields");
}

const struct command cmd_evlist = {
	.usage = "[-v | -F | -g] [--trace-fields] [OPTION]... [FILE]",
	.text = "List the events of FILE, one per line, byte for byte as perf evlist (6.1; with -v as 7.2).\n"
		"\n"
		"With --json each line is an object: index, name, group (leader, members and name, if any), "
		"unit, scale, trace_fields (of tracepoints), attr with all fields, and ids.",
	OPTIONS(options),
	HOW(how),
	EXAMPLES({ "perfdata evlist -i perf.data", "list the events" },
		 { "perfdata evlist -v perf.data", "list their attributes" },
		 { "perfdata evlist --json perf.data | jq .attr.sample_type", "process them as JSON" }),
	.max_words = 1,
	.check = check_options,
	.once = true,
	.print = print_events,
};
