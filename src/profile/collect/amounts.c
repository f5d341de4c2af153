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

void pd_amounts_finalize(struct pd_collector *c, uint32_t bucket)
{
	struct pd_amount *amount = &c->share.amounts[bucket];

	if (!amount->samples)
		return;
	if (c->options->slices)
		add_binned(c, &(struct pd_binned){ amount->period, bucket, amount->samples, amount->bin });
	else
		pd_bucket_add(pd_bucket_at(c->common, bucket), amount->samples, amount->period);
	amount->samples = 0;
	amount->period = 0;
}

void pd_amounts_finalize_all(struct pd_collector *c)
{
	for (size_t i = 0; i < c->share.amount_count; i++)
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

bool pd_amounts_make(struct pd_collector *c, uint32_t bucket)
{
	size_t count = (size_t)bucket + MORE;

	if (!PD_GROW(c->share.amounts, c->share.amount_capacity, count))
		return false;
	memset(c->share.amounts + c->share.amount_count, 0,
	       (count - c->share.amount_count) * sizeof(*c->share.amounts));
	c->share.amount_count = count;
	return true;
}
