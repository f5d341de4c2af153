/* SPDX-License-Identifier: MIT */
#include "export/feed/sums.h"

#include "base/memory.h"

bool pd_sums_add(struct pd_sums *sums, uint64_t seed, const struct pd_sum *sum)
{
	uint64_t hash = pd_hash_u64(seed, (uint64_t)sum->stack << 32 | sum->thread);
	size_t at;

	hash = pd_hash_u64(seed, hash ^ ((uint64_t)sum->event << 32 | sum->cpu));
	at = (uint32_t)hash;
	for (uint32_t i; (i = pd_index_next(&sums->index, hash, &at)) != PD_INDEX_END;) {
		struct pd_sum *known = &sums->items[i];

		if (known->stack != sum->stack || known->thread != sum->thread || known->event != sum->event ||
		    known->cpu != sum->cpu)
			continue;
		known->samples += sum->samples;
		known->value += sum->value;
		return true;
	}
	if (sums->count >= UINT32_MAX - 1 || !PD_GROW(sums->items, sums->capacity, sums->count + 1) ||
	    !pd_index_add(&sums->index, hash, (uint32_t)sums->count))
		return false;
	sums->items[sums->count++] = *sum;
	return true;
}

void pd_sums_fini(struct pd_sums *sums)
{
	pd_free(sums->items);
	pd_index_fini(&sums->index);
}
