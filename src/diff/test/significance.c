/* SPDX-License-Identifier: MIT */
/*
 * The test. Values are such that their variance, if samples were independent, does not depend on what is compared: the arcsine of a
 * share's root, 1/4n for n samples of a run; the logarithm of an amount, 1/n for n samples of the row. What runs really
 * vary by is phi times that, more than chance, or less where a clock samples evenly; see prior.h. Adjusted for the number of
 * tests by Benjamini and Hochberg. With a single run nothing is known of variation between runs, and one has to be assumed.
 */
#include "diff/test/significance.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "diff/test/distribution.h"
#include "diff/test/prior.h"

enum {
	LEAST_SAMPLES = 10, /* of a row in all runs, to be tested */
	MOST_RUNS = 999
};

static const double LEVEL = 0.05, MAYBE_LEVEL = 0.2;

static double angle_of(double share)
{
	return asin(sqrt(share < 0 ? 0 : share > 1 ? 1 : share));
}

static double share_of(double angle)
{
	double sine = sin(angle < 0 ? 0 : angle > M_PI / 2 ? M_PI / 2 : angle);

	return sine * sine;
}

/* ---- one row ---- */

static size_t run_count(const struct share_table *table)
{
	return table->old_runs + table->new_runs;
}

static double samples_of_run(const struct share_table *table, size_t run)
{
	return table->effective[run] > 1 ? table->effective[run] : 1;
}

/* Shares of the runs of a row; NULL: the total. Amounts cannot be nothing: half a sample at least. */
static double share_in(const struct share_table *table, const double *shares, size_t run)
{
	double share = shares ? shares[run] : 1;

	return table->totals ? fmax(share, 0.5 / samples_of_run(table, run)) : share;
}

static double value_in(const struct share_table *table, const double *shares, size_t run)
{
	double share = share_in(table, shares, run);

	return table->totals ? log(share * table->totals[run]) : angle_of(share);
}

struct group {
	size_t runs;
	double mean;     /* of the values */
	double share;    /* mean */
	double amount;   /* by geometric mean; 0 if no run has the row */
	double residual; /* sum of squares, in units of the variance that chance alone has */
	double samples;  /* effective, of all runs */
	double chance;   /* variance of the mean by chance alone */
};

static struct group group_of(const struct share_table *table, const double *shares, size_t first, size_t count)
{
	struct group group = { .runs = count };
	bool found = !shares;

	for (size_t i = first; i < first + count; i++) {
		group.mean += value_in(table, shares, i) / (double)count;
		group.share += (shares ? shares[i] : 1) / (double)count;
		group.samples += samples_of_run(table, i);
		found |= shares && shares[i] > 0;
	}
	for (size_t i = first; i < first + count; i++) {
		double off = value_in(table, shares, i) - group.mean, n = samples_of_run(table, i);
		double chance = table->totals ? 1 / (n * fmax(group.share, 0.5 / n)) : 0.25 / n;

		group.residual += off * off / chance;
		group.chance += chance / (double)count / (double)count;
	}
	group.amount = found ? exp(group.mean) : 0;
	return group;
}

struct groups {
	struct group old, new;
	double total; /* the old one; 0: shares are compared */
};

static struct groups groups_of(const struct share_table *table, const double *shares)
{
	struct groups groups = { .old = group_of(table, shares, 0, table->old_runs),
				 .new = group_of(table, shares, table->old_runs, table->new_runs) };

	if (table->totals)
		groups.total = group_of(table, NULL, 0, table->old_runs).amount;
	return groups;
}

static const double *row_of(const struct share_table *table, size_t row)
{
	return table->shares + row * run_count(table);
}

/* How many times chance a variance is that goes with the square of the row: of an amount one by samples of the row, of a share by
 * p / (1 - p). */
static struct row_variance variance_of(const struct share_table *table, const struct groups *groups, double df)
{
	const struct group *old = &groups->old, *new = &groups->new;
	double share = (old->share * (double)old->runs + new->share *(double)new->runs) / (double)run_count(table);
	double samples = (old->samples + new->samples) / (double)run_count(table);
	double weight = table->totals ? share : share / (1 - fmin(share, 0.999));

	return (struct row_variance){ (old->residual + new->residual) / df, samples * weight };
}

/* A row that one group lacks: the chance that all its samples fall on one side. */
static double absent_chance(const struct groups *groups)
{
	const struct group *old = &groups->old, *new = &groups->new;
	double all = old->samples + new->samples;

	if (old->share > 0 && new->share > 0)
		return 0;
	if (old->share <= 0 && new->share <= 0)
		return 1;
	return fmin(1, 2 * (new->share > 0 ? pow(new->samples / all, new->share *new->samples) :
					     pow(old->samples / all, old->share * old->samples)));
}

