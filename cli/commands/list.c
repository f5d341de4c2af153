/* SPDX-License-Identifier: MIT */
/* perfdata list: names of events that this machine knows, as perf list shows them. */
#include "front/cli.h"

#include <perfdata/events.h>

struct values {
	enum pd_event_list_as as;
};

static const struct option options[] = {
	SET("json", 'j', as, PD_EVENT_LIST_JSON, "print a JSON object per event"),
	SET("raw-dump", 0, as, PD_EVENT_LIST_NAMES, "print only names, for shell completion"),
	{ 0 },
};

static int run_list(const struct call *call)
{
	const struct values *values = call->values;
	struct pd_error error;

	return code_of_print(
		pd_print_event_list(call->out->text, NULL, call->words, call->word_count, values->as, &error), &error);
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
