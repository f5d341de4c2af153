/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/lookup/search.h"
#include "state/state.h"

#define DEFAULT_LIMIT (UINT64_C(4) << 30)

enum pd_status pd_state_new(const struct pd_state_options *options, struct pd_state **state_out, struct pd_error *error)
{
	struct pd_state *state = pd_alloc(sizeof(*state));

	if (!state)
		return pd_fail_memory(error);
	state->limit = DEFAULT_LIMIT;
	if (options && options->size >= offsetof(struct pd_state_options, memory_limit) + sizeof(uint64_t) &&
	    options->memory_limit)
		state->limit = options->memory_limit;
	state->seed = pd_hash_secret();
	*state_out = state;
	return PD_OK;
}

void pd_state_drop_finalized(struct pd_state *state)
{
	state->finalized = false;
	pd_arena_fini(&state->pool.arena);
	pd_index_fini(&state->tid_index);
	pd_index_fini(&state->kernel_index);
	state->intervals = (struct pd_intervals){ 0 };
	state->tid_count = state->thread_count = state->kernel_count = state->finalized_bpf_count = 0;
}

void pd_state_free(struct pd_state *state)
{
	if (!state)
		return;
	pd_state_drop_finalized(state);
	pd_index_fini(&state->text_index);
	pd_index_fini(&state->object_index);
	pd_index_fini(&state->cgroup_index);
	pd_free(state->texts);
	pd_free(state->objects);
	pd_free(state->mappings);
	pd_free(state->tasks);
	pd_free(state->order);
	pd_free(state->bpf);
	pd_free(state->code);
	pd_free(state->cgroups);
	pd_free(state->build_ids);
	pd_arena_fini(&state->kept);
	pd_free(state);
}

// ---- settling ----

static int compare_moments(struct pd_moment a, struct pd_moment b)
{
	return pd_moment_before(a, b) ? -1 : pd_moment_before(b, a);
}

static int compare_code(const void *a, const void *b)
{
	return compare_moments(((const struct pd_code_change *)a)->when, ((const struct pd_code_change *)b)->when);
}

static int compare_bpf(const void *a, const void *b)
{
	const struct pd_bpf_change *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return compare_moments(x->when, y->when);
}

static bool finalize_bpf(struct pd_state *state)
{
	struct pd_bpf *last = NULL;
	size_t count = 0;

	if (!PD_POOL_ARRAY(&state->pool, state->bpfs, state->bpf_count))
		return false;
	if (state->bpf_count)
		qsort(state->bpf, state->bpf_count, sizeof(*state->bpf), compare_bpf);
	for (size_t i = 0; i < state->bpf_count; i++) {
		const struct pd_bpf_change *change = &state->bpf[i];

		if (last && last->id == change->id && last->until.time_ns == PD_NEVER)
			last->until = change->when;
		if (change->unload && last && last->id == change->id)
			continue;
		last = &state->bpfs[count++];
		*last = (struct pd_bpf){ .id = change->id, .until = { PD_NEVER, UINT64_MAX } };
		memcpy(last->tag, change->tag, sizeof(last->tag));
		// one that goes without having come was always there
		if (change->unload)
			last->until = change->when;
		else
			last->from = change->when;
	}
	state->finalized_bpf_count = count;
	return true;
}

static bool sort_order(struct pd_state *state, struct pd_pool *temp)
{
	struct pd_order_item *spare;

	if (!pd_order_is_sorted(state->order, state->order_count)) {
		if (!PD_POOL_ARRAY(temp, spare, state->order_count))
			return false;
		if (pd_order_sort(state->order, spare, state->order_count))
			memcpy(state->order, spare, state->order_count * sizeof(*spare));
	}
	if (state->code_count)
		qsort(state->code, state->code_count, sizeof(*state->code), compare_code);
	return true;
}

void pd_state_memory(const struct pd_state *state, uint64_t *fed_out, uint64_t *finalized_out)
{
	*fed_out = state->fed_bytes + state->kept.used;
	*finalized_out = state->pool.arena.used;
}

enum pd_status pd_state_finalize(struct pd_state *state, struct pd_error *error)
{
	uint64_t fed = state->fed_bytes + state->kept.used;
	uint64_t left = fed < state->limit ? state->limit - fed : 1;
	struct pd_pool temp = { .arena = { .limit = (size_t)(left / 2 + 1) } };
	bool done;

