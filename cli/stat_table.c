/* SPDX-License-Identifier: MIT */
#include "stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void stat_mean_add(struct stat_mean *mean, double value)
{
	double away = value - mean->mean;

	mean->count++;
	mean->mean += away / mean->count;
	mean->squares += away * (value - mean->mean);
}

double stat_mean_deviation(const struct stat_mean *mean)
{
	if (mean->count < 2)
		return 0;
	return sqrt(mean->squares / (mean->count - 1) / mean->count);
}

/* ---- cells ---- */

bool stat_event_fit(const struct stat_table *table, struct stat_event *event)
{
	event->cells = calloc(table->thread_count * event->cpu_count + 1, sizeof(*event->cells));
	return event->cells;
}

struct stat_cell *stat_cell(const struct stat_event *event, size_t thread, size_t cpu)
{
	return &event->cells[thread * event->cpu_count + cpu];
}

void stat_table_fini(struct stat_table *table)
{
	for (size_t i = 0; i < table->event_count; i++)
		free(table->events[i].cells);
	free(table->events);
	free(table->threads);
	for (size_t i = 0; i < table->slot_count; i++)
		free(table->memos[i].items);
	free(table->memos);
	stat_places_fini(&table->places);
	memset(table, 0, sizeof(*table));
}

void stat_table_restart(struct stat_table *table)
{
	for (size_t i = 0; i < table->event_count; i++) {
		struct stat_event *event = &table->events[i];

		memset(event->cells, 0, table->thread_count * event->cpu_count * sizeof(*event->cells));
		memset(event->before, 0, sizeof(event->before));
	}
}

/* ---- a round ---- */

/* What an event that shared its counter would have counted. */
static void scale(uint64_t count[3])
{
	double scaled;

	if (!count[STAT_RUNNING]) {
		count[STAT_VALUE] = 0;
	} else if (count[STAT_RUNNING] < count[STAT_ENABLED]) {
		scaled = (double)count[STAT_VALUE] * (double)count[STAT_ENABLED] / (double)count[STAT_RUNNING];
		/* a file may say anything; 2^64 is the first that has no room */
		count[STAT_VALUE] = scaled < 0x1p64 ? (uint64_t)scaled : UINT64_MAX;
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

static void round_of_all(struct stat_table *table, struct stat_event *event, bool again)
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
		stat_mean_add(&event->sums[j], (double)sum[j]);
	stat_metric_note(table, event, (double)sum[STAT_VALUE], 0);
}

static void round_of_cells(struct stat_table *table, struct stat_event *event, bool again)
{
	for (size_t i = 0; i < table->thread_count * event->cpu_count; i++) {
		struct stat_cell *cell = &event->cells[i];

		memcpy(cell->round, cell->all, sizeof(cell->round));
		if (!event->snapshot)
			subtract(cell->round, cell->before, again);
		if (table->scale)
			scale(cell->round);
		if (table->by == STAT_BY_CPU)
			stat_metric_note(table, event, (double)cell->round[STAT_VALUE], i % event->cpu_count);
		else if (table->by == STAT_BY_THREAD)
			stat_metric_note(table, event, (double)cell->round[STAT_VALUE], i / event->cpu_count);
	}
}

static void note_groups(struct stat_table *table)
{
	size_t count;
	struct stat_group *groups = stat_groups(table, &count);
	struct stat_sum *sums = groups ? stat_group_sums(table, groups, count) : NULL;

	for (size_t i = 0; sums && i < count * table->event_count; i++)
		stat_metric_note(table, &table->events[i % table->event_count], (double)sums[i].all[STAT_VALUE],
				 i / table->event_count);
	table->failed |= !sums;
	free(sums);
	free(groups);
}

void stat_table_round(struct stat_table *table, bool again)
{
	for (size_t i = 0; i < table->event_count; i++) {
		if (table->by == STAT_GLOBAL)
			round_of_all(table, &table->events[i], again);
		else
			round_of_cells(table, &table->events[i], again);
	}
	if (table->by != STAT_GLOBAL && table->by != STAT_BY_CPU && table->by != STAT_BY_THREAD)
		note_groups(table);
}

/* ---- groups of CPUs ---- */

static struct stat_place place_of(const struct stat_table *table, int32_t cpu)
{
	struct stat_place place = { 0 };

	if (cpu >= 0 && (size_t)cpu < table->places.count)
		place = table->places.items[cpu];
	if (table->by != STAT_BY_NODE)
		place.node = 0;
	if (table->by == STAT_BY_NODE)
		place.socket = 0;
	if (table->by != STAT_BY_DIE && table->by != STAT_BY_CORE)
		place.die = 0;
	if (table->by != STAT_BY_CORE)
		place.core = 0;
	return place;
}

static int compare_places(const struct stat_place *a, const struct stat_place *b)
{
	const int pairs[][2] = {
		{ a->node, b->node }, { a->socket, b->socket }, { a->die, b->die }, { a->core, b->core }
	};

	for (size_t i = 0; i < 4; i++)
		if (pairs[i][0] != pairs[i][1])
			return pairs[i][0] < pairs[i][1] ? -1 : 1;
	return 0;
}

static int compare_groups(const void *a, const void *b)
{
	return compare_places(&((const struct stat_group *)a)->place, &((const struct stat_group *)b)->place);
}

struct stat_group *stat_groups(const struct stat_table *table, size_t *count_out)
{
	struct stat_group *groups;
	size_t most = 0, count = 0, kept = 0;

	*count_out = 0;
	for (size_t i = 0; i < table->event_count; i++)
		most += table->events[i].cpu_count;
	groups = calloc(most + 1, sizeof(*groups));
	if (!groups)
		return NULL;
	for (size_t i = 0; i < table->event_count; i++)
		for (size_t j = 0; j < table->events[i].cpu_count; j++)
			groups[count++].place = place_of(table, table->events[i].cpus[j]);
	qsort(groups, count, sizeof(*groups), compare_groups);
	for (size_t i = 0; i < count; i++) {
		if (kept && !compare_groups(&groups[kept - 1], &groups[i]))
			continue;
		groups[kept].place = groups[i].place;
		groups[kept].slot = kept;
		kept++;
	}
	*count_out = kept;
	return groups;
}

/* A count that is missing makes the sum worthless. */
static void add_cell(struct stat_sum *sum, const struct stat_cell *cell)
{
	if (sum->missing || cell->absent)
		return;
	sum->cpus++;
	sum->missing = !cell->round[STAT_ENABLED] || !cell->round[STAT_RUNNING];
	for (size_t i = 0; i < 3; i++)
		sum->all[i] += cell->round[i];
	if (sum->missing)
		sum->all[STAT_ENABLED] = sum->all[STAT_RUNNING] = 0;
}

struct stat_sum *stat_group_sums(const struct stat_table *table, const struct stat_group *groups, size_t count)
{
	struct stat_sum *sums = calloc(count * table->event_count + 1, sizeof(*sums));

	for (size_t i = 0; i < table->event_count && sums; i++) {
		const struct stat_event *event = &table->events[i];

		for (size_t cpu = 0; cpu < event->cpu_count && table->thread_count; cpu++) {
			const struct stat_group key = { .place = place_of(table, event->cpus[cpu]) };
			const struct stat_group *group = bsearch(&key, groups, count, sizeof(*groups), compare_groups);

			add_cell(&sums[group->slot * table->event_count + i], stat_cell(event, 0, cpu));
		}
	}
	return sums;
}
