/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/lookup/search.h"
#include "state/locate.h"
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
	pd_free(state->views.views);
	pd_free((void *)(uintptr_t)state->views.by_map);
	state->views = (struct pd_map_views){ 0 };
	state->address_spaces = (struct pd_spaces){ 0 };
	state->thread_count = state->kernel_count = state->finalized_bpf_count = 0;
}

void pd_state_free(struct pd_state *state)
{
	if (!state)
		return;
	pd_state_drop_finalized(state);
	pd_index_fini(&state->text_index);
	pd_index_fini(&state->object_index);
	pd_index_fini(&state->cgroup_index);
	pd_index_fini(&state->deferred_index);
	pd_free(state->texts);
	pd_free(state->objects);
	pd_index_fini(&state->maps.kind_index);
	pd_free(state->maps.maps.blocks);
	pd_free(state->maps.kinds);
	pd_free(state->maps.owners);
	pd_known_maps_fini(&state->known);
	pd_free(state->tasks.blocks);
	pd_free(state->namespaces);
	pd_free(state->bpf);
	pd_free(state->code);
	pd_free(state->cgroups);
	pd_free(state->deferred);
	pd_free(state->build_ids);
	pd_arena_fini(&state->chains);
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

struct pd_state_sizes pd_state_measure(const struct pd_state *state)
{
	return (struct pd_state_sizes){
		.fed_count = state->maps.maps.count + state->tasks.count,
		.fed_bytes = state->fed_bytes + state->kept.used + state->known.arena.used,
		.space_count = state->address_spaces.count,
		.finalized_bytes = state->pool.arena.used + state->views.count * sizeof(*state->views.views),
	};
}

enum pd_status pd_state_finalize(struct pd_state *state, struct pd_error *error)
{
	uint64_t fed = pd_state_measure(state).fed_bytes;
	uint64_t left = fed < state->limit ? state->limit - fed : 1;
	struct pd_pool temp = { .arena = { .limit = (size_t)(left / 2 + 1) } };
	bool done;

	pd_state_drop_finalized(state);
	state->pool = (struct pd_pool){ .arena = { .limit = (size_t)(left / 2 + 1) } };
	if (state->code_count)
		qsort(state->code, state->code_count, sizeof(*state->code), compare_code);
	done = pd_state_replay(state, &temp) &&
	       pd_spaces_build(&state->address_spaces, &state->maps, &state->pool, &temp) && finalize_bpf(state) &&
	       pd_state_name_objects(state) && pd_state_make_views(state);
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
	PD_SEARCH(end, first, first + state->tids[number].count, i, !pd_moment_before(when, state->threads[i].begin));
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

// The number of a mapping, or PD_NONE.
static uint32_t find_map(const struct pd_state *state, uint32_t space, struct pd_moment when, uint64_t addr,
			 struct pd_found_map *found)
{
	uint32_t map =
		pd_spaces_find(&state->address_spaces, &state->maps, space, when, addr, &found->begin, &found->end);

	return map != PD_NONE && pd_map_kind_at(&state->maps, map)->object ? map : PD_NONE;
}

static void find_in_process(const struct pd_state *state, uint32_t pid, struct pd_moment when, uint64_t addr,
			    struct pd_found_map *found)
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
	found->map = find_map(state, spaces[count - 1].space, when, addr, found);
	if (found->map != PD_NONE || count == 1)
		return;
	found->map = find_map(state, spaces[count - 2].space, when, addr, found);
	found->before_exec = found->map != PD_NONE;
}

static uint32_t find_in_kernel(const struct pd_state *state, uint32_t machine, struct pd_moment when, uint64_t addr,
			       struct pd_found_map *found)
{
	uint32_t kernel = pd_state_kernel(state, state->kernels, machine);

	return kernel == PD_INDEX_END ? PD_NONE : find_map(state, state->kernels[kernel].space, when, addr, found);
}

bool pd_state_find_map(const struct pd_state *state, uint32_t pid, unsigned cpumode, struct pd_moment when,
		       uint64_t addr, struct pd_found_map *found_out)
{
	struct pd_found_map found = { .end = UINT64_MAX, .map = PD_NONE, .ksymbol = PD_NONE };

	if (state->finalized && (cpumode == PD_CPUMODE_USER || cpumode == PD_CPUMODE_UNKNOWN))
		find_in_process(state, pid, when, addr, &found);
	if (state->finalized && found.map == PD_NONE &&
	    (cpumode == PD_CPUMODE_KERNEL || cpumode == PD_CPUMODE_UNKNOWN)) {
		found.map = find_in_kernel(state, 0, when, addr, &found);
		found.ksymbol = find_map(state, state->ksymbol_space, when, addr, &found);
		found.map = found.map != PD_NONE ? found.map : found.ksymbol;
	}
	if (state->finalized && cpumode == PD_CPUMODE_GUEST_KERNEL) {
		found.map = find_in_kernel(state, pid, when, addr, &found);
		if (found.map == PD_NONE)
			found.map = find_in_kernel(state, PD_GUEST_DEFAULT, when, addr, &found);
	}
	*found_out = found;
	return found.map != PD_NONE;
}

uint64_t pd_state_map_offset(const struct pd_state *state, const struct pd_found_map *found, uint64_t addr)
{
	const struct pd_map *map = pd_map_at(&state->maps, found->map);
	const struct pd_map_kind *kind = &state->maps.kinds[map->kind];

	return kind->by_offset ? addr - map->start + kind->pgoff : addr;
}

const struct pd_map_kind *pd_state_map_kind_of(const struct pd_state *state, uint32_t map)
{
	return map < state->maps.maps.count ? pd_map_kind_at(&state->maps, map) : NULL;
}

bool pd_state_found(const struct pd_state *state, const struct pd_found_map *found, uint64_t addr,
		    struct pd_location *location_out)
{
	struct pd_location location = { .begin = found->begin, .end = found->end };

	if (found->map != PD_NONE) {
		location.mapping = pd_state_map_view(state, found->map);
		location.object = location.mapping->object;
		location.offset = pd_state_map_offset(state, found, addr);
		location.before_exec = found->before_exec;
		if (found->ksymbol != PD_NONE)
			location.ksymbol = pd_state_map_view(state, found->ksymbol);
	}
	*location_out = location;
	return location.mapping;
}

bool pd_state_locate(const struct pd_state *state, uint32_t pid, unsigned cpumode, struct pd_moment when, uint64_t addr,
		     struct pd_location *location_out)
{
	struct pd_found_map found;

	pd_state_find_map(state, pid, cpumode, when, addr, &found);
	return pd_state_found(state, &found, addr, location_out);
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
	return index < state->maps.maps.count ? pd_state_map_view(state, (uint32_t)index) : NULL;
}

bool pd_state_get_mapping(const struct pd_state *state, size_t index, struct pd_mapping *mapping_out)
{
	if (index >= state->maps.maps.count)
		return false;
	pd_map_fill(&state->maps, index, mapping_out);
	return true;
}

const struct pd_code_change *pd_state_code_change(const struct pd_state *state, size_t index)
{
	return index < state->code_count ? &state->code[index] : NULL;
}
