/* SPDX-License-Identifier: MIT */
/* What is computed of rows, which of them are printed, and in which order: that of perf diff. */
#include "diff/diff.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "report/keys/values.h"

struct ordering {
	const struct pd_diff *diff;
	const struct diff_event *event;
};

struct diff_value pd_diff_value(const struct pd_diff *diff, const struct diff_event *event, size_t row, size_t run)
{
	struct pd_diff_sum old = run_sum(event, 0, row), new = run_sum(event, run, row);
	struct diff_value value = { 0 };

	switch (diff->options.method) {
	case PD_DIFF_RATIO:
		value.number = (double)new.period / (double)(old.period ? old.period : 1);
		break;
	case PD_DIFF_WDIFF:
		value.whole = (int64_t)(new.period *(uint64_t)diff->options.new_weight -
					old.period *(uint64_t)diff->options.old_weight);
		break;
	default:
		value.number = diff_percent(new.period, event->runs[run].total.period) -
			       diff_percent(old.period, event->runs[0].total.period);
	}
	return value;
}

static int larger_first(double a, double b)
{
	return (a < b) - (a > b);
}

static int compare_values(const struct ordering *by, uint32_t a, uint32_t b, size_t run)
{
	const struct pd_diff *diff = by->diff;
	struct diff_value one = pd_diff_value(diff, by->event, a, run), two = pd_diff_value(diff, by->event, b, run);

	if (diff->options.method == PD_DIFF_WDIFF)
		return (one.whole < two.whole) - (one.whole > two.whole);
	if (diff->options.method == PD_DIFF_DELTA_ABS)
		return larger_first(fabs(one.number), fabs(two.number));
	return larger_first(one.number, two.number);
}

/* Rows of one run come before those that are not in it. 2: both are in it. */
static int compare_presence(bool a, bool b)
{
	return a && b ? 2 : (int)b - (int)a;
}

/* Rows that the baseline lacks have a difference, but nothing else. */
static int compare_chosen(const struct ordering *by, uint32_t a, uint32_t b, size_t run)
{
	bool old_a = run_sum(by->event, 0, a).present, old_b = run_sum(by->event, 0, b).present;
	int result = compare_presence(run_sum(by->event, run, a).present, run_sum(by->event, run, b).present);

	if (result != 2)
		return result;
	if (by->diff->options.method == PD_DIFF_RATIO || by->diff->options.method == PD_DIFF_WDIFF) {
		if (!old_a && !old_b)
			return 0;
		if (!old_a || !old_b)
			return old_a ? -1 : 1;
	}
	return compare_values(by, a, b, run);
}

static int compare_cells(const char *a, const char *b)
{
	char *end_a, *end_b;
	unsigned long long number_a = strtoull(a, &end_a, 10), number_b = strtoull(b, &end_b, 10);

	if (end_a != a && end_b != b && number_a != number_b)
		return number_a < number_b ? -1 : 1;
	return strcmp(a, b);
}

static int compare_keys(const struct ordering *by, uint32_t a, uint32_t b)
{
	const struct diff_row *one = &by->event->rows[a], *two = &by->event->rows[b];
	int result = 0;

	for (size_t i = 0; i < by->diff->key_count && !result; i++) {
		const struct key *key = by->diff->keys[i];
		bool level = key->has_level && strlen(one->cells[i]) >= 4 && strlen(two->cells[i]) >= 4;

		result = level ? strcmp(one->cells[i] + 4, two->cells[i] + 4) :
				 compare_cells(one->cells[i], two->cells[i]);
		if (key->descending)
			result = -result;
	}
	return result;
}

static int compare_ratings(const struct ordering *by, uint32_t a, uint32_t b)
{
	const struct pd_diff_change *changes =
		by->event->changes + (by->diff->options.order - 1) * by->event->row_count;

	if (changes[a].rating != changes[b].rating)
		return changes[a].rating > changes[b].rating ? -1 : 1;
	return larger_first(fabs(changes[a].change), fabs(changes[b].change));
}

static int compare_rows(const void *self, uint32_t a, uint32_t b)
{
	const struct ordering *by = self;
	const struct pd_diff *diff = by->diff;
	uint64_t old_a = run_sum(by->event, 0, a).period, old_b = run_sum(by->event, 0, b).period;
	int result = by->event->changes ? compare_ratings(by, a, b) : 0;

	if (!result && !diff->options.by_baseline)
		result = compare_chosen(by, a, b, pd_diff_run_at(diff, diff->options.order, 0));
	if (!result && old_a != old_b)
		result = old_a > old_b ? -1 : 1;
	for (size_t side = 1; side < diff->side_count && !result; side++) {
		size_t run = pd_diff_run_at(diff, side, 0);

		result = compare_presence(run_sum(by->event, run, a).present, run_sum(by->event, run, b).present);
		if (result == 2)
			result = compare_values(by, a, b, run);
	}
	return result ? result : compare_keys(by, a, b);
}

/* Without a pair: in the baseline only, or in no baseline. */
static bool has_pair(const struct pd_diff *diff, const struct diff_event *event, size_t row)
{
	for (size_t run = 1; run < diff->run_count; run++)
		if (diff->runs[run].side && run_sum(event, run, row).present)
			return run_sum(event, 0, row).present;
	return false;
}

bool pd_diff_sort(const struct pd_diff *diff, struct diff_event *event)
{
	const struct ordering by = { diff, event };
	struct pd_sorted *items = pd_alloc((event->row_count + 1) * sizeof(*items));
	size_t count = 0;
	bool sorted;

	pd_free(event->order);
	event->order = pd_alloc((event->row_count + 1) * sizeof(*event->order));
	for (size_t i = 0; items && event->order && i < event->row_count; i++)
		if (!event->rows[i].joined && (!diff->options.baseline_only || has_pair(diff, event, i)))
			items[count++].number = (uint32_t)i;
	sorted = items && event->order && pd_sort(items, count, compare_rows, &by, 1);
	event->baseline = diff->options.baseline_only ? 0 : event->runs[0].total.period;
	for (size_t i = 0; sorted && i < count; i++) {
		event->order[i] = items[i].number;
		if (diff->options.baseline_only)
			event->baseline += run_sum(event, 0, items[i].number).period;
	}
	event->head.row_count = sorted ? count : 0;
	pd_free(items);
	return sorted;
}
