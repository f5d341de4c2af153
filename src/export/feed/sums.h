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

// What is added waits, so that the memory of several is on its way at once.
struct pd_waiting_sum {
	struct pd_sum sum;
	uint64_t hash;
};

enum {
	PD_SUMS_WAITING = 32
};

// Zeros are empty.
struct pd_sums {
	struct pd_sum *items; // in the order of their first sample
	size_t count, capacity;
	struct pd_index index;
	struct pd_waiting_sum waiting[PD_SUMS_WAITING];
	size_t waiting_count;
};

// Adds to the sum with the same four numbers, once pd_sums_finish was called. False if there is no memory.
bool pd_sums_add(struct pd_sums *sums, uint64_t seed, const struct pd_sum *sum);
bool pd_sums_finish(struct pd_sums *sums);
void pd_sums_fini(struct pd_sums *sums);

#endif
