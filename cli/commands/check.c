/* SPDX-License-Identifier: MIT */
/* perfdata check: decodes all of a file and prints every problem on standard output. */
#include "files/input.h"

#include <inttypes.h>
#include <stdio.h>

struct values {
	struct input_options input;
	bool json;
	bool strict;
};

static const struct option options[] = {
	GROUP(input_group, input),
	FLAG("json", 'j', json, "print JSON, one object per line: each problem, then a summary"),
	FLAG("strict", 's', strict, "exit code 1 also for warnings"),
	{ 0 },
};

struct check {
	struct input input; /* first: see input_progress */
	const struct values *values;
	struct output *out;
	struct pd_problem_counts advised;
};

static void problem_text(struct check *check, const struct pd_problem *problem)
{
	struct pd_text *text = check->out->text;

	pd_print_problem(text, problem);
	/* Once is enough: there can be thousands of the same kind. */
	if (problem->advice && !pd_problem_count(&check->advised, problem->code))
		pd_text_printf(text, "        %s\n", problem->advice);
}

static bool on_problem(void *self, const struct pd_problem *problem)
{
	struct check *check = self;

	if (check->values->input.quiet)
		return true;
	if (check->values->json)
		pd_json_problem(check->out->text, problem);
	else
		problem_text(check, problem);
	return output_flush_large(check->out);
}

static int check_opened(struct check *check)
{
	struct pd_check_result result = { 0 };
	struct pd_error error;

	if (pd_check_with_progress(check->input.file, input_progress_step, &check->input, &result, &error) != PD_OK) {
		if (!check->out->failure)
			print_error("%s", error.message);
		return CODE_UNREADABLE;
	}
	if (check->values->json)
		pd_json_check(check->out->text, check->input.name, &result);
	else if (!check->values->input.quiet)
		pd_print_check(check->out->text, check->input.name, &result);
	if (result.problem_count[PD_DAMAGE] || (check->values->strict && result.problem_count[PD_WARNING]))
		return CODE_DAMAGED;
	return CODE_OK;
}

static int run_check(const struct call *call)
{
	struct check check = { .values = call->values, .out = call->out };
	int code;

	code = input_open(&check.input, &check.values->input, call, on_problem, &check);
	if (code != CODE_OK)
		return code;
	return input_close(&check.input, check_opened(&check));
}

const struct command cmd_check = {
	.usage = "[OPTION]... [FILE]",
	.text = "Read all of FILE, decode every record and feature, and print each problem on a line: "
		"severity, code, offset, field and description. The first problem of each kind is "
		"followed by advice. The last line has the totals.\n\n"
		"Severities: damage means that data was lost (exit code 1), warning that something is "
		"unusual but nothing was lost, info that it is worth knowing. perfdata explain CODE "
		"describes a problem.",
	OPTIONS(options),
	EXAMPLES({ "perfdata check perf.data", "report every problem and what to do about it" },
		 { "perfdata check --quiet perf.data && echo good", "test in a script whether a file is intact" },
		 { "perfdata check --json perf.data | jq .code", "problems as JSON" }),
	.max_words = 1,
	.run = run_check,
};
