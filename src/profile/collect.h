/* SPDX-License-Identifier: MIT */
/*
 * Adding samples up. A sample's raw key is who it is of and its addresses as they were recorded. A table of raw keys
 * that were seen lately says at once which bucket it falls into; only when it does not know, the addresses are turned
 * into frames. So a stack that comes again costs one hash, and memory grows with distinct stacks of frames, not with
 * processes or samples. The table has keys by tags of 128 bits, see hash.h.
 *
 * A collector belongs to one thread. Those of a run share buckets, frames and owners, with a lock for what nobody has
 * seen lately; each counts for itself, and what they counted is added up at the end.
 */
#ifndef PD_PROFILE_COLLECT_H
#define PD_PROFILE_COLLECT_H

#include <pthread.h>

#include "profile/frames.h"
#include "profile/hash.h"
#include "profile/owners.h"
#include "profile/portions.h"
#include "profile/seen.h"

// What samples of a bucket have in common, in front of the callers.
struct pd_bucket_key {
	uint32_t owner;
	uint32_t event;
	uint32_t cpu;                   // UINT32_MAX: not asked for
	uint32_t ip;                    // frame
	uint64_t cgroup, weight, slice; // 0: not asked for
	uint32_t caller_count;
	uint32_t raw; // number of the raw data, 0: not asked for
	bool cut, damaged;
};

// Raw data that samples have in common.
struct pd_raws {
	struct pd_bytes *items; // [0] stands for none
	size_t count, capacity;
	struct pd_index index;
	struct pd_arena bytes;
};

struct pd_bucket {
	uint64_t samples, period, weights; // several threads add to them
	struct pd_moment first;            // when and where it was first seen; the order may be read without the lock
	uint32_t number;
	struct pd_bucket_key key;
	uint32_t callers[]; // frames
};

// What a collector counted of a bucket beside it.
struct pd_amount {
	uint64_t period;
	uint16_t samples;
	uint16_t strip; // that all of them are of
	bool met;       // the collector has had a sample of it
};

// What a collector counted of all buckets.
struct pd_share {
	struct pd_amount *amounts; // by bucket
	size_t amount_count, amount_capacity;
	struct pd_portions portions; // if slices are asked for
};

// Counter value of an id at its last sample.
struct pd_last_value {
	uint64_t id;
	uint64_t value;
	bool used;
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
	pthread_mutex_t names_lock; // of frames, owners, raws
	bool locks;                 // there are several collectors
	struct pd_frames frames;
	struct pd_owners owners;
	struct pd_raws raws;
	struct pd_seen_now seen;
	struct pd_shard shards[PD_SHARDS];
	// They stay where they are: who knows the number of a bucket needs no lock. Each block is twice as large as the last.
	struct pd_bucket **blocks[PD_BUCKET_BLOCKS];
	pthread_mutex_t blocks_lock; // to add one
	size_t bucket_count;         // several threads add to it
};

struct pd_pending;
struct pd_miss;

enum {
	PD_PENDING_MOST = 128
}; // samples that wait for each other

struct pd_collector {
	const struct pd_profile_options *options;
	const struct pd_world *world;
	struct pd_file *file;
	uint64_t seed;
	struct pd_common *common;
	bool is_twin;                // common belongs to another one
	struct pd_known_addr *known; // by a hash; a newer one takes the place
	void *known_memory;
	struct pd_thread_view *views; // by a hash of the tid; a newer one takes the place
	struct pd_pending *pending;
	struct pd_miss *misses; // of those that wait
	size_t miss_count;
	uint32_t *found; // frames of the misses
	size_t found_count, found_capacity;
	struct pd_wanted *wanted; // those of them that are not known
	size_t wanted_count, wanted_capacity;
	struct pd_secrets *secrets;
	struct pd_seen *seen;
	size_t seen_added;   // not noted yet
	uint64_t last_order; // of the sample before
	bool shuffled;       // samples do not come in the order of the file
	struct pd_last_value *last_values;
	size_t value_slots, value_count;
	struct pd_profile_total *totals; // by event
	size_t event_count;
	uint64_t unknown_event, damaged;
	uint64_t sample_count; // wanted or not
	// if slices are asked for
	uint64_t slice_ns, first_slice;
	uint64_t strip_ns; // where the strip of the last sample begins
	uint16_t strip;
	struct pd_share share;
	struct pd_share *joined; // of twins
	size_t joined_count, joined_capacity;
	bool failed; // there was no memory for portions
};

// world, options, file and seed must have been set, and the events of the file be known; common, too, for a twin. If slices
// are asked for, slice_ns and first_slice too.
enum pd_status pd_collector_init(struct pd_collector *collector, struct pd_error *error);
void pd_collector_fini(struct pd_collector *collector);
enum pd_status pd_collector_take(struct pd_collector *collector, const struct pd_record *record,
				 struct pd_error *error);
// Takes the samples that follow the current record of a stream and need no closer look; the stream goes on behind them.
enum pd_status pd_collector_take_more(struct pd_collector *collector, struct pd_stream *stream, struct pd_error *error);
// To be called behind the last record, on any thread.
void pd_collector_finish(struct pd_collector *collector);
// Adds what a twin has beside the buckets, or takes it over. False if there is no memory.
bool pd_collector_join(struct pd_collector *collector, struct pd_collector *twin);

// The shares of a collector and its twins: joined_count + 1 of them.
static inline struct pd_share *pd_collector_share(struct pd_collector *collector, size_t index)
{
	return index ? &collector->joined[index - 1] : &collector->share;
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

static inline void pd_bucket_add(struct pd_bucket *bucket, uint64_t samples, uint64_t period, uint64_t weights)
{
	__atomic_fetch_add(&bucket->samples, samples, __ATOMIC_RELAXED);
	__atomic_fetch_add(&bucket->period, period, __ATOMIC_RELAXED);
	if (PD_UNLIKELY(weights))
		__atomic_fetch_add(&bucket->weights, weights, __ATOMIC_RELAXED);
}

// Whether all that a sample has to say of its bucket but its amounts was said by earlier ones.
static inline bool pd_bucket_is_later(const struct pd_bucket *bucket, struct pd_moment when)
{
	return when.order >= __atomic_load_n(&bucket->first.order, __ATOMIC_RELAXED);
}

#endif
