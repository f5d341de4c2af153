/* SPDX-License-Identifier: MIT */
#include "export/feed/sums.h"

#include "base/memory.h"

static bool add_waiting(struct pd_sums *sums, const struct pd_sum *sum, uint64_t hash)
{
	size_t at = (uint32_t)hash;

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

bool pd_sums_finish(struct pd_sums *sums)
{
	bool ok = true;

	for (size_t i = 0; i < sums->waiting_count; i++) {
		uint32_t likely = pd_index_peek(&sums->index, sums->waiting[i].hash);

		if (likely != PD_INDEX_END)
			__builtin_prefetch(&sums->items[likely]);
	}
	for (size_t i = 0; i < sums->waiting_count && ok; i++)
		ok = add_waiting(sums, &sums->waiting[i].sum, sums->waiting[i].hash);
	sums->waiting_count = 0;
	return ok;
}

bool pd_sums_add(struct pd_sums *sums, uint64_t seed, const struct pd_sum *sum)
{
	uint64_t hash = pd_hash_u64(seed, (uint64_t)sum->stack << 32 | sum->thread);

	hash = pd_hash_u64(seed, hash ^ ((uint64_t)sum->event << 32 | sum->cpu));
	pd_index_prefetch(&sums->index, hash);
	sums->waiting[sums->waiting_count++] = (struct pd_waiting_sum){ *sum, hash };
	return sums->waiting_count < PD_SUMS_WAITING || pd_sums_finish(sums);
}

void pd_sums_fini(struct pd_sums *sums)
{
	pd_free(sums->items);
	pd_index_fini(&sums->index);
}
