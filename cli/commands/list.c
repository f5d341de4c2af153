/* SPDX-License-Identifier: MIT */
/* perfdata list: names of events that this machine knows, as perf list shows them. */
#include "files/outfile.h"
#include "front/cli.h"

#include <perfdata/events.h>

struct values {
	enum pd_event_list_as as;
	bool details;
	const char *output, *pmu;
};

static const struct option options[] = {
	SET("json", 'j', as, PD_EVENT_LIST_JSON, "print JSON: an array with an object for each event"),
	SET("raw-dump", 0, as, PD_EVENT_LIST_NAMES, "print only names, for shell completion"),
	FLAG("details", 0, details, "also print how each event is encoded, on a line below it"),
	STRING("unit", 0, "PMU", pmu, "only events of this PMU: msr, software, 'uncore_*'"),
	STRING("output", 'o', "FILE", output, "write to FILE instead of standard output"),
	{ 0 },
};

static int run_list(const struct call *call)
{
	const struct values *values = call->values;
	const struct pd_events_options of = { .size = sizeof(of), .pmu = values->pmu };
	/* the other forms have them or have no place for them */
	bool details = values->details && values->as == PD_EVENT_LIST_TEXT;
	enum pd_event_list_as as = details ? PD_EVENT_LIST_DETAILS : values->as;
	struct pd_error error;
	struct outfile file;
	enum pd_status status;
	int code = outfile_open(&file, values->output, call->out, NULL);

	if (code != CODE_OK)
		return code;
	status = pd_print_event_list(file.out->text, &of, call->words, call->word_count, as, &error);
	return outfile_close(&file, code_of_print(status, &error));
}

const struct command cmd_list = {
	.usage = "[OPTION]... [KIND|NAME|PATTERN]...",
	.text = "List the events that record and stat accept after -e. KIND is hw, sw, cache, pmu, raw, breakpoint or tracepoint. "
		"Hardware and software events are listed only if they can be counted on this machine.",
	OPTIONS(options),
	EXAMPLES({ "perfdata list", "list all events" }, { "perfdata list sw", "list software events" },
		 { "perfdata list 'sched:*'", "list scheduler tracepoints" }),
	.max_words = 64,
	.run = run_list,
};
