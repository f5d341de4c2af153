/* SPDX-License-Identifier: MIT */
/*
 * Numbers that were found out once: from an object and an address in it. One look into memory, since a file of samples
 * asks millions of times for the same places. The hash is seeded, so that a file cannot choose what collides.
 */
#ifndef PD_SYMBOL_MEMO_H
#define PD_SYMBOL_MEMO_H

#include "world/index.h"

struct pd_memo_slot {
	uint64_t key;
	uint32_t dso_plus_1; // 0 marks an empty slot
	uint32_t number;
};

struct pd_memo {
	uint64_t seed;
	struct pd_memo_slot *slots;
	size_t count;
	size_t capacity; // a power of two, or 0
	size_t most;     // entries; 0: no limit. What comes later is not kept
};

static inline size_t pd_memo_at(const struct pd_memo *memo, uint32_t dso, uint64_t key)
{
	return (size_t)pd_hash_u64(memo->seed, key ^ (uint64_t)dso << 48 ^ dso);
}

/** The number that was put for a key, or NULL. */
static inline const uint32_t *pd_memo_find(const struct pd_memo *memo, uint32_t dso, uint64_t key)
{
	size_t mask = memo->capacity - 1;

	if (!memo->capacity)
		return NULL;
	for (size_t at = pd_memo_at(memo, dso, key) & mask; memo->slots[at].dso_plus_1; at = (at + 1) & mask) {
		const struct pd_memo_slot *slot = &memo->slots[at];

		if (slot->key == key && slot->dso_plus_1 == dso + 1)
			return &slot->number;
	}
	return NULL;
}

/** Puts what is not there yet. False if there is no memory for it; then it is found out again next time. */
bool pd_memo_put(struct pd_memo *memo, uint32_t dso, uint64_t key, uint32_t number);
void pd_memo_fini(struct pd_memo *memo);

#endif
