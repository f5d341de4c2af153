/* SPDX-License-Identifier: MIT */
/*
 * Callers that were merged, one by one: what has an address where nothing is mapped, for each owner. Where every caller has a row of its own
 * these are most rows, and no graph shows them; so that each is summed up beside the stacks, which need not be told apart for
 * them. A collector's own, joined at the end.
 */
#ifndef PD_PROFILE_COLLECT_RARE_H
#define PD_PROFILE_COLLECT_RARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lookup/hash.h"

struct pd_rare_caller {
	uint64_t addr, period;
	uint64_t order; // of its first sample
	uint64_t last;  // of its last one, plus 1: a chain may have an address many times
	uint32_t owner, details;
	uint32_t samples;
	uint32_t bucket;       // of its first sample; once buckets have an order, its entry
	uint32_t inner, outer; // where in that sample's callers it is first and last
	uint32_t below, above; // most callers of a sample from the first one on, and up to the last one
};

struct pd_rare_callers {
	struct pd_rare_caller *items;
	size_t count, capacity;
	struct pd_index index; // by a hash of address, owner and details
};

// One that is to be counted.
struct pd_rare_ask {
	uint64_t hash;
	uint32_t miss, at; // in its callers
};

struct pd_collector;

// Counts those of all misses, whose buckets are known. False if there is no memory.
bool pd_rare_count(struct pd_collector *c);
// Adds those of a clone. False if there is no memory.
bool pd_rare_join(struct pd_collector *c, const struct pd_rare_callers *more);
void pd_rare_fini(struct pd_rare_callers *callers);

#endif
