/* SPDX-License-Identifier: MIT */
/* Samples added up, for formats that have no time: one sum for each event, stack, thread and CPU. */
#ifndef PD_EXPORT_FEED_SUMS_H
#define PD_EXPORT_FEED_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lookup/hash.h"

struct pd_sum {
	uint32_t event, stack, thread, cpu; // UINT32_MAX: of all CPUs
	uint64_t samples, value;
};

// Zeros are empty.
struct pd_sums {
	struct pd_sum *items; // in the order of their first sample
	size_t count, capacity;
	struct pd_index index;
};

// Adds to the sum with the same four numbers. False if there is no memory.
bool pd_sums_add(struct pd_sums *sums, uint64_t seed, const struct pd_sum *sum);
void pd_sums_fini(struct pd_sums *sums);

#endif
