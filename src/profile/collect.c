/* SPDX-License-Identifier: MIT */
#include "profile/collect.h"

#include <string.h>

#include "base/cursor.h"
#include "base/error.h"
#include "profile/hash.h"

enum {
	VIEWS = 1024, // threads whose view is kept at hand
	FIRST_SLOTS = 4096
};

#define HAS(attr, NAME) ((attr)->sample_type & PD_MASK(PD_SAMPLE_TYPE_##NAME))

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

static struct pd_bucket *add_bucket(struct pd_collector *c, const uint64_t *key, size_t count, uint64_t hash,
				    struct pd_moment when)
{
	struct pd_bucket *bucket;

	if (c->bucket_count * 2 >= c->slot_count && !grow_slots(c))
		return NULL;
	bucket = pd_arena_alloc(&c->arena, sizeof(*bucket) + count * sizeof(*key));
	if (!bucket)
		return NULL;
	bucket->hash = hash;
	bucket->first = when;
	bucket->count = count;
	memcpy(bucket->key, key, count * sizeof(*key));
	put_bucket(c->slots, c->slot_count, bucket);
	c->bucket_count++;
	return bucket;
}

// The bucket of a key, which may be new. NULL if there is no memory.
static struct pd_bucket *find_bucket(struct pd_collector *c, const uint64_t *key, size_t count, struct pd_moment when)
{
	uint64_t hash = pd_hash_words(c->seed, key, count);
	size_t at = hash & (c->slot_count - 1);
	struct pd_bucket *bucket;

	while ((bucket = c->slots[at]) != NULL) {
		if (bucket->hash == hash && bucket->count == count &&
		    memcmp(bucket->key, key, count * sizeof(*key)) == 0)
			return bucket;
		at = (at + 1) & (c->slot_count - 1);
	}
	return add_bucket(c, key, count, hash, when);
}

// The earliest in the file says when, whoever saw it first.
static void note_first(struct pd_bucket *bucket, struct pd_moment when)
{
	if (when.order < bucket->first.order)
		bucket->first = when;
}

// ---- owners ----

static bool same_owner(const struct pd_owner *a, const struct pd_owner *b)
{
	return a->maps == b->maps && a->comm == b->comm && a->pid == b->pid && a->tid == b->tid &&
	       a->maps_pid == b->maps_pid && a->nameless == b->nameless;
}

static uint64_t hash_owner(const struct pd_collector *c, const struct pd_owner *owner)
{
	uint64_t words[] = {owner->maps, (uintptr_t)owner->comm, (uint64_t)owner->pid << 32 | owner->tid,
			    (uint64_t)owner->maps_pid << 1 | owner->nameless};

	return pd_hash_words(c->seed, words, sizeof(words) / sizeof(words[0]));
}

static struct pd_owner_slot *owner_slot(const struct pd_collector *c, const struct pd_owner *owner, uint64_t hash)
{
	size_t at = hash & (c->owner_slot_count - 1);
	struct pd_owner_slot *slot;

	while ((slot = &c->owner_slots[at])->number_plus_1) {
		if (owner && slot->hash == (uint32_t)hash && same_owner(owner, &c->owners[slot->number_plus_1 - 1]))
			break;
		at = (at + 1) & (c->owner_slot_count - 1);
	}
	return slot;
}

static bool grow_owners(struct pd_collector *c)
{
	struct pd_owner_slot *old = c->owner_slots;
	size_t old_count = c->owner_slot_count, count = old_count ? old_count * 2 : 256;
	struct pd_owner_slot *slots = pd_alloc(count * sizeof(*slots));

	if (!slots)
		return false;
	c->owner_slots = slots;
	c->owner_slot_count = count;
	for (size_t i = 0; i < old_count; i++)
		if (old[i].number_plus_1)
			*owner_slot(c, NULL, old[i].hash) = old[i];
	pd_free(old);
	return true;
}