/* From values back to what they are of. */
static double size_of(const struct groups *groups, double value)
{
	return groups->total > 0 ? exp(value) / groups->total : share_of(value);
}

/* error is that of the difference of the means. Returns |t|. */
static double finish_change(const struct groups *groups, double error, double df, struct pd_diff_change *change)
{
	const struct group *old = &groups->old, *new = &groups->new;
	double off = new->mean - old->mean, half = pd_t_critical(LEVEL, df) * error, base = size_of(groups, old->mean);

	change->old_share = base;
	change->new_share = size_of(groups, new->mean);
	if (groups->total > 0) {
		change->old_amount = old->amount;
		change->new_amount = new->amount;
		change->old_share = old->amount / groups->total;
		change->new_share = new->amount / groups->total;
	}
	change->change = change->new_share - change->old_share;
	change->low = size_of(groups, old->mean + off - half) - base;
	change->high = size_of(groups, old->mean + off + half) - base;
	change->p = fmax(error > 0 ? pd_t_two_sided(off / error, df) : 1, absent_chance(groups));
	if (change->change == 0)
		change->p = 1;
	return error > 0 ? fabs(off / error) : 0;
}

/* What the rows of a table have in common. */
struct expected {
	struct variance_prior prior;
	double common; /* variance between runs of what all rows share, if amounts are compared */
};

/* What makes a run slower as a whole is in all rows: then that they agree does not mean that their variance is known better than
 * from the runs alone. Degrees of freedom of the sum of both kinds, by Satterthwaite. */
static double without_common(const struct expected *expected, const struct groups *groups, struct moderated phi,
			     double df)
{
	double chance =
		(groups->old.chance * (double)groups->old.runs + groups->new.chance *(double)groups->new.runs) / 2;
	double common = fmin(1, expected->common / (phi.phi * chance));

	return expected->common > 0 ? fmin(phi.df, 1 / (common * common / df + (1 - common) * (1 - common) / phi.df)) :
				      phi.df;
}

/* Returns |t|. */
static double compare_runs(const struct share_table *table, size_t row, const struct expected *expected,
			   struct pd_diff_change *change)
{
	struct groups groups = groups_of(table, row_of(table, row));
	double df = (double)run_count(table) - 2;
	struct row_variance variance = variance_of(table, &groups, df);
	struct moderated phi = pd_variance_moderate(&expected->prior, &variance, df);

	phi.df = without_common(expected, &groups, phi, df);
	return finish_change(&groups, sqrt(phi.phi * (groups.old.chance + groups.new.chance)), phi.df, change);
}

/* By the shares themselves: few samples of a single run are far from normal at the ends of the arcsine. */
static double compare_single_shares(const struct share_table *table, const struct groups *groups,
				    struct pd_diff_change *change)
{
	const struct group *old = &groups->old, *new = &groups->new;
	double share = (old->share * old->samples + new->share *new->samples) / (old->samples + new->samples);
	double between = table->variation * share * (1 - share), off = new->share - old->share, error, half;

	error = sqrt(share * (1 - share) * 4 * (old->chance + new->chance) +
		     between * between * (1 / (double)old->runs + 1 / (double)new->runs));
	change->old_share = old->share;
	change->new_share = new->share;
	change->change = off;
	change->p = fmax(error > 0 ? pd_t_two_sided(off / error, INFINITY) : 1, absent_chance(groups));
	if (off == 0)
		change->p = 1;
	half = pd_t_critical(LEVEL, INFINITY) * error;
	change->low = fmax(off - half, -old->share);
	change->high = fmin(off + half, 1 - old->share);
	return error > 0 ? fabs(off / error) : 0;
}

static double compare_single(const struct share_table *table, const double *shares, struct pd_diff_change *change)
{
	struct groups groups = groups_of(table, shares);
	double between =
		table->variation * table->variation * (1 / (double)groups.old.runs + 1 / (double)groups.new.runs);

	if (!table->totals)
		return compare_single_shares(table, &groups, change);
	return finish_change(&groups, sqrt(groups.old.chance + groups.new.chance + between), INFINITY, change);
}

/* ---- all rows ---- */

/* Of both groups together, whatever the difference between them is. */
static double mean_share(const struct share_table *table, size_t row)
{
	const double *shares = row_of(table, row);
	double sum = 0;

	for (size_t i = 0; i < run_count(table); i++)
		sum += shares[i];
	return sum / (double)run_count(table);
}

