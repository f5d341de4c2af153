/* SPDX-License-Identifier: MIT */
/*
 * The test. The arcsine of a share's root has the variance 1/4n whatever the share is, times phi, which is not 1: runs differ by more
 * than chance, and a clock that samples evenly by less. Few runs say little of a row's phi, so it is moderated: drawn towards that of
 * all rows, as strongly as the rows are alike. Adjusted for the number of tests by Benjamini and Hochberg. With a single run nothing
 * is known of variation between runs, and one has to be assumed.
 */
#include "diff/significance.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "diff/distribution.h"

enum {
	LEAST_SAMPLES = 10, /* of a row in all runs, to be tested */
	LEAST_ROWS = 3,     /* for an estimated prior */
	MOST_RUNS = 999
};

static const double USUAL_PRIOR_DF = 8;
static const double LEAST_PRIOR_DF = 3; /* below, rows are of several kinds, and each stands for itself */
static const double MOST_PRIOR_DF = 20; /* alike by chance: few rows cannot show more */
static const double LEAST_PHI = 0.3;
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

/* ---- the prior ---- */

static int compare_doubles(const void *a, const void *b)
{
	double one = *(const double *)a, two = *(const double *)b;

	return (one > two) - (one < two);
}

static struct share_prior usual_prior(const double *phis, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += phis[i];
	sum = count ? sum / (double)count : 1;
	return (struct share_prior){ USUAL_PRIOR_DF, sum < LEAST_PHI ? LEAST_PHI : sum };
}

/* By the moments of the logarithms: what they vary by more than chance would is how much the rows differ. */
struct share_prior pd_share_prior(const double *phis, size_t count, double df)
{
	double mean = 0, variance = 0, floor = 0, excess;
	struct share_prior prior;

	if (count < LEAST_ROWS)
		return usual_prior(phis, count);
	for (size_t i = 0; i < count; i++)
		floor += phis[i] / (double)count;
	/* a logarithm needs more than 0, which is what rows of few samples may have */
	floor = floor > 0 ? floor / 100 : 1e-6;
	for (size_t i = 0; i < count; i++)
		mean += log(phis[i] > floor ? phis[i] : floor) / (double)count;
	for (size_t i = 0; i < count; i++) {
		double off = log(phis[i] > floor ? phis[i] : floor) - mean;

		variance += off * off / (double)(count - 1);
	}
	excess = variance - pd_trigamma(df / 2);
	prior.df = excess > 0 ? 2 * pd_trigamma_inverse(excess) : MOST_PRIOR_DF;
	if (prior.df > MOST_PRIOR_DF)
		prior.df = MOST_PRIOR_DF;
	if (prior.df < LEAST_PRIOR_DF)
		return (struct share_prior){ 0, 1 };
	prior.phi = exp(mean - pd_digamma(df / 2) + log(df / 2) + pd_digamma(prior.df / 2) - log(prior.df / 2));
	/* where rows differ, the mean is above what most have: rather too much than too little */
	prior.phi = fmax(prior.phi, usual_prior(phis, count).phi);
	return prior;
}

/* ---- one row ---- */

struct group {
	size_t runs;
	double mean;     /* of the angles, or of the shares where a run is single */
	double residual; /* sum of squares, in units of 1/4n */
	double samples;  /* effective, of all runs */
	double inverse;  /* mean of 1/n, by the number of runs */
};

static struct group group_of(const struct share_table *table, size_t row, size_t first, size_t count, bool angles)
{
	const double *shares = table->shares + row * (table->old_runs + table->new_runs) + first;
	struct group group = { .runs = count };

	for (size_t i = 0; i < count; i++) {
		double n = table->effective[first + i] > 1 ? table->effective[first + i] : 1;

		group.mean += (angles ? angle_of(shares[i]) : shares[i]) / (double)count;
		group.samples += n;
		group.inverse += 1 / n / (double)count / (double)count;
	}
	for (size_t i = 0; angles && i < count; i++) {
		double off = angle_of(shares[i]) - group.mean;

		group.residual += off * off * 4 * table->effective[first + i];
	}
	return group;
}

/* A row that one group lacks: the chance that all its samples fall on one side. */
static double absent_chance(const struct group *old, const struct group *new, double old_share, double new_share)
{
	double all = old->samples + new->samples;

	if (old_share > 0 && new_share > 0)
		return 0;
	if (old_share <= 0 && new_share <= 0)
		return 1;
	return fmin(1, 2 * (new_share > 0 ? pow(new->samples / all, new_share * new->samples) :
					    pow(old->samples / all, old_share * old->samples)));
}