// UINT32_MAX if there is no memory.
static uint32_t find_owner(struct pd_collector *c, const struct pd_owner *owner)
{
	uint64_t hash = hash_owner(c, owner);
	struct pd_owner_slot *slot;

	if (c->owner_count * 2 >= c->owner_slot_count && !grow_owners(c))
		return UINT32_MAX;
	slot = owner_slot(c, owner, hash);
	if (slot->number_plus_1)
		return slot->number_plus_1 - 1;
	if (c->owner_count >= UINT32_MAX - 1 || !PD_GROW(c->owners, c->owner_capacity, c->owner_count + 1))
		return UINT32_MAX;
	c->owners[c->owner_count] = *owner;
	*slot = (struct pd_owner_slot){(uint32_t)hash, (uint32_t)++c->owner_count};
	return (uint32_t)c->owner_count - 1;
}

static uint32_t owner_of(struct pd_collector *c, uint32_t pid, uint32_t tid, const struct pd_view *view)
{
	uint32_t by = c->options->by;
	bool nameless = (by & PD_BY_COMM) && !view->comm;
	struct pd_owner owner = {
		.comm = by & PD_BY_COMM ? view->comm : NULL,
		.pid = by & PD_BY_PID ? pid : UINT32_MAX,
		// who has no name is called by the number
		.tid = (by & PD_BY_TID) || nameless ? tid : UINT32_MAX,
		.maps_pid = pid,
		.nameless = nameless,
		.maps = view->maps,
	};

	return find_owner(c, &owner);
}

static bool in_view(const struct pd_view *view, struct pd_moment when)
{
	if (when.time_ns < view->from.time_ns || when.time_ns > view->until.time_ns)
		return false;
	return (when.time_ns > view->from.time_ns || when.order >= view->from.order) &&
	       (when.time_ns < view->until.time_ns || when.order < view->until.order);
}

// What is true of a thread now. NULL if there is no memory.
static const struct pd_thread_view *view_of(struct pd_collector *c, uint32_t pid, uint32_t tid, struct pd_moment when)
{
	struct pd_thread_view *view = &c->views[(tid ^ tid >> 10) % VIEWS];

	if (PD_UNLIKELY(!view->used || view->tid != tid || view->pid != pid || !in_view(&view->view, when))) {
		view->used = false;
		pd_world_view(c->world, pid, tid, when, &view->view);
		view->pid = pid;
		view->tid = tid;
		view->owner = owner_of(c, pid, tid, &view->view);
		if (view->owner == UINT32_MAX)
			return NULL;
		view->used = true;
	}
	return view;
}

// ---- counter values ----

static struct pd_last_value *value_slot(struct pd_last_value *slots, size_t count, uint64_t id)
{
	size_t at = (size_t)(id * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (count - 1);

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
			*value_slot(slots, count, c->last_values[i].id) = c->last_values[i];
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
	slot = value_slot(c->last_values, c->value_slots, id);
	if (!slot->used) {
		*slot = (struct pd_last_value){.id = id, .used = true};
		c->value_count++;
	}
	return slot;
}

// ---- samples ----

// One sample on its way into a bucket.
struct shot {
	const struct pd_record *record;
	const struct pd_event *event; // whose period it is: a member of the group
	struct pd_brief brief;
	struct pd_moment when;
	const struct pd_thread_view *view;
	uint64_t weight, cgroup;
};

static enum pd_choice choose(const struct pd_collector *c, const struct shot *shot)
{
	const struct pd_profile_options *options = c->options;
	uint64_t time_ns = shot->brief.time_ns;
	struct pd_candidate candidate = {shot->record, shot->event, &shot->brief, shot->view->view.comm};

