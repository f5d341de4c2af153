/* SPDX-License-Identifier: MIT */
#include "base/lookup/last_values.h"

#include "base/memory.h"

bool pd_last_values_gain(struct pd_last_values *last, uint64_t id, uint64_t value, uint64_t *gain_out)
{
	uint64_t place = pd_u64_map_find(&last->places, id);

	if (!place) {
		if (!PD_GROW(last->values, last->capacity, last->count + 1) ||
		    !pd_u64_map_add(&last->places, id, last->count + 1))
			return false;
		place = ++last->count;
		last->values[place - 1] = 0;
	}
	*gain_out = value - last->values[place - 1];
	last->values[place - 1] = value;
	return true;
}

void pd_last_values_fini(struct pd_last_values *last)
{
	pd_u64_map_fini(&last->places);
	pd_free(last->values);
	last->values = NULL;
	last->count = last->capacity = 0;
}