/* A share of less than half of what is the least change to be called real cannot change as much. */
static bool can_be_real(const struct share_table *table, size_t row)
{
	double share = mean_share(table, row);

	return share > 0 && share >= table->least_of_all / 2;
}

static bool is_tested(const struct share_table *table, size_t row)
{
	return table->samples[row] >= LEAST_SAMPLES && can_be_real(table, row);
}

static bool has_single_run(const struct share_table *table)
{
	return table->old_runs < 2 || table->new_runs < 2;
}

/* How far a row of a run is from the mean of its group. */
struct deviation {
	double off, weight;
};

static int compare_deviations(const void *a, const void *b)
{
	double one = ((const struct deviation *)a)->off, two = ((const struct deviation *)b)->off;

	return (one > two) - (one < two);
}

static double median_of(struct deviation *items, size_t count)
{
	double half = 0;
	size_t i = 0;

	for (size_t k = 0; k < count; k++)
		half += items[k].weight / 2;
	qsort(items, count, sizeof(*items), compare_deviations);
	while (i + 1 < count && (half -= items[i].weight) > 0)
		i++;
	return count ? items[i].off : 0;
}

/* How much slower a run was as a whole: the median of its rows, by size, so that it is not one row that made it so. */
static double slowness_of(const struct share_table *table, size_t run, struct deviation *items)
{
	bool is_old = run < table->old_runs;
	size_t count = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		const double *shares = row_of(table, i);
		struct group group = group_of(table, shares, is_old ? 0 : table->old_runs,
					      is_old ? table->old_runs : table->new_runs);

		if (is_tested(table, i))
			items[count++] = (struct deviation){ value_in(table, shares, run) - group.mean, group.share };
	}
	return median_of(items, count);
}

/* False if there is no memory. */
static bool find_common(const struct share_table *table, double df, double *variance_out)
{
	struct deviation *items = pd_alloc((table->row_count + 1) * sizeof(*items));

	if (!items)
		return false;
	for (size_t i = 0; i < run_count(table); i++) {
		double off = slowness_of(table, i, items);

		*variance_out += off * off / df;
	}
	pd_free(items);
	return true;
}

/* False if there is no memory. */
static bool estimate(const struct share_table *table, struct expected *expected_out)
{
	double df = (double)run_count(table) - 2;
	struct row_variance *rows;
	size_t count = 0;

	if (has_single_run(table))
		return true;
	rows = pd_alloc((table->row_count + 1) * sizeof(*rows));
	if (!rows)
		return false;
	for (size_t i = 0; i < table->row_count; i++) {
		struct groups groups = groups_of(table, row_of(table, i));

		if (is_tested(table, i))
			rows[count++] = variance_of(table, &groups, df);
	}
	expected_out->prior = pd_variance_prior(rows, count, df);
	pd_free(rows);
	return !table->totals || find_common(table, df, &expected_out->common);
}

struct ranked {
	double weighted; /* p by the row's weight */
	size_t row;
};

static int compare_ranked(const void *a, const void *b)
{
	double one = ((const struct ranked *)a)->weighted, two = ((const struct ranked *)b)->weighted;

	return (one > two) - (one < two);
}

/* Large rows first: a hundred small ones would hide them otherwise. Weights are those of both groups together, which a change does
 * not choose, and their mean is 1. */
static void weigh(const struct share_table *table, struct ranked *ranked, size_t count,
		  const struct pd_diff_change *changes)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += sqrt(mean_share(table, ranked[i].row));
	for (size_t i = 0; i < count; i++)
		ranked[i].weighted =
			changes[ranked[i].row].p * sum / (double)count / sqrt(mean_share(table, ranked[i].row));
}

/* Benjamini and Hochberg, with weights: from the largest on down, each times the number of tests by its rank. */
static void adjust(struct ranked *ranked, size_t count, struct pd_diff_change *changes)
{
	double least = 1;

	qsort(ranked, count, sizeof(*ranked), compare_ranked);
	for (size_t i = count; i-- > 0;) {
		least = fmin(least, ranked[i].weighted * (double)count / (double)(i + 1));
		changes[ranked[i].row].q = fmax(least, changes[ranked[i].row].p);
	}
}

static bool is_large(const struct share_table *table, const struct pd_diff_change *change)
{
	double row = change->old_share > 0 ? change->old_share : change->new_share;

	return fabs(change->change) >= table->least_of_all && fabs(change->change) >= table->least_of_row * row;
}

