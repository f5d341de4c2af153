/* SPDX-License-Identifier: MIT */
/*
 * Samples whose raw key is not cached: their addresses become frames, and the frames a bucket. Done for many at once,
 * so that the memory of their tables is on its way meanwhile.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/threads.h"
#include "format/chain.h"
#include "profile/frame/hash.h"
#include "profile/collect/pending.h"

// ---- chains ----

static bool is_cut(const struct pd_attr *attr, struct pd_u64s chain)
{
	enum {
		USUAL_MOST = 127
	};
	size_t most = attr->sample_max_stack ? attr->sample_max_stack : USUAL_MOST, addresses = 0;

	if (chain.count < most)
		return false;
	for (size_t i = 0; i < chain.count; i++)
		addresses += chain.items[i] < PD_CONTEXT_MAX;
	return addresses >= most;
}

// The period of each sample that has something that is merged is summed up, once for each place.
static bool count_merged(struct pd_collector *c, struct pd_miss *miss, const struct pd_known_place *place)
{
	const struct pd_pending *pending = miss->pending;
	size_t at = pd_merge_sum(&c->common->frames.merge, place->what, place->where);
	struct pd_merge_sum *sums = pd_sums_of(c, pending->event), *sum;

	if (PD_UNLIKELY(!sums))
		return false;
	sum = &sums[at];
	c->has_merged = true;
	if (sum->last == pending->when.order + 1)
		return true;
	sum->last = pending->when.order + 1;
	sum->period += pending->period;
	if (miss->sum_count < PD_KEY_SUMS)
		miss->sums.plus_1[miss->sum_count] = (uint16_t)(at + 1);
	miss->sum_count++;
	return true;
}

// A frame as far as it is known, or PD_NO_FRAME.
static inline uint32_t find_frame(const struct pd_frames *frames, const struct pd_known_place *known,
				  const struct pd_known_place *place, uint64_t order)
{
	const uint8_t unmapped = PD_CPUMODE_USER | PD_IS_CALLER | PD_IS_KNOWN;
	uint32_t frame;

	if (PD_LIKELY((uint8_t)place->order_kind != unmapped))
		return pd_known_frame(known, place);
	frame = pd_merge_unmapped(&frames->merge, place->where, order);
	return frame != PD_NOT_MERGED ? frame : frames->merge.heavy ? pd_known_frame(known, place) : PD_NO_FRAME;
}

// Asks the table of frames, which takes a while. False if there is no memory.
static bool want_frame(struct pd_collector *c, const struct pd_ask *ask)
{
	if (!PD_GROW(c->wanted, c->wanted_capacity, c->wanted_count + 1))
		return false;
	c->wanted[c->wanted_count++] = (struct pd_wanted){
		.address = ask->address,
		.range = *pd_range_of(c->ranges, c->state, &ask->address),
		.place = ask->place,
		.known = ask->known,
		.at = ask->at,
		.miss = ask->miss,
	};
	return true;
}

// Finds the frames that were asked for, as far as they are known. False if there is no memory.
static bool answer(struct pd_collector *c)
{
	const struct pd_frames *frames = &c->common->frames;

	for (size_t i = 0; i < c->ask_count; i++) {
		const struct pd_ask *ask = &c->asks[i];
		uint32_t frame = find_frame(frames, ask->known, &ask->place, ask->address.when.order);

		c->found[ask->at] = frame;
		if (frame == frames->merge.frame && !count_merged(c, &c->misses[ask->miss], &ask->place))
			return false;
		if (PD_UNLIKELY(frame == PD_NO_FRAME) && !want_frame(c, ask))
			return false;
	}
	c->ask_count = 0;
	return true;
}

// Asks for the frame of an address, for which there is room. What is known of it is on its way from memory while others are asked
// for. False if there is no memory for more.
static inline bool add_frame(struct pd_collector *c, struct pd_code_address address)
{
	const struct pd_frames *frames = &c->common->frames;
	struct pd_ask *ask = &c->asks[c->ask_count++];

	pd_code_address_normalize(&address);
	ask->address = address;
	ask->place = pd_place_of(frames, &address, pd_range_of(c->ranges, c->state, &address));
	ask->known = pd_known_slot(frames, c->known, c->known_count, &ask->place);
	ask->at = c->found_count++;
	ask->miss = (uint32_t)c->miss_count - 1;
	__builtin_prefetch(ask->known);
	return c->ask_count < PD_ASKS_MOST || answer(c);
}

static void drop_frames(struct pd_collector *c, size_t count)
{
	c->found_count -= count;
	while (c->wanted_count && c->wanted[c->wanted_count - 1].at >= c->found_count)
		c->wanted_count--;
}

// Adds the frames of a chain. False if there is no memory.
static bool add_chain(struct pd_collector *c, struct pd_u64s chain, unsigned most, struct pd_code_address address,
		      struct pd_bucket_key *key)
{
	const struct pd_code_address leaf = address;
	uint32_t depth = 0;

	address.cpumode = PD_CPUMODE_USER;
	for (size_t i = 0; i < chain.count; i++) {
		if (PD_LIKELY(chain.items[i] < PD_CONTEXT_MAX)) {
			if (most && key->caller_count >= most)
				break;
			address.addr = chain.items[i];
			depth++;
			// most chains begin with where the sample was taken, which is no caller
			address.depth =
				depth > 1 || address.addr != leaf.addr || address.cpumode != leaf.cpumode ? depth : 0;
			if (!add_frame(c, address))
				return false;
			key->caller_count++;
		} else if (chain.items[i] == (uint64_t)PD_CONTEXT_USER_DEFERRED) {
			break;
		} else if (!pd_chain_mode(chain.items[i], &address.cpumode)) {
			key->damaged = true;
			if (!answer(c))
				return false;
			drop_frames(c, key->caller_count);
			key->caller_count = 0;
			break;
		}
	}
	return true;
}

// ---- frames and buckets ----

bool pd_miss_begin(struct pd_collector *c, const struct pd_pending *pending)
{
	struct pd_u64s chain = { pending->chain, pending->chain_count };
	struct pd_code_address address = {
		pending->maps, pending->ip, pending->pid, pending->cpumode, 0, pending->when
	};
	struct pd_miss *miss = &c->misses[c->miss_count++];

	*miss = (struct pd_miss){
		.pending = pending,
		.key = {
			.owner = pending->owner,
			.event = pending->event,
			.cpu = pending->cpu,
			.cgroup = pending->cgroup,
			.slice = pending->slice,
			.raw = pending->raw,
			.weight = c->options->by & PD_BY_WEIGHT ? pending->weight : 0,
		},
		.found = c->found_count,
	};
	if (!PD_GROW(c->found, c->found_capacity, c->found_count + 1 + chain.count) || !add_frame(c, address))
		return false;
	if (!(c->options->by & PD_BY_CHAIN))
		return true;
	// what was unwound is as deep as it may be
	if (pending->unwound) {
		miss->key.unfinished = pending->unwound == PD_UNWOUND_PARTLY;
		return add_chain(c, chain, 0, address, &miss->key);
	}
	miss->key.unfinished = pd_chain_is_truncated(chain);
	miss->key.cut = is_cut(c->totals[pending->event].event->attr, chain);
	return add_chain(c, chain, c->options->max_stack, address, &miss->key);
}

static const uint32_t *callers_of(const struct pd_collector *c, const struct pd_miss *miss)
{
	return c->found + miss->found + 1;
}

// The key is known once all frames are.
static void hash_miss(struct pd_collector *c, struct pd_miss *miss)
{
	miss->key.ip = c->found[miss->found];
	miss->hash = pd_bucket_hash(c->seed, &miss->key, callers_of(c, miss));
}

static bool find_frames(struct pd_collector *c)
{
	struct pd_common *common = c->common;
	bool found;

	if (!c->wanted_count)
		return true;
	pd_frames_identify(&common->frames, c->wanted, c->wanted_count);
	pd_common_lock(common, &common->names_lock);
	found = pd_frames_find(&common->frames, c->wanted, c->wanted_count);
	pd_common_unlock(common, &common->names_lock);
	for (size_t i = 0; found && i < c->wanted_count; i++) {
		const struct pd_wanted *wanted = &c->wanted[i];

		c->found[wanted->at] = wanted->frame;
		if (wanted->frame == common->frames.merge.frame)
			found = count_merged(c, &c->misses[wanted->miss], &wanted->place);
	}
	return found;
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

		miss->bucket = pd_bucket_find(common, &miss->key, callers_of(c, miss), miss->hash, miss->pending->when);
		if (!miss->bucket)
			return false;
		// pieces of the file come in any order
		pd_bucket_note_moment(miss->bucket, miss->pending->when);
	}
	return true;
}

// Puts misses together that are of one shard; those of shard i are from starts[i] to starts[i + 1].
static void sort_misses(const struct pd_collector *c, struct pd_miss **sorted, size_t *starts)
{
	size_t at[PD_SHARDS] = { 0 }, begin = 0;

	for (size_t i = 0; i < c->miss_count; i++)
		at[pd_shard_of(c->common, c->misses[i].hash) - c->common->shards]++;
	for (size_t i = 0; i < PD_SHARDS; i++) {
		starts[i] = begin;
		begin += at[i];
		at[i] = starts[i];
	}
	starts[PD_SHARDS] = begin;
	for (size_t i = 0; i < c->miss_count; i++)
		sorted[at[pd_shard_of(c->common, c->misses[i].hash) - c->common->shards]++] = &c->misses[i];
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

static bool find_buckets(struct pd_collector *c)
{
	struct pd_miss *misses[PD_PENDING_MOST];
	size_t starts[PD_SHARDS + 1];

	if (c->common->locks) {
		sort_misses(c, misses, starts);
		return find_in_shards(c, misses, starts);
	}
	// in the order of the file
	for (size_t i = 0; i < c->miss_count; i++)
		misses[i] = &c->misses[i];
	return find_some(c, misses, c->miss_count);
}

// False if there is no memory.
static bool end_miss(struct pd_collector *c, const struct pd_miss *miss)
{
	const struct pd_pending *pending = miss->pending;
	uint32_t bucket = miss->bucket->number;

	if (PD_UNLIKELY(bucket >= c->share.amount_count) && !pd_amounts_make(c, bucket))
		return false;
	if (PD_LIKELY(pd_pending_has_tag(pending) && miss->sum_count <= PD_KEY_SUMS)) {
		pd_repeats_note(&c->repeats, &pending->tag);
		c->cache_added +=
			pd_key_cache_add(c->cache, &pending->tag, bucket, miss->sum_count ? &miss->sums : NULL);
	}
	pd_amounts_count(c, pending, bucket);
	return true;
}

// What is known of places is known again soon, so a larger table begins empty. Without memory the present one goes on.
static void grow_known(struct pd_collector *c)
{
	enum {
		GROWTH = 8
	};
	struct pd_known_place *known;
	void *memory;

	if (c->known_count >= PD_KNOWN_PLACES)
		return;
	known = pd_alloc_lines(GROWTH * c->known_count * sizeof(*known), &memory);
	if (!known)
		return;
	pd_free(c->known_memory);
	c->known = known;
	c->known_memory = memory;
	c->known_count *= GROWTH;
	c->known_most = c->known_count;
	c->known_added = 0;
}

bool pd_misses_end(struct pd_collector *c)
{
	if (!answer(c) || !find_frames(c))
		return false;
	for (size_t i = 0; i < c->miss_count; i++)
		hash_miss(c, &c->misses[i]);
	if (!find_buckets(c))
		return false;
	for (size_t i = 0; i < c->miss_count; i++)
		if (!end_miss(c, &c->misses[i]))
			return false;
	c->known_added += c->wanted_count;
	c->miss_count = c->wanted_count = c->found_count = 0;
	if (PD_UNLIKELY(c->known_added > c->known_count / 2))
		grow_known(c);
	return true;
}
