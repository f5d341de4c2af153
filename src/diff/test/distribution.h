/* SPDX-License-Identifier: MIT */
/* Distributions that tests of changes need. Degrees of freedom may be infinite. */
#ifndef PD_DIFF_TEST_DISTRIBUTION_H
#define PD_DIFF_TEST_DISTRIBUTION_H

/* Probability that |t| is at least as large by chance. */
double pd_t_two_sided(double t, double df);
/* The t that is exceeded on both sides together with probability p. */
double pd_t_critical(double p, double df);
/* Probability of a quotient of two variances, with so many degrees of freedom, at least as large by chance. */
double pd_f_upper(double f, double df, double df_below);
double pd_digamma(double x);
double pd_trigamma(double x);
/* The x > 0 with that trigamma, which is positive. */
double pd_trigamma_inverse(double value);

#endif
