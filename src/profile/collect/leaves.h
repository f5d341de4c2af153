/* SPDX-License-Identifier: MIT */
/*
 * Samples without callers that were met lately: the place that one was taken at, its thread, and the bucket that it falls into. In
 * recordings of real work processes come and go, so raw keys seldom come again, but places in files do. A collector's own.
 */
#ifndef PD_PROFILE_COLLECT_LEAVES_H
#define PD_PROFILE_COLLECT_LEAVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Two of them are a line of the processor's cache.
struct pd_leaf {
	uint64_t what, where;
	uint32_t pid, owner;
	uint32_t event_kind; // what kind of place it is in the low byte
	uint32_t bucket_plus_1;
};

// One that is looked for.
struct pd_leaf_ask {
	struct pd_leaf leaf;
	struct pd_leaf *known; // where it stands or would stand
};

struct pd_leaves {
	struct pd_leaf_ask *asks; // of the samples that wait; NULL: samples have callers, or more that tells them apart
	struct pd_leaf *items;
	void *memory;
	size_t count; // a power of two
	size_t added, most;
};

struct pd_collector;

// If samples of a collector have no callers. False if there is no memory.
bool pd_leaves_init(struct pd_collector *c);
// What is only needed for counting.
void pd_leaves_fini(struct pd_leaves *leaves);
// Puts samples that wait into buckets, as far as theirs are known; the others are misses. False if there is no memory.
bool pd_leaves_flush(struct pd_collector *c, size_t waiting);
// Puts the misses into buckets, which are known from then on. False if there is no memory.
bool pd_leaves_end(struct pd_collector *c);

#endif
