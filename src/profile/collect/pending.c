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
	pd_amounts_end_keys(c);
	cache = pd_key_cache_enter(&c->common->cache, c->cache);
	if (cache)
		c->cache = cache;
	return cache != NULL;
}

// Looks samples up, and asks for the memory of their amounts.
static void find_keys(struct pd_collector *c, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct pd_pending *pending = &c->pending[i];

		pending->counted_as = PD_NOT_CACHED;
		if (PD_UNLIKELY(!pd_pending_has_tag(pending)))
			continue;
		pending->counted_as = pd_key_cache_find_in_both(c->cache, pending->line, &pending->tag);
		if (PD_LIKELY(pd_amounts_has(c, pending->counted_as)))
			__builtin_prefetch(pd_amount_at(c, pending->counted_as), 1);
	}
}

// Samples are looked up by their raw keys if nearly all come again: then their addresses need not be looked at. At first, when none
// can have come before, they are too: keys that are known from then on need not be found again. Half is enough to go on with what is
// there: it may just have begun.
static void choose_keys(struct pd_collector *c)
{
	enum {
		ENOUGH = 64
	};
	struct pd_repeats *repeats = &c->raw_repeats;

	if (repeats->asked < ENOUGH)
		return;
	if (c->decided < 2)
		c->decided++;
	c->by_frames = c->decided > 1 && repeats->repeated < repeats->asked / 4 * (c->by_frames ? 3 : 2);
	c->is_settled = c->decided > 1 && !c->by_frames;
	c->looked_up = c->not_cached = 0;
	repeats->asked = repeats->repeated = 0;
}

// While nearly all raw keys are cached, they repeat. If they no longer are, it is asked again, as a table that became full may
// have forgotten them.
static void check_cached(struct pd_collector *c)
{
	enum {
		SAMPLES = 1 << 15
	};

	if (c->looked_up < SAMPLES)
		return;
	if (c->not_cached > c->looked_up / 2) {
		c->is_settled = false;
		c->decided = 0;
	}
	c->looked_up = c->not_cached = 0;
}

// Those whose bucket is known are counted, the others are misses.
static bool flush_cached(struct pd_collector *c, size_t waiting)
{
	find_keys(c, waiting);
	c->looked_up += waiting;
	for (size_t i = 0; i < waiting; i++) {
		const struct pd_pending *pending = &c->pending[i];

		if (PD_LIKELY(pending->counted_as != PD_NOT_CACHED)) {
			if (!pd_amounts_reserve(c, pending->counted_as))
				return false;
			if (PD_LIKELY(pd_is_later(c, pending, pending->counted_as))) {
				pd_amounts_count(c, pending, pending->counted_as);
				continue;
			}
		}
		c->not_cached++;
		if (!pd_miss_begin(c, pending) || (c->found_count > FOUND_MOST && !pd_misses_end(c)))
			return false;
	}
	return true;
}

static bool flush_all(struct pd_collector *c, size_t waiting)
{
	for (size_t i = 0; i < waiting; i++)
		if (!pd_miss_begin(c, &c->pending[i]) || (c->found_count > FOUND_MOST && !pd_misses_end(c)))
			return false;
	return true;
}

static bool flush_some(struct pd_collector *c, size_t waiting)
{
	if (c->leaves.asks)
		return pd_leaves_flush(c, waiting);
	return c->by_frames ? flush_all(c, waiting) : flush_cached(c, waiting);
}

static bool end_misses(struct pd_collector *c)
{
	return c->leaves.asks ? pd_leaves_end(c) : pd_misses_end(c);
}

bool pd_pending_flush(struct pd_collector *c)
{
	size_t waiting = c->waiting;

	c->waiting = 0;
	if (!flush_some(c, waiting))
		return false;
	if (c->miss_count && (!end_misses(c) || !renew_cache(c)))
		return false;
	choose_keys(c);
	if (PD_LIKELY(c->is_settled))
		check_cached(c);
	if (PD_UNLIKELY(c->share.binned.count >= 2 * PD_BINNED_MAX)) {
		pd_amounts_finalize_all(c);
		pd_binned_pack(&c->share.binned);
		c->bin_ns = c->bin = 0;
	}
	return !c->failed;
}
