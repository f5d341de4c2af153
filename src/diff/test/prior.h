/* SPDX-License-Identifier: MIT */
/* What the rows of a table together tell of the variance of one. */
#ifndef PD_DIFF_TEST_PRIOR_H
#define PD_DIFF_TEST_PRIOR_H

#include <stddef.h>

/* A row, as it is measured: phi is its variance between runs, in units of that of independent samples; weight is how many times
 * larger than that unit the variance is that goes with the size of the row. */
struct row_variance {
	double phi, weight;
};

/* The phi that a row is expected to have is phi * (1 + growth * weight): samples of the same run vary together, by growth as
 * a square of a share of the row, and the more samples there are the less is left of chance. */
struct variance_prior {
	double df; /* of how many degrees of freedom; 0: the rows say nothing of each other */
	double phi;
	double growth;
};

/* Of rows with df degrees of freedom each. Their phis are logarithms afterwards. */
struct variance_prior pd_variance_prior(struct row_variance *rows, size_t count, double df);

/* The phi of a row that was measured with df degrees of freedom, and those of the result. */
struct moderated {
	double phi, df;
};
struct moderated pd_variance_moderate(const struct variance_prior *prior, const struct row_variance *row, double df);

#endif
