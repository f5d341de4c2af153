/* SPDX-License-Identifier: MIT */
#include "profile/collect/buckets.h"

#include <string.h>

#include "base/memory.h"
#include "base/threads.h"
#include "profile/frame/hash.h"

uint64_t pd_bucket_hash(uint64_t seed, const struct pd_bucket_key *key, const uint32_t *callers)
{
	uint64_t words[] = {
		(uint64_t)key->owner << 32 | key->ip,
		(uint64_t)key->details << 32 | key->caller_count,
		(uint64_t)key->unfinished << 2 | (uint64_t)key->cut << 1 | key->damaged,
	};

	return pd_hash_halves(pd_hash_words(seed, words, sizeof(words) / sizeof(words[0])), callers, key->caller_count);
}

static bool same_key(const struct pd_bucket_key *a, const struct pd_bucket_key *b)
{
	return a->owner == b->owner && a->details == b->details && a->ip == b->ip &&
	       a->caller_count == b->caller_count && a->cut == b->cut && a->damaged == b->damaged &&
	       a->unfinished == b->unfinished;
}

// Where a new bucket is to be noted. NULL if there is no memory.
static struct pd_bucket **make_slot(struct pd_common *common, uint32_t number)
{
	unsigned block;
	struct pd_bucket **slot = pd_bucket_slot(common->blocks, number, &block), **slots;

	if (slot)
		return slot;
	pd_common_lock(common, &common->blocks_lock);
	if (!common->blocks[block]) {
		slots = pd_realloc(NULL, ((size_t)64 << block) * sizeof(*slots));
		__atomic_store_n(&common->blocks[block], slots, __ATOMIC_RELEASE);
	}
	pd_common_unlock(common, &common->blocks_lock);
	return pd_bucket_slot(common->blocks, number, &block);
}

// A number that was given to a bucket for which there is no memory is never asked for.
static bool next_number(struct pd_common *common, uint32_t *number_out)
{
	size_t number = __atomic_fetch_add(&common->bucket_count, 1, __ATOMIC_RELAXED);

	*number_out = (uint32_t)number;
	return number < PD_BUCKETS_MOST;
}

static struct pd_bucket *add_bucket(struct pd_common *common, const struct pd_bucket_key *key, const uint32_t *callers,
				    uint64_t hash, uint64_t order)
{
	struct pd_shard *shard = pd_shard_of(common, hash);
	struct pd_bucket *bucket, **slot;
	uint32_t number;

	if (!next_number(common, &number) || !(slot = make_slot(common, number)))
		return NULL;
	bucket = pd_arena_alloc(&shard->arena,
				offsetof(struct pd_bucket, callers) + key->caller_count * sizeof(*callers));
	if (!bucket || !pd_index_add(&shard->index, hash, number))
		return NULL;
	bucket->number = number;
	bucket->order = order;
	bucket->key = *key;
	if (key->caller_count)
		memcpy(bucket->callers, callers, key->caller_count * sizeof(*callers));
	*slot = bucket;
	return bucket;
}

struct pd_bucket *pd_bucket_find(struct pd_common *common, const struct pd_bucket_key *key, const uint32_t *callers,
				 uint64_t hash, uint64_t order)
{
	const struct pd_index *index = &pd_shard_of(common, hash)->index;
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(index, hash, &at)) != PD_INDEX_END;) {
		struct pd_bucket *bucket = pd_bucket_at(common, i);

		if (same_key(&bucket->key, key) &&
		    (!key->caller_count || memcmp(bucket->callers, callers, key->caller_count * sizeof(*callers)) == 0))
			return bucket;
	}
	return add_bucket(common, key, callers, hash, order);
}

void pd_bucket_note_order(struct pd_bucket *bucket, uint64_t order)
{
	if (PD_UNLIKELY(!pd_bucket_is_later(bucket, order)))
		__atomic_store_n(&bucket->order, order, __ATOMIC_RELAXED);
}

// ---- details ----

static void details_fini(struct pd_details_table *table)
{
	pd_free(table->items);
	pd_index_fini(&table->index);
}

bool pd_same_details(const struct pd_details *a, const struct pd_details *b)
{
	return a->event == b->event && a->cpu == b->cpu && a->raw == b->raw && a->cgroup == b->cgroup &&
	       a->weight == b->weight && a->slice == b->slice && a->size == b->size && a->parallelism == b->parallelism;
}

static uint64_t hash_details(uint64_t seed, const struct pd_details *details)
{
	const uint64_t words[] = {
		(uint64_t)details->cpu << 32 | details->event,
		(uint64_t)details->parallelism << 32 | details->raw,
		details->cgroup,
		details->weight,
		details->slice,
		details->size,
	};

	return pd_hash_words(seed, words, sizeof(words) / sizeof(words[0]));
}

