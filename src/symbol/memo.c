/* SPDX-License-Identifier: MIT */
/* Growing the table of what was found out. */
#include "symbol/memo.h"

#include "base/memory.h"

enum { FIRST = 256 };

static void put(struct pd_memo *memo, struct pd_memo_slot slot)
{
	size_t mask = memo->capacity - 1, at = pd_memo_at(memo, slot.dso_plus_1 - 1, slot.key) & mask;

	while (memo->slots[at].dso_plus_1)
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
		if (old.slots[i].dso_plus_1)
			put(memo, old.slots[i]);
	pd_free(old.slots);
	return true;
}

bool pd_memo_put(struct pd_memo *memo, uint32_t dso, uint64_t key, uint32_t number)
{
	if (memo->most && memo->count >= memo->most)
		return true;
	if (memo->count >= memo->capacity / 2 && !grow(memo))
		return false;
	put(memo, (struct pd_memo_slot){key, dso + 1, number});
	memo->count++;
	return true;
}

void pd_memo_fini(struct pd_memo *memo)
{
	pd_free(memo->slots);
	memo->slots = NULL;
	memo->count = memo->capacity = 0;
}
