/* SPDX-License-Identifier: MIT */
/*
 * What was found out once of an address: a table from numbers to pointers. One look into memory, since a file of
 * samples asks millions of times for the same places. The hash is seeded, so that a file cannot choose what collides.
 */
#ifndef PD_SYMBOL_MEMO_H
#define PD_SYMBOL_MEMO_H

#include "state/index.h"

struct pd_memo_slot {
	uint64_t key;
	const void *value; // NULL marks an empty slot
};

struct pd_memo {
	uint64_t seed;
	struct pd_memo_slot *slots;
	size_t count;
	size_t capacity; // a power of two, or 0
	size_t most;     // entries; 0: no limit. What comes later is not kept
};

/** The value that was put for a key, or NULL. */
static inline const void *pd_memo_find(const struct pd_memo *memo, uint64_t key)
{
	size_t mask = memo->capacity - 1;

	if (!memo->capacity)
		return NULL;
	for (size_t at = (size_t)pd_hash_u64(memo->seed, key) & mask; memo->slots[at].value; at = (at + 1) & mask)
		if (memo->slots[at].key == key)
			return memo->slots[at].value;
	return NULL;
}

/** Asks for the memory that finding a key will need. */
static inline void pd_memo_prefetch(const struct pd_memo *memo, uint64_t key)
{
	if (memo->capacity)
		__builtin_prefetch(&memo->slots[(size_t)pd_hash_u64(memo->seed, key) & (memo->capacity - 1)]);
}

/** Puts what is not there yet; value is not NULL. False if there is no memory for it; then it is found out again next
 * time. */
bool pd_memo_put(struct pd_memo *memo, uint64_t key, const void *value);
void pd_memo_fini(struct pd_memo *memo);

#endif
