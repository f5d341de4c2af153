/* SPDX-License-Identifier: MIT */
/*
 * From buckets to what users see. Buckets are put in the order in which the file has them and frames in that of their
 * first use, so that nothing depends on threads or on hashes; equal stacks become one.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "profile/hash.h"
#include "profile/profile.h"

// Where a bucket stands among the others.
struct order {
	uint64_t order;
	uint32_t event;
	uint32_t bucket;
};

enum { BATCH = 16 }; // stacks that are looked for together

// A stack on its way into the table, which comes from memory meanwhile.
struct candidate {
	struct pd_stack stack;
	uint64_t hash;
};

struct arranger {
	struct pd_profile *profile;
	const struct pd_common *from;
	uint64_t seed;
	struct order *orders; // of the buckets
	uint32_t *numbers; // of frames of the collector, plus 1; 0: not used yet
	struct pd_index stacks, names;
	const char **texts; // of names
	size_t text_count, text_capacity;
};

static int compare_orders(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static bool sort_buckets(struct arranger *a)
{
	size_t count = a->from->bucket_count;
	bool sorted = true;

	a->orders = pd_realloc(NULL, (count + 1) * sizeof(*a->orders));
	if (!a->orders)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct pd_bucket *bucket = pd_bucket_at(a->from, (uint32_t)i);

		a->orders[i] = (struct order){bucket->first.order, bucket->key.event, (uint32_t)i};
		sorted = sorted && (!i || compare_orders(&a->orders[i - 1], &a->orders[i]) <= 0);
	}
	// with one thread they come in this order
	if (!sorted)
		qsort(a->orders, count, sizeof(*a->orders), compare_orders);
	return true;
}

// ---- names ----

// The one copy of a name. NULL if there is no memory.
static const char *name_once(struct arranger *a, const char *name)
{
	size_t size = strlen(name);
	uint64_t hash = pd_hash(a->seed, name, size);
	size_t at = (uint32_t)hash;
	const char *copy;

	for (uint32_t i; (i = pd_index_next(&a->names, hash, &at)) != PD_INDEX_END;)
		if (strcmp(a->texts[i], name) == 0)
			return a->texts[i];
	copy = pd_arena_text(&a->profile->arena, name, size);
	if (!copy || !PD_GROW(a->texts, a->text_capacity, a->text_count + 1) ||
	    !pd_index_add(&a->names, hash, (uint32_t)a->text_count))
		return NULL;
	a->texts[a->text_count++] = copy;
	return copy;
}

static bool name_entry(struct arranger *a, struct pd_profile_entry *entry, const struct pd_owner *owner)
{
	char unknown[PD_THREAD_NAME_BYTES];

	if (!(a->profile->options.by & PD_BY_COMM))
		return true;
	if (owner->nameless)
		snprintf(unknown, sizeof(unknown), ":%d", (int32_t)owner->tid);
	entry->comm = name_once(a, owner->nameless ? unknown : owner->comm);
	return entry->comm != NULL;
}

// ---- stacks ----

static uint32_t number_of(struct arranger *a, uint32_t frame)
{
	struct pd_profile *profile = a->profile;
	const struct pd_seen_frame *seen = &a->from->frames.items[frame];

	if (!a->numbers[frame]) {
		profile->frames[profile->frame_count] = (struct pd_frame){
			.place = {.addr = seen->recorded, .recorded = seen->recorded},
			.cpumode = seen->cpumode,
			.pid = seen->pid,
			.when = seen->when,
		};
		a->numbers[frame] = (uint32_t)++profile->frame_count;
	}
	return a->numbers[frame] - 1;
}

static bool same_stack(const struct pd_stack *a, const struct pd_stack *b)
{
	return a->ip == b->ip && a->caller_count == b->caller_count && a->cut == b->cut && a->damaged == b->damaged &&
	       (!a->caller_count || memcmp(a->callers, b->callers, a->caller_count * sizeof(a->callers[0])) == 0);
}

// The number of a stack, which may be new. False if there is no memory.
static bool stack_once(struct arranger *a, const struct candidate *candidate, size_t *index_out)
{
	struct pd_profile *profile = a->profile;
	size_t at = (uint32_t)candidate->hash;

	for (uint32_t i; (i = pd_index_next(&a->stacks, candidate->hash, &at)) != PD_INDEX_END;) {
		if (same_stack(&profile->stacks[i], &candidate->stack)) {
			*index_out = i;
			return true;
		}
	}
	if (!PD_GROW(profile->stacks, profile->stack_capacity, profile->stack_count + 1) ||
	    !pd_index_add(&a->stacks, candidate->hash, (uint32_t)profile->stack_count))
		return false;
	*index_out = profile->stack_count;
	profile->stacks[profile->stack_count++] = candidate->stack;
	return true;
}

// The callers stay where the bucket has them, with the numbers that users see.
static struct candidate make_candidate(struct arranger *a, struct pd_bucket *bucket)
{
	const struct pd_bucket_key *key = &bucket->key;
	struct candidate candidate = {
		.stack = {
			.ip = number_of(a, key->ip),
			.callers = bucket->callers,
			.caller_count = key->caller_count,
			.cut = key->cut,
			.damaged = key->damaged,
		},
	};

	for (size_t i = 0; i < key->caller_count; i++)
		bucket->callers[i] = number_of(a, bucket->callers[i]);
	candidate.hash = pd_hash_halves(a->seed ^ candidate.stack.ip, bucket->callers, key->caller_count);
	pd_index_prefetch(&a->stacks, candidate.hash);
	return candidate;
}

// ---- entries ----

static bool arrange_bucket(struct arranger *a, const struct pd_bucket *bucket, const struct candidate *candidate,
			   struct pd_profile_entry *entry)
{
	const struct pd_bucket_key *key = &bucket->key;
	const struct pd_owner *owner = &a->from->owners.items[key->owner];

	*entry = (struct pd_profile_entry){
		.event = pd_file_event(a->profile->file, key->event),
		.pid = owner->pid,
		.tid = a->profile->options.by & PD_BY_TID ? owner->tid : UINT32_MAX,
		.cpu = key->cpu,
		.cgroup = key->cgroup,
		.weight = key->weight,
		.slice_ns = key->slice,
		.samples = bucket->samples,
		.period = bucket->period,
		.weights = bucket->weights,
		.raw = key->raw ? a->from->raws.items[key->raw] : (struct pd_bytes){0},
	};
	return stack_once(a, candidate, &entry->stack) && name_entry(a, entry, owner);
}

// The next entries. False if there is no memory.
static bool arrange_some(struct arranger *a, size_t count)
{
	struct pd_profile *profile = a->profile;
	struct candidate candidates[BATCH];
	size_t first = profile->entry_count;

	for (size_t i = 0; i < count; i++)
		candidates[i] = make_candidate(a, pd_bucket_at(a->from, a->orders[first + i].bucket));
	for (size_t i = 0; i < count; i++, profile->entry_count++)
		if (!arrange_bucket(a, pd_bucket_at(a->from, a->orders[first + i].bucket), &candidates[i],
				    &profile->entries[first + i]))
			return false;
	return true;
}

// Entries have the slices of their buckets. False if there is no memory.
static bool arrange_slices(struct arranger *a)
{
	struct pd_profile *profile = a->profile;
	size_t *starts;

	if (!profile->options.slices)
		return true;
	profile->slice_ranges = pd_realloc(NULL, (a->from->bucket_count + 1) * sizeof(*profile->slice_ranges));
	if (!pd_profile_slice(profile, &starts) || !profile->slice_ranges) {
		pd_free(starts);
		return false;
	}
	for (size_t i = 0; i < a->from->bucket_count; i++) {
		uint32_t bucket = a->orders[i].bucket;

		profile->slice_ranges[i] = (struct pd_slice_range){starts[bucket], starts[bucket + 1] - starts[bucket]};
	}
	pd_free(starts);
	return true;
}

static bool arrange(struct arranger *a)
{
	struct pd_profile *profile = a->profile;
	size_t count = a->from->bucket_count;

	profile->entries = pd_realloc(NULL, (count + 1) * sizeof(*profile->entries));
	profile->frames = pd_realloc(NULL, (a->from->frames.count + 1) * sizeof(*profile->frames));
	a->numbers = pd_alloc((a->from->frames.count + 1) * sizeof(*a->numbers));
	if (!profile->entries || !profile->frames || !a->numbers || !sort_buckets(a) || !arrange_slices(a))
		return false;
	while (profile->entry_count < count) {
		size_t left = count - profile->entry_count;

		if (!arrange_some(a, left < BATCH ? left : BATCH))
			return false;
	}
	return true;
}

enum pd_status pd_profile_arrange(struct pd_profile *profile, struct pd_error *error)
{
	struct arranger a = {
		.profile = profile,
		.from = profile->collector.common,
		.seed = profile->collector.seed,
	};
	bool done = !profile->collector.failed && arrange(&a);

	pd_free(a.orders);
	pd_free(a.numbers);
	pd_free(a.texts);
	pd_index_fini(&a.stacks);
	pd_index_fini(&a.names);
	return done ? PD_OK : pd_fail_memory(error);
}
