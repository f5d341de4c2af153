/* SPDX-License-Identifier: MIT */
/* Slices of time: the portions that all collectors counted, by bucket and strip. */
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

static unsigned most_shift(const struct pd_collector *c)
{
	unsigned shift = c->portions.shift;

	for (size_t i = 0; i < c->joined_count; i++)
		shift = c->joined[i].shift > shift ? c->joined[i].shift : shift;
	return shift;
}

static void count_portions(const struct pd_portions *portions, size_t *starts)
{
	for (size_t i = 0; i < portions->count; i++)
		starts[portions->items[i].bucket + 2]++;
}

// To be called with where each bucket goes on.
static void put_portions(const struct pd_portions *portions, unsigned shift, size_t *at, struct pd_slice *slices)
{
	for (size_t i = 0; i < portions->count; i++) {
		const struct pd_portion *portion = &portions->items[i];
		bool timed = portion->strip != PD_STRIP_NONE;

		slices[at[portion->bucket]++] = (struct pd_slice){
			.period = portion->period,
			.samples = portion->samples,
			.index = timed ? (uint32_t)portion->strip >> (shift - portions->shift) : UINT32_MAX,
		};
	}
}

static int compare_slices(const void *a, const void *b)
{
	const struct pd_slice *x = a, *y = b;

	return x->index < y->index ? -1 : x->index > y->index;
}

// With one thread most are in order.
static void sort_slices(struct pd_slice *slices, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (slices[i - 1].index > slices[i].index) {
			qsort(slices, count, sizeof(*slices), compare_slices);
			return;
		}
}

// Joins slices that agree, of each bucket. Returns how many differ.
static size_t join_slices(struct pd_slice *slices, size_t *starts, size_t bucket_count)
{
	size_t kept = 0, differing = 0, at = 0;

	for (size_t b = 0; b < bucket_count; b++) {
		size_t first = kept, end = starts[b + 1];

		for (starts[b] = kept; at < end; at++) {
			struct pd_slice *last = kept > first ? &slices[kept - 1] : NULL;
			bool same = last && last->index == slices[at].index;

			differing += !same;
			if (same && last->samples <= UINT32_MAX - slices[at].samples) {
				last->samples += slices[at].samples;
				last->period += slices[at].period;
			} else {
				slices[kept++] = slices[at];
			}
		}
	}
	starts[bucket_count] = kept;
	return differing;
}

static void fill_buckets(const struct pd_common *common, const struct pd_slice *slices, const size_t *starts)
{
	for (size_t b = 0; b < common->bucket_count; b++) {
		struct pd_bucket *bucket = pd_bucket_at(common, (uint32_t)b);

		for (size_t i = starts[b]; i < starts[b + 1]; i++) {
			bucket->samples += slices[i].samples;
			bucket->period += slices[i].period;
		}
	}
}

static void free_portions(struct pd_portions *portions)
{
	pd_free(portions->items);
	*portions = (struct pd_portions){0};
}

bool pd_profile_slice(struct pd_profile *profile, size_t **starts_out)
{
	struct pd_collector *c = &profile->collector;
	size_t count = c->common->bucket_count, all = c->portions.count;
	unsigned shift = most_shift(c);
	size_t *starts = pd_alloc((count + 2) * sizeof(*starts));

	*starts_out = starts;
	for (size_t i = 0; i < c->joined_count; i++)
		all += c->joined[i].count;
	profile->slices = pd_realloc(NULL, (all + 1) * sizeof(*profile->slices));
	if (!starts || !profile->slices)
		return false;
	count_portions(&c->portions, starts);
	for (size_t i = 0; i < c->joined_count; i++)
		count_portions(&c->joined[i], starts);
	for (size_t b = 1; b < count + 1; b++)
		starts[b + 1] += starts[b];
	put_portions(&c->portions, shift, starts + 1, profile->slices);
	free_portions(&c->portions);
	for (size_t i = 0; i < c->joined_count; i++) {
		put_portions(&c->joined[i], shift, starts + 1, profile->slices);
		free_portions(&c->joined[i]);
	}
	for (size_t b = 0; b < count; b++)
		sort_slices(profile->slices + starts[b], starts[b + 1] - starts[b]);
	while (join_slices(profile->slices, starts, count) > PD_PORTIONS_MOST && shift < 16) {
		shift++;
		for (size_t i = 0; i < starts[count]; i++)
			if (profile->slices[i].index != UINT32_MAX)
				profile->slices[i].index /= 2;
	}
	fill_buckets(c->common, profile->slices, starts);
	profile->slice_ns = c->slice_ns << shift;
	profile->first_slice_ns = c->first_slice * c->slice_ns;
	return true;
}
