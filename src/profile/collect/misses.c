/* SPDX-License-Identifier: MIT */
/*
 * Samples whose raw key is not cached: their frames become a bucket. Done for many at once, so that the memory of their tables
 * is on its way meanwhile.
 */
#include "base/error.h"
#include "base/threads.h"
#include "profile/frame/hash.h"
#include "profile/collect/pending.h"

static const uint32_t *callers_of(const struct pd_collector *c, const struct pd_miss *miss)
{
	return c->found + miss->found + 1;
}

// What a sample says beside its stack. Mostly it is what the one before it said.
static bool find_details(struct pd_collector *c, const struct pd_pending *pending, uint32_t *number_out)
{
	struct pd_details *last = &c->last_details;
	struct pd_details details = {
		.cgroup = pending->cgroup,
		.weight = c->options->by & PD_BY_WEIGHT ? pending->weight : 0,
		.slice = pending->slice,
		.size = pending->size,
		.parallelism = pending->parallelism,
		.event = pending->event,
		.cpu = pending->cpu,
		.raw = pending->raw,
	};

	if (PD_UNLIKELY(!c->has_last_details || !pd_same_details(last, &details))) {
		c->last_details_number = pd_details_number(c->common, c->seed, &details);
		c->last_details = details;
		c->has_last_details = c->last_details_number != PD_NO_DETAILS;
	}
	*number_out = c->last_details_number;
	return c->has_last_details;
}

// The key is known once all frames are. False if there is no memory.
static bool hash_miss(struct pd_collector *c, struct pd_miss *miss)
{
	uint32_t details;

	if (!find_details(c, miss->pending, &details))
		return false;
	miss->key = (struct pd_bucket_key){
		.owner = miss->pending->owner,
		.details = details,
		.ip = c->found[miss->found],
		.caller_count = miss->caller_count,
		.cut = miss->cut,
		.damaged = miss->damaged,
		.unfinished = miss->unfinished,
	};
	miss->hash = pd_bucket_hash(c->seed, &miss->key, callers_of(c, miss));
	return true;
}

// One with more callers has no tag of its frames.
static inline bool has_tag(const struct pd_miss *miss)
{
	return miss->caller_count <= PD_TAG_CHAIN_MOST;
}

// The tag of its frames, which is none of a raw key.
static void tag_miss(const struct pd_collector *c, struct pd_miss *miss)
{
	const struct pd_pending *pending = miss->pending;
	const uint64_t *secrets = c->secrets->words, of_frames = UINT64_C(1) << 63;
	const uint32_t *callers = callers_of(c, miss);
	const uint32_t count = miss->caller_count;
	pd_wide sum = { 0 };
	size_t i;

	pd_tag_add(&sum, secrets, (uint64_t)pending->owner << 32 | pending->event,
		   (uint64_t)pending->cpu << 32 | c->found[miss->found]);
	pd_tag_add(&sum, secrets + 4,
		   of_frames | (uint64_t)miss->unfinished << 34 | (uint64_t)miss->cut << 33 |
			   (uint64_t)miss->damaged << 32 | count,
		   pending->raw);
	if (c->options->by & PD_BY_EXTRA) {
		pd_tag_add(&sum, secrets + 6, pending->cgroup, c->options->by & PD_BY_WEIGHT ? pending->weight : 0);
		pd_tag_add(&sum, secrets + 8, pending->slice, pending->size);
		pd_tag_add(&sum, secrets + 10, pending->parallelism, 0);
	}
	secrets += PD_TAG_HEAD;
	for (i = 0; i + 4 <= count; i += 4)
		pd_tag_add(&sum, secrets + i / 2, (uint64_t)callers[i] << 32 | callers[i + 1],
			   (uint64_t)callers[i + 2] << 32 | callers[i + 3]);
	if (i < count)
		pd_tag_add(&sum, secrets + i / 2, (uint64_t)callers[i] << 32 | (i + 1 < count ? callers[i + 1] : 0),
			   i + 2 < count ? callers[i + 2] : 0);
	miss->tag = pd_tag_end(sum);
}

