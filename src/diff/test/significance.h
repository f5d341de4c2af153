/* SPDX-License-Identifier: MIT */
/* Whether rows of two groups of runs differ, by their shares or by their amounts: numbers in, numbers out. */
#ifndef PD_DIFF_TEST_SIGNIFICANCE_H
#define PD_DIFF_TEST_SIGNIFICANCE_H

#include <perfdata/diff.h>

/* Rows that were measured in runs of two groups, the old ones first. */
struct share_table {
	size_t row_count;
	size_t old_runs, new_runs;
	const double *shares;    /* by row, then by run */
	const double *effective; /* samples of each run */
	const double *totals;    /* of each run: a row's amount is its share of it. NULL: shares are compared */
	const uint64_t *samples; /* of each row, in all runs */
	double variation;        /* assumed, if a group has a single run */
	double least_of_row, least_of_all;
};

/* Fills changes, by row. Returns the number of rows that were tested; SIZE_MAX if there is no memory. */
size_t pd_shares_compare(const struct share_table *table, struct pd_diff_change *changes);
/* The change of the totals, as that of a row; without q, which needs no adjustment. */
struct pd_diff_change pd_totals_compare(const struct share_table *table);

#endif
