/* SPDX-License-Identifier: MIT */
/* What a collector counts of buckets, beside them: without a lock, and added up at the end. */
#include <string.h>

#include "base/memory.h"
#include "profile/collect/pending.h"

static void add_binned(struct pd_collector *c, const struct pd_binned *entry)
{
	struct pd_binned_list *binned = &c->share.binned;

	if (PD_GROW(binned->items, binned->capacity, binned->count + 1))
		binned->items[binned->count++] = *entry;
	else
		c->failed = true;
}

static void finalize_bucket(struct pd_collector *c, const struct pd_amount *amount, uint32_t bucket)
{
	if (c->options->slices)
		add_binned(c, &(struct pd_binned){ amount->period, bucket, amount->samples, amount->bin });
	else
		pd_bucket_add(pd_bucket_at(c->common, bucket), amount->samples, amount->period);
}

// What was counted of a key goes into its sums and to its bucket.
static void finalize_key(struct pd_collector *c, const struct pd_amount *amount, const struct pd_summed_key *key)
{
	struct pd_amount *to;

	if (!pd_sums_add_key(c, &key->sums, amount->period) || !pd_amounts_reserve(c, key->bucket)) {
		c->failed = true;
		return;
	}
	to = pd_amount_at(c, key->bucket);
	if (to->bin != amount->bin || to->samples + amount->samples > UINT16_MAX)
		pd_amounts_finalize(c, key->bucket);
	to->bin = amount->bin;
	to->met = true;
	to->samples = (uint16_t)(to->samples + amount->samples);
	to->period += amount->period;
}

void pd_amounts_finalize(struct pd_collector *c, uint32_t counted_as)
{
	struct pd_amount *amount = pd_amount_at(c, counted_as);

	if (!amount->samples)
		return;
	if (counted_as & PD_KEY_HAS_SUMS)
		finalize_key(c, amount, pd_key_summed(c->cache, counted_as));
	else
		finalize_bucket(c, amount, counted_as);
	amount->samples = 0;
	amount->period = 0;
}

void pd_amounts_end_keys(struct pd_collector *c)
{
	struct pd_amounts *of_keys = &c->share.amounts[PD_OF_SUMMED_KEYS];

	for (size_t i = 0; i < of_keys->count; i++)
		pd_amounts_finalize(c, (uint32_t)i | PD_KEY_HAS_SUMS);
	of_keys->count = 0;
}

void pd_amounts_finalize_all(struct pd_collector *c)
{
	pd_amounts_end_keys(c);
	for (size_t i = 0; i < c->share.amounts[PD_OF_BUCKETS].count; i++)
		pd_amounts_finalize(c, (uint32_t)i);
}

enum {
	MORE = 4096
};

void pd_amounts_add_weight(struct pd_collector *c, uint32_t bucket, uint64_t weight)
{
	struct pd_share *share = &c->share;
	size_t count = (size_t)bucket + MORE;

	if (bucket >= share->weight_count) {
		if (!PD_GROW(share->weights, share->weight_capacity, count)) {
			c->failed = true;
			return;
		}
		memset(share->weights + share->weight_count, 0,
		       (count - share->weight_count) * sizeof(*share->weights));
		share->weight_count = count;
	}
	share->weights[bucket] += weight;
}

bool pd_amounts_make(struct pd_collector *c, uint32_t counted_as)
{
	struct pd_amounts *amounts = pd_amounts_of(c, counted_as);
	size_t count = (size_t)(counted_as & ~PD_KEY_HAS_SUMS) + MORE;

	if (!PD_GROW(amounts->items, amounts->capacity, count))
		return false;
	memset(amounts->items + amounts->count, 0, (count - amounts->count) * sizeof(*amounts->items));
	amounts->count = count;
	return true;
}
