/* SPDX-License-Identifier: MIT */
/* Proves that no caller that was merged has the share that was asked for, see profile/frame/merge.h. */
#include <string.h>

#include "base/memory.h"
#include "profile/collect/pending.h"

struct pd_merge_sum *pd_sums_make(struct pd_collector *c, uint32_t event)
{
	return c->sums[event % PD_MERGE_EVENTS] = pd_alloc(PD_MERGE_SUMS * sizeof(struct pd_merge_sum));
}

bool pd_sums_add_key(struct pd_collector *c, const struct pd_key_sums *key, uint64_t period)
{
	struct pd_merge_sum *sums = pd_sums_of(c, key->event);

	for (size_t i = 0; sums && i < PD_KEY_SUMS && key->plus_1[i]; i++)
		sums[key->plus_1[i] - 1].period += period;
	c->has_merged = true;
	return sums;
}

bool pd_sums_join(struct pd_collector *c, struct pd_collector *clone)
{
	for (uint32_t i = 0; i < PD_MERGE_EVENTS; i++) {
		if (!clone->sums[i])
			continue;
		if (!pd_sums_of(c, i))
			return false;
		for (size_t k = 0; k < PD_MERGE_SUMS; k++)
			c->sums[i][k].period += clone->sums[i][k].period;
	}
	return true;
}

void pd_sums_free(struct pd_collector *c)
{
	for (size_t i = 0; i < PD_MERGE_EVENTS; i++)
		pd_free(c->sums[i]);
}

// The period of a bucket, with what was counted beside it.
static uint64_t period_of(struct pd_collector *c, const struct pd_bucket *bucket)
{
	uint64_t period = bucket->period;

	for (size_t i = 0; i <= c->joined_count; i++) {
		const struct pd_share *share = pd_collector_share(c, i);

		if (bucket->number < share->amounts[PD_OF_BUCKETS].count)
			period += share->amounts[PD_OF_BUCKETS].items[bucket->number].period;
	}
	return period;
}

// Whether the address of a frame without a name may have been merged where it was a caller.
static bool may_be_merged(const struct pd_frames *frames, const struct pd_raw_frame *frame, uint64_t *object_out,
			  uint64_t *addr_out)
{
	const struct pd_merge *merge = &frames->merge;

	if (frame->own || !pd_frame_is_unnamed(frame, object_out, addr_out))
		return false;
	if (*object_out && merge->by_address)
		return false;
	if (merge->heavy)
		return !merge->heavy[pd_merge_sum(merge, *object_out, *addr_out)];
	return *object_out ? merge->unnamed_count == PD_MERGE_UNNAMED_MOST :
			     !pd_merge_slot(merge, *addr_out)->frame_plus_1;
}

static void add_period(struct pd_collector *c, struct pd_merge_sum *sums, const struct pd_bucket *bucket,
		       uint64_t object, uint64_t addr)
{
	sums[pd_merge_sum(&c->common->frames.merge, object, addr)].period += period_of(c, bucket);
}

// An address where samples were taken has a frame of its own, and may be that of a caller that was merged.
static void add_samples(struct pd_collector *c)
{
	const struct pd_frames *frames = &c->common->frames;
	uint64_t object, addr;

	for (size_t i = 0; i < c->common->bucket_count; i++) {
		const struct pd_bucket *bucket = pd_bucket_at(c->common, (uint32_t)i);
		const uint32_t event = pd_bucket_details(c->common, bucket)->event;
		struct pd_merge_sum *sums = c->sums[event % PD_MERGE_EVENTS];

		// without sums nothing of the event was merged
		if (sums && may_be_merged(frames, &frames->items[bucket->key.ip], &object, &addr))
			add_period(c, sums, bucket, object, addr);
	}
}

// When samples are read again, only what is heavy has a frame of its own as a caller: so the rest is added, too. False if there is
// no memory.
static bool add_rest(struct pd_collector *c)
{
	const struct pd_frames *frames = &c->common->frames;
	uint64_t object, addr;
	bool had[PD_MERGE_EVENTS];

	for (size_t i = 0; i < PD_MERGE_EVENTS; i++)
		had[i] = c->sums[i];
	for (size_t i = 0; i < c->common->bucket_count; i++) {
		const struct pd_bucket *bucket = pd_bucket_at(c->common, (uint32_t)i);
		const uint32_t event = pd_bucket_details(c->common, bucket)->event;
		const struct pd_raw_frame *frame = &frames->items[bucket->key.ip];
		bool was_added = had[event % PD_MERGE_EVENTS] && may_be_merged(frames, frame, &object, &addr);
		struct pd_merge_sum *sums = pd_sums_of(c, event);

		if (!sums)
			return false;
		if (!was_added && pd_frame_is_unnamed(frame, &object, &addr))
			add_period(c, sums, bucket, object, addr);
		for (size_t k = 0; k < bucket->key.caller_count; k++) {
			frame = &frames->items[bucket->callers[k]];
			if (frame->own && pd_frame_is_unnamed(frame, &object, &addr))
				add_period(c, sums, bucket, object, addr);
		}
	}
	return true;
}

// False if there is nothing heavy.
static bool find_heavy(const struct pd_collector *c, double share, bool *heavy)
{
	for (uint32_t i = 0; i < c->event_count; i++) {
		// as a graph does
		uint64_t least = (uint64_t)((double)c->totals[i].period * share / 100);
		const struct pd_merge_sum *sums = c->sums[i % PD_MERGE_EVENTS];

		for (size_t k = 0; sums && c->totals[i].samples && k < PD_MERGE_SUMS; k++)
			heavy[k] |= sums[k].period >= least;
	}
	return memchr(heavy, true, PD_MERGE_SUMS * sizeof(*heavy));
}

bool pd_collector_merged_too_much(struct pd_collector *c, double share, bool **heavy_out)
{
	bool *heavy;

	*heavy_out = NULL;
	if (!c->has_merged)
		return false;
	heavy = *heavy_out = pd_alloc(PD_MERGE_SUMS * sizeof(*heavy));
	if (!heavy)
		return true;
	add_samples(c);
	if (!find_heavy(c, share, heavy)) {
		pd_free(heavy);
		*heavy_out = NULL;
		return false;
	}
	if (add_rest(c)) {
		find_heavy(c, share, heavy);
	} else {
		pd_free(heavy);
		*heavy_out = NULL;
	}
	return true;
}
