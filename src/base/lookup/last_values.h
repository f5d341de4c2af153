/* SPDX-License-Identifier: MIT */
/* What counters gain: samples carry their values, and stand for the increase since the last sample of the same id. */
#ifndef PD_BASE_LOOKUP_LAST_VALUES_H
#define PD_BASE_LOOKUP_LAST_VALUES_H

#include "base/lookup/u64_map.h"

// Zeros are no values. Who asks sees to it that only ids of a file's events come here, so that memory is bounded.
struct pd_last_values {
	struct pd_u64_map places; // of ids in the values, + 1
	uint64_t *values;
	size_t count, capacity;
};

// A value less the last one of its id, which is 0 before the first. False if there is no memory.
bool pd_last_values_gain(struct pd_last_values *last, uint64_t id, uint64_t value, uint64_t *gain_out);
void pd_last_values_fini(struct pd_last_values *last);

#endif