	pd_state_drop_finalized(state);
	state->pool = (struct pd_pool){ .arena = { .limit = (size_t)(left / 2 + 1) } };
	done = sort_order(state, &temp) && pd_state_replay(state, &temp) &&
	       pd_intervals_build(&state->intervals, state->mappings, &state->pool, &temp) && finalize_bpf(state) &&
	       pd_state_name_objects(state);
	pd_arena_fini(&temp.arena);
	if (done) {
		state->finalized = true;
		return PD_OK;
	}
	done = temp.full || state->pool.full;
	pd_state_drop_finalized(state);
	if (!done)
		return pd_fail_memory(error);
	return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET,
		       "processes and mappings: more than %llu bytes would be needed",
		       (unsigned long long)state->limit);
}

// ---- lookups ----

uint32_t pd_state_tid(const struct pd_state *state, uint32_t tid)
{
	uint64_t hash = pd_hash_u64(state->seed, tid);
	size_t at = (uint32_t)hash;
	uint32_t number;

	do {
		number = pd_index_next(&state->tid_index, hash, &at);
	} while (number != PD_INDEX_END && state->tids[number].tid != tid);
	return number;
}

const struct pd_thread *pd_state_find_thread(const struct pd_state *state, uint32_t tid, struct pd_moment when)
{
	uint32_t first, end, number = pd_state_tid(state, tid);

	if (number == PD_INDEX_END)
		return NULL;
	first = state->tids[number].first;
	PD_SEARCH(end, first, state->tids[number + 1].first, i, !pd_moment_before(when, state->threads[i].begin));
	return end > first ? &state->threads[end - 1] : NULL;
}

const char *pd_state_comm(const struct pd_state *state, uint32_t tid, struct pd_moment when, char *unknown)
{
	const struct pd_thread *thread = pd_state_find_thread(state, tid, when);
	uint32_t first = 0, end = 0;

	if (thread) {
		first = state->parts[thread->index].names;
		PD_SEARCH(end, first, state->parts[thread->index + 1].names, i,
			  !pd_moment_before(when, state->names[i].from));
	}
	if (end > first)
		return state->names[end - 1].comm;
	if (unknown)
		snprintf(unknown, PD_THREAD_NAME_BYTES, ":%d", (int32_t)tid);
	return unknown;
}

struct pd_list pd_state_namespaces(const struct pd_state *state, uint32_t tid, struct pd_moment when)
{
	const struct pd_thread *thread = pd_state_find_thread(state, tid, when);
	uint32_t first = 0, end = 0;

	if (thread) {
		first = state->parts[thread->index].links;
		PD_SEARCH(end, first, state->parts[thread->index + 1].links, i,
			  !pd_moment_before(when, state->links[i].from));
	}
	return end > first ? state->links[end - 1].links : (struct pd_list){ .stride = sizeof(struct pd_namespace) };
}

static const struct pd_mapping *find_mapping(const struct pd_state *state, uint32_t space, struct pd_moment when,
					     uint64_t addr, struct pd_location *location)
{
	uint32_t map = pd_intervals_find(&state->intervals, state->mappings, space, when, addr, &location->begin,
					 &location->end);

	return map != PD_NONE && state->mappings[map].object ? &state->mappings[map] : NULL;
}

static void find_in_process(const struct pd_state *state, uint32_t pid, struct pd_moment when, uint64_t addr,
			    struct pd_location *location)
{
	const struct pd_thread *thread = pd_state_find_thread(state, pid, when);
	const struct pd_thread_space *spaces;
	uint32_t first, end, count;

	if (!thread)
		return;
	first = state->parts[thread->index].spaces;
	PD_SEARCH(end, first, state->parts[thread->index + 1].spaces, i,
		  !pd_moment_before(when, state->spaces[i].from));
	count = end - first;
	if (!count)
		return;
	spaces = &state->spaces[first];
	location->mapping = find_mapping(state, spaces[count - 1].space, when, addr, location);
	if (location->mapping || count == 1)
		return;
	location->mapping = find_mapping(state, spaces[count - 2].space, when, addr, location);
	location->before_exec = location->mapping != NULL;
}

static const struct pd_mapping *find_in_kernel(const struct pd_state *state, uint32_t machine, struct pd_moment when,
					       uint64_t addr, struct pd_location *location)
{
	uint32_t kernel = pd_state_kernel(state, state->kernels, machine);

	return kernel == PD_INDEX_END ? NULL : find_mapping(state, state->kernels[kernel].space, when, addr, location);
}

