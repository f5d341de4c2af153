/* SPDX-License-Identifier: MIT */
/* Amounts of what: of a run, of a second, of an operation. And how amounts are written. */
#include "diff/diff.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text/text.h"

static const double SECOND_NS = 1e9;

/* The number of a side, or 0. Sides beyond the list have its last one. */
static double number_of(const char *list, size_t side)
{
	double number = 0;
	char *end;

	for (;;) {
		if (*list < '0' || *list > '9')
			return 0;
		number = strtod(list, &end);
		if ((*end && *end != ',') || !isfinite(number))
			return 0;
		if (!*end || !side--)
			return number;
		list = end + 1;
	}
}

static bool are_numbers(const char *word)
{
	return *word >= '0' && *word <= '9' && !word[strspn(word, "0123456789.,")];
}

enum pd_status pd_diff_take_per(struct pd_diff *diff, const char *word, struct pd_error *error)
{
	if (!word)
		return PD_OK;
	if (strcmp(word, "run") == 0)
		diff->per = PER_RUN;
	else if (strcmp(word, "wall") == 0)
		diff->per = PER_SECOND;
	else
		diff->per = are_numbers(word) ? PER_NUMBER : PER_EVENT;
	/* each number, and the last one for all other sides */
	for (size_t side = 0, count = strlen(word); diff->per == PER_NUMBER && side <= count; side++)
		if (!(number_of(word, side) > 0))
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%s' is no number above 0", word);
	if (!*word)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'' is no event");
	diff->per_word = pd_arena_text(&diff->texts, word, strlen(word));
	return diff->per_word ? PD_OK : pd_diff_no_memory(error);
}

static double count_of_event(const struct pd_diff *diff, size_t run)
{
	for (size_t i = 0; i < diff->event_count; i++)
		if (strcmp(diff->events[i].head.name, diff->per_word) == 0)
			return (double)diff->events[i].runs[run].total.period;
	return 0;
}

enum pd_status pd_diff_divide_run(struct pd_diff *diff, struct pd_error *error)
{
	struct diff_run *run = &diff->runs[diff->run_count - 1];

	run->divisor = 1;
	if (diff->per == PER_SECOND)
		run->divisor = run->last_ns > run->first_ns ? (double)(run->last_ns - run->first_ns) / SECOND_NS : 0;
	else if (diff->per == PER_NUMBER)
		run->divisor = number_of(diff->per_word, run->side);
	else if (diff->per == PER_EVENT)
		run->divisor = count_of_event(diff, diff->run_count - 1);
	if (run->divisor > 0)
		return PD_OK;
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: nothing to divide by: no %s%s", run->name,
		       diff->per == PER_SECOND ? "time between samples" : "samples of ",
		       diff->per == PER_SECOND ? "" : diff->per_word);
}

const char *pd_diff_per_words(const struct pd_diff *diff)
{
	switch (diff->per) {
	case PER_RUN:
		return "run";
	case PER_SECOND:
		return "second";
	case PER_NUMBER:
		return "operation";
	default:
		return diff->per_word;
	}
}

void pd_diff_amount(char out[AMOUNT_BYTES], enum pd_unit unit, double amount)
{
	static const char *const times[] = { "ns", "us", "ms", "s" }, *const counts[] = { "", "k", "M", "G", "T", "P" };
	const char *const *units = unit == PD_UNIT_NS ? times : counts;
	size_t last = unit == PD_UNIT_NS ? 3 : 5, step = 0;

	while (amount >= 999.5 && step < last) {
		amount /= 1000;
		step++;
	}
	snprintf(out, AMOUNT_BYTES, "%.*f%s%s",
		 amount >= 99.95 ? 1 :
		 amount >= 9.995 ? 2 :
				   3,
		 amount, unit == PD_UNIT_NS || (step && *units[step]) ? " " : "", units[step]);
}
