/* SPDX-License-Identifier: MIT */
/* The list of events that is built up while they are parsed, and errors with the place in what was typed. */
#include "record/event/events.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void free_slot(struct pd_event_slot *slot)
{
	if (!slot)
		return;
	for (size_t i = 0; i < slot->text_count; i++)
		free(slot->texts[i]);
	pd_free(slot);
}

void pd_events_cut(struct pd_events *events, size_t count)
{
	while (events->count > count)
		free_slot(events->slots[--events->count]);
}

void pd_events_free(struct pd_events *events)
{
	if (!events)
		return;
	pd_events_cut(events, 0);
	pd_events_drop_cgroups(events);
	pd_free(events->slots);
	free(events->sysfs);
	free(events->tracefs);
	pd_free(events);
}

size_t pd_events_count(const struct pd_events *events)
{
	return events->count;
}

const struct pd_event_wanted *pd_events_at(const struct pd_events *events, size_t index)
{
	return index < events->count ? &events->slots[index]->wanted : NULL;
}

const char *pd_event_keep(struct pd_event_slot *slot, const char *text, size_t length)
{
	char *copy = slot->text_count < sizeof(slot->texts) / sizeof(slot->texts[0]) ? strndup(text, length) : NULL;

	if (copy)
		slot->texts[slot->text_count++] = copy;
	return copy;
}

enum pd_status pd_event_new(struct pd_event_text *text, struct pd_event_slot **slot_out)
{
	struct pd_events *events = text->events;
	struct pd_event_slot *slot = NULL;

	if (!PD_GROW(events->slots, events->capacity, events->count + 1))
		return pd_fail_memory(text->error);
	slot = pd_alloc(sizeof(*slot));
	if (!slot)
		return pd_fail_memory(text->error);
	slot->wanted.leader = events->count;
	slot->wanted.scale = 1;
	events->slots[events->count++] = slot;
	*slot_out = slot;
	return PD_OK;
}

enum pd_status pd_event_fail(const struct pd_event_text *text, const char *at, const char *format, ...)
{
	char message[200];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	if (strchr(text->text, ',') || at > text->text + 20)
		return pd_fail(text->error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "events, column %zu: %s",
			       (size_t)(at - text->text) + 1, message);
	return pd_fail(text->error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "event '%.60s': %s", text->text, message);
}