static void finish_change(struct pd_diff_change *change, const struct group *old, const struct group *new)
{
	double absent = absent_chance(old, new, change->old_share, change->new_share);

	change->change = change->new_share - change->old_share;
	if (change->p < absent)
		change->p = absent;
	if (change->change == 0)
		change->p = 1;
}

/* Returns |t|. */
static double compare_runs(const struct share_table *table, size_t row, const struct share_prior *prior,
			   struct pd_diff_change *change)
{
	struct group old = group_of(table, row, 0, table->old_runs, true);
	struct group new = group_of(table, row, table->old_runs, table->new_runs, true);
	double df = (double)(old.runs + new.runs - 2), off = new.mean - old.mean, error, half;
	double phi = (old.residual + new.residual + prior->df * prior->phi) / (df + prior->df);

	error = sqrt(phi / 4 * (old.inverse + new.inverse));
	change->old_share = share_of(old.mean);
	change->new_share = share_of(new.mean);
	change->p = error > 0 ? pd_t_two_sided(off / error, df + prior->df) : 1;
	half = pd_t_critical(LEVEL, df + prior->df) * error;
	change->low = share_of(old.mean + off - half) - change->old_share;
	change->high = share_of(old.mean + off + half) - change->old_share;
	finish_change(change, &old, &new);
	return error > 0 ? fabs(off / error) : 0;
}

static double compare_single(const struct share_table *table, size_t row, struct pd_diff_change *change)
{
	struct group old = group_of(table, row, 0, table->old_runs, false);
	struct group new = group_of(table, row, table->old_runs, table->new_runs, false);
	double share = (old.mean * old.samples + new.mean *new.samples) / (old.samples + new.samples);
	double between = table->variation * share * (1 - share), off = new.mean - old.mean, error, half;

	error = sqrt(share * (1 - share) * (old.inverse + new.inverse) +
		     between * between * (1 / (double)old.runs + 1 / (double)new.runs));
	change->old_share = old.mean;
	change->new_share = new.mean;
	change->p = error > 0 ? pd_t_two_sided(off / error, INFINITY) : 1;
	half = pd_t_critical(LEVEL, INFINITY) * error;
	change->low = fmax(off - half, -old.mean);
	change->high = fmin(off + half, 1 - old.mean);
	finish_change(change, &old, &new);
	return error > 0 ? fabs(off / error) : 0;
}

/* ---- all rows ---- */

static bool is_tested(const struct share_table *table, size_t row)
{
	return table->samples[row] >= LEAST_SAMPLES;
}

static bool has_single_run(const struct share_table *table)
{
	return table->old_runs < 2 || table->new_runs < 2;
}

/* False if there is no memory. */
static bool estimate_prior(const struct share_table *table, struct share_prior *prior_out)
{
	double df = (double)(table->old_runs + table->new_runs) - 2;
	double *phis = pd_alloc((table->row_count + 1) * sizeof(*phis));
	size_t count = 0;

	if (!phis)
		return false;
	for (size_t i = 0; i < table->row_count && df > 0; i++)
		if (is_tested(table, i))
			phis[count++] = (group_of(table, i, 0, table->old_runs, true).residual +
					 group_of(table, i, table->old_runs, table->new_runs, true).residual) /
					df;
	*prior_out = pd_share_prior(phis, count, df);
	pd_free(phis);
	return true;
}

struct ranked {
	double p; /* first: sorted by it */
	size_t row;
};

/* Benjamini and Hochberg: from the largest p down, each times the number of tests by its rank. */
static void adjust(struct ranked *ranked, size_t count, struct pd_diff_change *changes)
{
	double least = 1;

	qsort(ranked, count, sizeof(*ranked), compare_doubles);
	for (size_t i = count; i-- > 0;) {
		least = fmin(least, ranked[i].p * (double)count / (double)(i + 1));
		changes[ranked[i].row].q = least;
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
	struct share_prior prior;
	size_t count = 0, found = 0;

	if (!estimate_prior(table, &prior))
		return SIZE_MAX;
	for (size_t i = 0; i < table->row_count; i++) {
		changes[i] = (struct pd_diff_change){ .q = 1, .because = SIZE_MAX };
		ts[i] = has_single_run(table) ? compare_single(table, i, &changes[i]) :
						compare_runs(table, i, &prior, &changes[i]);
		if (is_tested(table, i))
			ranked[count++] = (struct ranked){ changes[i].p, i };
	}
	adjust(ranked, count, changes);
	for (size_t i = 0; i < count; i++) {
		struct pd_diff_change *change = &changes[ranked[i].row];

		change->rating = rate_change(table, change);
		found += change->rating == PD_DIFF_REAL;
	}
	for (size_t i = 0; i < count; i++)
		changes[ranked[i].row].runs_needed =
			runs_needed(table, &changes[ranked[i].row], ts[ranked[i].row], found, count);
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
