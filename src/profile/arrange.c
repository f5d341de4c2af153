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

struct arranger {
	struct pd_profile *profile;
	const struct pd_collector *from;
	struct pd_bucket **buckets;
	uint32_t *numbers; // of frames of the collector, plus 1; 0: not used yet
	struct pd_index stacks, names;
	const char **texts; // of names
	size_t text_count, text_capacity;
	uint32_t *callers; // of the present stack
	size_t caller_capacity;
};

static int compare_buckets(const void *a, const void *b)
{
	const struct pd_bucket *x = *(struct pd_bucket *const *)a, *y = *(struct pd_bucket *const *)b;

	if (x->key.event != y->key.event)
		return x->key.event < y->key.event ? -1 : 1;
	if (x->first.order != y->first.order)
		return x->first.order < y->first.order ? -1 : 1;
	return 0;
}

static bool sort_buckets(struct arranger *a)
{
	size_t count = 0;

	a->buckets = pd_alloc((a->from->bucket_count + 1) * sizeof(struct pd_bucket *));
	if (!a->buckets)
		return false;
	for (; count < a->from->bucket_count; count++)
		a->buckets[count] = a->from->buckets[count];
	qsort(a->buckets, count, sizeof(struct pd_bucket *), compare_buckets);
	return true;
}

// ---- names ----

// The one copy of a name. NULL if there is no memory.
static const char *name_once(struct arranger *a, const char *name)
{
	size_t size = strlen(name);
	uint64_t hash = pd_hash(a->from->seed, name, size);
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

	if (!a->numbers[frame]) {
		profile->frames[profile->frame_count] = a->from->frames.items[frame];
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
static bool stack_once(struct arranger *a, struct pd_stack *stack, size_t *index_out)
{
	struct pd_profile *profile = a->profile;
	uint64_t hash = pd_hash(a->from->seed ^ stack->ip, stack->callers, stack->caller_count * sizeof(a->callers[0]));
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&a->stacks, hash, &at)) != PD_INDEX_END;) {
		if (same_stack(&profile->stacks[i], stack)) {
			*index_out = i;
			return true;
		}
	}
	if (stack->caller_count)
		stack->callers = pd_arena_copy(&profile->arena, stack->callers,
					       stack->caller_count * sizeof(a->callers[0]));
	if (!stack->callers || !PD_GROW(profile->stacks, profile->stack_capacity, profile->stack_count + 1) ||
	    !pd_index_add(&a->stacks, hash, (uint32_t)profile->stack_count))
		return false;
	*index_out = profile->stack_count;
	profile->stacks[profile->stack_count++] = *stack;
	return true;
}

static bool take_stack(struct arranger *a, const struct pd_bucket *bucket, size_t *index_out)
{
	const struct pd_bucket_key *key = &bucket->key;
	struct pd_stack stack = {
		.ip = number_of(a, key->ip),
		.caller_count = key->caller_count,
		.cut = key->cut,
		.damaged = key->damaged,
	};

	if (!PD_GROW(a->callers, a->caller_capacity, key->caller_count + (size_t)1))
		return false;
	for (size_t i = 0; i < key->caller_count; i++)
		a->callers[i] = number_of(a, bucket->callers[i]);
	stack.callers = a->callers;
	return stack_once(a, &stack, index_out);
}

// ---- entries ----

static bool arrange_bucket(struct arranger *a, const struct pd_bucket *bucket, struct pd_profile_entry *entry)
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
	return take_stack(a, bucket, &entry->stack) && name_entry(a, entry, owner);
}

static bool arrange(struct arranger *a)
{
	struct pd_profile *profile = a->profile;

	profile->entries = pd_alloc((a->from->bucket_count + 1) * sizeof(*profile->entries));
	profile->frames = pd_alloc((a->from->frames.count + 1) * sizeof(*profile->frames));
	a->numbers = pd_alloc((a->from->frames.count + 1) * sizeof(*a->numbers));
	if (!profile->entries || !profile->frames || !a->numbers || !sort_buckets(a))
		return false;
	for (size_t i = 0; i < a->from->bucket_count; i++) {
		if (!arrange_bucket(a, a->buckets[i], &profile->entries[i]))
			return false;
		profile->entry_count++;
	}
	return true;
}

enum pd_status pd_profile_arrange(struct pd_profile *profile, struct pd_error *error)
{
	struct arranger a = {.profile = profile, .from = &profile->collector};
	bool done = arrange(&a);

	pd_free(a.buckets);
	pd_free(a.numbers);
	pd_free(a.texts);
	pd_free(a.callers);
	pd_index_fini(&a.stacks);
	pd_index_fini(&a.names);
	return done ? PD_OK : pd_fail_memory(error);
}
