/* SPDX-License-Identifier: MIT */
/*
 * From buckets to what users see. Buckets are put in the order in which the file has them, so that nothing depends on
 * threads or on hashes; addresses become frames and chains become stacks, each once.
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
	struct pd_index frames, stacks, names;
	const char **texts; // of names
	size_t text_count, text_capacity;
	uint32_t *callers; // of the present stack
	size_t caller_capacity;
};

static int compare_buckets(const void *a, const void *b)
{
	const struct pd_bucket *x = *(struct pd_bucket *const *)a, *y = *(struct pd_bucket *const *)b;
	uint64_t x_event = x->key[PD_KEY_WHO] >> 32, y_event = y->key[PD_KEY_WHO] >> 32;

	if (x_event != y_event)
		return x_event < y_event ? -1 : 1;
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
	for (size_t i = 0; i < a->from->slot_count; i++)
		if (a->from->slots[i])
			a->buckets[count++] = a->from->slots[i];
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

// ---- frames ----

struct spot {
	uint64_t maps, addr;
	uint32_t pid;
	unsigned cpumode;
	struct pd_moment when;
};

static bool is_of_kernel(unsigned cpumode)
{
	return cpumode == PD_CPUMODE_KERNEL || cpumode == PD_CPUMODE_HYPERVISOR;
}

// UINT32_MAX if there is no memory.
static uint32_t add_frame(struct arranger *a, const struct spot *spot, uint64_t hash)
{
	struct pd_profile *profile = a->profile;

	if (profile->frame_count >= UINT32_MAX - 1 ||
	    !PD_GROW(profile->frames, profile->frame_capacity, profile->frame_count + 1) ||
	    !pd_index_add(&a->frames, hash, (uint32_t)profile->frame_count))
		return UINT32_MAX;
	profile->frames[profile->frame_count] = (struct pd_frame){
		// the maps stand here only while frames are looked for
		.place = {.addr = spot->maps, .recorded = spot->addr},
		.cpumode = spot->cpumode,
		.pid = spot->pid,
		.when = spot->when,
	};
	return (uint32_t)profile->frame_count++;
}

static uint32_t frame_of(struct arranger *a, struct spot spot)
{
	uint64_t words[3], hash;
	size_t at;

	// all processes see the same kernel
	if (is_of_kernel(spot.cpumode)) {
		spot.pid = 0;
		spot.maps = (uint32_t)spot.maps;
	}
	words[0] = spot.maps;
	words[1] = spot.addr;
	words[2] = (uint64_t)spot.pid << 8 | spot.cpumode;
	hash = pd_hash_words(a->from->seed, words, 3);
	at = (uint32_t)hash;
	for (uint32_t i; (i = pd_index_next(&a->frames, hash, &at)) != PD_INDEX_END;) {
		const struct pd_frame *frame = &a->profile->frames[i];

		if (frame->place.recorded == spot.addr && frame->place.addr == spot.maps && frame->pid == spot.pid &&
		    frame->cpumode == spot.cpumode)
			return i;
	}
	return add_frame(a, &spot, hash);
}

// ---- stacks ----

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

static bool has_extra(const struct arranger *a)
{
	return a->profile->options.by & PD_BY_EXTRA;
}

static size_t chain_count(const struct arranger *a, const struct pd_bucket *bucket)
{
	return bucket->count - PD_KEY_CHAIN - (has_extra(a) ? PD_EXTRA_COUNT : 0);
}

// Writes frames of a chain into a->callers. False if there is no memory.
static bool take_chain(struct arranger *a, const struct pd_bucket *bucket, struct spot spot, struct pd_stack *stack)
{
	const uint64_t *chain = bucket->key + PD_KEY_CHAIN;
	size_t count = chain_count(a, bucket);
	unsigned most = a->profile->options.max_stack;

	if (!PD_GROW(a->callers, a->caller_capacity, count + 1))
		return false;
	spot.cpumode = PD_CPUMODE_USER;
	for (size_t i = 0; i < count; i++) {
		if (chain[i] < PD_CONTEXT_MAX) {
			if (most && stack->caller_count >= most)
				break;
			spot.addr = chain[i];
			a->callers[stack->caller_count] = frame_of(a, spot);
			if (a->callers[stack->caller_count++] == UINT32_MAX)
				return false;
		} else if (chain[i] == (uint64_t)PD_CONTEXT_USER_DEFERRED) {
			break;
		} else if (!follow_marker(chain[i], &spot.cpumode)) {
			stack->damaged = true;
			stack->caller_count = 0;
			break;
		}
	}
	return true;
}

static bool is_cut(const struct arranger *a, const struct pd_bucket *bucket, const struct pd_event *event)
{
	enum { USUAL_MOST = 127 };
	size_t most = event->attr->sample_max_stack ? event->attr->sample_max_stack : USUAL_MOST, addresses = 0;

	for (size_t i = 0; i < chain_count(a, bucket); i++)
		addresses += bucket->key[PD_KEY_CHAIN + i] < PD_CONTEXT_MAX;
	return addresses >= most;
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
	uint64_t hash = pd_hash(a->from->seed ^ stack->ip, a->callers, stack->caller_count * sizeof(a->callers[0]));
	size_t at = (uint32_t)hash;

	stack->callers = a->callers;
	for (uint32_t i; (i = pd_index_next(&a->stacks, hash, &at)) != PD_INDEX_END;) {
		if (same_stack(&profile->stacks[i], stack)) {
			*index_out = i;
			return true;
		}
	}
	stack->callers = stack->caller_count ? pd_arena_copy(&profile->arena, a->callers,
							     stack->caller_count * sizeof(a->callers[0])) :
					       NULL;
	if ((stack->caller_count && !stack->callers) ||
	    !PD_GROW(profile->stacks, profile->stack_capacity, profile->stack_count + 1) ||
	    !pd_index_add(&a->stacks, hash, (uint32_t)profile->stack_count))
		return false;
	*index_out = profile->stack_count;
	profile->stacks[profile->stack_count++] = *stack;
	return true;
}

// ---- entries ----

static bool arrange_bucket(struct arranger *a, const struct pd_bucket *bucket, struct pd_profile_entry *entry)
{
	const struct pd_owner *owner = &a->from->owners[(uint32_t)bucket->key[PD_KEY_WHO]];
	const uint64_t *extra = has_extra(a) ? bucket->key + bucket->count - PD_EXTRA_COUNT : NULL;
	uint32_t by = a->profile->options.by;
	struct spot spot = {
		.maps = owner->maps,
		.addr = bucket->key[PD_KEY_IP],
		.pid = owner->maps_pid,
		.cpumode = bucket->key[PD_KEY_MODE] & 0xff,
		.when = bucket->first,
	};
	struct pd_stack stack = {0};

	*entry = (struct pd_profile_entry){
		.event = pd_file_event(a->profile->file, (size_t)(bucket->key[PD_KEY_WHO] >> 32)),
		.pid = owner->pid,
		.tid = by & PD_BY_TID ? owner->tid : UINT32_MAX,
		.cpu = (uint32_t)(bucket->key[PD_KEY_MODE] >> 8),
		.cgroup = extra ? extra[PD_EXTRA_CGROUP] : 0,
		.weight = extra ? extra[PD_EXTRA_WEIGHT] : 0,
		.slice_ns = extra ? extra[PD_EXTRA_SLICE] : 0,
		.samples = bucket->samples,
		.period = bucket->period,
		.weights = bucket->weights,
	};
	stack.ip = frame_of(a, spot);
	stack.cut = is_cut(a, bucket, entry->event);
	return stack.ip != UINT32_MAX && take_chain(a, bucket, spot, &stack) && stack_once(a, &stack, &entry->stack) &&
	       name_entry(a, entry, owner);
}

static bool arrange(struct arranger *a)
{
	struct pd_profile *profile = a->profile;

	profile->entries = pd_alloc((a->from->bucket_count + 1) * sizeof(*profile->entries));
	if (!profile->entries || !sort_buckets(a))
		return false;
	for (size_t i = 0; i < a->from->bucket_count; i++) {
		if (!arrange_bucket(a, a->buckets[i], &profile->entries[i]))
			return false;
		profile->entry_count++;
	}
	for (size_t i = 0; i < profile->frame_count; i++)
		profile->frames[i].place.addr = profile->frames[i].place.recorded;
	return true;
}

enum pd_status pd_profile_arrange(struct pd_profile *profile, struct pd_error *error)
{
	struct arranger a = {.profile = profile, .from = &profile->collector};
	bool done = arrange(&a);

	pd_free(a.buckets);
	pd_free(a.texts);
	pd_free(a.callers);
	pd_index_fini(&a.frames);
	pd_index_fini(&a.stacks);
	pd_index_fini(&a.names);
	return done ? PD_OK : pd_fail_memory(error);
}
