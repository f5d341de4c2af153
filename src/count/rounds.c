/* SPDX-License-Identifier: MIT */
// From counts since the start to those of a round.
#include "count/count.h"

#include <string.h>

/* What an event that shared its counter would have counted. */
static void scale(uint64_t count[3])
{
	double scaled;

	if (!count[PD_STAT_RUNNING]) {
		count[PD_STAT_VALUE] = 0;
	} else if (count[PD_STAT_RUNNING] < count[PD_STAT_ENABLED]) {
		scaled = (double)count[PD_STAT_VALUE] * (double)count[PD_STAT_ENABLED] / (double)count[PD_STAT_RUNNING];
		/* a file may say anything; 2^64 is the first that has no room */
		count[PD_STAT_VALUE] = scaled < 0x1p64 ? (uint64_t)scaled : UINT64_MAX;
	}
}

static void subtract(uint64_t now[3], uint64_t before[3], bool again)
{
	for (size_t i = 0; i < 3; i++) {
		uint64_t all = now[i];

		if (!again)
			now[i] -= before[i];
		before[i] = all;
	}
}

static void round_of_all(struct pd_stat_table *table, struct pd_stat_event *event, bool again)
{
	uint64_t sum[3] = { 0 };

	for (size_t i = 0; i < table->thread_count * event->cpu_count; i++)
		for (size_t j = 0; j < 3; j++)
			sum[j] += event->cells[i].all[j];
	if (!event->snapshot)
		subtract(sum, event->before, again);
	if (table->scale)
		scale(sum);
	if (table->interval)
		memset(event->sums, 0, sizeof(event->sums));
	for (size_t j = 0; j < 3; j++)
		pd_stat_mean_add(&event->sums[j], (double)sum[j]);
	pd_stat_metric_note(table, event, (double)sum[PD_STAT_VALUE], 0);
}

static void round_of_cells(struct pd_stat_table *table, struct pd_stat_event *event, bool again)
{
	for (size_t i = 0; i < table->thread_count * event->cpu_count; i++) {
		struct pd_stat_cell *cell = &event->cells[i];

		memcpy(cell->round, cell->all, sizeof(cell->round));
		if (!event->snapshot)
			subtract(cell->round, cell->before, again);
		if (table->scale)
			scale(cell->round);
		if (table->by == PD_STAT_BY_THREAD)
			pd_stat_metric_note(table, event, (double)cell->round[PD_STAT_VALUE], i / event->cpu_count);
	}
}

static void note_cpus(struct pd_stat_table *table, const struct pd_stat_event *event)
{
	for (size_t i = 0; i < table->thread_count * event->cpu_count; i++) {
		uint64_t value = event->cells[i].round[PD_STAT_VALUE];
		struct pd_stat_place core;
		struct pd_stat_sum sum;

		if (event->percore) {
			pd_stat_core_sum(table, event, i % event->cpu_count, &sum, &core);
			value = sum.all[PD_STAT_VALUE];
		}
		pd_stat_metric_note(table, event, (double)value, i % event->cpu_count);
	}
}

static void note_groups(struct pd_stat_table *table)
{
	size_t count;
	struct pd_stat_group *groups = pd_stat_groups(table, &count);
	struct pd_stat_sum *sums = groups ? pd_stat_group_sums(table, groups, count) : NULL;

	for (size_t i = 0; sums && i < count * table->event_count; i++)
		pd_stat_metric_note(table, &table->events[i % table->event_count], (double)sums[i].all[PD_STAT_VALUE],
				    i / table->event_count);
	table->failed |= !sums;
	pd_free(sums);
	pd_free(groups);
}

void pd_stat_table_round(struct pd_stat_table *table, bool again)
{
	for (size_t i = 0; i < table->event_count; i++) {
		if (table->by == PD_STAT_GLOBAL)
			round_of_all(table, &table->events[i], again);
		else
			round_of_cells(table, &table->events[i], again);
		if (table->by == PD_STAT_BY_CPU)
			note_cpus(table, &table->events[i]);
	}
	if (table->by != PD_STAT_GLOBAL && table->by != PD_STAT_BY_CPU && table->by != PD_STAT_BY_THREAD)
		note_groups(table);
}
