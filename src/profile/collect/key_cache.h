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
	PD_KEY_SUMS = 6 // most of a key that is cached
};

#define PD_KEY_HAS_SUMS (UINT32_C(1) << 31) // beside the number of a bucket, which is smaller

// Where the periods of samples of a key are summed up, see frame/merge.h: one more than the place; 0: no more.
struct pd_key_sums {
	uint16_t plus_1[PD_KEY_SUMS];
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
	void *memory;             // of the lines
	struct pd_key_sums *sums; // by place; NULL: keys have none
	size_t count;             // of lines, a power of two
	size_t used;              // places; several threads add to it
	unsigned users;
};

// The table that a run has now; NULL while nobody uses one.
struct pd_key_cache_shared {
	pthread_mutex_t lock;
	struct pd_key_cache *table;
	bool growing;
	bool has_sums;     // set before anybody enters
	size_t last_count; // of lines, once nobody uses one any more
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

static inline struct pd_key_cache_line *pd_key_cache_first(const struct pd_key_cache *cache, const struct pd_tag *tag)
{
	return &cache->lines[pd_tag_hash(tag) & (cache->count - 1)];
}

static inline struct pd_key_cache_line *pd_key_cache_second(const struct pd_key_cache *cache, const struct pd_tag *tag)
{
	return &cache->lines[pd_tag_hash(tag) >> 32 & (cache->count - 1)];
}

// The bucket of a raw key, with PD_KEY_HAS_SUMS if it has some, or PD_NOT_CACHED if it is not in the line. Nobody could foresee
// which place it has, so there is no branch for each.
static inline uint32_t pd_key_cache_find(const struct pd_key_cache_line *line, const struct pd_tag *tag, size_t *at_out)
{
	size_t at = 0;
	uint32_t bucket;

	for (size_t i = 1; i < PD_KEYS_IN_LINE; i++)
		at += i * (__atomic_load_n(&line->low[i], __ATOMIC_RELAXED) == tag->low);
	if (at >= PD_KEYS_IN_LINE || __atomic_load_n(&line->low[at], __ATOMIC_RELAXED) != tag->low)
		return PD_NOT_CACHED;
	*at_out = at;
	bucket = __atomic_load_n(&line->bucket_plus_1[at], __ATOMIC_ACQUIRE);
	return bucket && line->high[at] == tag->high ? bucket - 1 : PD_NOT_CACHED;
}

// The same in both of its lines, without the mark; *sums_out are those of the key, or NULL.
static inline uint32_t pd_key_cache_find_sums(const struct pd_key_cache *cache, const struct pd_tag *tag,
					      const struct pd_key_sums **sums_out)
{
	const struct pd_key_cache_line *line = pd_key_cache_first(cache, tag);
	size_t at = 0;
	uint32_t bucket = pd_key_cache_find(line, tag, &at);

	*sums_out = NULL;
	if (PD_UNLIKELY(bucket == PD_NOT_CACHED)) {
		line = pd_key_cache_second(cache, tag);
		bucket = pd_key_cache_find(line, tag, &at);
	}
	if (PD_LIKELY(bucket == PD_NOT_CACHED || !(bucket & PD_KEY_HAS_SUMS)))
		return bucket;
	*sums_out = &cache->sums[(size_t)(line - cache->lines) * PD_KEYS_IN_LINE + at];
	return bucket & ~PD_KEY_HAS_SUMS;
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
