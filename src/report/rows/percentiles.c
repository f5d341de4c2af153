/* SPDX-License-Identifier: MIT */
/*
 * Percentiles of the periods of the samples of rows. Entries of a profile have periods of one size only, so each is an item of a
 * histogram: what is between sizes is at most 1/64 off.
 */
#include <stdlib.h>

#include "report/rows/building.h"

struct item {
	size_t at; /* of the amounts of the table */
	uint64_t size, samples, period;
};

struct items {
	struct item *all;
	size_t count;
};

/* Of an entry that is shown; its row is there. */
static uint32_t row_of(const struct building *building, const struct building_part *part,
		       const struct entry_state *state, const struct row_set *rows)
{
	if (!building->report->children)
		return part->numbers ? part->numbers[state->at] : state->at;
	return pd_row_set_find(rows, part->whos[state->who - 1], building->report->scratch.places[state->at] - 1);
}

void pd_each_own_entry(const struct building *building, own_entry_fn *each, void *self)
{
	const struct table *table = building->table;

	for (size_t number = 0; number < building->part_count; number++) {
		const struct building_part *part = &building->parts[number];
		size_t end = pd_part_entry(building, number + 1);

		for (size_t i = pd_part_entry(building, number); i < end; i++) {
			const struct entry_state *state = &building->states[i - building->begin];
			struct pd_profile_entry entry;
			uint32_t row = state->who ? row_of(building, part, state, &building->parts[0].rows) :
						    UINT32_MAX;

			if (row == UINT32_MAX || !pd_profile_entry(building->report->profile, i, &entry))
				continue;
			each(self, &entry,
			     row * table->head.event_count + entry.event->index - table->head.first_event);
		}
	}
}

static void add_item(void *self, const struct pd_profile_entry *entry, size_t at)
{
	struct items *items = self;

	items->all[items->count++] = (struct item){ at, entry->sample_period, entry->samples, entry->period };
}

static int compare_items(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->size < y->size ? -1 : x->size > y->size;
}

/* Equal ones become one. */
static void join_items(struct items *items)
{
	size_t kept = 0;

	qsort(items->all, items->count, sizeof(*items->all), compare_items);
	for (size_t i = 0; i < items->count; i++) {
		if (kept && !compare_items(&items->all[kept - 1], &items->all[i])) {
			items->all[kept - 1].samples += items->all[i].samples;
			items->all[kept - 1].period += items->all[i].period;
		} else {
			items->all[kept++] = items->all[i];
		}
	}
	items->count = kept;
}

/* The mean of the samples of the first item up to which there are so many percent. */
static uint64_t nearest_rank(const struct item *items, size_t count, uint64_t samples, unsigned percent)
{
	uint64_t wanted = samples / 100 * percent + (samples % 100 * percent + 99) / 100, sum = 0;

	for (size_t i = 0; i < count; i++) {
		sum += items[i].samples;
		if (sum >= wanted && items[i].samples)
			return items[i].period / items[i].samples;
	}
	return 0;
}

static void fill_percentiles(struct percentiles *percentiles, const struct item *items, size_t count)
{
	static const unsigned percents[COLUMN_PERCENTILES] = { 50, 95, 99, 100 };
	uint64_t samples = 0;

	for (size_t i = 0; i < count; i++)
		samples += items[i].samples;
	for (size_t i = 0; i < COLUMN_PERCENTILES; i++)
		percentiles->periods[i] = nearest_rank(items, count, samples, percents[i]);
}

bool pd_rows_percentiles(struct building *building)
{
	struct table *table = building->table;
	struct items items = { pd_alloc((building->end - building->begin + 1) * sizeof(*items.all)), 0 };

	table->percentiles =
		pd_alloc((table->head.row_count * table->head.event_count + 1) * sizeof(*table->percentiles));
	if (!items.all || !table->percentiles) {
		pd_free(items.all);
		return false;
	}
	pd_each_own_entry(building, add_item, &items);
	join_items(&items);
	for (size_t i = 0, end; i < items.count; i = end) {
		for (end = i; end < items.count && items.all[end].at == items.all[i].at;)
			end++;
		fill_percentiles(&table->percentiles[items.all[i].at], &items.all[i], end - i);
	}
	pd_free(items.all);
	return true;
}
