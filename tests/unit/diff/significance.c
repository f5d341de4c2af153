/* SPDX-License-Identifier: MIT */
/* Distributions against values from tables; and how often the test speaks, on runs that are drawn: false alarms without a change, in
 * short runs and in long ones that vary more than chance would, and found changes. */
#include <math.h>
#include <stdlib.h>

#include "diff/test/distribution.h"
#include "diff/test/prior.h"
#include "diff/test/significance.h"
#include "test.h"

enum {
	ROWS = 18,
	DRAWS = 1000
};

/* Shares of rows of a program, largest first; the last one is the rest. */
static const double usual[ROWS] = { .30, .20, .19, .11, .05,  .03,  .02,  .02,  .01,
				    .01, .01, .01, .01, .005, .005, .005, .005, .01 };

static bool is_near(double a, double b)
{
	return fabs(a - b) < 1e-6 * (1 + fabs(b));
}

TEST(distributions)
{
	CHECK(is_near(pd_t_two_sided(2, 10), 0.07338803));
	CHECK(is_near(pd_t_two_sided(-2.7764451, 4), 0.05));
	CHECK(is_near(pd_t_two_sided(1.9599640, INFINITY), 0.05));
	CHECK(is_near(pd_t_two_sided(0, 3), 1) && pd_t_two_sided(NAN, 3) == 1);
	CHECK(is_near(pd_t_critical(0.05, 4), 2.7764451) && is_near(pd_t_critical(0.01, 10), 3.1692727));
	CHECK(is_near(pd_t_critical(0.05, INFINITY), 1.9599640));
	CHECK(is_near(pd_f_upper(6.38823291, 4, 4), 0.05) && is_near(pd_f_upper(2.71089, 5, 20), 0.0500000));
	CHECK(pd_f_upper(0, 4, 4) == 1);
	CHECK(is_near(pd_digamma(1), -0.57721566) && is_near(pd_trigamma(1), 1.64493407));
	CHECK(is_near(pd_trigamma_inverse(pd_trigamma(3.5)), 3.5));
}

/* ---- runs that are drawn ---- */

static uint64_t seed = 88172645463325252u;

