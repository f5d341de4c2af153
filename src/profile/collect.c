/* SPDX-License-Identifier: MIT */
#include "profile/collect.h"

#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "profile/hash.h"

enum {
	FIRST_SLOTS = 4096,
	RECENT_FIRST = 1 << 14,
	RECENT_LIMIT = 1 << 19,
	RECENT_MOST = 160 // words of a raw key that is kept at hand
};

#define HAS(attr, NAME) ((attr)->sample_type & PD_MASK(PD_SAMPLE_TYPE_##NAME))

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
};

// Words of a raw key: these, the chain, and what is seldom asked for.
enum { RAW_WHO, RAW_MAPS, RAW_CPU, RAW_IP, RAW_MODE, RAW_CHAIN };
enum { EXTRA_CGROUP, EXTRA_WEIGHT, EXTRA_SLICE, EXTRA_RAW, EXTRA_COUNT };

#define BY_EXTRA (PD_BY_CGROUP | PD_BY_WEIGHT | PD_BY_TIME | PD_BY_RAW)

// A sample that waits for others. Its place in the table of raw keys is on its way from memory meanwhile: looking one
// sample up after another would wait for memory each time.
struct pending {
	const uint64_t *words; // its raw key
	uint32_t count, chain_count;
	uint64_t hash;
	uint64_t period, weight;
	struct pd_moment when;
};

enum { BATCH = 32, BATCH_WORDS = 1024 };

struct pd_batch {
	struct pending items[BATCH];
	size_t count;
	uint64_t words[BATCH_WORDS];
	size_t word_count;
};

// ---- buckets ----

static void put_bucket(struct pd_bucket **slots, size_t slot_count, struct pd_bucket *bucket)
{
	size_t at = bucket->hash & (slot_count - 1);

	while (slots[at])
		at = (at + 1) & (slot_count - 1);
	slots[at] = bucket;
}

static bool grow_slots(struct pd_collector *c)
{
	size_t count = c->slot_count ? c->slot_count * 2 : FIRST_SLOTS;
	struct pd_bucket **slots = pd_alloc(count * sizeof(struct pd_bucket *));

	if (!slots)
		return false;
	for (size_t i = 0; i < c->slot_count; i++)
		if (c->slots[i])
			put_bucket(slots, count, c->slots[i]);
	pd_free(c->slots);
	c->slots = slots;
	c->slot_count = count;
	return true;
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
	uint64_t hash = pd_hash_words(c->seed, words, sizeof(words) / sizeof(words[0]));

	for (size_t i = 0; i < key->caller_count; i++)
		hash = pd_fold(hash ^ callers[i], UINT64_C(0x9e3779b97f4a7c15));
	return hash;
}

static bool same_key(const struct pd_bucket_key *a, const struct pd_bucket_key *b)
{
	return a->owner == b->owner && a->event == b->event && a->cpu == b->cpu && a->ip == b->ip &&
	       a->cgroup == b->cgroup && a->weight == b->weight && a->slice == b->slice && a->raw == b->raw &&
	       a->caller_count == b->caller_count && a->cut == b->cut && a->damaged == b->damaged;
}

static struct pd_bucket *add_bucket(struct pd_collector *c, const struct pd_bucket_key *key, const uint32_t *callers,
				    uint64_t hash, struct pd_moment when)
{
	struct pd_bucket *bucket;

	if (c->bucket_count * 2 >= c->slot_count && !grow_slots(c))
		return NULL;
	bucket = pd_arena_alloc(&c->arena, sizeof(*bucket) + key->caller_count * sizeof(*callers));
	if (!bucket)
		return NULL;
	bucket->hash = hash;
	bucket->first = when;
	bucket->key = *key;
	if (key->caller_count)
		memcpy(bucket->callers, callers, key->caller_count * sizeof(*callers));
	put_bucket(c->slots, c->slot_count, bucket);
	c->bucket_count++;
	return bucket;
}

// The bucket of a key, which may be new. NULL if there is no memory.
static struct pd_bucket *find_bucket(struct pd_collector *c, const struct pd_bucket_key *key, const uint32_t *callers,
				     struct pd_moment when)
{
	uint64_t hash = hash_bucket(c, key, callers);
	size_t at = hash & (c->slot_count - 1);
	struct pd_bucket *bucket;

	while ((bucket = c->slots[at]) != NULL) {
		if (bucket->hash == hash && same_key(&bucket->key, key) &&
		    (!key->caller_count ||
		     memcmp(bucket->callers, callers, key->caller_count * sizeof(*callers)) == 0))
			return bucket;
		at = (at + 1) & (c->slot_count - 1);
	}
	return add_bucket(c, key, callers, hash, when);
}

