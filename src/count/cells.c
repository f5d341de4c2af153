/* SPDX-License-Identifier: MIT */
// Counts of events by thread and CPU, means, and groups of CPUs.
#include "count/count.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void pd_stat_mean_add(struct pd_stat_mean *mean, double value)
{
	double away = value - mean->mean;

	mean->count++;
	mean->mean += away / mean->count;
	mean->squares += away * (value - mean->mean);
}

double pd_stat_mean_deviation(const struct pd_stat_mean *mean)
{
	if (mean->count < 2)
		return 0;
	return sqrt(mean->squares / (mean->count - 1) / mean->count);
}

/* ---- cells ---- */

bool pd_stat_event_fit(const struct pd_stat_table *table, struct pd_stat_event *event)
{
	event->cells = pd_alloc((table->thread_count * event->cpu_count + 1) * sizeof(*event->cells));
	return event->cells;
}

struct pd_stat_cell *pd_stat_cell(const struct pd_stat_event *event, size_t thread, size_t cpu)
{
	return &event->cells[thread * event->cpu_count + cpu];
}

void pd_stat_table_fini(struct pd_stat_table *table)
{
	for (size_t i = 0; i < table->event_count; i++)
		pd_free(table->events[i].cells);
	pd_free(table->events);
	pd_free(table->threads);
	for (size_t i = 0; i < table->slot_count; i++)
		pd_free(table->memos[i].items);
	pd_free(table->memos);
	pd_stat_places_fini(&table->places);
	memset(table, 0, sizeof(*table));
}

/* ---- groups of CPUs ---- */

/* The cache of a level, or of the last one that the CPU has. */
static void take_cache(struct pd_stat_place *place, const int caches[PD_STAT_CACHE_LEVELS], unsigned level)
{
	unsigned last = PD_STAT_CACHE_LEVELS;

	while (!level && last && caches[last - 1] < 0)
		last--;
	place->level = (int)(level ? level : last);
	place->cache = place->level ? caches[place->level - 1] : -1;
}

static struct pd_stat_place place_by(const struct pd_stat_table *table, enum pd_stat_by by, int32_t cpu)
{
	static const struct pd_stat_place unplaced = { .caches = { -1, -1, -1, -1 } };
	const struct pd_stat_place *known = &unplaced;
	struct pd_stat_place place = { 0 };

	if (cpu >= 0 && (size_t)cpu < table->places.count)
		known = &table->places.items[cpu];
	if (by == PD_STAT_BY_NODE) {
		place.node = known->node;
		return place;
	}
	place.socket = known->socket;
	if (by != PD_STAT_BY_SOCKET)
		place.die = known->die;
	if (by == PD_STAT_BY_CLUSTER)
		place.cluster = known->cluster;
	if (by == PD_STAT_BY_CORE)
		place.core = known->core;
	if (by == PD_STAT_BY_CACHE)
		take_cache(&place, known->caches, table->cache_level);
	return place;
}

static struct pd_stat_place place_of(const struct pd_stat_table *table, int32_t cpu)
{
	return place_by(table, table->by, cpu);
}

static int compare_places(const struct pd_stat_place *a, const struct pd_stat_place *b)
{
	const int pairs[][2] = { { a->node, b->node },       { a->socket, b->socket }, { a->die, b->die },
				 { a->cluster, b->cluster }, { a->level, b->level },   { a->cache, b->cache },
				 { a->core, b->core } };

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		if (pairs[i][0] != pairs[i][1])
			return pairs[i][0] < pairs[i][1] ? -1 : 1;
	return 0;
}

static int compare_groups(const void *a, const void *b)
{
	return compare_places(&((const struct pd_stat_group *)a)->place, &((const struct pd_stat_group *)b)->place);
}

struct pd_stat_group *pd_stat_groups(const struct pd_stat_table *table, size_t *count_out)
{
	struct pd_stat_group *groups;
	size_t most = 0, count = 0, kept = 0;

	*count_out = 0;
	for (size_t i = 0; i < table->event_count; i++)
		most += table->events[i].cpu_count;
	groups = pd_alloc((most + 1) * sizeof(*groups));
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
static void add_cell(struct pd_stat_sum *sum, const struct pd_stat_cell *cell)
{
	if (sum->missing || cell->absent)
		return;
	sum->cpus++;
	sum->missing = !cell->round[PD_STAT_ENABLED] || !cell->round[PD_STAT_RUNNING];
	for (size_t i = 0; i < 3; i++)
		sum->all[i] += cell->round[i];
	if (sum->missing)
		sum->all[PD_STAT_ENABLED] = sum->all[PD_STAT_RUNNING] = 0;
}

struct pd_stat_sum *pd_stat_group_sums(const struct pd_stat_table *table, const struct pd_stat_group *groups,
				       size_t count)
{
	struct pd_stat_sum *sums = pd_alloc((count * table->event_count + 1) * sizeof(*sums));

	for (size_t i = 0; i < table->event_count && sums; i++) {
		const struct pd_stat_event *event = &table->events[i];

		for (size_t cpu = 0; cpu < event->cpu_count && table->thread_count; cpu++) {
			const struct pd_stat_group key = { .place = place_of(table, event->cpus[cpu]) };
			const struct pd_stat_group *group =
				bsearch(&key, groups, count, sizeof(*groups), compare_groups);

			add_cell(&sums[group->slot * table->event_count + i], pd_stat_cell(event, 0, cpu));
		}
	}
	return sums;
}

bool pd_stat_core_sum(const struct pd_stat_table *table, const struct pd_stat_event *event, size_t cpu,
		      struct pd_stat_sum *sum_out, struct pd_stat_place *core_out)
{
	bool first = true;

	*sum_out = (struct pd_stat_sum){ 0 };
	*core_out = place_by(table, PD_STAT_BY_CORE, event->cpus[cpu]);
	for (size_t i = 0; i < event->cpu_count; i++) {
		const struct pd_stat_place core = place_by(table, PD_STAT_BY_CORE, event->cpus[i]);
		const struct pd_stat_cell *cell = pd_stat_cell(event, 0, i);

		if (compare_places(core_out, &core) != 0)
			continue;
		first &= i >= cpu || cell->absent;
		add_cell(sum_out, cell);
	}
	return first;
}