static double uniform(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return ((double)(seed >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

struct kind {
	size_t runs;        /* of each group */
	double samples;     /* of a run */
	double cv;          /* real variation of some rows between runs: every third one */
	double change;      /* of one row, in the new group */
	size_t changed;     /* that row */
	double most_tables; /* with a row that is called real by mistake */
	bool amounts;       /* are compared, of runs with the same work */
	double all_cv;      /* variation of all rows together: a machine that is slower at times */
};

struct drawn {
	double shares[ROWS * 20], effective[20], totals[20];
	uint64_t samples[ROWS];
};

/* Samples of a run are independent: normal, with the variance of a share. */
static void draw(const struct kind *kind, struct drawn *drawn)
{
	memset(drawn, 0, sizeof(*drawn));
	for (size_t run = 0; run < 2 * kind->runs; run++) {
		double weights[ROWS], sum = 0;

		drawn->effective[run] = kind->samples;
		for (size_t i = 0; i < ROWS; i++) {
			weights[i] = usual[i] * (i % 3 == 2 ? fmax(0, 1 + kind->cv * normal()) : 1);
			if (run >= kind->runs && i == kind->changed)
				weights[i] *= 1 + kind->change;
			sum += weights[i];
		}
		for (size_t i = 0; i < ROWS; i++) {
			double p = weights[i] / sum, share = p + sqrt(p * (1 - p) / kind->samples) * normal();

			/* not so of shares, which add up: so much time makes so many samples */
			if (kind->amounts)
				share = p + sqrt(p / kind->samples) * normal();
			drawn->shares[i * 2 * kind->runs + run] = fmax(share, 0);
			drawn->samples[i] += (uint64_t)(fmax(share, 0) * kind->samples);
		}
		drawn->totals[run] = sum * (1 + kind->all_cv * normal());
	}
}

struct result {
	double tables;     /* share of those with a row that is called real */
	double rows;       /* share of rows with p below 5 % */
	double found;      /* share of draws in which the changed row has p below 5 % */
	double found_real; /* and is called real */
};

static struct result try(const struct kind *kind)
{
	static struct drawn drawn;
	struct result result = { 0 };

	for (size_t i = 0; i < DRAWS; i++) {
		struct pd_diff_change changes[ROWS];
		const struct share_table table = { .row_count = ROWS,
						   .old_runs = kind->runs,
						   .new_runs = kind->runs,
						   .shares = drawn.shares,
						   .effective = drawn.effective,
						   .totals = kind->amounts ? drawn.totals : NULL,
						   .samples = drawn.samples,
						   .variation = 0.05,
						   .least_of_row = 0.02,
						   .least_of_all = 0.001 };
		bool any = false;

		draw(kind, &drawn);
		pd_shares_compare(&table, changes);
		for (size_t k = 0; k < ROWS; k++) {
			any |= changes[k].rating == PD_DIFF_REAL;
			result.rows += (changes[k].p < 0.05) / (double)ROWS / DRAWS;
		}
		result.tables += any / (double)DRAWS;
		result.found += (changes[kind->changed].p < 0.05) / (double)DRAWS;
		result.found_real += (changes[kind->changed].rating == PD_DIFF_REAL) / (double)DRAWS;
	}
	printf("# %s %zu:%zu, %g samples, cv %g and %g, change %g: tables %.3f rows %.3f found %.3f real %.3f\n",
	       kind->amounts ? "amounts" : "shares", kind->runs, kind->runs, kind->samples, kind->cv, kind->all_cv,
	       kind->change, result.tables, result.rows, result.found, result.found_real);
	return result;
}

TEST(false_alarms)
{
	static const struct kind kinds[] = {
		{ 3, 1700, 0, 0, 0, 0.05, false, 0 },     { 5, 1700, 0, 0, 0, 0.05, false, 0 },
		{ 3, 1700, 0.05, 0, 0, 0.05, false, 0 },  { 3, 70000, 0.05, 0, 0, 0.05, false, 0 },
		{ 5, 70000, 0.05, 0, 0, 0.05, false, 0 }, { 3, 70000, 0.2, 0, 0, 0.05, false, 0 },
		{ 3, 1700, 0, 0, 0, 0.05, true, 0 },      { 5, 1700, 0, 0, 0, 0.05, true, 0.03 },
		{ 3, 70000, 0.05, 0, 0, 0.05, true, 0 },  { 5, 70000, 0.05, 0, 0, 0.05, true, 0.03 },
		{ 3, 70000, 0, 0, 0, 0.05, true, 0.1 },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct result result = try(&kinds[i]);

		CHECK(result.tables <= kinds[i].most_tables && result.rows <= 0.06);
	}
}

TEST(power)
{
	static const struct kind tenth_of_30 = { 5, 1700, 0, 0.10, 0 }, fifth_of_11 = { 5, 1700, 0, 0.20, 3 },
				 single = { 1, 1700, 0, 1, 3 };
	struct result result = try(&tenth_of_30);

	CHECK(result.found > 0.6);
	result = try(&fifth_of_11);
	CHECK(result.found > 0.9 && result.found_real > 0.6);
	result = try(&single);
	CHECK(result.found > 0.9 && result.found_real == 0 && result.tables == 0);
}

/* Of amounts, by which runs of the same work are compared. */
TEST(power_of_amounts)
{
	static const struct kind tenth_of_30 = { 5, 5000, 0.02, 0.10, 0, 0, true, 0.01 },
				 fifth_of_11 = { 5, 5000, 0.02, 0.20, 3, 0, true, 0.01 },
				 long_runs = { 5, 70000, 0.03, 0.10, 0, 0, true, 0.02 };
	struct result result = try(&tenth_of_30);

	CHECK(result.found_real >= 0.85);
	result = try(&fifth_of_11);
	CHECK(result.found_real >= 0.95);
	result = try(&long_runs);
	CHECK(result.found_real >= 0.85);
}

/* Rows that are alike are believed, rows that differ are not, unless it is by their size. */
TEST(prior)
{
	struct row_variance alike[] = { { 1.0, 9 }, { 1.1, 2 }, { 0.9, 5 }, { 1.05, 1 }, { 0.95, 7 }, { 1.0, 3 } };
	struct row_variance apart[] = { { 0.5, 9 }, { 187, 2 }, { 1, 5 }, { 40, 1 }, { 2, 7 }, { 91, 3 } };
	struct row_variance sizes[] = {
		{ 1.1, 2 }, { 27, 10000 }, { 2.4, 500 }, { 6, 2000 }, { 13, 5000 }, { 1.2, 90 }
	};
	struct row_variance two[] = { { 1, 0 }, { 1.1, 0 } }, high = { 30, 1 }, low = { 0.1, 1 };
	struct variance_prior prior = pd_variance_prior(alike, 6, 4);
	struct moderated phi = pd_variance_moderate(&prior, &low, 4);

	CHECK(prior.df == 20 && prior.phi > 0.9 && prior.phi < 1.3);
	CHECK(phi.df == 24 && phi.phi > 0.7 && phi.phi < 1.1);
	phi = pd_variance_moderate(&prior, &high, 4);
	CHECK(phi.df == 4 && phi.phi == 30);
	prior = pd_variance_prior(apart, 6, 4);
	CHECK(prior.df < 2);
	prior = pd_variance_prior(sizes, 6, 4);
	CHECK(prior.df == 20 && prior.growth > 0.002 && prior.growth < 0.0035 && prior.phi > 0.8 && prior.phi < 1.5);
	prior = pd_variance_prior(two, 2, 4);
	CHECK(prior.df == 8 && prior.growth == 0 && is_near(prior.phi, 1.05));
	prior = pd_variance_prior(NULL, 0, 4);
	CHECK(prior.df == 8 && prior.phi == 1);
}

/* An old total of 10 and 12: what has half of both grew by a fifth. Nothing is known of what a run lacks. */
TEST(amounts)
{
	const double shares[] = { 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0, 0, 0.25, 0.25 };
	const double effective[] = { 1000, 1000, 1000, 1000 }, totals[] = { 10, 10, 12, 12 };
	const uint64_t samples[] = { 2000, 2000, 500 };
	const struct share_table table = { .row_count = 3,
					   .old_runs = 2,
					   .new_runs = 2,
					   .shares = shares,
					   .effective = effective,
					   .totals = totals,
					   .samples = samples };
	struct pd_diff_change changes[3], total = pd_totals_compare(&table);

	CHECK(pd_shares_compare(&table, changes) == 3);
	CHECK(is_near(changes[0].old_amount, 5) && is_near(changes[0].new_amount, 6));
	CHECK(is_near(changes[0].old_share, 0.5) && is_near(changes[0].new_share, 0.6) &&
	      is_near(changes[0].change, 0.1));
	CHECK(changes[0].low < 0.1 && changes[0].high > 0.1);
	CHECK(changes[2].old_amount == 0 && changes[2].old_share == 0 && is_near(changes[2].new_amount, 3));
	CHECK(is_near(total.old_amount, 10) && is_near(total.new_amount, 12) && is_near(total.change, 0.2));
}

TEST(only_on_one_side)
{
	const double shares[] = { 0,    0,     0,     0.02, 0.021, 0.019, 0.5, 0.5, 0.5,
				  0.48, 0.479, 0.481, 0.5,  0.5,   0.5,   0.5, 0.5, 0.5 };
	const double effective[] = { 1000, 1000, 1000, 1000, 1000, 1000 };
	const uint64_t samples[] = { 60, 2900, 3000 };
	const struct share_table table = { .row_count = 3,
					   .old_runs = 3,
					   .new_runs = 3,
					   .shares = shares,
					   .effective = effective,
					   .samples = samples };
	struct pd_diff_change changes[3];

	CHECK(pd_shares_compare(&table, changes) == 3);
	CHECK(changes[0].rating == PD_DIFF_REAL && changes[0].old_share == 0 && changes[0].low > 0);
	CHECK(changes[2].rating == PD_DIFF_NOISE && changes[2].p == 1);
}

RUN(TEST_CASE(distributions), TEST_CASE(false_alarms), TEST_CASE(power), TEST_CASE(power_of_amounts), TEST_CASE(prior),
    TEST_CASE(amounts), TEST_CASE(only_on_one_side))
