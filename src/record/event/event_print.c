/* SPDX-License-Identifier: MIT */
/* Names of events as perf list prints them, and which of them are meant. */
#include <perfdata/events.h>
#include <perfdata/json.h>

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "record/event/events.h"

static const struct {
	const char *title;
	const char *words[4]; // that choose the kind, as perf list has them
} kinds[] = {
	[PD_EVENT_HARDWARE] = { "Hardware event", { "hw", "hardware" } },
	[PD_EVENT_SOFTWARE] = { "Software event", { "sw", "software" } },
	[PD_EVENT_CACHE] = { "Hardware cache event", { "cache", "hwcache" } },
	[PD_EVENT_PMU] = { "Kernel PMU event", { "pmu" } },
	[PD_EVENT_RAW] = { "Raw hardware event descriptor", { "raw" } },
	[PD_EVENT_BREAKPOINT] = { "Hardware breakpoint", { "breakpoint" } },
	[PD_EVENT_TOOL] = { "Tool event", { "tool", "sw", "software" } },
	[PD_EVENT_TRACEPOINT] = { "Tracepoint event", { "tracepoint" } },
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

bool pd_event_name_fits(const struct pd_event_name *name, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *word = words[i];

		if (is_any_kind(word) ? is_kind(name->kind, word) : has_name(name, word))
			return true;
	}
	return !count;
}

// Members are called as those of perf list -j, version 7.2.
void pd_json_event_name(struct pd_text *text, const struct pd_event_name *name)
{
	const struct {
		const char *key, *value;
	} members[] = { { "Unit", name->pmu },
			{ "EventName", name->name },
			{ "EventAlias", name->alias },
			{ "EventType", kinds[name->kind].title },
			{ "BriefDescription", name->about },
			{ "Encoding", name->encoding },
			{ "MeasurementUnit", name->unit } };
	struct pd_json json = { .text = text };

	pd_json_open(&json, NULL, '{');
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (members[i].value)
			pd_json_string(&json, members[i].key, members[i].value);
	pd_json_close(&json, '}');
}

void pd_print_event_name(struct pd_text *text, const struct pd_event_name *name)
{
	char both[600];

	snprintf(both, sizeof(both), "%s%s%s", name->name, name->alias ? " OR " : "", name->alias ? name->alias : "");
	pd_text_printf(text, "  %-50s [%s]\n", both, kinds[name->kind].title);
}

const char *pd_event_encode(char encoding[PD_EVENT_ENCODING], const char *pmu, uint64_t config)
{
	snprintf(encoding, PD_EVENT_ENCODING, config < 10 ? "%s/config=%" PRIu64 "/" : "%s/config=0x%" PRIx64 "/", pmu,
		 config);
	return encoding;
}
