/* SPDX-License-Identifier: MIT */
// Fields of tracepoints as numbers.
#include "interval/raw.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "trace/trace.h"

bool pd_event_is(const struct pd_event *event, const char *name)
{
	size_t length = strlen(name);

	return event->name && !strncmp(event->name, name, length) &&
	       (!event->name[length] || event->name[length] == ':');
}

enum pd_status pd_raw_number_find(struct pd_trace *trace, const struct pd_event *event, const char *name,
				  struct pd_raw_number *number_out, struct pd_error *error)
{
	struct pd_trace_field field;

	if (!pd_trace_field_at(trace, event, 0, &field))
		return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET,
			       "%s: the file has no usable format of this tracepoint", event->name);
	for (size_t i = 0; pd_trace_field_at(trace, event, i, &field); i++) {
		if (strcmp(field.name, name) != 0)
			continue;
		if (field.size != 1 && field.size != 2 && field.size != 4 && field.size != 8)
			return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET,
				       "%s: the field %s has %" PRIu32 " bytes, which is not the size of a number",
				       event->name, name, field.size);
		*number_out = (struct pd_raw_number){ field.offset, field.size, pd_trace_is_big(trace) };
		return PD_OK;
	}
	return pd_fail(error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: the format has no field %s", event->name, name);
}
