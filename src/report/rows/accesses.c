/* SPDX-License-Identifier: MIT */
/* What the samples of rows cost, and their periods by what they accessed. */
#include <string.h>

#include "report/rows/building.h"

static void add_entry(void *self, const struct pd_profile_entry *entry, size_t at)
{
	struct table *table = self;
	struct accesses *to = &table->accesses[at];
	struct pd_access access = { 0 };

	if (entry->raw.size >= sizeof(access))
		memcpy(&access, entry->raw.data, sizeof(access));
	to->weights[0] += entry->weight * entry->samples;
	to->weights[1] += access.latency * entry->samples;
	to->weights[2] += access.stage * entry->samples;
	for (unsigned kind = COLUMN_OP; kind <= COLUMN_DTLB; kind++) {
		size_t part = pd_access_part(pd_access_column((enum column_kind)kind), access.data_src);

		to->periods[kind - COLUMN_OP][part] += entry->period;
		table->parts_shown[kind - COLUMN_OP][part] = true;
	}
}

bool pd_rows_accesses(struct building *building)
{
	struct table *table = building->table;

	table->accesses = pd_alloc((table->head.row_count * table->head.event_count + 1) * sizeof(*table->accesses));
	if (!table->accesses)
		return false;
	pd_each_own_entry(building, add_entry, table);
	return true;
}
