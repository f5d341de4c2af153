/* SPDX-License-Identifier: MIT */
// Lists of events for the commands that read them.
#include "record/event/events.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

static const struct pd_event_preset presets[] = {
#define PRESET(name, all, chains, data, events) { name, events, all, chains, data },
#include "record/event/presets.def"
};

const struct pd_event_preset *pd_event_preset_at(size_t index)
{
	return index < sizeof(presets) / sizeof(presets[0]) ? &presets[index] : NULL;
}

const struct pd_event_preset *pd_event_preset_find(const char *name)
{
	const struct pd_event_preset *preset;

	for (size_t i = 0; (preset = pd_event_preset_at(i)) != NULL; i++)
		if (!strcmp(preset->name, name))
			break;
	return preset;
}

// The first of those with a '|' between them that the kernel has; *at is set behind them.
static enum pd_status add_first(struct pd_events *events, const char **at, struct pd_error *error)
{
	enum pd_status status = PD_ERROR_ARGUMENT;
	char name[128];

	do {
		size_t length;

		*at += **at == '|';
		length = strcspn(*at, "| ");
		snprintf(name, sizeof(name), "%.*s", (int)length, *at);
		if (status == PD_ERROR_ARGUMENT)
			status = pd_events_add(events, name, error);
		*at += length;
	} while (**at == '|');
	return status;
}

enum pd_status pd_events_add_preset(struct pd_events *events, const struct pd_event_preset *preset,
				    struct pd_error *error)
{
	size_t before = pd_events_count(events);
	struct pd_error own;
	enum pd_status status = PD_OK;

	if (!error)
		error = &own;
	for (const char *at = preset->events; *at && status >= 0; at += strspn(at, " ")) {
		bool optional = *at == '?';

		at += optional;
		status = add_first(events, &at, error);
		if (status == PD_ERROR_ARGUMENT && optional)
			status = PD_OK;
	}
	if (status >= 0 && pd_events_count(events) == before)
		status = preset->data ? pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
						"this machine has no events of memory accesses (mem-loads, IBS): the "
						"processor cannot, or a virtual machine hides them") :
					pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
						"this kernel has no events of '%s'", preset->name);
	return status;
}
