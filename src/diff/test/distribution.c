/* SPDX-License-Identifier: MIT */
/* Student's t by the continued fraction of the incomplete beta function, and derivatives of the gamma function's logarithm by their
 * series for large arguments. */
#include "diff/test/distribution.h"

#include <math.h>

enum {
	FRACTION_STEPS = 300,
	HALVINGS = 90
};

static const double NEARLY_NORMAL = 1e6; /* degrees of freedom */

/* By Lentz' method: each step multiplies by a quotient of two running denominators, neither of which may become 0. */
static double beta_fraction(double a, double b, double x)
{
	const double tiny = 1e-300;
	double c = 1, d = 1 - (a + b) * x / (a + 1), result;

	d = 1 / (fabs(d) < tiny ? tiny : d);
	result = d;
	for (int step = 1; step <= FRACTION_STEPS; step++) {
		double m = step, before = result;
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		d = 1 + even * d;
		c = 1 + even / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		result *= d * c;
		d = 1 + odd * d;
		c = 1 + odd / c;
		d = 1 / (fabs(d) < tiny ? tiny : d);
		c = fabs(c) < tiny ? tiny : c;
		result *= d * c;
		if (fabs(result - before) < 1e-15 * fabs(result))
			break;
	}
	return result;
}

/* lgamma writes to a global. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x >= 1;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double pd_t_two_sided(double t, double df)
{
	if (isnan(t))
		return 1;
	if (df > NEARLY_NORMAL)
		return erfc(fabs(t) / sqrt(2));
	return incomplete_beta(df / 2, 0.5, df / (df + t * t));
}

double pd_f_upper(double f, double df, double df_below)
{
	return f > 0 ? incomplete_beta(df_below / 2, df / 2, df_below / (df_below + df * f)) : 1;
}

double pd_t_critical(double p, double df)
{
	double low = 0, high = 1;

	while (high < 1e12 && pd_t_two_sided(high, df) > p)
		high *= 2;
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;

		if (pd_t_two_sided(middle, df) > p)
			low = middle;
		else
			high = middle;
	}
	return high;
}

double pd_digamma(double x)
{
	double result = 0, square;

	for (; x < 10; x++)
		result -= 1 / x;
	square = 1 / (x * x);
	return result + log(x) - 0.5 / x - square * (1.0 / 12 - square * (1.0 / 120 - square / 252));
}

double pd_trigamma(double x)
{
	double result = 0, square;

	for (; x < 10; x++)
		result += 1 / (x * x);
	square = 1 / (x * x);
	return result + 1 / x + square / 2 + square / x * (1.0 / 6 - square * (1.0 / 30 - square / 42));
}

/* It falls all the way. */
double pd_trigamma_inverse(double value)
{
	double low = 1e-8, high = 1e8;

	for (int i = 0; i < HALVINGS; i++) {
		double middle = sqrt(low * high);

		if (pd_trigamma(middle) > value)
			low = middle;
		else
			high = middle;
	}
	return low;
}