// ---- raw data ----

static void raws_fini(struct pd_raws *raws)
{
	pd_free(raws->items);
	pd_index_fini(&raws->index);
	pd_arena_fini(&raws->bytes);
}

// The number of raw data, which may be new. 0 if there is no memory.
static uint32_t raw_of(struct pd_collector *c, struct pd_bytes raw)
{
	struct pd_raws *raws = &c->raws;
	uint64_t hash = pd_hash(c->seed, raw.data, raw.size);
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
	raws->items[raws->count] = (struct pd_bytes){copy, raw.size};
	return (uint32_t)raws->count++;
}

// ---- chains ----

// False for a marker that nobody knows.
static bool follow_marker(uint64_t marker, unsigned *cpumode)
{
	switch ((int64_t)marker) {
	case PD_CONTEXT_HV:
		*cpumode = PD_CPUMODE_HYPERVISOR;
		return true;
	case PD_CONTEXT_KERNEL:
		*cpumode = PD_CPUMODE_KERNEL;
		return true;
	case PD_CONTEXT_USER:
		*cpumode = PD_CPUMODE_USER;
		return true;
	}
	return false;
}

static bool is_cut(const struct pd_attr *attr, struct pd_u64s chain)
{
	enum { USUAL_MOST = 127 };
	size_t most = attr->sample_max_stack ? attr->sample_max_stack : USUAL_MOST, addresses = 0;

	if (chain.count < most)
		return false;
	for (size_t i = 0; i < chain.count; i++)
		addresses += chain.items[i] < PD_CONTEXT_MAX;
	return addresses >= most;
}

