/* SPDX-License-Identifier: MIT */
// What the parts of an injection share: the first failure, warnings, and a pass over the records.
#include "edit/inject/inject.h"

#include <stdarg.h>
#include <stdio.h>

#include "stream/each.h"

enum {
	WARNING_BYTES = 1024,
	NAME_BYTES = 4096
};

bool pd_inject_keep(struct pd_inject *inject, enum pd_status status)
{
	if (status < 0)
		inject->status = status;
	return status >= 0;
}

bool pd_inject_no_memory(struct pd_inject *inject)
{
	return pd_inject_keep(inject, pd_fail_memory(&inject->error));
}

void pd_inject_warn(struct pd_inject *inject, bool lost, const char *format, ...)
{
	char what[WARNING_BYTES], message[NAME_BYTES + WARNING_BYTES];
	va_list args;

	inject->result.lost |= lost;
	if (inject->result.warning_count++ >= PD_INJECT_WARNINGS || !inject->options.warn)
		return;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	snprintf(message, sizeof(message), "%s: %s", pd_file_name(inject->file), what);
	inject->options.warn(inject->options.self, message);
}

size_t pd_inject_event(const struct pd_record *record)
{
	return record->event ? record->event->index : 0;
}

struct each_call {
	bool (*each)(void *self, struct pd_stream *stream, const struct pd_record *record);
	void *self;
};

static enum pd_status call_each(void *self, struct pd_stream *stream, const struct pd_record *record,
				struct pd_error *error)
{
	const struct each_call *call = self;

	(void)error;
	return call->each(call->self, stream, record) ? PD_OK : PD_END;
}

enum pd_status pd_inject_each_record(struct pd_inject *inject, enum pd_order order,
				     bool (*each)(void *self, struct pd_stream *stream, const struct pd_record *record),
				     void *self, struct pd_error *error)
{
	const struct pd_each pass = { .order = order,
				      .progress = inject->options.progress,
				      .progress_self = inject->options.self };
	struct each_call call = { each, self };

	return pd_each_record(inject->file, &pass, call_each, &call, error);
}