	if (time_ns != PD_NO_TIME && (time_ns < options->from_ns || (options->to_ns && time_ns > options->to_ns)))
		return PD_CHOICE_LEAVE;
	return options->choose ? options->choose(options->self, &candidate) : PD_CHOICE_TAKE;
}

static uint64_t slice_of(const struct pd_collector *c, const struct shot *shot)
{
	uint64_t slice_ns = c->options->slice_ns;

	return shot->brief.time_ns == PD_NO_TIME || !slice_ns ? 0 : shot->brief.time_ns / slice_ns * slice_ns;
}

// Writes the key of a sample; returns its size, 0 if there is no memory.
static size_t make_key(struct pd_collector *c, const struct shot *shot)
{
	const struct pd_brief *brief = &shot->brief;
	uint32_t by = c->options->by;
	size_t chain = by & PD_BY_CHAIN ? brief->callchain.count : 0;
	uint64_t *key;

	if (PD_UNLIKELY(PD_KEY_CHAIN + chain + PD_EXTRA_COUNT > c->key_capacity) &&
	    !PD_GROW(c->key, c->key_capacity, PD_KEY_CHAIN + chain + PD_EXTRA_COUNT))
		return 0;
	key = c->key;
	key[PD_KEY_WHO] = (uint64_t)shot->event->index << 32 | shot->view->owner;
	key[PD_KEY_MODE] = (uint64_t)(by & PD_BY_CPU ? brief->cpu : UINT32_MAX) << 8 | brief->cpumode;
	key[PD_KEY_IP] = brief->ip;
	key += PD_KEY_CHAIN;
	for (size_t i = 0; i < chain; i++)
		key[i] = brief->callchain.items[i];
	key += chain;
	if (PD_UNLIKELY(by & PD_BY_EXTRA)) {
		key[PD_EXTRA_CGROUP] = by & PD_BY_CGROUP ? shot->cgroup : 0;
		key[PD_EXTRA_WEIGHT] = by & PD_BY_WEIGHT ? shot->weight : 0;
		key[PD_EXTRA_SLICE] = by & PD_BY_TIME ? slice_of(c, shot) : 0;
		key += PD_EXTRA_COUNT;
	}
	return (size_t)(key - c->key);
}

static bool add_shot(struct pd_collector *c, const struct shot *shot)
{
	struct pd_profile_total *total = &c->totals[shot->event->index];
	enum pd_choice choice = choose(c, shot);
	struct pd_bucket *bucket;
	size_t count;

	if (choice == PD_CHOICE_LEAVE)
		return true;
	if (choice == PD_CHOICE_COUNT) {
		total->left_samples++;
		total->left_period += shot->brief.period;
		return true;
	}
	count = make_key(c, shot);
	bucket = count ? find_bucket(c, c->key, count, shot->when) : NULL;
	if (!bucket)
		return false;
	note_first(bucket, shot->when);
	bucket->samples++;
	bucket->period += shot->brief.period;
	bucket->weights += shot->weight;
	total->samples++;
	total->period += shot->brief.period;
	total->weights += shot->weight;
	return true;
}

static bool add_value(struct pd_collector *c, struct shot *shot, uint64_t id, uint64_t value)
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
	return !shot->brief.period || add_shot(c, shot);
}