static enum pd_diff_rating rate_change(const struct share_table *table, const struct pd_diff_change *change)
{
	if (has_single_run(table))
		return change->q < LEVEL && is_large(table, change) ? PD_DIFF_MAYBE : PD_DIFF_NOISE;
	if (change->q < LEVEL && is_large(table, change))
		return PD_DIFF_REAL;
	return change->q < MAYBE_LEVEL ? PD_DIFF_MAYBE : PD_DIFF_NOISE;
}

/* Runs that would decide, were the change as large as it is now: errors shrink with the root of their number. */
static size_t runs_needed(const struct share_table *table, const struct pd_diff_change *change, double t, size_t found,
			  size_t count)
{
	size_t runs = table->old_runs < table->new_runs ? table->old_runs : table->new_runs;
	double needed, p = LEVEL * (double)(found + 1) / (double)count;

	if (change->rating == PD_DIFF_REAL || !is_large(table, change) || t <= 0)
		return 0;
	needed = ceil((double)runs * pow(pd_t_critical(fmin(p, LEVEL), INFINITY) / t, 2));
	if (needed > MOST_RUNS)
		return 0;
	if (needed <= (double)runs)
		needed = (double)runs + 1;
	return needed < 3 ? 3 : (size_t)needed;
}

/* A share falls as another one grows: it fell as all but that one would have. What is in one group only may have another name in the
 * other one, and explains nothing. */
static void explain(const struct share_table *table, struct pd_diff_change *changes)
{
	size_t cause = SIZE_MAX;
	double factor;

	for (size_t i = 0; i < table->row_count; i++)
		if (changes[i].rating >= PD_DIFF_MAYBE && changes[i].old_share > 0 && changes[i].new_share > 0 &&
		    (cause == SIZE_MAX || fabs(changes[i].change) > fabs(changes[cause].change)))
			cause = i;
	if (cause == SIZE_MAX || changes[cause].old_share >= 1)
		return;
	factor = (1 - changes[cause].new_share) / (1 - changes[cause].old_share);
	for (size_t i = 0; i < table->row_count; i++) {
		double foreseen = changes[i].old_share * (factor - 1);

		if (i != cause && changes[i].rating >= PD_DIFF_MAYBE && changes[i].change * changes[cause].change < 0 &&
		    foreseen >= changes[i].low && foreseen <= changes[i].high)
			changes[i].because = cause;
	}
}

static size_t compare_rows(const struct share_table *table, struct pd_diff_change *changes, struct ranked *ranked,
			   double *ts)
{
	struct expected expected = { 0 };
	size_t count = 0, found = 0;

	if (!estimate(table, &expected))
		return SIZE_MAX;
	for (size_t i = 0; i < table->row_count; i++) {
		changes[i] = (struct pd_diff_change){ .q = 1, .because = SIZE_MAX };
		ts[i] = has_single_run(table) ? compare_single(table, row_of(table, i), &changes[i]) :
						compare_runs(table, i, &expected, &changes[i]);
		if (is_tested(table, i))
			ranked[count++].row = i;
	}
	weigh(table, ranked, count, changes);
	adjust(ranked, count, changes);
	for (size_t i = 0; i < count; i++) {
		struct pd_diff_change *change = &changes[ranked[i].row];

		change->rating = rate_change(table, change);
		found += change->rating == PD_DIFF_REAL;
	}
	for (size_t i = 0; i < count; i++)
		changes[ranked[i].row].runs_needed =
			runs_needed(table, &changes[ranked[i].row], ts[ranked[i].row], found, count);
	if (!table->totals)
		explain(table, changes);
	return count;
}

size_t pd_shares_compare(const struct share_table *table, struct pd_diff_change *changes)
{
	struct ranked *ranked = pd_alloc((table->row_count + 1) * sizeof(*ranked));
	double *ts = pd_alloc((table->row_count + 1) * sizeof(*ts));
	size_t count = ranked && ts ? compare_rows(table, changes, ranked, ts) : SIZE_MAX;

	pd_free(ranked);
	pd_free(ts);
	return count;
}

struct pd_diff_change pd_totals_compare(const struct share_table *table)
{
	struct pd_diff_change change = { .q = 1, .because = SIZE_MAX };
	struct groups groups = groups_of(table, NULL);
	double df = (double)run_count(table) - 2;

	if (has_single_run(table)) {
		compare_single(table, NULL, &change);
	} else {
		struct row_variance variance = variance_of(table, &groups, df);

		finish_change(&groups, sqrt(variance.phi * (groups.old.chance + groups.new.chance)), df, &change);
	}
	change.q = change.p;
	change.rating = rate_change(table, &change);
	return change;
}
