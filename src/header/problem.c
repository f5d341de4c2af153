/* SPDX-License-Identifier: MIT */
// Problems of a file as lines and as JSON.
#include <inttypes.h>
#include <string.h>

#include <perfdata/check.h>
#include <perfdata/header.h>
#include <perfdata/json.h>

#include "base/text/text.h"

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

void pd_print_check(struct pd_text *text, const char *name, const struct pd_check_result *result)
{
	const uint64_t *count = result->problem_count;

	pd_text_escaped(text, name, strlen(name));
	pd_text_printf(text, ": %" PRIu64 " record%s, %" PRIu64 " sample%s: ", result->record_count,
		       pd_plural(result->record_count), result->sample_count, pd_plural(result->sample_count));
	if (count[PD_DAMAGE] || count[PD_WARNING] || count[PD_INFO])
		pd_text_printf(text, "damage %" PRIu64 ", warning %" PRIu64 ", info %" PRIu64 "\n", count[PD_DAMAGE],
			       count[PD_WARNING], count[PD_INFO]);
	else
		pd_text_add(text, "no problem\n");
}

void pd_json_check(struct pd_text *text, const char *name, const struct pd_check_result *result)
{
	struct pd_json json = { .text = text };

	pd_json_open(&json, NULL, '{');
	pd_json_open(&json, "summary", '{');
	pd_json_string(&json, "file", name);
	pd_json_number(&json, "records", result->record_count);
	pd_json_number(&json, "samples", result->sample_count);
	pd_json_number(&json, "undecoded", result->undecoded_count);
	pd_json_number(&json, "lost_records", result->lost_records);
	pd_json_number(&json, "lost_samples", result->lost_samples);
	pd_json_number(&json, "throttled", result->throttle_count);
	pd_json_number(&json, "damage", result->problem_count[PD_DAMAGE]);
	pd_json_number(&json, "warning", result->problem_count[PD_WARNING]);
	pd_json_number(&json, "info", result->problem_count[PD_INFO]);
	pd_json_close(&json, '}');
	pd_json_close(&json, '}');
	pd_text_add(text, "\n");
}

// ---- kinds ----

uint64_t pd_problem_count(struct pd_problem_counts *counts, const char *code)
{
	size_t i = 0;

	while (i < counts->kind_count && strcmp(counts->kinds[i].code, code) != 0)
		i++;
	if (i < counts->old_count)
		return UINT64_MAX;
	if (i == PD_PROBLEM_KINDS)
		i--;
	if (i == counts->kind_count)
		counts->kinds[counts->kind_count++].code = code;
	return counts->kinds[i].count++;
}

void pd_problem_count_again(struct pd_problem_counts *counts)
{
	counts->old_count = counts->kind_count;
}
