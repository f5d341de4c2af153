/* SPDX-License-Identifier: MIT */
/* perfdata list: names of events that this machine knows, as perf list shows them. */
#include "front/cli.h"

#include <perfdata/events.h>
#include <perfdata/json.h>

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

struct values {
	bool json;
	bool raw;
};

static const struct option options[] = {
	FLAG("json", 'j', json, "print a JSON object per event"),
	FLAG("raw-dump", 0, raw, "print only names, for shell completion"),
	{ 0 },
};

static const struct example examples[] = {
	{ "perfdata list", "list all events" },
	{ "perfdata list sw", "list software events" },
	{ "perfdata list 'sched:*'", "list scheduler tracepoints" },
	{ 0 },
};

static const struct {
	const char *title;
	const char *words[4]; /* that choose the kind, as perf list has them */
	const char *json;
} kinds[] = {
	[PD_EVENT_HARDWARE] = { "Hardware event", { "hw", "hardware" }, "hardware" },
	[PD_EVENT_SOFTWARE] = { "Software event", { "sw", "software" }, "software" },
	[PD_EVENT_CACHE] = { "Hardware cache event", { "cache", "hwcache" }, "cache" },
	[PD_EVENT_PMU] = { "Kernel PMU event", { "pmu" }, "pmu" },
	[PD_EVENT_RAW] = { "Raw hardware event descriptor", { "raw" }, "raw" },
	[PD_EVENT_BREAKPOINT] = { "Hardware breakpoint", { "breakpoint" }, "breakpoint" },
	[PD_EVENT_TOOL] = { "Tool event", { "tool" }, "tool" },
	[PD_EVENT_TRACEPOINT] = { "Tracepoint event", { "tracepoint" }, "tracepoint" },
};

struct list {
	const struct values *values;
	const struct call *call;
	bool any;
};

static bool is_kind(enum pd_event_kind kind, const char *word)
{
	for (size_t i = 0; i < 4 && kinds[kind].words[i]; i++)
		if (!strcmp(kinds[kind].words[i], word))
			return true;
	return false;
}

static bool is_any_kind(const char *word)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (is_kind((enum pd_event_kind)i, word))
			return true;
	return false;
}

static bool has_name(const struct pd_event_name *name, const char *word)
{
	return fnmatch(word, name->name, 0) == 0 || strstr(name->name, word) ||
	       (name->alias && strstr(name->alias, word));
}

/* A kind, a pattern, or a piece of the name. */
static bool is_wanted(const struct list *list, const struct pd_event_name *name)
{
	for (size_t i = 0; i < list->call->word_count; i++) {
		const char *word = list->call->words[i];

		if (is_any_kind(word) ? is_kind(name->kind, word) : has_name(name, word))
			return true;
	}
	return !list->call->word_count;
}

static void print_json(struct pd_text *text, const struct pd_event_name *name)
{
	const struct {
		const char *key, *value;
	} members[] = { { "name", name->name },   { "kind", kinds[name->kind].json },
			{ "alias", name->alias }, { "encoding", name->encoding },
			{ "unit", name->unit },   { "about", name->about } };
	struct pd_json json = { .text = text };

	pd_json_open(&json, NULL, '{');
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (members[i].value)
			pd_json_string(&json, members[i].key, members[i].value);
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
}

static void print_line(struct pd_text *text, const struct pd_event_name *name)
{
	char both[600];

	snprintf(both, sizeof(both), "%s%s%s", name->name, name->alias ? " OR " : "", name->alias ? name->alias : "");
	pd_text_printf(text, "  %-50s [%s]\n", both, kinds[name->kind].title);
}

static bool print_name(void *self, const struct pd_event_name *name)
{
	struct list *list = self;
	struct pd_text *text = list->call->out->text;

	if (!is_wanted(list, name))
		return true;
	list->any = true;
	if (list->values->json)
		print_json(text, name);
	else if (list->values->raw)
		pd_text_printf(text, "%s\n", name->name);
	else
		print_line(text, name);
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
	.options = options,
	.examples = examples,
	.values_size = sizeof(struct values),
	.max_words = 64,
	.run = run_list,
};