bool pd_state_locate(const struct pd_state *state, uint32_t pid, unsigned cpumode, struct pd_moment when, uint64_t addr,
		     struct pd_location *location_out)
{
	struct pd_location location = { .end = UINT64_MAX };

	if (state->finalized && (cpumode == PD_CPUMODE_USER || cpumode == PD_CPUMODE_UNKNOWN))
		find_in_process(state, pid, when, addr, &location);
	if (state->finalized && !location.mapping && (cpumode == PD_CPUMODE_KERNEL || cpumode == PD_CPUMODE_UNKNOWN)) {
		location.mapping = find_in_kernel(state, 0, when, addr, &location);
		location.ksymbol = find_mapping(state, state->ksymbol_space, when, addr, &location);
		location.mapping = location.mapping ? location.mapping : location.ksymbol;
	}
	if (state->finalized && cpumode == PD_CPUMODE_GUEST_KERNEL) {
		location.mapping = find_in_kernel(state, pid, when, addr, &location);
		if (!location.mapping)
			location.mapping = find_in_kernel(state, PD_GUEST_DEFAULT, when, addr, &location);
	}
	if (location.mapping) {
		location.object = location.mapping->object;
		location.offset =
			location.mapping->by_offset ? addr - location.mapping->start + location.mapping->pgoff : addr;
	}
	*location_out = location;
	return location.mapping;
}

bool pd_state_locate_copied(const struct pd_state *state, uint32_t pid, struct pd_moment when, uint64_t addr,
			    struct pd_location *location)
{
	const struct pd_mapping *copy = location->mapping;
	struct pd_location before, after;

	if (!copy->anonymous || !copy->executable || !copy->start)
		return false;
	if (!pd_state_locate(state, pid, PD_CPUMODE_USER, when, copy->start - 1, &before) ||
	    !pd_state_locate(state, pid, PD_CPUMODE_USER, when, copy->end, &after))
		return false;
	// pieces of one file, as far from each other as they are in it
	if (before.object != after.object || before.object->kind != PD_OBJECT_FILE ||
	    before.before_exec != location->before_exec || after.before_exec != location->before_exec ||
	    after.offset - before.offset != copy->end - copy->start + 1)
		return false;
	before.offset += addr - copy->start + 1;
	before.begin = location->begin;
	before.end = location->end;
	*location = before;
	return true;
}

const char *pd_state_cgroup(const struct pd_state *state, uint64_t id)
{
	uint64_t hash = pd_hash_u64(state->seed, id);
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&state->cgroup_index, hash, &at)) != PD_INDEX_END;) {
		if (state->cgroups[i].id == id)
			return state->cgroups[i].path;
	}
	return NULL;
}

// Whether one sorts up to this id and moment: by id, then by the moment from which on it was there.
static bool is_bpf_until(const struct pd_bpf *bpf, uint32_t id, struct pd_moment when)
{
	return bpf->id < id || (bpf->id == id && !pd_moment_before(when, bpf->from));
}

const struct pd_bpf *pd_state_bpf(const struct pd_state *state, uint32_t id, struct pd_moment when)
{
	size_t low;

	PD_SEARCH(low, 0, state->finalized_bpf_count, i, is_bpf_until(&state->bpfs[i], id, when));
	if (!low || state->bpfs[low - 1].id != id || !pd_moment_before(when, state->bpfs[low - 1].until))
		return NULL;
	return &state->bpfs[low - 1];
}

// ---- everything ----

const struct pd_thread *pd_state_thread(const struct pd_state *state, size_t index)
{
	return index < state->thread_count ? &state->threads[index] : NULL;
}

struct pd_list pd_state_thread_names(const struct pd_state *state, const struct pd_thread *thread)
{
	const struct pd_thread_parts *parts = &state->parts[thread->index];

	return (struct pd_list){ &state->names[parts[0].names], parts[1].names - parts[0].names,
				 sizeof(*state->names) };
}

const struct pd_object *pd_state_object(const struct pd_state *state, size_t index)
{
	return index < state->object_count ? &state->objects[index]->object : NULL;
}

const struct pd_mapping *pd_state_mapping(const struct pd_state *state, size_t index)
{
	return index < state->mapping_count ? &state->mappings[index] : NULL;
}

const struct pd_code_change *pd_state_code_change(const struct pd_state *state, size_t index)
{
	return index < state->code_count ? &state->code[index] : NULL;
}
