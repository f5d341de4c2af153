/* SPDX-License-Identifier: MIT */
/*
 * What names of functions in call chains decide: the parent of a sample, which is the first function by a pattern, and functions whose
 * callees are ignored, so that their samples are their own. As perf: a chain is walked in the direction of the graphs.
 */
#include <string.h>

#include "base/error.h"
#include "report/report.h"

/* perf's: what the kernel was asked for. */
static const char usual_parent[] = "^sys_|^do_page_fault";

enum {
	IS_PARENT = 1,
	IS_CUT = 2 /* its callees are ignored */
};

static enum pd_status compile(const char *option, const char *text, regex_t *pattern, bool *has_out,
			      struct pd_error *error)
{
	char why[128];
	int wrong = regcomp(pattern, text, REG_EXTENDED | REG_NOSUB);

	*has_out = !wrong;
	if (!wrong)
		return PD_OK;
	if (wrong == REG_ESPACE)
		return pd_fail_memory(error);
	regerror(wrong, pattern, why, sizeof(why));
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "option --%s: '%s' is no regular expression: %s", option,
		       text, why);
}

enum pd_status pd_parents_plan(struct pd_report *report, bool shown, struct pd_error *error)
{
	const struct pd_report_options *options = &report->options;
	const char *parent = options->parent ? options->parent : usual_parent;
	enum pd_status status = PD_OK;

	if (shown || options->only_parents)
		status = compile("parent", parent, &report->parent, &report->has_parent, error);
	/* As perf: where nothing is shown of call chains, they are as they were. */
	if (status == PD_OK && options->ignored_callees && (report->children || has_graphs(report)))
		status = compile("ignore-callees", options->ignored_callees, &report->ignored, &report->has_ignored,
				 error);
	return status;
}

void pd_parents_fini(struct pd_report *report)
{
	if (report->has_parent)
		regfree(&report->parent);
	if (report->has_ignored)
		regfree(&report->ignored);
}

static uint8_t match(const struct pd_report *report, const struct pd_function *function)
{
	uint8_t is = 0;

	if (function && report->has_parent && regexec(&report->parent, function->name, 0, NULL, 0) == 0)
		is |= IS_PARENT;
	if (function && report->has_ignored && regexec(&report->ignored, function->name, 0, NULL, 0) == 0)
		is |= IS_CUT;
	return is;
}

static bool match_frames(struct pd_report *report)
{
	size_t count = pd_profile_frame_count(report->profile);
	uint8_t *matches = pd_alloc(count + 1);

	report->scratch.matches = matches;
	for (size_t i = 0; matches && i < count; i++) {
		uint32_t clone = report->scratch.clones[i];

		matches[i] = clone < i ? matches[clone] :
					 match(report, pd_profile_frame(report->profile, (uint32_t)i)->place.function);
	}
	return matches;
}

/* Where the last one of a chain is whose callees are ignored; the number of callers if there is none. */
static size_t last_cut(const struct pd_report *report, const struct pd_stack *stack)
{
	size_t count = stack->caller_count, first = pd_first_caller(report, count), last = count;

	for (size_t i = first; i < count; i++) {
		size_t at = pd_caller_at(report, count, first, i);

		if (report->scratch.matches[stack->callers[at]] & IS_CUT)
			last = at;
	}
	return last;
}

static bool cut_stacks(struct pd_report *report)
{
	size_t count = pd_profile_stack_count(report->profile);
	struct pd_stack *stacks = pd_alloc((count + 1) * sizeof(*stacks));

	report->scratch.stacks = stacks;
	for (size_t i = 0; stacks && i < count; i++) {
		struct pd_stack *stack = &stacks[i];
		size_t at;

		*stack = *pd_profile_stack(report->profile, i);
		at = last_cut(report, stack);
		if (at == stack->caller_count)
			continue;
		stack->ip = stack->callers[at];
		/* In the other direction, what is called is behind what was walked. */
		if (!report->graph.caller)
			stack->callers += at;
		stack->caller_count = report->graph.caller ? at + 1 : stack->caller_count - at;
	}
	return stacks;
}

bool pd_parents_find(struct pd_report *report)
{
	return ((!report->has_parent && !report->has_ignored) || match_frames(report)) &&
	       (!report->has_ignored || cut_stacks(report));
}

const struct pd_function *pd_parent_of(const struct pd_report *report, const struct pd_profile_entry *entry)
{
	const struct pd_stack *stack;
	size_t count, first;

	if (!report->scratch.matches)
		return NULL;
	stack = pd_profile_stack(report->profile, entry->stack);
	count = stack->caller_count;
	first = pd_first_caller(report, count);
	for (size_t i = first; i < count; i++) {
		uint32_t frame = stack->callers[pd_caller_at(report, count, first, i)];

		if (report->scratch.matches[frame] & IS_PARENT)
			return pd_profile_frame(report->profile, frame)->place.function;
	}
	return NULL;
}
