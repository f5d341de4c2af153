/* SPDX-License-Identifier: MIT */
// Problems of a file as lines and as JSON.
#include <inttypes.h>
#include <string.h>

#include <perfdata/header.h>
#include <perfdata/json.h>

const char *pd_severity_name(enum pd_severity severity)
{
	static const char *const names[] = { "?", "info", "warning", "damage" };

	return (size_t)severity < sizeof(names) / sizeof(names[0]) ? names[severity] : names[0];
}

void pd_print_problem(struct pd_text *text, const struct pd_problem *problem)
{
	pd_text_printf(text, "%s %s", pd_severity_name(problem->severity), problem->code);
	if (problem->offset != PD_NO_OFFSET)
		pd_text_printf(text, " 0x%" PRIx64, problem->offset);
	if (problem->field)
		pd_text_printf(text, " %s", problem->field);
	pd_text_add(text, ": ");
	pd_text_escaped(text, problem->message, strlen(problem->message));
	pd_text_add(text, "\n");
}

void pd_json_problem(struct pd_text *text, const struct pd_problem *problem)
{
	struct pd_json json = { .text = text };

	pd_json_open(&json, NULL, '{');
	pd_json_string(&json, "severity", pd_severity_name(problem->severity));
	pd_json_string(&json, "code", problem->code);
	pd_json_offset(&json, "offset", problem->offset);
	pd_json_string(&json, "field", problem->field);
	pd_json_string(&json, "message", problem->message);
	pd_json_string(&json, "advice", problem->advice);
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
}
