/* SPDX-License-Identifier: MIT */
/* Fields of tracepoints: looked up in the formats of a file once, for each event. */
#include <string.h>

#include "base/error.h"
#include "filter/filter.h"

void pd_filter_free(struct pd_filter *filter)
{
	if (!filter)
		return;
	for (size_t i = 0; i < filter->trace_count; i++)
		pd_free(filter->traces[i].found);
	pd_free(filter->traces);
	pd_free(filter->tests);
	pd_free(filter->operands);
	pd_trace_free(filter->trace);
	pd_arena_fini(&filter->arena);
	pd_free(filter);
}

uint32_t pd_filter_asks(const struct pd_filter *filter)
{
	return filter->asks;
}

// Modifiers may stand after the name of an event.
static bool is_event(const struct pd_filter_trace *trace, const struct pd_event *event)
{
	size_t length;

	if (!trace->event)
		return true;
	length = strlen(trace->event);
	return !strncmp(event->name, trace->event, length) && (!event->name[length] || event->name[length] == ':');
}

static bool find_field(struct pd_filter *filter, const struct pd_filter_trace *trace, const struct pd_event *event,
		       struct pd_trace_field *found)
{
	struct pd_trace_field field;

	for (size_t i = 0; pd_trace_field_at(filter->trace, event, i, &field); i++)
		if (!strcmp(field.name, trace->field)) {
			*found = field;
			return true;
		}
	return false;
}

static bool is_known(const struct pd_filter *filter, const struct pd_filter_trace *trace)
{
	for (size_t i = 0; i < filter->bound; i++)
		if (trace->found[i].size)
			return true;
	return false;
}

// Says what was meant by a name that no event has.
static enum pd_status unknown_field(struct pd_filter *filter, const struct pd_filter_trace *trace, struct pd_file *file,
				    struct pd_error *error)
{
	struct pd_nearest field = { .word = trace->field }, event = { .word = trace->event ? trace->event : "" };
	struct pd_trace_field at;
	bool has_event = false;

	for (size_t i = 0; i < filter->bound; i++) {
		const struct pd_event *one = pd_file_event(file, i);

		if (trace->event)
			pd_nearest_try(&event, one->name);
		has_event |= trace->event && is_event(trace, one);
		for (size_t j = 0; is_event(trace, one) && pd_trace_field_at(filter->trace, one, j, &at); j++)
			pd_nearest_try(&field, at.name);
	}
	if (trace->event && !has_event)
		return pd_filter_fail(error, trace->at, "unknown event '%.60s'%s%.60s%s", trace->event,
				      event.best ? "; did you mean '" : "", event.best ? event.best : "",
				      event.best ? "'?" : "");
	return pd_filter_fail(error, trace->at, "no tracepoint has a field '%.60s'%s%.60s%s", trace->field,
			      field.best ? "; did you mean '" : "", field.best ? field.best : "",
			      field.best ? "'?" : "");
}

enum pd_status pd_filter_bind(struct pd_filter *filter, struct pd_file *file, bool complete, struct pd_error *error)
{
	size_t events = pd_file_event_count(file);
	enum pd_status status = PD_OK;

	if (!filter->trace_count)
		return PD_OK;
	if (!filter->trace)
		status = pd_trace_new(file, NULL, &filter->trace, error);
	for (size_t i = 0; i < filter->trace_count && status >= 0; i++) {
		struct pd_filter_trace *trace = &filter->traces[i];
		struct pd_trace_field *found = pd_realloc(trace->found, (events + 1) * sizeof(*found));

		if (!found)
			return pd_fail_memory(error);
		trace->found = found;
		for (size_t j = 0; j < events; j++)
			if (!is_event(trace, pd_file_event(file, j)) ||
			    !find_field(filter, trace, pd_file_event(file, j), &found[j]))
				found[j] = (struct pd_trace_field){ 0 };
	}
	if (status < 0)
		return status;
	filter->bound = events;
	for (size_t i = 0; i < filter->trace_count && complete; i++)
		if (!is_known(filter, &filter->traces[i]))
			return unknown_field(filter, &filter->traces[i], file, error);
	return PD_OK;
}
