/* SPDX-License-Identifier: MIT */
#include "profile/collect/key_cache.h"

#include "base/memory.h"
#include "base/threads.h"

enum {
	LINES_FIRST = 1 << 12,
	LINES_FREE = 1 << 16, // up to here a table grows in any case: 4 MiB
	GROWTH = 4,
};

// From here on many would find no room.
static bool is_full(const struct pd_key_cache *cache)
{
	return __atomic_load_n(&cache->used, __ATOMIC_RELAXED) >= cache->count * PD_KEYS_IN_LINE / 8 * 5;
}

static void destroy(struct pd_key_cache *cache)
{
	if (!cache)
		return;
	pd_free(cache->memory);
	for (size_t i = 0; i < PD_SUMMED_BLOCKS; i++)
		pd_free(cache->summed[i]);
	pd_free(cache);
}

static struct pd_key_cache *make(size_t count)
{
	struct pd_key_cache *cache = pd_alloc(sizeof(*cache));

	if (!cache)
		return NULL;
	cache->lines = pd_alloc_lines(count * sizeof(*cache->lines), &cache->memory);
	cache->count = count;
	if (cache->lines)
		return cache;
	destroy(cache);
	return NULL;
}

// ---- adding ----

// Takes a place for a tag. False if another one has it.
static bool take_place(uint64_t *low, uint64_t wanted)
{
	uint64_t none = 0;

	return !__atomic_load_n(low, __ATOMIC_RELAXED) &&
	       __atomic_compare_exchange_n(low, &none, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

// NULL if there is no memory.
static struct pd_summed_key *summed_block(struct pd_key_cache *cache, size_t number)
{
	struct pd_summed_key **block = &cache->summed[number / PD_SUMMED_IN_BLOCK];
	struct pd_summed_key *items = __atomic_load_n(block, __ATOMIC_ACQUIRE), *made;

	if (items)
		return items;
	made = pd_alloc(PD_SUMMED_IN_BLOCK * sizeof(*made));
	if (!made || __atomic_compare_exchange_n(block, &items, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return made;
	pd_free(made);
	return items;
}

// The number of a key that has taken a place and has sums. PD_NOT_CACHED if there is no memory.
static uint32_t number_summed(struct pd_key_cache *cache, uint32_t bucket, const struct pd_key_sums *sums)
{
	size_t number = __atomic_fetch_add(&cache->summed_count, 1, __ATOMIC_RELAXED);
	struct pd_summed_key *items = summed_block(cache, number);

	if (!items)
		return PD_NOT_CACHED;
	items[number % PD_SUMMED_IN_BLOCK] = (struct pd_summed_key){ *sums, bucket };
	return (uint32_t)number | PD_KEY_HAS_SUMS;
}

// Whether the tag has a place in a line, and whether it is new there.
static bool add_to(struct pd_key_cache *cache, struct pd_key_cache_line *line, const struct pd_tag *tag,
		   uint32_t bucket, const struct pd_key_sums *sums, bool *new_out)
{
	for (size_t i = 0; i < PD_KEYS_IN_LINE; i++) {
		if (take_place(&line->low[i], tag->low)) {
			line->high[i] = tag->high;
			if (sums)
				bucket = number_summed(cache, bucket, sums);
			__atomic_store_n(&line->bucket_plus_1[i], bucket + 1, __ATOMIC_RELEASE);
			*new_out = true;
			return true;
		}
		// another thread may be about to say the rest; if it is another tag with the same half, it stays unknown
		if (__atomic_load_n(&line->low[i], __ATOMIC_RELAXED) == tag->low)
			return true;
	}
	return false;
}

bool pd_key_cache_add(struct pd_key_cache *cache, const struct pd_tag *tag, uint32_t bucket,
		      const struct pd_key_sums *sums)
{
	bool new = false;

	if (!add_to(cache, pd_key_cache_first(cache, tag), tag, bucket, sums, &new))
		add_to(cache, pd_key_cache_second(cache, tag), tag, bucket, sums, &new);
	return new;
}

// ---- users ----

void pd_key_cache_init(struct pd_key_cache_shared *now)
{
	pd_lock_init(&now->lock);
}

void pd_key_cache_fini(struct pd_key_cache_shared *now)
{
	// one that nobody has entered yet
	destroy(now->table);
	pthread_mutex_destroy(&now->lock);
}

// With the lock held.
static void leave(struct pd_key_cache_shared *now, struct pd_key_cache *had)
{
	if (!had || --had->users)
		return;
	if (now->table == had)
		// others that have older ones may look meanwhile
		__atomic_store_n(&now->table, NULL, __ATOMIC_RELAXED);
	now->last_count = had->count;
	now->last_summed = had->summed_count;
	destroy(had);
}

struct pd_key_cache *pd_key_cache_enter(struct pd_key_cache_shared *now, struct pd_key_cache *had)
{
	struct pd_key_cache *cache;

	pthread_mutex_lock(&now->lock);
	if (!now->table)
		__atomic_store_n(&now->table, make(LINES_FIRST), __ATOMIC_RELAXED);
	cache = now->table;
	if (cache) {
		cache->users++;
		leave(now, had);
	}
	pthread_mutex_unlock(&now->lock);
	return cache;
}

void pd_key_cache_leave(struct pd_key_cache_shared *now, struct pd_key_cache *had)
{
	pthread_mutex_lock(&now->lock);
	leave(now, had);
	pthread_mutex_unlock(&now->lock);
}

// ---- growing ----

static void copy(const struct pd_key_cache *from, struct pd_key_cache *to)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct pd_key_cache_line *line = &from->lines[i];

		for (size_t k = 0; k < PD_KEYS_IN_LINE; k++) {
			uint32_t bucket = __atomic_load_n(&line->bucket_plus_1[k], __ATOMIC_ACQUIRE);
			struct pd_tag tag = { __atomic_load_n(&line->low[k], __ATOMIC_RELAXED), 0 };
			const struct pd_summed_key *summed;

			if (!bucket--)
				continue;
			tag.high = line->high[k];
			summed = bucket & PD_KEY_HAS_SUMS ? pd_key_summed(from, bucket) : NULL;
			to->used += pd_key_cache_add(to, &tag, summed ? summed->bucket : bucket,
						     summed ? &summed->sums : NULL);
		}
	}
}

// One thread at a time makes a table. What others add to the old one meanwhile is lost, and found again.
static bool begin_to_grow(struct pd_key_cache_shared *now, const struct pd_key_cache *cache)
{
	bool begins;

	pthread_mutex_lock(&now->lock);
	begins = !now->growing && now->table == cache;
	now->growing |= begins;
	pthread_mutex_unlock(&now->lock);
	return begins;
}

static void end_to_grow(struct pd_key_cache_shared *now, struct pd_key_cache *cache)
{
	pthread_mutex_lock(&now->lock);
	// its first user is who made it; without memory for one the old one stays
	__atomic_store_n(&now->table, cache ? cache : now->table, __ATOMIC_RELEASE);
	now->growing = false;
	pthread_mutex_unlock(&now->lock);
}

// Whether a larger table would find much more: one in four of those that this one did not have.
static bool is_worth_growing(const struct pd_key_cache *cache, const struct pd_repeats *repeats)
{
	return cache->count < LINES_FREE ||
	       (cache->count < PD_KEY_CACHE_LINES_MOST && repeats->repeated > repeats->asked / 4);
}

void pd_key_cache_note(struct pd_key_cache_shared *now, struct pd_key_cache *cache, size_t added,
		       struct pd_repeats *repeats)
{
	struct pd_key_cache *larger;

	__atomic_fetch_add(&cache->used, added, __ATOMIC_RELAXED);
	if (!is_full(cache) || !begin_to_grow(now, cache))
		return;
	larger = make(is_worth_growing(cache, repeats) ? cache->count * GROWTH : cache->count);
	repeats->asked = repeats->repeated = 0;
	if (larger && larger->count > cache->count)
		copy(cache, larger);
	end_to_grow(now, larger);
}
