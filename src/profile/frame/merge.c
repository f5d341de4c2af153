/* SPDX-License-Identifier: MIT */
#include "profile/frame/merge.h"

#include <string.h>

#include "base/memory.h"
#include "stream/read/stream.h"

bool pd_merge_init(struct pd_merge *merge, uint64_t seed, bool *heavy)
{
	merge->seed = seed;
	merge->heavy = heavy;
	merge->own = pd_alloc_table(PD_MERGE_SUMS * sizeof(*merge->own));
	return merge->own;
}

void pd_merge_fini(struct pd_merge *merge)
{
	pd_u64_map_fini(&merge->peeked);
	pd_free(merge->own);
	pd_free(merge->heavy);
}

// ---- frames of their own ----

bool pd_merge_distinguishes(const struct pd_merge *merge, uint64_t object, uint64_t addr)
{
	if (object && merge->by_address)
		return true;
	if (merge->heavy)
		return merge->heavy[pd_merge_sum(merge, object, addr)];
	if (object)
		return merge->unnamed_count < PD_MERGE_UNNAMED_MOST;
	return !merge->closed || pd_merge_slot(merge, addr)->frame_plus_1;
}

static void note_unmapped(struct pd_merge *merge, uint64_t addr, uint64_t order, uint32_t frame)
{
	struct pd_own_caller *own = &merge->own[pd_merge_slot(merge, addr) - merge->own];

	__atomic_store_n(&own->order, order, __ATOMIC_RELAXED);
	if (own->frame_plus_1 == frame + 1)
		return;
	// others look at the address of one that is expected
	if (!own->frame_plus_1) {
		merge->unmapped_count++;
		own->addr = addr;
	}
	__atomic_store_n(&own->frame_plus_1, frame + 1, __ATOMIC_RELEASE);
}

void pd_merge_note(struct pd_merge *merge, uint64_t object, uint64_t addr, uint64_t order, uint32_t frame, bool is_new)
{
	if (merge->heavy)
		return;
	if (!object)
		note_unmapped(merge, addr, order, frame);
	merge->unnamed_count += is_new && object;
	if (merge->unmapped_count == PD_MERGE_UNMAPPED_MOST)
		__atomic_store_n(&merge->closed, true, __ATOMIC_RELEASE);
}

// ---- those that are frequent, before all others ----

enum {
	PEEKED_WORDS_MOST = 1 << 17 // distinct ones, of all samples that are looked at
};

// Counts an address once a sample. Without memory it is not expected.
static void note_peeked(struct pd_merge *merge, uint64_t addr)
{
	uint64_t known = pd_u64_map_find(&merge->peeked, addr);

	if ((uint32_t)known != merge->peeked_samples)
		pd_u64_map_set(&merge->peeked, addr, ((known >> 32) + 1) << 32 | merge->peeked_samples);
}

void pd_merge_peek(struct pd_merge *merge, const struct pd_record *record)
{
	bool is_user = true;
	struct pd_brief brief;

	if (!merge->own || !record->event || !pd_record_brief(record, &brief))
		return;
	merge->peeked_samples++;
	merge->peeked.max = PEEKED_WORDS_MOST;
	merge->peeked.seed = merge->seed;
	for (size_t i = 0; i < brief.callchain.count; i++) {
		uint64_t word = brief.callchain.items[i];

		if (word >= PD_CONTEXT_MAX)
			is_user = word == (uint64_t)PD_CONTEXT_USER;
		else if (is_user)
			note_peeked(merge, word);
	}
}

void pd_merge_end_peek(struct pd_merge *merge, double share)
{
	enum {
		FEW = 3,
		CAUTION = 4 // as few of those that were looked at may be of an address
	};
	double least = (double)merge->peeked_samples * share / 100 / CAUTION;

	for (size_t i = 0; i < merge->peeked.capacity && merge->unmapped_count < PD_MERGE_UNMAPPED_MOST; i++) {
		const struct pd_u64_map_slot *slot = &merge->peeked.slots[i];
		uint64_t samples = slot->value >> 32;

		if (samples < FEW || (double)samples < least)
			continue;
		merge->own[pd_merge_slot(merge, slot->key) - merge->own] = (struct pd_own_caller){
			.addr = slot->key,
			.frame_plus_1 = PD_EXPECTED,
		};
		merge->unmapped_count++;
	}
	merge->closed = merge->peeked_samples;
	pd_u64_map_fini(&merge->peeked);
}
