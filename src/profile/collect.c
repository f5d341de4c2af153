/* SPDX-License-Identifier: MIT */
#include "profile/collect.h"

#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/threads.h"
#include "format/chain.h"
#include "profile/hash.h"
#include "stream/read/stream.h"

enum {
	NOTE_AFTER = 64,   // so many that were added to what was seen are noted at once
	FOUND_MOST = 8192, // frames of samples that wait for their buckets, and one more chain
};

#define HAS(attr, NAME) ((attr)->sample_type & PD_MASK(PD_SAMPLE_TYPE_##NAME))
#define BY_EXTRA (PD_BY_CGROUP | PD_BY_WEIGHT | PD_BY_TIME | PD_BY_RAW)

// One sample on its way into a bucket.
struct shot {
	const struct pd_event *event; // whose period it is: a member of the group
	struct pd_brief brief;
	struct pd_moment when;
	const char *comm;
	uint64_t maps;
	uint32_t owner;
	uint32_t raw; // number of its raw data, if it is asked for
	uint64_t weight, cgroup;
	bool copied; // its user stack was copied, and nothing else tells its callers
};

// A sample that knows its raw key. Some of them wait for each other: the places of their keys in the table are on their
// way from memory meanwhile, and looking one up after another would wait for memory each time.
struct pd_pending {
	struct pd_tag tag;
	uint64_t maps, ip, period, weight;
	struct pd_moment when;
	const uint64_t *chain; // in the record
	uint32_t chain_count;
	uint32_t owner, event, pid, cpu;
	uint32_t cpumode;
	uint32_t raw;
	uint64_t cgroup, slice;
	uint16_t strip;
	uint32_t bucket; // PD_UNSEEN: not known
};

// ---- buckets ----

// One collector alone needs no locks.
static void lock(const struct pd_common *common, pthread_mutex_t *mutex)
{
	if (common->locks)
		pthread_mutex_lock(mutex);
}

static void unlock(const struct pd_common *common, pthread_mutex_t *mutex)
{
	if (common->locks)
		pthread_mutex_unlock(mutex);
}

static uint64_t hash_bucket(const struct pd_collector *c, const struct pd_bucket_key *key, const uint32_t *callers)
{
	uint64_t words[] = {
		(uint64_t)key->owner << 32 | key->event,
		(uint64_t)key->cpu << 32 | key->ip,
		key->cgroup,
		key->weight,
		key->slice,
		key->raw,
		(uint64_t)key->caller_count << 2 | (uint64_t)key->cut << 1 | key->damaged,
	};

	return pd_hash_halves(pd_hash_words(c->seed, words, sizeof(words) / sizeof(words[0])), callers,
			      key->caller_count);
}

static bool same_key(const struct pd_bucket_key *a, const struct pd_bucket_key *b)
{
	return a->owner == b->owner && a->event == b->event && a->cpu == b->cpu && a->ip == b->ip &&
	       a->cgroup == b->cgroup && a->weight == b->weight && a->slice == b->slice && a->raw == b->raw &&
	       a->caller_count == b->caller_count && a->cut == b->cut && a->damaged == b->damaged;
}

static struct pd_shard *shard_of(struct pd_common *common, uint64_t hash)
{
	return &common->shards[(hash >> 32) % PD_SHARDS];
}

// Where a new bucket is to be noted. NULL if there is no memory.
static struct pd_bucket **make_slot(struct pd_common *common, uint32_t number)
{
	unsigned block;
	struct pd_bucket **slot = pd_bucket_slot(common->blocks, number, &block), **slots;

	if (slot)
		return slot;
	lock(common, &common->blocks_lock);
	if (!common->blocks[block]) {
		slots = pd_realloc(NULL, ((size_t)64 << block) * sizeof(*slots));
		__atomic_store_n(&common->blocks[block], slots, __ATOMIC_RELEASE);
	}
	unlock(common, &common->blocks_lock);
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
				    uint64_t hash, struct pd_moment when)
{
	struct pd_shard *shard = shard_of(common, hash);
	struct pd_bucket *bucket, **slot;
	uint32_t number;

	if (!next_number(common, &number) || !(slot = make_slot(common, number)))
		return NULL;
	bucket = pd_arena_alloc(&shard->arena, sizeof(*bucket) + key->caller_count * sizeof(*callers));
	if (!bucket || !pd_index_add(&shard->index, hash, number))
		return NULL;
	bucket->number = number;
	bucket->first = when;
	bucket->key = *key;
	if (key->caller_count)
		memcpy(bucket->callers, callers, key->caller_count * sizeof(*callers));
	*slot = bucket;
	return bucket;
}

