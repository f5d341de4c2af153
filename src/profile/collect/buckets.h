/* SPDX-License-Identifier: MIT */
/*
 * Buckets: samples with equal keys are added up in one. The table of them is in shards, each with a lock, so that several
 * threads seldom wait; so are frames, owners and raw data, which all collectors of a run have in common.
 */
#ifndef PD_PROFILE_COLLECT_BUCKETS_H
#define PD_PROFILE_COLLECT_BUCKETS_H

#include <pthread.h>

#include "profile/frame/frames.h"
#include "profile/collect/owners.h"
#include "profile/collect/key_cache.h"

// What few samples differ in: most files have one of these for each event.
struct pd_details {
	uint64_t cgroup, weight, slice, size; // 0: not asked for
	uint32_t event;
	uint32_t cpu;         // UINT32_MAX: not asked for
	uint32_t raw;         // number of the raw data, 0: not asked for
	uint32_t parallelism; // 0: not asked for
};

struct pd_details_table {
	struct pd_details *items;
	size_t count, capacity;
	struct pd_index index;
};

// What samples of a bucket have in common, in front of the callers.
struct pd_bucket_key {
	uint32_t owner;
	uint32_t details; // number
	uint32_t ip;      // frame
	uint32_t caller_count : 29;
	uint32_t cut : 1;
	uint32_t damaged : 1;
	uint32_t unfinished : 1; // unwound, but not to the outermost function
};

// Raw data that samples have in common.
struct pd_raws {
	struct pd_bytes *items; // [0] stands for none
	size_t count, capacity;
	struct pd_index index;
	struct pd_arena bytes;
};

struct pd_bucket {
	uint64_t samples, period; // several threads add to them
	uint64_t order;           // of its first sample; may be read without the lock
	uint32_t number;
	struct pd_bucket_key key;
	uint32_t callers[]; // frames
};

enum {
	PD_BUCKET_BLOCKS = 26,
	PD_BUCKETS_MOST = INT32_MAX, // what so many blocks have room for
};

enum {
	PD_SHARDS = 8
};

// Buckets whose hash begins alike: several threads seldom want the same shard.
struct pd_shard {
	pthread_mutex_t lock;
	struct pd_index index;
	struct pd_arena arena;
};

// What all collectors of a run have.
struct pd_common {
	pthread_mutex_t names_lock; // of frames, owners, raws, details
	bool locks;                 // there are several collectors
	struct pd_functions functions;
	struct pd_frames frames;
	struct pd_owners owners;
	struct pd_raws raws;
	struct pd_details_table details;
	struct pd_key_cache_shared cache;
	struct pd_shard shards[PD_SHARDS];
	// They stay where they are: who knows the number of a bucket needs no lock. Each block is twice as large as the last.
	struct pd_bucket **blocks[PD_BUCKET_BLOCKS];
	pthread_mutex_t blocks_lock; // to add one
	size_t bucket_count;         // several threads add to it
};

// One collector alone needs no locks.
static inline void pd_common_lock(const struct pd_common *common, pthread_mutex_t *mutex)
{
	if (common->locks)
		pthread_mutex_lock(mutex);
}

static inline void pd_common_unlock(const struct pd_common *common, pthread_mutex_t *mutex)
{
	if (common->locks)
		pthread_mutex_unlock(mutex);
}

static inline struct pd_shard *pd_shard_of(struct pd_common *common, uint64_t hash)
{
	return &common->shards[(hash >> 32) % PD_SHARDS];
}

static inline struct pd_bucket **pd_bucket_slot(struct pd_bucket **const *blocks, uint32_t number, unsigned *block_out)
{
	enum {
		FIRST_BITS = 6
	};
	uint64_t at = (uint64_t)number + (1u << FIRST_BITS);
	unsigned block = 63 - (unsigned)__builtin_clzll(at) - FIRST_BITS;
	struct pd_bucket **slots = __atomic_load_n(&blocks[block], __ATOMIC_ACQUIRE);

	*block_out = block;
	return slots ? &slots[at - ((uint64_t)1 << (block + FIRST_BITS))] : NULL;
}

static inline struct pd_bucket *pd_bucket_at(const struct pd_common *common, uint32_t number)
{
	unsigned block;

	return *pd_bucket_slot(common->blocks, number, &block);
}

static inline void pd_bucket_add(struct pd_bucket *bucket, uint64_t samples, uint64_t period)
{
	__atomic_fetch_add(&bucket->samples, samples, __ATOMIC_RELAXED);
	__atomic_fetch_add(&bucket->period, period, __ATOMIC_RELAXED);
}

// Whether all that a sample has to say of its bucket but its amounts was said by earlier ones.
static inline bool pd_bucket_is_later(const struct pd_bucket *bucket, uint64_t order)
{
	return order >= __atomic_load_n(&bucket->order, __ATOMIC_RELAXED);
}

// Once all are known.
static inline const struct pd_details *pd_bucket_details(const struct pd_common *common, const struct pd_bucket *bucket)
{
	return &common->details.items[bucket->key.details];
}

// NULL if there is no memory.
// heavy: NULL, or of a run before, see pd_collector_merged_too_much; it is taken over.
struct pd_common *pd_common_new(const struct pd_state *state, uint64_t seed, const struct pd_profile_options *options,
				bool *heavy);
void pd_common_free(struct pd_common *common);

uint64_t pd_bucket_hash(uint64_t seed, const struct pd_bucket_key *key, const uint32_t *callers);
// The bucket of a key, which may be new; the shard of the hash is locked. NULL if there is no memory.
struct pd_bucket *pd_bucket_find(struct pd_common *common, const struct pd_bucket_key *key, const uint32_t *callers,
				 uint64_t hash, uint64_t order);
// Keeps where a bucket was first.
void pd_bucket_note_order(struct pd_bucket *bucket, uint64_t order);
#define PD_NO_DETAILS UINT32_MAX
bool pd_same_details(const struct pd_details *a, const struct pd_details *b);
// Their number, which may be new. PD_NO_DETAILS if there is no memory.
uint32_t pd_details_number(struct pd_common *common, uint64_t seed, const struct pd_details *details);
// The number of raw data, which may be new. 0 if there is no memory.
uint32_t pd_raw_number(struct pd_common *common, uint64_t seed, struct pd_bytes raw);

#endif