// Nobody else uses the shards of these meanwhile. False if there is no memory.
static bool find_some(struct pd_collector *c, struct pd_miss *const *misses, size_t count)
{
	struct pd_common *common = c->common;

	for (size_t i = 0; i < count; i++)
		pd_index_prefetch(&pd_shard_of(common, misses[i]->hash)->index, misses[i]->hash);
	for (size_t i = 0; i < count; i++) {
		uint32_t likely = pd_index_peek(&pd_shard_of(common, misses[i]->hash)->index, misses[i]->hash);

		if (likely != PD_INDEX_END)
			__builtin_prefetch(pd_bucket_at(common, likely));
	}
	for (size_t i = 0; i < count; i++) {
		struct pd_miss *miss = misses[i];

		miss->bucket =
			pd_bucket_find(common, &miss->key, callers_of(c, miss), miss->hash, miss->pending->when.order);
		if (!miss->bucket)
			return false;
		// pieces of the file come in any order
		pd_bucket_note_order(miss->bucket, miss->pending->when.order);
	}
	return true;
}

// Puts misses together that are of one shard; those of shard i are from starts[i] to starts[i + 1].
static void sort_misses(const struct pd_collector *c, struct pd_miss *const *misses, size_t count,
			struct pd_miss **sorted, size_t *starts)
{
	size_t at[PD_SHARDS] = { 0 }, begin = 0;

	for (size_t i = 0; i < count; i++)
		at[pd_shard_of(c->common, misses[i]->hash) - c->common->shards]++;
	for (size_t i = 0; i < PD_SHARDS; i++) {
		starts[i] = begin;
		begin += at[i];
		at[i] = starts[i];
	}
	starts[PD_SHARDS] = begin;
	for (size_t i = 0; i < count; i++)
		sorted[at[pd_shard_of(c->common, misses[i]->hash) - c->common->shards]++] = misses[i];
}

// First the shards that are free, then those that others had. False if there is no memory.
static bool find_in_shards(struct pd_collector *c, struct pd_miss *const *sorted, const size_t *starts)
{
	size_t left[PD_SHARDS], left_count = 0;
	bool found = true;

	for (size_t i = 0; i < PD_SHARDS; i++) {
		if (starts[i] == starts[i + 1])
			continue;
		if (pthread_mutex_trylock(&c->common->shards[i].lock) != 0) {
			left[left_count++] = i;
			continue;
		}
		found = found && find_some(c, sorted + starts[i], starts[i + 1] - starts[i]);
		pthread_mutex_unlock(&c->common->shards[i].lock);
	}
	for (size_t i = 0; i < left_count; i++) {
		size_t shard = left[i];

		pthread_mutex_lock(&c->common->shards[shard].lock);
		found = found && find_some(c, sorted + starts[shard], starts[shard + 1] - starts[shard]);
		pthread_mutex_unlock(&c->common->shards[shard].lock);
	}
	return found;
}

static bool find_buckets(struct pd_collector *c, struct pd_miss *const *misses, size_t count)
{
	struct pd_miss *sorted[PD_PENDING_MOST];
	size_t starts[PD_SHARDS + 1];

	for (size_t i = 0; i < count; i++)
		if (!hash_miss(c, misses[i]))
			return false;
	// in the order of the file
	if (!c->common->locks)
		return find_some(c, misses, count);
	sort_misses(c, misses, count, sorted, starts);
	return find_in_shards(c, sorted, starts);
}

static void remember(struct pd_collector *c, const struct pd_miss *miss, uint32_t bucket)
{
	const struct pd_pending *pending = miss->pending;
	const struct pd_key_sums *sums = NULL;
	const struct pd_tag *tag = &miss->tag;

	// leaves are known as such
	if (c->leaves.asks)
		return;
	// of frames: callers that are merged differ from sample to sample
	if (!c->by_frames) {
		if (!pd_pending_has_tag(pending) || miss->sum_count > PD_KEY_SUMS || (miss->sum_count && c->keeps_rare))
			return;
		tag = &pending->tag;
		sums = miss->sum_count ? &miss->sums : NULL;
	} else if (!has_tag(miss)) {
		return;
	}
	pd_repeats_note(&c->repeats, tag);
	c->cache_added += pd_key_cache_add(c->cache, tag, bucket, sums);
}