// Frames of a chain into c->callers. False if there is no memory.
static bool take_chain(struct pd_collector *c, struct pd_u64s chain, struct pd_spot spot, struct pd_bucket_key *key)
{
	unsigned most = c->options->max_stack;

	if (!PD_GROW(c->callers, c->caller_capacity, chain.count + 1))
		return false;
	spot.cpumode = PD_CPUMODE_USER;
	for (size_t i = 0; i < chain.count; i++) {
		if (chain.items[i] < PD_CONTEXT_MAX) {
			if (most && key->caller_count >= most)
				break;
			spot.addr = chain.items[i];
			c->callers[key->caller_count] = pd_frames_find(&c->frames, &spot);
			if (c->callers[key->caller_count++] == PD_NO_FRAME)
				return false;
		} else if (chain.items[i] == (uint64_t)PD_CONTEXT_USER_DEFERRED) {
			break;
		} else if (!follow_marker(chain.items[i], &spot.cpumode)) {
			key->damaged = true;
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

static size_t raw_size(const struct pd_collector *c, const struct shot *shot)
{
	size_t size = RAW_CHAIN + (c->options->by & PD_BY_CHAIN ? shot->brief.callchain.count : 0);

	return c->options->by & BY_EXTRA ? size + EXTRA_COUNT : size;
}

static void make_raw(const struct pd_collector *c, const struct shot *shot, uint64_t *words)
{
	const struct pd_brief *brief = &shot->brief;
	uint32_t by = c->options->by;
	size_t chain = by & PD_BY_CHAIN ? brief->callchain.count : 0;

	words[RAW_WHO] = (uint64_t)shot->owner << 32 | (uint32_t)shot->event->index;
	words[RAW_MAPS] = shot->maps;
	words[RAW_CPU] = (uint64_t)brief->pid << 32 | (by & PD_BY_CPU ? brief->cpu : UINT32_MAX);
	words[RAW_IP] = brief->ip;
	words[RAW_MODE] = brief->cpumode;
	words += RAW_CHAIN;
	for (size_t i = 0; i < chain; i++)
		words[i] = brief->callchain.items[i];
	words += chain;
	if (PD_UNLIKELY(by & BY_EXTRA)) {
		words[EXTRA_CGROUP] = by & PD_BY_CGROUP ? shot->cgroup : 0;
		words[EXTRA_WEIGHT] = by & PD_BY_WEIGHT ? shot->weight : 0;
		words[EXTRA_SLICE] = by & PD_BY_TIME ? slice_of(c, shot) : 0;
		words[EXTRA_RAW] = shot->raw;
	}
}

// The bucket of a raw key that was not seen lately. NULL if there is no memory.
static struct pd_bucket *sort_in(struct pd_collector *c, const struct pending *pending)
{
	const uint64_t *words = pending->words, *extra = words + RAW_CHAIN + pending->chain_count;
	struct pd_u64s chain = {words + RAW_CHAIN, pending->chain_count};
	struct pd_spot spot = {words[RAW_MAPS], words[RAW_IP], (uint32_t)(words[RAW_CPU] >> 32),
			       (unsigned)words[RAW_MODE], pending->when};
	struct pd_bucket_key key = {
		.owner = (uint32_t)(words[RAW_WHO] >> 32),
		.event = (uint32_t)words[RAW_WHO],
		.cpu = (uint32_t)words[RAW_CPU],
		.ip = pd_frames_find(&c->frames, &spot),
	};

	if (key.ip == PD_NO_FRAME)
		return NULL;
	if (c->options->by & BY_EXTRA) {
		key.cgroup = extra[EXTRA_CGROUP];
		key.weight = extra[EXTRA_WEIGHT];
		key.slice = extra[EXTRA_SLICE];
		key.raw = (uint32_t)extra[EXTRA_RAW];
	}
	if (c->options->by & PD_BY_CHAIN) {
		key.cut = is_cut(c->totals[key.event].event->attr, chain);
		if (!take_chain(c, chain, spot, &key))
			return NULL;
	}
	return find_bucket(c, &key, c->callers, pending->when);
}

// Keys are short, so words are compared here rather than by a call.
static bool same_raw(const struct pd_recent *recent, const struct pending *pending)
{
	uint64_t differing = 0;

	if (recent->hash != pending->hash || !recent->bucket || recent->count != pending->count)
		return false;
	for (size_t i = 0; i < pending->count; i++)
		differing |= recent->words[i] ^ pending->words[i];
	return !differing;
}

// Keeps a raw key at hand if there is memory for it, in place of the older one of two.
static void keep_recent(struct pd_recent *pair, const struct pending *pending, struct pd_bucket *bucket)
{
	struct pd_recent older = pair[1];

	if (pending->count > RECENT_MOST)
		return;
	if (pending->count > older.capacity) {
		uint32_t capacity = (pending->count + 7) & ~7u;
		uint64_t *words = pd_realloc(older.words, capacity * sizeof(*words));

		if (!words)
			return;
		older.words = words;
		older.capacity = capacity;
	}
	memcpy(older.words, pending->words, pending->count * sizeof(*older.words));
	older.hash = pending->hash;
	older.count = pending->count;
	older.bucket = bucket;
	pair[1] = pair[0];
	pair[0] = older;
}

static struct pd_recent *pair_in(struct pd_recent *recent, size_t count, uint64_t hash)
{
	return &recent[2 * (hash & (count / 2 - 1))];
}

static struct pd_recent *pair_of(const struct pd_collector *c, uint64_t hash)
{
	return pair_in(c->recent, c->recent_count, hash);
}

// What does not fit goes. Without memory the table stays as it is.
static void grow_recent(struct pd_collector *c)
{
	size_t count = c->recent_count * 2;
	struct pd_recent *recent = pd_alloc(count * sizeof(*recent));

	if (!recent)
		return;
	for (size_t i = c->recent_count; i-- > 0;) {
		struct pd_recent *old = &c->recent[i], *pair;

		if (!old->bucket) {
			pd_free(old->words);
			continue;
		}
		pair = pair_in(recent, count, old->hash);
		pd_free(pair[1].words);
		pair[1] = pair[0];
		pair[0] = *old;
	}
	pd_free(c->recent);
	c->recent = recent;
	c->recent_count = count;
}

// The bucket of a sample, which may be new. NULL if there is no memory.
static struct pd_bucket *bucket_of(struct pd_collector *c, const struct pending *pending)
{
	struct pd_recent *pair = pair_of(c, pending->hash);
	struct pd_bucket *bucket;

	for (size_t i = 0; i < 2; i++)
		// what is older than all before says where its frames were first, too
		if (same_raw(&pair[i], pending) && pending->when.order >= pair[i].bucket->first.order)
			return pair[i].bucket;
	bucket = sort_in(c, pending);
	if (!bucket)
		return NULL;
	// several for each stack, which processes have at other addresses, so that they do not push each other out
	if (PD_UNLIKELY(c->bucket_count * 4 > c->recent_count && c->recent_count < RECENT_LIMIT))
		grow_recent(c);
	keep_recent(pair_of(c, pending->hash), pending, bucket);
	return bucket;
}

static bool put_in(struct pd_collector *c, const struct pending *pending)
{
	struct pd_bucket *bucket = bucket_of(c, pending);

	if (PD_UNLIKELY(!bucket))
		return false;
	// pieces of the file come in any order
	if (PD_UNLIKELY(pending->when.order < bucket->first.order))
		bucket->first = pending->when;
	bucket->samples++;
	bucket->period += pending->period;
	bucket->weights += pending->weight;
	return true;
}

// Asks for the memory that a sample will need, when its place in the table has come.
static void prefetch(const struct pd_collector *c, const struct pending *pending)
{
	const struct pd_recent *pair = pair_of(c, pending->hash);

	for (size_t i = 0; i < 2; i++)
		if (pair[i].hash == pending->hash && pair[i].bucket) {
			__builtin_prefetch(pair[i].words);
			__builtin_prefetch((const char *)pair[i].words + 64);
			__builtin_prefetch(pair[i].bucket, 1);
		}
}

static bool flush(struct pd_collector *c)
{
	struct pd_batch *batch = c->batch;
	size_t count = batch->count;

	batch->count = batch->word_count = 0;
	for (size_t i = 0; i < count; i++)
		prefetch(c, &batch->items[i]);
	for (size_t i = 0; i < count; i++)
		if (!put_in(c, &batch->items[i]))
			return false;
	return true;
}

static void fill_pending(const struct pd_collector *c, const struct shot *shot, struct pending *pending, uint64_t *words,
			 size_t count)
{
	make_raw(c, shot, words);
	*pending = (struct pending){
		.words = words,
		.count = (uint32_t)count,
		.chain_count = c->options->by & PD_BY_CHAIN ? (uint32_t)shot->brief.callchain.count : 0,
		.hash = pd_hash_words(c->seed, words, count),
		.period = shot->brief.period,
		.weight = shot->weight,
		.when = shot->when,
	};
}

// A chain that is too long to be kept at hand. False if there is no memory.
static bool put_in_long(struct pd_collector *c, const struct shot *shot, size_t count)
{
	uint64_t *words = pd_realloc(NULL, count * sizeof(*words));
	struct pending pending;
	bool done;

	if (!words)
		return false;
	fill_pending(c, shot, &pending, words, count);
	done = put_in(c, &pending);
	pd_free(words);
	return done;
}

// Lets a sample wait, or puts it into its bucket at once.
static bool queue(struct pd_collector *c, const struct shot *shot)
{
	struct pd_batch *batch = c->batch;
	struct pending *pending = &batch->items[batch->count];
	size_t count = raw_size(c, shot);

	if (PD_UNLIKELY(count > RECENT_MOST))
		return put_in_long(c, shot, count);
	fill_pending(c, shot, pending, batch->words + batch->word_count, count);
	__builtin_prefetch(pair_of(c, pending->hash));
	batch->word_count += count;
	return (++batch->count < BATCH && batch->word_count + RECENT_MOST <= BATCH_WORDS) || flush(c);
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
	struct pd_last_value *slots = pd_alloc(count * sizeof(*slots));

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
		*slot = (struct pd_last_value){.id = id, .used = true};
		c->value_count++;
	}
	return slot;
}

// ---- samples ----

static enum pd_choice choose(const struct pd_collector *c, const struct pd_record *record, const struct shot *shot)
{
	const struct pd_profile_options *options = c->options;
	uint64_t time_ns = shot->brief.time_ns;
	struct pd_candidate candidate = {record, shot->event, &shot->brief, shot->comm};

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
	return queue(c, shot);
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
	shot->brief.callchain = sample->callchain;
	if (c->options->by & PD_BY_RAW)
		shot->raw = raw_of(c, sample->raw);
	return shot->raw || !(c->options->by & PD_BY_RAW);
}

static bool needs_parts(const struct pd_collector *c, const struct pd_event *event)
{
	const uint64_t parts = PD_MASK(PD_SAMPLE_TYPE_READ) | PD_MASK(PD_SAMPLE_TYPE_WEIGHT) |
			       PD_MASK(PD_SAMPLE_TYPE_WEIGHT_STRUCT) | PD_MASK(PD_SAMPLE_TYPE_CGROUP);

	return (event->attr->sample_type & parts) || (c->options->by & PD_BY_RAW);
}

// False if there is no memory.
static bool take_sample(struct pd_collector *c, const struct pd_record *record)
{
	const struct pd_thread_view *view;
	const struct pd_sample *sample;
	struct shot shot;

	c->seen++;
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
	view = pd_owners_view(&c->owners, shot.brief.pid, shot.brief.tid, shot.when);
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

enum pd_status pd_collector_flush(struct pd_collector *collector, struct pd_error *error)
{
	// without a batch there was no first record
	return !collector->batch || flush(collector) ? PD_OK : pd_fail_memory(error);
}

// ---- beginning and end ----

enum pd_status pd_collector_init(struct pd_collector *collector, struct pd_error *error)
{
	struct pd_collector *c = collector;

	c->frames = (struct pd_frames){.world = c->world, .seed = c->seed};
	c->owners = (struct pd_owners){.world = c->world, .seed = c->seed, .by = c->options->by};
	c->event_count = pd_file_event_count(c->file);
	c->batch = pd_alloc(sizeof(*c->batch));
	c->recent_count = RECENT_FIRST;
	c->recent = pd_alloc(c->recent_count * sizeof(*c->recent));
	c->totals = pd_alloc((c->event_count + 1) * sizeof(*c->totals));
	if (!c->batch || !c->recent || !c->totals || !grow_slots(c) || !pd_frames_init(&c->frames) || !pd_owners_init(&c->owners)) {
		pd_collector_fini(c);
		return pd_fail_memory(error);
	}
	for (size_t i = 0; i < c->event_count; i++)
		c->totals[i].event = pd_file_event(c->file, i);
	return PD_OK;
}

void pd_collector_fini(struct pd_collector *collector)
{
	for (size_t i = 0; collector->recent && i < collector->recent_count; i++)
		pd_free(collector->recent[i].words);
	pd_free(collector->recent);
	pd_free(collector->batch);
	raws_fini(&collector->raws);
	pd_frames_fini(&collector->frames);
	pd_owners_fini(&collector->owners);
	pd_arena_fini(&collector->arena);
	pd_free(collector->slots);
	pd_free(collector->last_values);
	pd_free(collector->callers);
	pd_free(collector->totals);
	*collector = (struct pd_collector){0};
}

// ---- two into one ----

// Numbers of frames and owners of another collector in this one.
struct translation {
	uint32_t *frames, *owners, *raws;
};

static bool translate(struct pd_collector *c, const struct pd_collector *other, struct translation *to)
{
	to->frames = pd_alloc((other->frames.count + 1) * sizeof(*to->frames));
	to->owners = pd_alloc((other->owners.count + 1) * sizeof(*to->owners));
	to->raws = pd_alloc((other->raws.count + 1) * sizeof(*to->raws));
	if (!to->frames || !to->owners || !to->raws)
		return false;
	for (size_t i = 1; i < other->raws.count; i++) {
		to->raws[i] = raw_of(c, other->raws.items[i]);
		if (!to->raws[i])
			return false;
	}
	for (size_t i = 0; i < other->frames.count; i++) {
		to->frames[i] = pd_frames_join(&c->frames, &other->frames, (uint32_t)i);
		if (to->frames[i] == PD_NO_FRAME)
			return false;
	}
	for (size_t i = 0; i < other->owners.count; i++) {
		to->owners[i] = pd_owners_find(&c->owners, &other->owners.items[i]);
		if (to->owners[i] == UINT32_MAX)
			return false;
	}
	return true;
}

static bool join_bucket(struct pd_collector *c, const struct pd_bucket *from, const struct translation *to)
{
	struct pd_bucket_key key = from->key;
	struct pd_bucket *bucket;

	if (!PD_GROW(c->callers, c->caller_capacity, key.caller_count + (size_t)1))
		return false;
	key.owner = to->owners[key.owner];
	key.ip = to->frames[key.ip];
	key.raw = to->raws[key.raw];
	for (size_t i = 0; i < key.caller_count; i++)
		c->callers[i] = to->frames[from->callers[i]];
	bucket = find_bucket(c, &key, c->callers, from->first);
	if (!bucket)
		return false;
	if (from->first.order < bucket->first.order)
		bucket->first = from->first;
	bucket->samples += from->samples;
	bucket->period += from->period;
	bucket->weights += from->weights;
	return true;
}

static void join_totals(struct pd_collector *c, const struct pd_collector *other)
{
	for (size_t i = 0; i < c->event_count; i++) {
		struct pd_profile_total *to = &c->totals[i];
		const struct pd_profile_total *from = &other->totals[i];

		to->samples += from->samples;
		to->period += from->period;
		to->weights += from->weights;
		to->left_samples += from->left_samples;
		to->left_period += from->left_period;
	}
	c->seen += other->seen;
	c->unknown_event += other->unknown_event;
	c->damaged += other->damaged;
}

enum pd_status pd_collector_join(struct pd_collector *collector, const struct pd_collector *other,
				 struct pd_error *error)
{
	struct translation to = {0};
	bool done = translate(collector, other, &to);

	for (size_t i = 0; done && i < other->slot_count; i++)
		if (other->slots[i])
			done = join_bucket(collector, other->slots[i], &to);
	pd_free(to.frames);
	pd_free(to.owners);
	pd_free(to.raws);
	if (!done)
		return pd_fail_memory(error);
	join_totals(collector, other);
	return PD_OK;
}
