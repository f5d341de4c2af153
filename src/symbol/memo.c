/* SPDX-License-Identifier: MIT */
/* Growing the table of what was found out. */
#include "symbol/memo.h"

#include "base/memory.h"

enum {
	FIRST = 64
};

static void put(struct pd_memo *memo, struct pd_memo_slot slot)
{
	size_t mask = memo->capacity - 1, at = (size_t)pd_hash_u64(memo->seed, slot.key) & mask;

	while (memo->slots[at].value)
		at = (at + 1) & mask;
	memo->slots[at] = slot;
}

static bool grow(struct pd_memo *memo)
{
	struct pd_memo old = *memo;

	memo->capacity = old.capacity ? old.capacity * 2 : FIRST;
	memo->slots = memo->capacity > SIZE_MAX / sizeof(*memo->slots) ?
			      NULL :
			      pd_alloc(memo->capacity * sizeof(*memo->slots));
	if (!memo->slots) {
		*memo = old;
		return false;
	}
	for (size_t i = 0; i < old.capacity; i++)
		if (old.slots[i].value)
			put(memo, old.slots[i]);
	pd_free(old.slots);
	return true;
}

bool pd_memo_put(struct pd_memo *memo, uint64_t key, const void *value)
{
	if (memo->most && memo->count >= memo->most)
		return true;
	if (memo->count >= memo->capacity / 4 * 3 && !grow(memo))
		return false;
	put(memo, (struct pd_memo_slot){ key, value });
	memo->count++;
	return true;
}

void pd_memo_fini(struct pd_memo *memo)
{
	pd_free(memo->slots);
	memo->slots = NULL;
	memo->count = memo->capacity = 0;
}