// False if there is no memory.
static bool end_miss(struct pd_collector *c, struct pd_miss *miss)
{
	uint32_t bucket = miss->number = miss->bucket->number;

	if (!pd_amounts_reserve(c, bucket))
		return false;
	remember(c, miss, bucket);
	pd_amounts_count(c, miss->pending, bucket);
	return true;
}

static uint32_t find_key(const struct pd_collector *c, const struct pd_miss *miss)
{
	return PD_LIKELY(has_tag(miss)) ? pd_key_cache_find_in_both(c->cache, miss->line, &miss->tag) : PD_NOT_CACHED;
}

// Looks the stacks of frames up, and asks for the memory of their amounts.
static void find_cached(struct pd_collector *c, uint32_t *buckets)
{
	for (size_t i = 0; i < c->miss_count; i++) {
		struct pd_miss *miss = &c->misses[i];

		if (PD_UNLIKELY(!has_tag(miss)))
			continue;
		tag_miss(c, miss);
		miss->line = pd_key_cache_first(c->cache, &miss->tag);
		__builtin_prefetch(miss->line);
	}
	for (size_t i = 0; i < c->miss_count; i++) {
		buckets[i] = find_key(c, &c->misses[i]);
		if (pd_amounts_has(c, buckets[i]))
			__builtin_prefetch(pd_amount_at(c, buckets[i]), 1);
	}
}

// Counts those whose bucket is known; *left has the others. False if there is no memory.
static bool count_cached(struct pd_collector *c, struct pd_miss **left, size_t *left_count)
{
	uint32_t buckets[PD_PENDING_MOST];
	const bool by_frames = c->by_frames && !c->leaves.asks;

	if (by_frames)
		find_cached(c, buckets);
	for (size_t i = 0; i < c->miss_count; i++) {
		struct pd_miss *miss = &c->misses[i];

		left[*left_count] = miss;
		if (!by_frames || buckets[i] == PD_NOT_CACHED) {
			++*left_count;
			continue;
		}
		miss->number = buckets[i];
		if (!pd_amounts_reserve(c, buckets[i]))
			return false;
		if (PD_LIKELY(pd_is_later(c, miss->pending, buckets[i])))
			pd_amounts_count(c, miss->pending, buckets[i]);
		else
			++*left_count;
	}
	return true;
}

// What is known of places is known again soon, so a larger table begins empty. Without memory the present one goes on.
static void grow_known(struct pd_collector *c)
{
	struct pd_known_place *known;
	void *memory;

	if (c->known_count >= PD_KNOWN_PLACES || c->leaves.asks)
		return;
	known = pd_alloc_lines(PD_KNOWN_GROWTH * c->known_count * sizeof(*known), &memory);
	if (!known)
		return;
	pd_free(c->known_memory);
	c->known = known;
	c->known_memory = memory;
	c->known_count *= PD_KNOWN_GROWTH;
	c->known_most = c->known_count;
	c->known_added = 0;
}

// What was merged is counted one by one. False if there is no memory.
static bool count_rare(struct pd_collector *c)
{
	for (size_t i = 0; i < c->miss_count; i++)
		if (c->misses[i].sum_count && !find_details(c, c->misses[i].pending, &c->misses[i].key.details))
			return false;
	return pd_rare_count(c);
}

bool pd_misses_end(struct pd_collector *c)
{
	struct pd_miss *left[PD_PENDING_MOST];
	size_t left_count = 0;

	if (!pd_misses_find_frames(c) || !count_cached(c, left, &left_count) || !find_buckets(c, left, left_count))
		return false;
	for (size_t i = 0; i < left_count; i++)
		if (!end_miss(c, left[i]))
			return false;
	if (c->keeps_rare && !count_rare(c))
		return false;
	c->known_added += c->wanted_count;
	c->miss_count = c->wanted_count = c->found_count = 0;
	if (PD_UNLIKELY(c->known_added > c->known_count / 2))
		grow_known(c);
	return true;
}
