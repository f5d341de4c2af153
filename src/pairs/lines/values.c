/* SPDX-License-Identifier: MIT */
// Arguments in the raw data of an event: an array of raw_syscalls, or one field after another of the event of a call.
#include <string.h>

#include "pairs/lines/lines.h"
#include "trace/trace.h"

// Of the event of a call, the first field after the number of the call.
static bool is_first(const struct pd_trace_field *field)
{
	return !field->is_common && strcmp(field->name, "__syscall_nr") != 0 && strcmp(field->name, "nr") != 0 &&
	       strcmp(field->name, "id") != 0;
}

static void find_values(struct pd_call_shape *shape, struct pd_trace *trace, const struct pd_event *event)
{
	struct pd_trace_field field;

	*shape = (struct pd_call_shape){ .event = event };
	for (size_t i = 0; pd_trace_field_at(trace, event, i, &field); i++) {
		if (!is_first(&field))
			continue;
		shape->first = (struct pd_raw_number){ field.offset, field.size, pd_trace_is_big(trace) };
		if (!strcmp(field.name, "args"))
			shape->first.size = field.size / PD_CALL_ARGUMENTS;
		return;
	}
}

void pd_call_read_values(struct pd_call_shapes *shapes, struct pd_trace *trace,
			 const struct pd_tracepoint_sample *sample, uint64_t values[PD_CALL_ARGUMENTS])
{
	struct pd_call_shape *shape = &shapes->of[sample->event->index % PD_CALL_SHAPES];
	struct pd_raw_number number;

	if (shape->event != sample->event)
		find_values(shape, trace, sample->event);
	number = shape->first;
	for (unsigned i = 0; i < PD_CALL_ARGUMENTS; i++, number.offset += number.size)
		if (!number.size || !pd_raw_number_read(sample->raw, &number, &values[i]))
			values[i] = 0;
}
