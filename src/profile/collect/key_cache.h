/* SPDX-License-Identifier: MIT */
/*
 * A cache of raw keys, by their tags, and the bucket that each falls into. All collectors of a run have one
 * table and use it without locks, so what one has found the others need not find again. It only remembers: what is not in
 * it, or was forgotten, is looked for among the buckets.
 *
 * A raw key is in one of two lines, most in the first one, and stays there. A table that has become full is left for a
 * larger one, or for an empty one, at the limit and where a larger one would find little more: in recordings of real work half
 * of the stacks never come again. It goes when the last collector has left it.
 */
#ifndef PD_PROFILE_COLLECT_KEY_CACHE_H
#define PD_PROFILE_COLLECT_KEY_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "profile/frame/hash.h"

enum {
	PD_KEYS_IN_LINE = 3,
	PD_KEY_SUMS = 6, // most of a key that is cached
	PD_KEY_CACHE_LINES_MOST = 1 << 20,
	PD_SUMMED_IN_BLOCK = 1 << 12,
	PD_SUMMED_BLOCKS = PD_KEY_CACHE_LINES_MOST * PD_KEYS_IN_LINE / PD_SUMMED_IN_BLOCK
};

// Beside the number of a summed key. Those of buckets are smaller.
#define PD_KEY_HAS_SUMS (UINT32_C(1) << 31)

// Where the periods of samples of a key are summed up, see frame/merge.h: one more than the place; 0: no more.
struct pd_key_sums {
	uint16_t plus_1[PD_KEY_SUMS];
	uint16_t event; // whose sums, modulo PD_MERGE_EVENTS
};

// A key that has sums. Its samples are counted by its number in the table, not by its bucket, so that what was counted goes
// into the sums once, when a collector leaves the table.
struct pd_summed_key {
	struct pd_key_sums sums;
	uint32_t bucket;
};

// A line of the processor's cache. A tag of which the low half is 0 is none; who puts that half owns the place, and the rest
// is there as soon as there is a bucket.
struct pd_key_cache_line {
	uint64_t low[PD_KEYS_IN_LINE];
	uint64_t high[PD_KEYS_IN_LINE];
	uint32_t bucket_plus_1[PD_KEYS_IN_LINE];
	uint32_t spare;
};

struct pd_key_cache {
	struct pd_key_cache_line *lines;
	void *memory; // of the lines
	size_t count; // of lines, a power of two
	size_t used;  // places; several threads add to it
	unsigned users;
	struct pd_summed_key *summed[PD_SUMMED_BLOCKS];
	size_t summed_count; // several threads add to it; not beside what all of them read
};

// The table that a run has now; NULL while nobody uses one.
struct pd_key_cache_shared {
	pthread_mutex_t lock;
	struct pd_key_cache *table;
	bool growing;
	size_t last_count, last_summed; // lines and summed keys, once nobody uses one any more
};

// How many of the keys that a table did not have came before all the same: asked of a few, which are remembered for longer than
// the table remembers. A collector's own.
struct pd_repeats {
	uint64_t *tags; // by a hash; a newer one takes the place
	size_t asked, repeated;
};

enum {
	PD_REPEATS_OF = 128, // one of so many keys is asked of
	PD_REPEATS = 1 << 13
};

static inline void pd_repeats_note(struct pd_repeats *repeats, const struct pd_tag *tag)
{
	uint64_t hash = pd_tag_hash(tag);
	uint64_t *known = &repeats->tags[hash / PD_REPEATS_OF % PD_REPEATS];

	if (hash % PD_REPEATS_OF)
		return;
	repeats->asked++;
	repeats->repeated += *known == tag->high;
	*known = tag->high;
}

// The same for keys that were chosen otherwise.
static inline void pd_repeats_ask(struct pd_repeats *repeats, const struct pd_tag *tag)
{
	uint64_t *known = &repeats->tags[pd_tag_hash(tag) % PD_REPEATS];

	repeats->asked++;
	repeats->repeated += *known == tag->high;
	*known = tag->high;
}

#define PD_NOT_CACHED UINT32_MAX

static inline const struct pd_summed_key *pd_key_summed(const struct pd_key_cache *cache, uint32_t number)
{
	number &= ~PD_KEY_HAS_SUMS;
	return &__atomic_load_n(&cache->summed[number / PD_SUMMED_IN_BLOCK],
				__ATOMIC_RELAXED)[number % PD_SUMMED_IN_BLOCK];
}

static inline struct pd_key_cache_line *pd_key_cache_first(const struct pd_key_cache *cache, const struct pd_tag *tag)
{
	return &cache->lines[pd_tag_hash(tag) & (cache->count - 1)];
}

static inline struct pd_key_cache_line *pd_key_cache_second(const struct pd_key_cache *cache, const struct pd_tag *tag)
{
	return &cache->lines[pd_tag_hash(tag) >> 32 & (cache->count - 1)];
}

// The bucket of a key, or its number with PD_KEY_HAS_SUMS, or PD_NOT_CACHED if it is not in the line. Nobody could foresee
// which place it has, so there is no branch for each.
static inline uint32_t pd_key_cache_find(const struct pd_key_cache_line *line, const struct pd_tag *tag)
{
	size_t at = 0;
	uint32_t bucket;

	for (size_t i = 1; i < PD_KEYS_IN_LINE; i++)
		at += i * (__atomic_load_n(&line->low[i], __ATOMIC_RELAXED) == tag->low);
	if (at >= PD_KEYS_IN_LINE || __atomic_load_n(&line->low[at], __ATOMIC_RELAXED) != tag->low)
		return PD_NOT_CACHED;
	bucket = __atomic_load_n(&line->bucket_plus_1[at], __ATOMIC_ACQUIRE);
	return bucket && line->high[at] == tag->high ? bucket - 1 : PD_NOT_CACHED;
}

// The same in both of its lines, of which the first one is known.
static inline uint32_t pd_key_cache_find_in_both(const struct pd_key_cache *cache,
						 const struct pd_key_cache_line *first, const struct pd_tag *tag)
{
	uint32_t bucket = pd_key_cache_find(first, tag);

	return PD_LIKELY(bucket != PD_NOT_CACHED) ? bucket : pd_key_cache_find(pd_key_cache_second(cache, tag), tag);
}

// Adds a raw key, of which the low half of the tag is not 0; if there is no room in its lines, it is not remembered. Returns
// whether it was added. It may be there already. sums: NULL if it has none.
bool pd_key_cache_add(struct pd_key_cache *cache, const struct pd_tag *tag, uint32_t bucket,
		      const struct pd_key_sums *sums);

void pd_key_cache_init(struct pd_key_cache_shared *now);
void pd_key_cache_fini(struct pd_key_cache_shared *now);
// Gives the present table to one more user, who leaves the one that he had, if any. NULL if there is no memory.
struct pd_key_cache *pd_key_cache_enter(struct pd_key_cache_shared *now, struct pd_key_cache *had);
void pd_key_cache_leave(struct pd_key_cache_shared *now, struct pd_key_cache *had);
// Notes that a user added so many to his table. If it has become full, there is another one from then on; repeats, which begin
// anew then, say whether it is larger.
void pd_key_cache_note(struct pd_key_cache_shared *now, struct pd_key_cache *cache, size_t added,
		       struct pd_repeats *repeats);

static inline bool pd_key_cache_is_present(const struct pd_key_cache_shared *now, const struct pd_key_cache *cache)
{
	return __atomic_load_n(&now->table, __ATOMIC_RELAXED) == cache;
}

#endif
