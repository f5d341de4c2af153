/* SPDX-License-Identifier: MIT */
/* Amounts of rows: what a column shows of them; whether they are too small to be shown. */
#include "report/report.h"

double pd_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

uint64_t pd_amounts_period(const struct pd_report_amounts *amounts, enum column_kind kind)
{
	switch (kind) {
	case COLUMN_CHILDREN:
		return amounts->children_period;
	case COLUMN_LATENCY:
		return amounts->latency;
	case COLUMN_LATENCY_CHILDREN:
		return amounts->children_latency;
	case COLUMN_KERNEL:
		return amounts->kernel_period;
	case COLUMN_USER:
		return amounts->user_period;
	default:
		return amounts->period;
	}
}

bool pd_column_is_share(enum column_kind kind)
{
	return kind < COLUMN_SAMPLES;
}

uint64_t pd_row_number(const struct table *table, const struct row *row, size_t event, enum column_kind kind)
{
	const struct pd_report_amounts *amounts = &row->amounts[event];

	if (kind == COLUMN_SAMPLES)
		return amounts->samples;
	if (kind == COLUMN_MEAN)
		return amounts->samples ? amounts->period / amounts->samples : 0;
	if (column_is_weight(kind))
		return table->accesses ? table->accesses[amounts - table->amounts].weights[kind - COLUMN_WEIGHT1] : 0;
	/* as perf, also for the order of rows by what they accessed */
	if (column_is_access(kind))
		return amounts->period;
	if (kind > COLUMN_MEAN)
		return table->percentiles ? table->percentiles[amounts - table->amounts].periods[kind - COLUMN_P50] : 0;
	return pd_amounts_period(amounts, kind);
}

double pd_row_mean_weight(const struct table *table, const struct row *row, size_t event, enum column_kind kind)
{
	uint64_t samples = row->amounts[event].samples;

	return samples ? (double)pd_row_number(table, row, event, kind) / (double)samples : 0;
}

void pd_amounts_add(struct pd_report_amounts *sum, const struct pd_report_amounts *more, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		sum[i].period += more[i].period;
		sum[i].samples += more[i].samples;
		sum[i].kernel_period += more[i].kernel_period;
		sum[i].user_period += more[i].user_period;
		sum[i].children_period += more[i].children_period;
		sum[i].children_samples += more[i].children_samples;
		sum[i].latency += more[i].latency;
		sum[i].children_latency += more[i].children_latency;
	}
}

uint64_t pd_row_weight(const struct pd_report *report, const struct row *row)
{
	return report->children ? row->amounts->children_period : row->amounts->period;
}

bool pd_row_is_small(const struct pd_report *report, const struct table *table, const struct row *row)
{
	return pd_percent(pd_row_weight(report, row), table->totals[0]) < report->options.least_percent;
}

/* Of a number that may be anything. */
static uint64_t whole(double number)
{
	if (!(number < 18446744073709551616.0))
		return UINT64_MAX;
	return number > 0 ? (uint64_t)number : 0;
}

uint64_t pd_graph_least(const struct pd_report *report, const struct table *table)
{
	return whole((double)table->totals[0] * report->graph.least_percent / 100);
}
