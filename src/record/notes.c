/* SPDX-License-Identifier: MIT */
/* Notes of a recorder to its user: what is recorded otherwise than was asked for. */
#include <stdarg.h>
#include <stdio.h>

#include "record/inside.h"

void pd_recorder_report(struct pd_recorder *recorder, enum pd_severity severity, const char *code, const char *advice,
			const char *format, ...)
{
	struct pd_recorder_note note = { .severity = severity, .code = code, .advice = advice };
	char message[512];
	va_list arguments;

	if (!recorder->options.note)
		return;
	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	note.message = message;
	recorder->options.note(recorder->options.self, &note);
}