// The bucket of a key, which may be new. NULL if there is no memory.
static struct pd_bucket *find_bucket(struct pd_common *common, const struct pd_bucket_key *key, const uint32_t *callers,
				     uint64_t hash, struct pd_moment when)
{
	const struct pd_index *index = &shard_of(common, hash)->index;
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(index, hash, &at)) != PD_INDEX_END;) {
		struct pd_bucket *bucket = pd_bucket_at(common, i);

		if (same_key(&bucket->key, key) &&
		    (!key->caller_count || memcmp(bucket->callers, callers, key->caller_count * sizeof(*callers)) == 0))
			return bucket;
	}
	return add_bucket(common, key, callers, hash, when);
}

static void note_moment(struct pd_bucket *bucket, struct pd_moment when)
{
	if (PD_LIKELY(pd_bucket_is_later(bucket, when)))
		return;
	bucket->first.time_ns = when.time_ns;
	__atomic_store_n(&bucket->first.order, when.order, __ATOMIC_RELAXED);
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

// The number of raw data, which may be new. 0 if there is no memory.
static uint32_t raw_of(const struct pd_collector *c, struct pd_bytes raw)
{
	struct pd_common *common = c->common;
	uint64_t hash = pd_hash(c->seed, raw.data, raw.size);
	uint32_t number;

	lock(common, &common->names_lock);
	number = raw_once(&common->raws, raw, hash);
	unlock(common, &common->names_lock);
	return number;
}

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

// Notes the frame of an address, or asks for it. There is room for the frame. False if there is no memory for more.
static inline bool add_frame(struct pd_collector *c, struct pd_spot spot)
{
	const struct pd_frames *frames = &c->common->frames;
	struct pd_known_addr *known;
	uint32_t frame;

	pd_spot_settle(&spot);
	known = pd_known_slot(frames, c->known, &spot);
	frame = pd_known_frame(known, &spot);
	if (PD_UNLIKELY(frame == PD_NO_FRAME)) {
		if (!PD_GROW(c->wanted, c->wanted_capacity, c->wanted_count + 1))
			return false;
		c->wanted[c->wanted_count++] = (struct pd_wanted){ .spot = spot, .at = c->found_count, .known = known };
	}
	c->found[c->found_count++] = frame;
	return true;
}

static void drop_frames(struct pd_collector *c, size_t count)
{
	c->found_count -= count;
	while (c->wanted_count && c->wanted[c->wanted_count - 1].at >= c->found_count)
		c->wanted_count--;
}

// Adds the frames of a chain. False if there is no memory.
static bool add_chain(struct pd_collector *c, struct pd_u64s chain, struct pd_spot spot, struct pd_bucket_key *key)
{
	unsigned most = c->options->max_stack;

	spot.cpumode = PD_CPUMODE_USER;
	for (size_t i = 0; i < chain.count; i++) {
		if (PD_LIKELY(chain.items[i] < PD_CONTEXT_MAX)) {
			if (most && key->caller_count >= most)
				break;
			spot.addr = chain.items[i];
			spot.depth++;
			if (!add_frame(c, spot))
				return false;
			key->caller_count++;
		} else if (chain.items[i] == (uint64_t)PD_CONTEXT_USER_DEFERRED) {
			break;
		} else if (!pd_chain_mode(chain.items[i], &spot.cpumode)) {
			key->damaged = true;
			drop_frames(c, key->caller_count);
			key->caller_count = 0;
			break;
		}
	}
	return true;
}

// ---- raw keys ----

static uint64_t slice_of(const struct pd_collector *c, const struct shot *shot)
{
	uint64_t slice_ns = c->options->slice_ns;

	return shot->brief.time_ns == PD_NO_TIME || !slice_ns ? 0 : shot->brief.time_ns / slice_ns * slice_ns;
}

// Most samples are of the strip of the one before.
static inline uint16_t strip_of(struct pd_collector *c, uint64_t time_ns)
{
	uint64_t slice;

	if (PD_LIKELY(time_ns - c->strip_ns < c->slice_ns << c->share.portions.shift))
		return c->strip;
	if (time_ns == PD_NO_TIME)
		return PD_STRIP_NONE;
	slice = time_ns / c->slice_ns;
	slice = slice > c->first_slice ? slice - c->first_slice : 0;
	if (slice >= PD_STRIPS_MOST)
		slice = PD_STRIPS_MOST - 1;
	c->strip = (uint16_t)(slice >> c->share.portions.shift);
	c->strip_ns = (c->first_slice + ((uint64_t)c->strip << c->share.portions.shift)) * c->slice_ns;
	return c->strip;
}

// A sample with a chain that is longer has no tag.
static inline bool has_tag(const struct pd_pending *pending)
{
	return pending->chain_count <= PD_TAG_CHAIN_MOST;
}

static inline void tag(const struct pd_collector *c, struct pd_pending *pending, bool extra)
{
	const uint64_t *secrets = c->secrets->words;
	struct pd_tag tag = { 0, 0 };

	if (PD_UNLIKELY(!has_tag(pending)))
		return;
	pd_tag_add(&tag, secrets, (uint64_t)pending->owner << 32 | pending->event, pending->maps);
	pd_tag_add(&tag, secrets + 2, (uint64_t)pending->pid << 32 | pending->cpu, pending->ip);
	pd_tag_add(&tag, secrets + 4, (uint64_t)pending->cpumode << 32 | pending->chain_count, pending->raw);
	if (extra) {
		pd_tag_add(&tag, secrets + 6, pending->cgroup, pending->weight);
		pd_tag_add(&tag, secrets + 8, pending->slice, 0);
	}
	pd_tag_add_words(&tag, secrets + PD_TAG_HEAD, pending->chain, pending->chain_count);
	tag.low += !tag.low; // 0 stands for none
	pending->tag = tag;
}

// ---- amounts ----

static void add_portion(struct pd_collector *c, const struct pd_portion *portion)
{
	struct pd_portions *portions = &c->share.portions;

	if (PD_GROW(portions->items, portions->capacity, portions->count + 1))
		portions->items[portions->count++] = *portion;
	else
		c->failed = true;
}

// What was counted beside a bucket goes into it.
static void settle(struct pd_collector *c, uint32_t bucket)
{
	struct pd_amount *amount = &c->share.amounts[bucket];

	if (!amount->samples)
		return;
	if (c->options->slices)
		add_portion(c, &(struct pd_portion){ amount->period, bucket, amount->samples, amount->strip });
	else
		pd_bucket_add(pd_bucket_at(c->common, bucket), amount->samples, amount->period, 0);
	amount->samples = 0;
	amount->period = 0;
}

static void settle_all(struct pd_collector *c)
{
	for (size_t i = 0; i < c->share.amount_count; i++)
		settle(c, (uint32_t)i);
}

// False if there is no memory.
static bool make_amounts(struct pd_collector *c, uint32_t bucket)
{
	enum {
		MORE = 4096
	};
	size_t count = (size_t)bucket + MORE;

	if (!PD_GROW(c->share.amounts, c->share.amount_capacity, count))
		return false;
	memset(c->share.amounts + c->share.amount_count, 0,
	       (count - c->share.amount_count) * sizeof(*c->share.amounts));
	c->share.amount_count = count;
	return true;
}

static void count(struct pd_collector *c, const struct pd_pending *pending, uint32_t bucket)
{
	struct pd_amount *amount = &c->share.amounts[bucket];

	if (PD_UNLIKELY(amount->samples == UINT16_MAX || amount->strip != pending->strip)) {
		settle(c, bucket);
		amount->strip = pending->strip;
	}
	amount->met = true;
	amount->samples++;
	amount->period += pending->period;
	if (PD_UNLIKELY(pending->weight))
		pd_bucket_add(pd_bucket_at(c->common, bucket), 0, 0, pending->weight);
}

// ---- raw keys that were not seen lately ----

// A sample whose frames are looked for.
struct pd_miss {
	const struct pd_pending *pending;
	struct pd_bucket_key key;
	size_t found; // its own frame, then its callers
	uint64_t hash;
	struct pd_bucket *bucket;
};

static bool begin_miss(struct pd_collector *c, const struct pd_pending *pending)
{
	struct pd_u64s chain = { pending->chain, pending->chain_count };
	struct pd_spot spot = { pending->maps, pending->ip, pending->pid, pending->cpumode, 0, pending->when };
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
	if (!PD_GROW(c->found, c->found_capacity, c->found_count + 1 + chain.count) || !add_frame(c, spot))
		return false;
	if (!(c->options->by & PD_BY_CHAIN))
		return true;
	miss->key.cut = is_cut(c->totals[pending->event].event->attr, chain);
	return add_chain(c, chain, spot, &miss->key);
}

static const uint32_t *callers_of(const struct pd_collector *c, const struct pd_miss *miss)
{
	return c->found + miss->found + 1;
}

// The key is known once all frames are.
static void hash_miss(struct pd_collector *c, struct pd_miss *miss)
{
	miss->key.ip = c->found[miss->found];
	miss->hash = hash_bucket(c, &miss->key, callers_of(c, miss));
}

static bool find_frames(struct pd_collector *c)
{
	struct pd_common *common = c->common;
	bool found;

	if (!c->wanted_count)
		return true;
	pd_frames_identify(&common->frames, c->wanted, c->wanted_count);
	lock(common, &common->names_lock);
	found = pd_frames_find(&common->frames, c->wanted, c->wanted_count);
	unlock(common, &common->names_lock);
	for (size_t i = 0; found && i < c->wanted_count; i++)
		c->found[c->wanted[i].at] = c->wanted[i].frame;
	return found;
}

// Nobody else uses the shards of these meanwhile. False if there is no memory.
static bool find_some(struct pd_collector *c, struct pd_miss *const *misses, size_t count)
{
	struct pd_common *common = c->common;

	for (size_t i = 0; i < count; i++)
		pd_index_prefetch(&shard_of(common, misses[i]->hash)->index, misses[i]->hash);
	for (size_t i = 0; i < count; i++) {
		uint32_t likely = pd_index_peek(&shard_of(common, misses[i]->hash)->index, misses[i]->hash);

		if (likely != PD_INDEX_END)
			__builtin_prefetch(pd_bucket_at(common, likely));
	}
	for (size_t i = 0; i < count; i++) {
		struct pd_miss *miss = misses[i];

		miss->bucket = find_bucket(common, &miss->key, callers_of(c, miss), miss->hash, miss->pending->when);
		if (!miss->bucket)
			return false;
		// pieces of the file come in any order
		note_moment(miss->bucket, miss->pending->when);
	}
	return true;
}

// Puts misses together that are of one shard; those of shard i are from starts[i] to starts[i + 1].
static void sort_misses(const struct pd_collector *c, struct pd_miss **sorted, size_t *starts)
{
	size_t at[PD_SHARDS] = { 0 }, begin = 0;

	for (size_t i = 0; i < c->miss_count; i++)
		at[shard_of(c->common, c->misses[i].hash) - c->common->shards]++;
	for (size_t i = 0; i < PD_SHARDS; i++) {
		starts[i] = begin;
		begin += at[i];
		at[i] = starts[i];
	}
	starts[PD_SHARDS] = begin;
	for (size_t i = 0; i < c->miss_count; i++)
		sorted[at[shard_of(c->common, c->misses[i].hash) - c->common->shards]++] = &c->misses[i];
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

	if (PD_UNLIKELY(bucket >= c->share.amount_count) && !make_amounts(c, bucket))
		return false;
	if (PD_LIKELY(has_tag(pending)))
		c->seen_added += pd_seen_add(c->seen, &pending->tag, bucket);
	count(c, pending, bucket);
	return true;
}

static bool end_misses(struct pd_collector *c)
{
	if (!find_frames(c))
		return false;
	for (size_t i = 0; i < c->miss_count; i++)
		hash_miss(c, &c->misses[i]);
	if (!find_buckets(c))
		return false;
	for (size_t i = 0; i < c->miss_count; i++)
		if (!end_miss(c, &c->misses[i]))
			return false;
	c->miss_count = c->wanted_count = c->found_count = 0;
	return true;
}

// Several threads use the table of what was seen; when they find it full, they have another one. False if there is no memory.
static bool renew_seen(struct pd_collector *c)
{
	struct pd_seen *seen;

	if (c->seen_added >= NOTE_AFTER) {
		pd_seen_note(&c->common->seen, c->seen, c->seen_added);
		c->seen_added = 0;
	}
	if (PD_LIKELY(pd_seen_is_present(&c->common->seen, c->seen)))
		return true;
	seen = pd_seen_enter(&c->common->seen, c->seen);
	if (seen)
		c->seen = seen;
	return seen != NULL;
}

// Looks up the buckets of samples, and asks for the memory of their amounts.
static void look_up(struct pd_collector *c, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct pd_pending *pending = &c->pending[i];
		const struct pd_seen_line *second;

		pending->bucket = PD_UNSEEN;
		if (PD_UNLIKELY(!has_tag(pending)))
			continue;
		pending->bucket = pd_seen_in(pd_seen_first(c->seen, &pending->tag), &pending->tag);
		if (PD_UNLIKELY(pending->bucket == PD_UNSEEN)) {
			second = pd_seen_second(c->seen, &pending->tag);
			pending->bucket = pd_seen_in(second, &pending->tag);
		}
		if (PD_LIKELY(pending->bucket < c->share.amount_count))
			__builtin_prefetch(&c->share.amounts[pending->bucket], 1);
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

// Puts what waits into buckets. False if there is no memory.
static bool flush(struct pd_collector *c, size_t waiting)
{
	look_up(c, waiting);
	for (size_t i = 0; i < waiting; i++) {
		const struct pd_pending *pending = &c->pending[i];

		if (PD_LIKELY(pending->bucket != PD_UNSEEN)) {
			if (PD_UNLIKELY(pending->bucket >= c->share.amount_count) && !make_amounts(c, pending->bucket))
				return false;
			if (PD_LIKELY(is_later(c, pending))) {
				count(c, pending, pending->bucket);
				continue;
			}
		}
		if (!begin_miss(c, pending) || (c->found_count > FOUND_MOST && !end_misses(c)))
			return false;
	}
	if (c->miss_count && (!end_misses(c) || !renew_seen(c)))
		return false;
	if (PD_UNLIKELY(c->share.portions.count >= 2 * PD_PORTIONS_MOST)) {
		settle_all(c);
		pd_portions_pack(&c->share.portions);
		c->strip_ns = c->strip = 0;
	}
	return !c->failed;
}

static bool add_sample(struct pd_collector *c, const struct shot *shot)
{
	uint32_t by = c->options->by;
	const struct pd_brief *brief = &shot->brief;
	struct pd_pending *pending = &c->pending[0];

	*pending = (struct pd_pending){
		.maps = shot->maps,
		.ip = brief->ip,
		.period = brief->period,
		.weight = shot->weight,
		.when = shot->when,
		.owner = shot->owner,
		.event = (uint32_t)shot->event->index,
		.pid = brief->pid,
		.cpu = by & PD_BY_CPU ? brief->cpu : UINT32_MAX,
		.cpumode = brief->cpumode,
		.raw = shot->raw,
		.cgroup = by & PD_BY_CGROUP ? shot->cgroup : 0,
		.slice = by & PD_BY_TIME ? slice_of(c, shot) : 0,
		.strip = c->options->slices ? strip_of(c, brief->time_ns) : 0,
	};

	if (by & PD_BY_CHAIN) {
		pending->chain = brief->callchain.items;
		pending->chain_count = (uint32_t)brief->callchain.count;
	}
	if (shot->when.order < c->last_order)
		c->shuffled = true;
	c->last_order = shot->when.order;
	tag(c, pending, by & BY_EXTRA);
	return flush(c, 1);
}

// ---- counter values ----

static struct pd_last_value *value_slot(uint64_t seed, struct pd_last_value *slots, size_t count, uint64_t id)
{
	size_t at = (size_t)pd_hash_words(seed, &id, 1) & (count - 1);

	while (slots[at].used && slots[at].id != id)
		at = (at + 1) & (count - 1);
	return &slots[at];
}

static bool grow_values(struct pd_collector *c)
{
	size_t count = c->value_slots ? c->value_slots * 2 : 64;
	struct pd_last_value *slots = pd_alloc_table(count * sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < c->value_slots; i++)
		if (c->last_values[i].used)
			*value_slot(c->seed, slots, count, c->last_values[i].id) = c->last_values[i];
	pd_free(c->last_values);
	c->last_values = slots;
	c->value_slots = count;
	return true;
}

// Only ids of the file's events come here, so the table ends to grow. NULL if there is no memory.
static struct pd_last_value *last_value(struct pd_collector *c, uint64_t id)
{
	struct pd_last_value *slot;

	if (c->value_count * 2 >= c->value_slots && !grow_values(c))
		return NULL;
	slot = value_slot(c->seed, c->last_values, c->value_slots, id);
	if (!slot->used) {
		*slot = (struct pd_last_value){ .id = id, .used = true };
		c->value_count++;
	}
	return slot;
}

// ---- samples ----

static enum pd_choice choose(const struct pd_collector *c, const struct pd_record *record, const struct shot *shot)
{
	const struct pd_profile_options *options = c->options;
	uint64_t time_ns = shot->brief.time_ns;
	struct pd_candidate candidate = { record, shot->event, &shot->brief, shot->comm };

	if (time_ns != PD_NO_TIME && (time_ns < options->from_ns || (options->to_ns && time_ns > options->to_ns)))
		return PD_CHOICE_LEAVE;
	return options->choose ? options->choose(options->self, &candidate) : PD_CHOICE_TAKE;
}

static bool add_shot(struct pd_collector *c, const struct pd_record *record, const struct shot *shot)
{
	struct pd_profile_total *total = &c->totals[shot->event->index];
	enum pd_choice choice = choose(c, record, shot);

	if (choice == PD_CHOICE_LEAVE)
		return true;
	if (choice == PD_CHOICE_COUNT) {
		total->left_samples++;
		total->left_period += shot->brief.period;
		return true;
	}
	total->samples++;
	total->period += shot->brief.period;
	total->weights += shot->weight;
	total->copied_stacks += shot->copied;
	return add_sample(c, shot);
}

static bool add_value(struct pd_collector *c, const struct pd_record *record, struct shot *shot, uint64_t id,
		      uint64_t value)
{
	const struct pd_event *event = pd_file_event_by_id(c->file, id);
	struct pd_last_value *last = event ? last_value(c, id) : NULL;

	if (!event)
		return true;
	if (!last)
		return false;
	shot->event = event;
	shot->brief.period = value - last->value;
	last->value = value;
	return !shot->brief.period || add_shot(c, record, shot);
}

// Samples that carry counter values stand for what the counters gained since their last sample.
static bool add_values(struct pd_collector *c, const struct pd_record *record, struct shot *shot,
		       const struct pd_counts *counts)
{
	if (!PD_BITS(shot->event->attr->read_format, PD_READ_FORMAT_GROUP))
		return add_value(c, record, shot, counts->id, counts->value);
	for (size_t i = 0; i < counts->members.count; i++) {
		const struct pd_count *member = PD_ITEM(pd_count, counts->members, i);

		if (!add_value(c, record, shot, member->id, member->value))
			return false;
	}
	return true;
}

static uint64_t weight_of(const struct pd_event *event, const struct pd_sample *sample)
{
	if (HAS(event->attr, WEIGHT_STRUCT))
		return PD_BITS(sample->weight_struct, PD_WEIGHT_VAR1_DW);
	return sample->weight;
}

// What the brief form does not have. False if the sample is damaged or there is no memory.
static bool take_parts(struct pd_collector *c, const struct pd_sample *sample, struct shot *shot)
{
	shot->weight = weight_of(shot->event, sample);
	shot->cgroup = sample->cgroup;
	shot->copied = pd_sample_needs_unwinding(sample);
	shot->brief.callchain = sample->callchain;
	if (c->options->by & PD_BY_RAW)
		shot->raw = raw_of(c, sample->raw);
	return shot->raw || !(c->options->by & PD_BY_RAW);
}

static bool needs_parts(const struct pd_collector *c, const struct pd_event *event)
{
	const uint64_t parts = PD_MASK(PD_SAMPLE_TYPE_READ) | PD_MASK(PD_SAMPLE_TYPE_WEIGHT) |
			       PD_MASK(PD_SAMPLE_TYPE_WEIGHT_STRUCT) | PD_MASK(PD_SAMPLE_TYPE_CGROUP) |
			       PD_MASK(PD_SAMPLE_TYPE_STACK_USER);

	return (event->attr->sample_type & parts) || (c->options->by & PD_BY_RAW);
}

// NULL if there is no memory.
static const struct pd_thread_view *look_at_thread(const struct pd_collector *c, struct pd_thread_view *view,
						   uint32_t pid, uint32_t tid, struct pd_moment when)
{
	struct pd_common *common = c->common;
	struct pd_owner owner;

	pd_owners_look(&common->owners, view, pid, tid, when, &owner);
	lock(common, &common->names_lock);
	view->owner = pd_owners_find(&common->owners, &owner);
	unlock(common, &common->names_lock);
	view->used = view->owner != UINT32_MAX;
	return view->used ? view : NULL;
}

// What is true of a thread at a moment; valid until the next call. NULL if there is no memory.
static inline const struct pd_thread_view *view_of(const struct pd_collector *c, uint32_t pid, uint32_t tid,
						   struct pd_moment when)
{
	struct pd_thread_view *view = pd_view_of(c->views, tid);

	return PD_LIKELY(pd_view_holds(view, pid, tid, when)) ? view : look_at_thread(c, view, pid, tid, when);
}

// False if there is no memory.
static bool take_sample(struct pd_collector *c, const struct pd_record *record)
{
	const struct pd_thread_view *view;
	const struct pd_sample *sample;
	struct shot shot;

	c->sample_count++;
	if (PD_UNLIKELY(!record->event)) {
		c->unknown_event++;
		return true;
	}
	if (PD_UNLIKELY(!pd_record_brief(record, &shot.brief))) {
		c->damaged++;
		return true;
	}
	shot.event = record->event;
	shot.when = pd_record_moment(record);
	shot.weight = shot.cgroup = shot.raw = 0;
	shot.copied = false;
	view = view_of(c, shot.brief.pid, shot.brief.tid, shot.when);
	if (!view)
		return false;
	shot.comm = view->view.comm;
	shot.maps = view->view.maps;
	shot.owner = view->owner;
	if (PD_LIKELY(!needs_parts(c, record->event)))
		return add_shot(c, record, &shot);
	sample = pd_as_sample(record);
	if (!sample) {
		c->damaged++;
		return true;
	}
	if (!take_parts(c, sample, &shot))
		return false;
	return HAS(record->event->attr, READ) && sample->read ? add_values(c, record, &shot, sample->read) :
								add_shot(c, record, &shot);
}

enum pd_status pd_collector_take(struct pd_collector *collector, const struct pd_record *record, struct pd_error *error)
{
	if (record->type != PD_RECORD_SAMPLE)
		return PD_OK;
	return take_sample(collector, record) ? PD_OK : pd_fail_memory(error);
}

// ---- samples in a row ----

// Samples behind the present one that are plain: those of one event, all of which are wanted, and have nothing but what
// stands at known places.
struct plain {
	struct pd_span span;
	const struct pd_event_full *full;
	size_t time_at, chain_at; // in the record; 0: there is no chain
	bool timed;               // times are moments
	uint64_t samples, period;
	uint64_t passed;
};

static bool is_plain(const struct pd_collector *c, const struct pd_stream *stream, struct plain *plain)
{
	const struct pd_event_full *full;

	if (c->options->choose || (c->options->by & BY_EXTRA) || !pd_stream_span(stream, &plain->span))
		return false;
	full = plain->full = plain->span.full;
	if (!full->brief.sufficient || needs_parts(c, &full->event) || stream->record.time_ns == PD_NO_TIME)
		return false;
	plain->time_at = PD_RECORD_HEADER_SIZE + 8 * (size_t)full->sample_time;
	if (full->brief.callchain != PD_NOWHERE)
		plain->chain_at = PD_RECORD_HEADER_SIZE + full->brief.callchain;
	plain->timed = pd_record_moment(&stream->record).time_ns == stream->record.time_ns;
	return true;
}

static inline uint64_t word_at(const uint8_t *body, uint8_t place, uint64_t none)
{
	return place == PD_NOWHERE ? none : pd_load_u64(body + place, false);
}

static inline uint32_t half_at(const uint8_t *body, uint8_t place, uint32_t none)
{
	return place == PD_NOWHERE ? none : pd_load_u32(body + place, false);
}

// Takes the next one apart. 0 if it has to be looked at closely, else its size; *time_ns_out.
static inline size_t take_plain(const struct plain *plain, const uint8_t *at, struct pd_pending *pending,
				uint64_t *time_ns_out)
{
	const struct pd_brief_places *places = &plain->full->brief;
	const uint8_t *body = at + PD_RECORD_HEADER_SIZE, *chain = at + plain->chain_at;
	size_t size = pd_load_u16(at + 6, false), fixed = PD_RECORD_HEADER_SIZE + (size_t)places->size;
	uint64_t count = 0;

	if (pd_load_u32(at, false) != PD_RECORD_SAMPLE || size > (size_t)(plain->span.end - at) || size < fixed ||
	    plain->time_at + 8 > size || !pd_stream_in_span(&plain->span, at, size))
		return 0;
	*time_ns_out = pd_load_u64(at + plain->time_at, false);
	if (plain->chain_at)
		count = pd_load_u64(chain, false);
	if (!*time_ns_out || count > (size - fixed) / 8 || (uintptr_t)chain % 8)
		return 0;
	pending->chain = (const uint64_t *)(const void *)(chain + 8);
	pending->chain_count = (uint32_t)count;
	pending->ip = word_at(body, places->ip, 0);
	pending->period = word_at(body, places->period, plain->full->event.attr->sample_period);
	pending->pid = half_at(body, places->pid, UINT32_MAX);
	pending->cpu = half_at(body, places->cpu, UINT32_MAX);
	pending->cpumode = (uint32_t)PD_BITS(pd_load_u16(at + 4, false), PD_MISC_CPUMODE);
	return size;
}

static bool take_all_plain(struct pd_collector *c, struct plain *plain)
{
	const uint64_t from_ns = c->options->from_ns, to_ns = c->options->to_ns ? c->options->to_ns : UINT64_MAX;
	const bool by_chain = c->options->by & PD_BY_CHAIN, slices = c->options->slices,
		   by_cpu = c->options->by & PD_BY_CPU;
	const uint32_t event = (uint32_t)plain->full->event.index;
	size_t waiting = 0, size;
	uint64_t time_ns;

	for (; (size_t)(plain->span.end - plain->span.at) >= PD_RECORD_HEADER_SIZE; plain->span.at += size) {
		struct pd_pending *pending = &c->pending[waiting];
		const struct pd_thread_view *view;
		uint32_t tid;

		size = take_plain(plain, plain->span.at, pending, &time_ns);
		if (PD_UNLIKELY(!size))
			break;
		pending->when = (struct pd_moment){ plain->timed ? time_ns : 0, plain->span.place + plain->passed++ };
		if (PD_UNLIKELY(time_ns < from_ns || time_ns > to_ns))
			continue;
		tid = half_at(plain->span.at + PD_RECORD_HEADER_SIZE, plain->full->brief.tid, UINT32_MAX);
		view = view_of(c, pending->pid, tid, pending->when);
		if (PD_UNLIKELY(!view))
			return false;
		plain->samples++;
		plain->period += pending->period;
		pending->maps = view->view.maps;
		pending->owner = view->owner;
		pending->event = event;
		pending->strip = slices ? strip_of(c, time_ns) : 0;
		if (!by_cpu)
			pending->cpu = UINT32_MAX;
		if (!by_chain)
			pending->chain_count = 0;
		tag(c, pending, false);
		__builtin_prefetch(pd_seen_first(c->seen, &pending->tag));
		if (++waiting < PD_PENDING_MOST)
			continue;
		if (!flush(c, waiting))
			return false;
		waiting = 0;
	}
	return flush(c, waiting);
}

enum pd_status pd_collector_take_more(struct pd_collector *collector, struct pd_stream *stream, struct pd_error *error)
{
	struct pd_collector *c = collector;
	struct plain plain = { 0 };
	bool done;

	if (!is_plain(c, stream, &plain))
		return PD_OK;
	if (plain.span.place < c->last_order)
		c->shuffled = true;
	// that of a sample that was looked at closely
	c->pending[0].weight = 0;
	done = take_all_plain(c, &plain);
	if (!done)
		return pd_fail_memory(error);
	c->sample_count += plain.passed;
	c->totals[plain.full->event.index].samples += plain.samples;
	c->totals[plain.full->event.index].period += plain.period;
	if (plain.passed)
		c->last_order = plain.span.place + plain.passed - 1;
	pd_stream_pass_span(stream, plain.span.at, plain.passed);
	return PD_OK;
}

// What only counting needs.
static void free_tables(struct pd_collector *c)
{
	if (c->seen)
		pd_seen_leave(&c->common->seen, c->seen);
	c->seen = NULL;
	pd_free(c->known_memory);
	c->known_memory = c->known = NULL;
}

void pd_collector_finish(struct pd_collector *collector)
{
	// there was no memory to begin with
	if (!collector->common)
		return;
	// else what was counted of a bucket is added up at the end
	if (collector->options->slices)
		settle_all(collector);
	free_tables(collector);
}

// ---- beginning and end ----

static struct pd_common *new_common(const struct pd_collector *c)
{
	struct pd_common *common = pd_alloc(sizeof(*common));

	if (!common)
		return NULL;
	pd_lock_init(&common->names_lock);
	pd_lock_init(&common->blocks_lock);
	pd_seen_init(&common->seen);
	for (size_t i = 0; i < PD_SHARDS; i++)
		pd_lock_init(&common->shards[i].lock);
	common->frames.world = common->owners.world = c->world;
	common->frames.seed = common->owners.seed = c->seed;
	common->owners.by = c->options->by;
	return common;
}

static void free_common(struct pd_common *common)
{
	if (!common)
		return;
	raws_fini(&common->raws);
	pd_seen_fini(&common->seen);
	pd_frames_fini(&common->frames);
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

enum pd_status pd_collector_init(struct pd_collector *collector, struct pd_error *error)
{
	struct pd_collector *c = collector;

	c->is_twin = c->common != NULL;
	if (!c->is_twin)
		c->common = new_common(c);
	c->event_count = pd_file_event_count(c->file);
	c->known = pd_alloc_lines(PD_KNOWN_ADDRS * sizeof(*c->known), &c->known_memory);
	c->seen = c->common ? pd_seen_enter(&c->common->seen, NULL) : NULL;
	c->views = pd_alloc_table(PD_VIEWS * sizeof(*c->views));
	c->pending = pd_alloc(PD_PENDING_MOST * sizeof(*c->pending));
	c->misses = pd_alloc(PD_PENDING_MOST * sizeof(*c->misses));
	c->secrets = pd_alloc(sizeof(*c->secrets));
	c->totals = pd_alloc((c->event_count + 1) * sizeof(*c->totals));
	if (!c->common || !c->known || !c->views || !c->pending || !c->misses || !c->secrets || !c->totals ||
	    !c->seen) {
		pd_collector_fini(c);
		return pd_fail_memory(error);
	}
	pd_secrets_fill(c->secrets, c->seed);
	for (size_t i = 0; i < c->event_count; i++)
		c->totals[i].event = pd_file_event(c->file, i);
	return PD_OK;
}

static void free_share(struct pd_share *share)
{
	pd_free(share->amounts);
	pd_free(share->portions.items);
	*share = (struct pd_share){ 0 };
}

void pd_collector_fini(struct pd_collector *collector)
{
	free_tables(collector);
	if (!collector->is_twin)
		free_common(collector->common);
	pd_free(collector->views);
	pd_free(collector->secrets);
	pd_free(collector->pending);
	pd_free(collector->misses);
	pd_free(collector->wanted);
	pd_free(collector->last_values);
	pd_free(collector->found);
	pd_free(collector->totals);
	for (size_t i = 0; i <= collector->joined_count; i++)
		free_share(pd_collector_share(collector, i));
	pd_free(collector->joined);
	*collector = (struct pd_collector){ 0 };
}

bool pd_collector_join(struct pd_collector *collector, struct pd_collector *twin)
{
	for (size_t i = 0; i < collector->event_count; i++) {
		struct pd_profile_total *to = &collector->totals[i];
		const struct pd_profile_total *from = &twin->totals[i];

		to->samples += from->samples;
		to->period += from->period;
		to->weights += from->weights;
		to->left_samples += from->left_samples;
		to->left_period += from->left_period;
		to->copied_stacks += from->copied_stacks;
	}
	collector->sample_count += twin->sample_count;
	collector->unknown_event += twin->unknown_event;
	collector->damaged += twin->damaged;
	collector->failed |= twin->failed;
	if (!PD_GROW(collector->joined, collector->joined_capacity, collector->joined_count + 1))
		return false;
	collector->joined[collector->joined_count++] = twin->share;
	twin->share = (struct pd_share){ 0 };
	return true;
}
