/* SPDX-License-Identifier: MIT */
/* Whether shares of two groups of runs differ: numbers in, numbers out. */
#ifndef PD_DIFF_SIGNIFICANCE_H
#define PD_DIFF_SIGNIFICANCE_H

#include <perfdata/diff.h>

/* Rows that were measured in runs of two groups, the old ones first. */
struct share_table {
	size_t row_count;
	size_t old_runs, new_runs;
	const double *shares;    /* by row, then by run */
	const double *effective; /* samples of each run */
	const uint64_t *samples; /* of each row, in all runs */
	double variation;        /* assumed, if a group has a single run */
	double least_of_row, least_of_all;
};

/* What rows have in common. */
struct share_prior {
	double df;  /* what the rows together tell of one: degrees of freedom */
	double phi; /* variance between runs, in units of that of independent samples */
};

/* Fills changes, by row. Returns the number of rows that were tested; SIZE_MAX if there is no memory. */
size_t pd_shares_compare(const struct share_table *table, struct pd_diff_change *changes);
/* From the variances of rows, each with df degrees of freedom. */
struct share_prior pd_share_prior(const double *phis, size_t count, double df);

#endif
