/* SPDX-License-Identifier: MIT */
/* Tests of the rows of an event: each side against the baseline. Runs without a sample of the event say nothing. */
#include "diff/diff.h"
#include "diff/test/significance.h"

static double limit(double given, double usual)
{
	return given < 0 ? 0 : given > 0 ? given : usual;
}

/* The runs of two sides that have the event, the old ones first. */
static size_t choose_runs(const struct pd_diff *diff, const struct diff_event *event, size_t side, size_t *runs,
			  size_t count)
{
	for (size_t i = 0; i < diff->run_count; i++)
		if (diff->runs[i].side == side && !diff->runs[i].copy && event->runs[i].total.period)
			runs[count++] = i;
	return count;
}

static void fill(const struct pd_diff *diff, const struct diff_event *event, const size_t *runs, size_t count,
		 double *shares, double *effective, uint64_t *samples)
{
	for (size_t i = 0; i < count; i++) {
		effective[i] = event->runs[runs[i]].effective;
		effective[count + i] = (double)event->runs[runs[i]].total.period / diff->runs[runs[i]].divisor;
	}
	for (size_t row = 0; row < event->row_count; row++) {
		samples[row] = 0;
		for (size_t i = 0; i < count; i++) {
			struct pd_diff_sum sum = run_sum(event, runs[i], row);

			shares[row * count + i] = (double)sum.period / (double)event->runs[runs[i]].total.period;
			/* those of joined rows count in the row that stands for them */
			samples[row] += event->rows[row].joined ? 0 : sum.samples;
		}
	}
}

static bool test_side(const struct pd_diff *diff, struct diff_event *event, size_t side, size_t *runs)
{
	size_t old = choose_runs(diff, event, 0, runs, 0), all = choose_runs(diff, event, side, runs, old);
	struct pd_diff_change *changes = event->changes + (side - 1) * event->row_count;
	struct share_table table = { .row_count = event->row_count, .old_runs = old, .new_runs = all - old };
	double *shares = pd_alloc((event->row_count * all + 1) * sizeof(*shares));
	double *effective = pd_alloc((2 * all + 1) * sizeof(*effective)); /* and totals */
	uint64_t *samples = pd_alloc((event->row_count + 1) * sizeof(*samples));
	size_t tested = SIZE_MAX;

	for (size_t i = 0; i < event->row_count; i++)
		changes[i] = (struct pd_diff_change){ .p = 1, .q = 1, .because = SIZE_MAX };
	if (shares && effective && samples) {
		fill(diff, event, runs, all, shares, effective, samples);
		table.shares = shares;
		table.effective = effective;
		table.totals = diff->per ? effective + all : NULL;
		table.samples = samples;
		table.variation = limit(diff->options.variation, 0.05);
		table.least_of_row = limit(diff->options.least_of_row, 0.02);
		table.least_of_all = limit(diff->options.least_of_all, 0.001);
		tested = table.old_runs && table.new_runs ? pd_shares_compare(&table, changes) : 0;
		if (diff->per && table.old_runs && table.new_runs)
			event->totals[side - 1] = pd_totals_compare(&table);
	}
	pd_free(shares);
	pd_free(effective);
	pd_free(samples);
	event->tested[side - 1] = tested == SIZE_MAX ? 0 : tested;
	return tested != SIZE_MAX;
}

bool pd_diff_test(const struct pd_diff *diff, struct diff_event *event)
{
	size_t *runs = pd_alloc((diff->run_count + 1) * sizeof(*runs));
	bool done;

	event->changes = pd_alloc((event->row_count * (diff->side_count - 1) + 1) * sizeof(*event->changes));
	event->tested = pd_alloc(diff->side_count * sizeof(*event->tested));
	event->totals = pd_alloc(diff->side_count * sizeof(*event->totals));
	done = runs && event->changes && event->tested && event->totals;
	for (size_t side = 1; done && side < diff->side_count; side++)
		done = test_side(diff, event, side, runs);
	pd_free(runs);
	return done;
}
