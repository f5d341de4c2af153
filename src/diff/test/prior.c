/* SPDX-License-Identifier: MIT */
/*
 * Few runs say little of a row's variance, so it is drawn towards what the others lead to expect, as strongly as they are alike
 * (empirical Bayes, by the moments of the logarithms). Long runs have two kinds of variance, chance and what differs between
 * runs: the latter is a share of the row, so it outweighs chance in large rows only. Rows that differ by more than both are
 * believed themselves; to draw them to the others would make a change of what is only noise.
 */
#include "diff/test/prior.h"

#include <math.h>

#include "diff/test/distribution.h"

enum {
	LEAST_ROWS = 3 /* for an estimate */
};

static const double USUAL_DF = 8;
static const double MOST_DF = 20; /* included by chance: few rows cannot show more */
static const double LEAST_PHI = 0.3;
static const double LEAST_CV = 0.002, MOST_CV = 1, CV_STEP = 1.25; /* growth is the square of one of these */
/* Probabilities of a row as far above the others: it stands for itself, and it says nothing of them. */
static const double OUTLIER = 0.2, FAR_OUTLIER = 0.01;

static double mean_phi(const struct row_variance *rows, size_t count, double growth)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += rows[i].phi / (1 + growth * rows[i].weight);
	return count ? sum / (double)count : 1;
}

/* A logarithm needs more than 0, which is what rows of few samples may have. */
static void take_logarithms(struct row_variance *rows, size_t count)
{
	double floor = mean_phi(rows, count, 0) / 1000;

	if (!(floor > 0))
		floor = 1e-6;
	for (size_t i = 0; i < count; i++)
		rows[i].phi = log(fmax(rows[i].phi, floor));
}

/* What is left of the variance of the logarithms. */
static double fit(const struct row_variance *rows, size_t count, double growth, double *mean_out)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < count; i++)
		mean += (rows[i].phi - log1p(growth * rows[i].weight)) / (double)count;
	for (size_t i = 0; i < count; i++) {
		double off = rows[i].phi - log1p(growth * rows[i].weight) - mean;

		squares += off * off;
	}
	*mean_out = mean;
	return squares / (double)(count - (growth > 0 ? 2 : 1));
}

/* The growth that leaves least. Returns what that is. */
static double choose_growth(const struct row_variance *rows, size_t count, struct variance_prior *prior,
			    double *mean_out)
{
	double best = fit(rows, count, 0, mean_out), mean;

	prior->growth = 0;
	for (double cv = LEAST_CV; cv < MOST_CV; cv *= CV_STEP) {
		double left = fit(rows, count, cv * cv, &mean);

		if (left >= best)
			continue;
		best = left;
		*mean_out = mean;
		prior->growth = cv * cv;
	}
	return best;
}

/* Where rows differ, the mean is above what most have: rather too much than too little. But not by a single one. */
static double expected_phi(const struct row_variance *rows, size_t count, const struct variance_prior *prior,
			   double mean, double df)
{
	double typical = exp(mean - pd_digamma(df / 2) + log(df / 2) + pd_digamma(prior->df / 2) - log(prior->df / 2));
	double sum = 0;
	size_t included = 0;

	for (size_t i = 0; i < count; i++) {
		double phi = exp(rows[i].phi) / (1 + prior->growth * rows[i].weight);

		if (phi > typical && pd_f_upper(phi / typical, df, prior->df) < FAR_OUTLIER)
			continue;
		sum += phi;
		included++;
	}
	return fmax(fmax(typical, included ? sum / (double)included : 0), LEAST_PHI);
}

struct variance_prior pd_variance_prior(struct row_variance *rows, size_t count, double df)
{
	struct variance_prior prior = { .df = USUAL_DF };
	double mean, excess;

	if (count < LEAST_ROWS) {
		prior.phi = fmax(mean_phi(rows, count, 0), LEAST_PHI);
		return prior;
	}
	take_logarithms(rows, count);
	/* what they vary by more than chance would is how much the rows differ */
	excess = choose_growth(rows, count, &prior, &mean) - pd_trigamma(df / 2);
	prior.df = excess > 0 ? fmin(2 * pd_trigamma_inverse(excess), MOST_DF) : MOST_DF;
	prior.phi = expected_phi(rows, count, &prior, mean, df);
	return prior;
}

struct moderated pd_variance_moderate(const struct variance_prior *prior, const struct row_variance *row, double df)
{
	double expected = prior->phi * (1 + prior->growth * row->weight);

	if (row->phi > expected && pd_f_upper(row->phi / expected, df, prior->df) < OUTLIER)
		return (struct moderated){ row->phi, df };
	return (struct moderated){ (df * row->phi + prior->df * expected) / (df + prior->df), df + prior->df };
}
