/* SPDX-License-Identifier: MIT */
/* perfdata list: names of events that this machine knows, as perf list shows them. */
#include "front/cli.h"

#include <perfdata/events.h>

struct values {
	bool json;
	bool raw;
};

static const struct option options[] = {
	FLAG("json", 'j', json, "print a JSON object per event"),
	FLAG("raw-dump", 0, raw, "print only names, for shell completion"),
	{ 0 },
};

struct list {
	const struct values *values;
	const struct call *call;
	bool any;
};

static bool print_name(void *self, const struct pd_event_name *name)
{
	struct list *list = self;
	struct pd_text *text = list->call->out->text;

	if (!pd_event_name_fits(name, list->call->words, list->call->word_count))
		return true;
	list->any = true;
	if (list->values->json)
		pd_json_event_name(text, name);
	else if (list->values->raw)
		pd_text_printf(text, "%s\n", name->name);
	else
		pd_print_event_name(text, name);
	return output_flush_large(list->call->out);
}

static int run_list(const struct call *call)
{
	struct list list = { .values = call->values, .call = call };
	struct pd_error error;

	if (pd_events_list(NULL, print_name, &list, &error) < 0)
		return print_failure(CODE_UNREADABLE, "%s", error.message);
	if (list.any)
		return CODE_OK;
	return print_failure(CODE_NOTHING, "no matching event on this machine");
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
