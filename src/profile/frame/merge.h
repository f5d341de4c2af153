/* SPDX-License-Identifier: MIT */
/*
 * Callers without a name that are too rare to be shown, as one frame. Where code has no frame pointers a chain ends in words that
 * are no addresses: hundreds of thousands of them, each of which would be a frame, and its chain a bucket. Those that are frequent in
 * some samples from all over the file have frames of their own; of a small file, the first ones. All others are one frame, and a
 * small table of sums, by a hash of the address, proves that none of them has the share that was asked for. If a sum is too
 * large for that, samples are read once more, with the addresses of such sums distinguished.
 *
 * What a report prints must not depend on which address was met first: it shows no address with less than the share,
 * and every other one has a frame of its own in the end. The proof is in profile/collect/proof.c.
 */
#ifndef PD_PROFILE_COLLECT_MERGE_H
#define PD_PROFILE_COLLECT_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lookup/u64_map.h"
#include "profile/frame/hash.h"

// Periods of the samples that have one of some addresses.
struct pd_merge_sum {
	uint64_t period;
	uint64_t last; // order of the last one, plus 1: a chain may have an address many times
};

struct pd_record;

enum {
	PD_MERGE_SUMS = 1 << 13,
	PD_MERGE_EVENTS = 8,              // events that have sums of their own
	PD_MERGE_UNMAPPED_MOST = 1 << 12, // addresses with frames of their own, where nothing is mapped
	PD_MERGE_UNNAMED_MOST = 1 << 14   // and in objects
};

#define PD_NOT_MERGED (UINT32_MAX - 1) // no frame has this number
#define PD_EXPECTED UINT32_MAX

// An address where nothing is mapped that has a frame of its own.
struct pd_own_caller {
	uint64_t addr;
	uint64_t order;        // of its earliest sample
	uint32_t frame_plus_1; // 0: nothing is here; PD_EXPECTED: it will have one
};

// What all collectors of a run have; changed by one thread at a time.
struct pd_merge {
	uint32_t frame; // that stands for all that are rare; PD_NOT_MERGED: not asked for
	uint64_t seed;
	struct pd_own_caller *own; // PD_MERGE_SUMS of them; NULL: not asked for
	bool closed;               // own gets no more
	size_t unmapped_count, unnamed_count;
	struct pd_u64_map peeked; // how often an address was met in some of the samples
	uint32_t peeked_samples;
	bool by_address; // only what is in no object is merged, as each address has sums of its own
	bool *heavy;     // by sum, once samples are read again: its addresses have frames of their own; else NULL
};

// False if there is no memory. Without a heavy, which it takes over, the first addresses are distinguished.
bool pd_merge_init(struct pd_merge *merge, uint64_t seed, bool *heavy);
void pd_merge_fini(struct pd_merge *merge);

// Where an address in an object (0: none) is summed up.
static inline size_t pd_merge_sum(const struct pd_merge *merge, uint64_t object, uint64_t addr)
{
	return (size_t)(pd_fold(addr ^ merge->seed, object ^ ~merge->seed) >> 20) % PD_MERGE_SUMS;
}

// Of an address in no object; for who changes it.
static inline const struct pd_own_caller *pd_merge_slot(const struct pd_merge *merge, uint64_t addr)
{
	size_t at = pd_merge_sum(merge, 0, addr);

	// at most half of them are used
	while (merge->own[at].frame_plus_1 && merge->own[at].addr != addr)
		at = (at + 1) % PD_MERGE_SUMS;
	return &merge->own[at];
}

// The frame of an address where nothing is mapped, and of which this is the sum: its own, or the merged one. PD_NOT_MERGED: it has
// to be asked for.
static inline uint32_t pd_merge_unmapped(const struct pd_merge *merge, uint64_t addr, size_t sum, uint64_t order)
{
	// once it is closed, what is not there will never be
	bool closed = __atomic_load_n(&merge->closed, __ATOMIC_ACQUIRE);
	const struct pd_own_caller *own;
	uint32_t frame_plus_1;

	if (merge->heavy)
		return merge->heavy[sum] ? PD_NOT_MERGED : merge->frame;
	// read once: another thread may put another address where nothing was
	own = &merge->own[sum];
	while ((frame_plus_1 = __atomic_load_n(&own->frame_plus_1, __ATOMIC_ACQUIRE)) && own->addr != addr)
		own = &merge->own[++sum % PD_MERGE_SUMS];
	if (!frame_plus_1)
		return closed ? merge->frame : PD_NOT_MERGED;
	if (frame_plus_1 == PD_EXPECTED || order < __atomic_load_n(&own->order, __ATOMIC_RELAXED))
		return PD_NOT_MERGED;
	return frame_plus_1 - 1;
}

// Looks at a sample, of some from all over the file that are shown before all others: what is frequent there gets a frame of its
// own. Then the end of that.
void pd_merge_peek(struct pd_merge *merge, const struct pd_record *record);
void pd_merge_end_peek(struct pd_merge *merge, double share);
// Whether an address without a name that has no frame of its own yet gets one. Others must not use it meanwhile.
bool pd_merge_distinguishes(const struct pd_merge *merge, uint64_t object, uint64_t addr);
// Notes that it has got one, or that its earliest sample is another one.
void pd_merge_note(struct pd_merge *merge, uint64_t object, uint64_t addr, uint64_t order, uint32_t frame, bool is_new);

#endif