// Samples that carry counter values stand for what the counters gained since their last sample.
static bool add_values(struct pd_collector *c, struct shot *shot, const struct pd_counts *counts)
{
	if (!PD_BITS(shot->event->attr->read_format, PD_READ_FORMAT_GROUP))
		return add_value(c, shot, counts->id, counts->value);
	for (size_t i = 0; i < counts->members.count; i++) {
		const struct pd_count *member = PD_ITEM(pd_count, counts->members, i);

		if (!add_value(c, shot, member->id, member->value))
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

static enum pd_status take_sample(struct pd_collector *c, const struct pd_record *record)
{
	const uint64_t parts = PD_MASK(PD_SAMPLE_TYPE_READ) | PD_MASK(PD_SAMPLE_TYPE_WEIGHT) |
			       PD_MASK(PD_SAMPLE_TYPE_WEIGHT_STRUCT) | PD_MASK(PD_SAMPLE_TYPE_CGROUP);
	struct shot shot = {.record = record, .event = record->event, .when = pd_record_moment(record)};
	const struct pd_sample *sample = NULL;

	c->seen++;
	if (PD_UNLIKELY(!record->event)) {
		c->unknown_event++;
		return PD_OK;
	}
	if (PD_UNLIKELY(!pd_record_brief(record, &shot.brief))) {
		c->damaged++;
		return PD_OK;
	}
	shot.view = view_of(c, shot.brief.pid, shot.brief.tid, shot.when);
	if (!shot.view)
		return PD_ERROR_MEMORY;
	if (PD_UNLIKELY(record->event->attr->sample_type & parts)) {
		sample = pd_as_sample(record);
		if (!sample) {
			c->damaged++;
			return PD_OK;
		}
		shot.weight = weight_of(record->event, sample);
		shot.cgroup = sample->cgroup;
		shot.brief.callchain = sample->callchain;
		if (HAS(record->event->attr, READ) && sample->read)
			return add_values(c, &shot, sample->read) ? PD_OK : PD_ERROR_MEMORY;
	}
	return add_shot(c, &shot) ? PD_OK : PD_ERROR_MEMORY;
}

enum pd_status pd_collector_take(struct pd_collector *collector, const struct pd_record *record, struct pd_error *error)
{
	if (record->type != PD_RECORD_SAMPLE)
		return PD_OK;
	return take_sample(collector, record) == PD_OK ? PD_OK : pd_fail_memory(error);
}

// ---- beginning and end ----

static bool has_values(struct pd_file *file)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		if (HAS(pd_file_event(file, i)->attr, READ))
			return true;
	return false;
}

enum pd_status pd_collector_init(struct pd_collector *collector, struct pd_error *error)
{
	struct pd_collector *c = collector;

	c->by_time_order = has_values(c->file);
	c->event_count = pd_file_event_count(c->file);
	c->views = pd_alloc(VIEWS * sizeof(*c->views));
	c->totals = pd_alloc((c->event_count + 1) * sizeof(*c->totals));
	if (!c->views || !c->totals || !grow_slots(c) || !PD_GROW(c->key, c->key_capacity, 256)) {
		pd_collector_fini(c);
		return pd_fail_memory(error);
	}
	for (size_t i = 0; i < c->event_count; i++)
		c->totals[i].event = pd_file_event(c->file, i);
	return PD_OK;
}

void pd_collector_fini(struct pd_collector *collector)
{
	pd_arena_fini(&collector->arena);
	pd_free(collector->slots);
	pd_free(collector->owners);
	pd_free(collector->owner_slots);
	pd_free(collector->views);
	pd_free(collector->last_values);
	pd_free(collector->key);
	pd_free(collector->totals);
	*collector = (struct pd_collector){0};
}

static bool join_bucket(struct pd_collector *c, const struct pd_bucket *from, const uint32_t *owners)
{
	struct pd_bucket *bucket;

	if (PD_UNLIKELY(from->count > c->key_capacity) && !PD_GROW(c->key, c->key_capacity, from->count))
		return false;
	memcpy(c->key, from->key, from->count * sizeof(*c->key));
	c->key[PD_KEY_WHO] = (from->key[PD_KEY_WHO] >> 32 << 32) | owners[(uint32_t)from->key[PD_KEY_WHO]];
	bucket = find_bucket(c, c->key, from->count, from->first);
	if (!bucket)
		return false;
	note_first(bucket, from->first);
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
	uint32_t *owners = pd_alloc((other->owner_count + 1) * sizeof(*owners));
	bool done = owners != NULL;

	for (size_t i = 0; done && i < other->owner_count; i++) {
		owners[i] = find_owner(collector, &other->owners[i]);
		done = owners[i] != UINT32_MAX;
	}
	for (size_t i = 0; done && i < other->slot_count; i++)
		if (other->slots[i])
			done = join_bucket(collector, other->slots[i], owners);
	pd_free(owners);
	if (!done)
		return pd_fail_memory(error);
	join_totals(collector, other);
	return PD_OK;
}
