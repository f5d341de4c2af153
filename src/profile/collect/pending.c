/* SPDX-License-Identifier: MIT */
/* Pending samples are looked up among the cached raw keys; what is not found there is a miss. */
#include "profile/collect/pending.h"

#include "base/memory.h"

enum {
	NOTE_AFTER = 64,   // so many that were added to the cache are noted at once
	FOUND_MOST = 8192, // frames of samples that wait for their buckets, and one more chain
};

// Several threads use the cache; when they find it full, they have another one. False if there is no memory.
static bool renew_cache(struct pd_collector *c)
{
	struct pd_key_cache *cache;

	if (c->cache_added >= NOTE_AFTER) {
		pd_key_cache_note(&c->common->cache, c->cache, c->cache_added, &c->repeats);
		c->cache_added = 0;
	}
	if (PD_LIKELY(pd_key_cache_is_present(&c->common->cache, c->cache)))
		return true;
	cache = pd_key_cache_enter(&c->common->cache, c->cache);
	if (cache)
		c->cache = cache;
	return cache != NULL;
}

// Looks up the buckets of samples, and asks for the memory of their amounts.
static void find_buckets(struct pd_collector *c, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct pd_pending *pending = &c->pending[i];

		pending->bucket = PD_NOT_CACHED;
		if (PD_UNLIKELY(!pd_pending_has_tag(pending)))
			continue;
		pending->bucket = pd_key_cache_look(c->cache, &pending->tag, &pending->sums);
		if (PD_LIKELY(pending->bucket < c->share.amount_count))
			__builtin_prefetch(&c->share.amounts[pending->bucket], 1);
		if (pending->sums)
			__builtin_prefetch(pending->sums);
	}
}

// What this collector has had of a bucket was earlier; what another one has found may not be. What is older than all before
// says where its frames were first, too.
static bool is_later(const struct pd_collector *c, const struct pd_pending *pending)
{
	if (PD_LIKELY(c->share.amounts[pending->bucket].met && !c->shuffled))
		return true;
	return pd_bucket_is_later(pd_bucket_at(c->common, pending->bucket), pending->when);
}

bool pd_pending_flush(struct pd_collector *c)
{
	size_t waiting = c->waiting;

	c->waiting = 0;
	find_buckets(c, waiting);
	for (size_t i = 0; i < waiting; i++) {
		const struct pd_pending *pending = &c->pending[i];

		if (PD_LIKELY(pending->bucket != PD_NOT_CACHED)) {
			if (PD_UNLIKELY(pending->bucket >= c->share.amount_count) &&
			    !pd_amounts_make(c, pending->bucket))
				return false;
			if (PD_LIKELY(is_later(c, pending))) {
				pd_amounts_count(c, pending, pending->bucket);
				if (PD_UNLIKELY(pending->sums) && !pd_sums_add_key(c, pending))
					return false;
				continue;
			}
		}
		if (!pd_miss_begin(c, pending) || (c->found_count > FOUND_MOST && !pd_misses_end(c)))
			return false;
	}
	if (c->miss_count && (!pd_misses_end(c) || !renew_cache(c)))
		return false;
	if (PD_UNLIKELY(c->share.binned.count >= 2 * PD_BINNED_MAX)) {
		pd_amounts_finalize_all(c);
		pd_binned_pack(&c->share.binned);
		c->bin_ns = c->bin = 0;
	}
	return !c->failed;
}