static uint32_t details_once(struct pd_details_table *table, const struct pd_details *details, uint64_t hash)
{
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&table->index, hash, &at)) != PD_INDEX_END;)
		if (pd_same_details(&table->items[i], details))
			return i;
	if (table->count >= PD_NO_DETAILS || !PD_GROW(table->items, table->capacity, table->count + 1) ||
	    !pd_index_add(&table->index, hash, (uint32_t)table->count))
		return PD_NO_DETAILS;
	table->items[table->count] = *details;
	return (uint32_t)table->count++;
}

uint32_t pd_details_number(struct pd_common *common, uint64_t seed, const struct pd_details *details)
{
	uint64_t hash = hash_details(seed, details);
	uint32_t number;

	pd_common_lock(common, &common->names_lock);
	number = details_once(&common->details, details, hash);
	pd_common_unlock(common, &common->names_lock);
	return number;
}

// ---- raw data ----

static void raws_fini(struct pd_raws *raws)
{
	pd_free(raws->items);
	pd_index_fini(&raws->index);
	pd_arena_fini(&raws->bytes);
}

static uint32_t raw_once(struct pd_raws *raws, struct pd_bytes raw, uint64_t hash)
{
	size_t at = (uint32_t)hash;
	const void *copy;

	for (uint32_t i; (i = pd_index_next(&raws->index, hash, &at)) != PD_INDEX_END;)
		if (raws->items[i].size == raw.size &&
		    (!raw.size || memcmp(raws->items[i].data, raw.data, raw.size) == 0))
			return i;
	if (!raws->count)
		raws->count = 1;
	copy = pd_arena_text(&raws->bytes, raw.size ? raw.data : (const uint8_t *)"", raw.size);
	if (!copy || raws->count >= UINT32_MAX || !PD_GROW(raws->items, raws->capacity, raws->count + 1) ||
	    !pd_index_add(&raws->index, hash, (uint32_t)raws->count))
		return 0;
	raws->items[raws->count] = (struct pd_bytes){ copy, raw.size };
	return (uint32_t)raws->count++;
}

uint32_t pd_raw_number(struct pd_common *common, uint64_t seed, struct pd_bytes raw)
{
	uint64_t hash = pd_hash(seed, raw.data, raw.size);
	uint32_t number;

	pd_common_lock(common, &common->names_lock);
	number = raw_once(&common->raws, raw, hash);
	pd_common_unlock(common, &common->names_lock);
	return number;
}

// ---- beginning and end ----

// Where what has no name is one frame in any case, there is nothing to merge.
static bool begin_merging(struct pd_frames *frames, const struct pd_profile_options *options, bool *heavy)
{
	bool wanted = options->merge_below > 0 && (options->by & PD_BY_CHAIN) && !frames->unnamed_as_one;

	frames->merge.frame = PD_NOT_MERGED;
	frames->merge.by_address = wanted && options->keep_merged;
	return !wanted || pd_frames_merge(frames, heavy);
}

struct pd_common *pd_common_new(const struct pd_state *state, uint64_t seed, const struct pd_profile_options *options,
				bool *heavy)
{
	struct pd_common *common = pd_alloc(sizeof(*common));

	if (!common) {
		pd_free(heavy);
		return NULL;
	}
	pd_lock_init(&common->names_lock);
	pd_lock_init(&common->blocks_lock);
	pd_key_cache_init(&common->cache);
	for (size_t i = 0; i < PD_SHARDS; i++)
		pd_lock_init(&common->shards[i].lock);
	common->frames.state = common->owners.state = state;
	common->frames.seed = common->owners.seed = seed;
	common->owners.by = options->by;
	if (!pd_functions_init(&common->functions, options, state)) {
		pd_free(heavy);
		pd_common_free(common);
		return NULL;
	}
	if (pd_functions_wanted(options))
		common->frames.functions = &common->functions;
	common->frames.places_as_one = common->frames.functions && options->places_as_one &&
				       !(options->by & PD_BY_CHAIN);
	common->frames.unnamed_as_one = common->frames.places_as_one ||
					(common->frames.functions && options->unnamed_as_one);
	if (begin_merging(&common->frames, options, heavy))
		return common;
	pd_common_free(common);
	return NULL;
}

void pd_common_free(struct pd_common *common)
{
	if (!common)
		return;
	raws_fini(&common->raws);
	details_fini(&common->details);
	pd_key_cache_fini(&common->cache);
	pd_frames_fini(&common->frames);
	pd_functions_fini(&common->functions);
	pd_owners_fini(&common->owners);
	for (size_t i = 0; i < PD_SHARDS; i++) {
		pd_arena_fini(&common->shards[i].arena);
		pd_index_fini(&common->shards[i].index);
		pthread_mutex_destroy(&common->shards[i].lock);
	}
	for (size_t i = 0; i < PD_BUCKET_BLOCKS; i++)
		pd_free(common->blocks[i]);
	pthread_mutex_destroy(&common->names_lock);
	pthread_mutex_destroy(&common->blocks_lock);
	pd_free(common);
}
