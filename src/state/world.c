/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/lookup/search.h"
#include "state/world.h"

#define DEFAULT_LIMIT (UINT64_C(4) << 30)

enum pd_status pd_world_new(const struct pd_world_options *options, struct pd_world **world_out, struct pd_error *error)
{
	struct pd_world *world = pd_alloc(sizeof(*world));

	if (!world)
		return pd_fail_memory(error);
	world->limit = DEFAULT_LIMIT;
	if (options && options->size >= offsetof(struct pd_world_options, memory_limit) + sizeof(uint64_t) &&
	    options->memory_limit)
		world->limit = options->memory_limit;
	// not to be foreseen by who made the file: where memory is, and when
	world->seed = (uint64_t)(uintptr_t)world * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)clock() ^
		      (uint64_t)time(NULL);
	*world_out = world;
	return PD_OK;
}

void pd_world_unsettle(struct pd_world *world)
{
	world->finalized = false;
	pd_arena_fini(&world->pool.arena);
	pd_index_fini(&world->tid_index);
	pd_index_fini(&world->kernel_index);
	world->intervals = (struct pd_intervals){ 0 };
	world->tid_count = world->thread_count = world->kernel_count = world->finalized_bpf_count = 0;
}

void pd_world_free(struct pd_world *world)
{
	if (!world)
		return;
	pd_world_unsettle(world);
	pd_index_fini(&world->text_index);
	pd_index_fini(&world->object_index);
	pd_index_fini(&world->cgroup_index);
	pd_free(world->texts);
	pd_free(world->objects);
	pd_free(world->mappings);
	pd_free(world->tasks);
	pd_free(world->order);
	pd_free(world->bpf);
	pd_free(world->code);
	pd_free(world->cgroups);
	pd_free(world->build_ids);
	pd_arena_fini(&world->kept);
	pd_free(world);
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

static bool finalize_bpf(struct pd_world *world)
{
	struct pd_bpf *last = NULL;
	size_t count = 0;

	if (!PD_POOL_ARRAY(&world->pool, world->bpfs, world->bpf_count))
		return false;
	if (world->bpf_count)
		qsort(world->bpf, world->bpf_count, sizeof(*world->bpf), compare_bpf);
	for (size_t i = 0; i < world->bpf_count; i++) {
		const struct pd_bpf_change *change = &world->bpf[i];

		if (last && last->id == change->id && last->until.time_ns == PD_NEVER)
			last->until = change->when;
		if (change->unload && last && last->id == change->id)
			continue;
		last = &world->bpfs[count++];
		*last = (struct pd_bpf){ .id = change->id, .until = { PD_NEVER, UINT64_MAX } };
		memcpy(last->tag, change->tag, sizeof(last->tag));
		// one that goes without having come was always there
		if (change->unload)
			last->until = change->when;
		else
			last->from = change->when;
	}
	world->finalized_bpf_count = count;
	return true;
}

static bool sort_order(struct pd_world *world, struct pd_pool *temp)
{
	struct pd_order_item *spare;

	if (!PD_POOL_ARRAY(temp, spare, world->order_count))
		return false;
	if (pd_order_sort(world->order, spare, world->order_count))
		memcpy(world->order, spare, world->order_count * sizeof(*spare));
	if (world->code_count)
		qsort(world->code, world->code_count, sizeof(*world->code), compare_code);
	return true;
}

enum pd_status pd_world_finalize(struct pd_world *world, struct pd_error *error)
{
	uint64_t fed = world->fed_bytes + world->kept.used;
	uint64_t left = fed < world->limit ? world->limit - fed : 1;
	struct pd_pool temp = { .arena = { .limit = (size_t)(left / 2 + 1) } };
	bool done;

	pd_world_unsettle(world);
	world->pool = (struct pd_pool){ .arena = { .limit = (size_t)(left / 2 + 1) } };
	done = sort_order(world, &temp) && pd_world_replay(world, &temp) &&
	       pd_intervals_build(&world->intervals, world->mappings, &world->pool, &temp) && finalize_bpf(world) &&
	       pd_world_name_objects(world);
	pd_arena_fini(&temp.arena);
	if (done) {
		world->finalized = true;
		return PD_OK;
	}
	done = temp.full || world->pool.full;
	pd_world_unsettle(world);
	if (!done)
		return pd_fail_memory(error);
	return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET,
		       "processes and mappings: more than %llu bytes would be needed",
		       (unsigned long long)world->limit);
}

// ---- lookups ----

uint32_t pd_world_tid(const struct pd_world *world, uint32_t tid)
{
	uint64_t hash = pd_hash_u64(world->seed, tid);
	size_t at = (uint32_t)hash;
	uint32_t number;

	do {
		number = pd_index_next(&world->tid_index, hash, &at);
	} while (number != PD_INDEX_END && world->tids[number].tid != tid);
	return number;
}

const struct pd_thread *pd_world_find_thread(const struct pd_world *world, uint32_t tid, struct pd_moment when)
{
	uint32_t first, end, number = pd_world_tid(world, tid);

	if (number == PD_INDEX_END)
		return NULL;
	first = world->tids[number].first;
	PD_SEARCH(end, first, world->tids[number + 1].first, i, !pd_moment_before(when, world->threads[i].begin));
	return end > first ? &world->threads[end - 1] : NULL;
}

const char *pd_world_comm(const struct pd_world *world, uint32_t tid, struct pd_moment when, char *unknown)
{
	const struct pd_thread *thread = pd_world_find_thread(world, tid, when);
	uint32_t first = 0, end = 0;

	if (thread) {
		first = world->parts[thread->index].names;
		PD_SEARCH(end, first, world->parts[thread->index + 1].names, i,
			  !pd_moment_before(when, world->names[i].from));
	}
	if (end > first)
		return world->names[end - 1].comm;
	if (unknown)
		snprintf(unknown, PD_THREAD_NAME_BYTES, ":%d", (int32_t)tid);
	return unknown;
}

struct pd_list pd_world_namespaces(const struct pd_world *world, uint32_t tid, struct pd_moment when)
{
	const struct pd_thread *thread = pd_world_find_thread(world, tid, when);
	uint32_t first = 0, end = 0;

	if (thread) {
		first = world->parts[thread->index].links;
		PD_SEARCH(end, first, world->parts[thread->index + 1].links, i,
			  !pd_moment_before(when, world->links[i].from));
	}
	return end > first ? world->links[end - 1].links : (struct pd_list){ .stride = sizeof(struct pd_namespace) };
}

static const struct pd_mapping *find_mapping(const struct pd_world *world, uint32_t space, struct pd_moment when,
					     uint64_t addr, struct pd_location *location)
{
	uint32_t map = pd_intervals_find(&world->intervals, world->mappings, space, when, addr, &location->begin,
					 &location->end);

	return map != PD_NONE && world->mappings[map].object ? &world->mappings[map] : NULL;
}

static void find_in_process(const struct pd_world *world, uint32_t pid, struct pd_moment when, uint64_t addr,
			    struct pd_location *location)
{
	const struct pd_thread *thread = pd_world_find_thread(world, pid, when);
	const struct pd_thread_space *spaces;
	uint32_t first, end, count;

	if (!thread)
		return;
	first = world->parts[thread->index].spaces;
	PD_SEARCH(end, first, world->parts[thread->index + 1].spaces, i,
		  !pd_moment_before(when, world->spaces[i].from));
	count = end - first;
	if (!count)
		return;
	spaces = &world->spaces[first];
	location->mapping = find_mapping(world, spaces[count - 1].space, when, addr, location);
	if (location->mapping || count == 1)
		return;
	location->mapping = find_mapping(world, spaces[count - 2].space, when, addr, location);
	location->before_exec = location->mapping != NULL;
}

static const struct pd_mapping *find_in_kernel(const struct pd_world *world, uint32_t machine, struct pd_moment when,
					       uint64_t addr, struct pd_location *location)
{
	uint32_t kernel = pd_world_kernel(world, world->kernels, machine);

	return kernel == PD_INDEX_END ? NULL : find_mapping(world, world->kernels[kernel].space, when, addr, location);
}

bool pd_world_locate(const struct pd_world *world, uint32_t pid, unsigned cpumode, struct pd_moment when, uint64_t addr,
		     struct pd_location *location_out)
{
	struct pd_location location = { .end = UINT64_MAX };

	if (world->finalized && (cpumode == PD_CPUMODE_USER || cpumode == PD_CPUMODE_UNKNOWN))
		find_in_process(world, pid, when, addr, &location);
	if (world->finalized && !location.mapping && (cpumode == PD_CPUMODE_KERNEL || cpumode == PD_CPUMODE_UNKNOWN)) {
		location.mapping = find_in_kernel(world, 0, when, addr, &location);
		location.ksymbol = find_mapping(world, world->ksymbol_space, when, addr, &location);
		location.mapping = location.mapping ? location.mapping : location.ksymbol;
	}
	if (world->finalized && cpumode == PD_CPUMODE_GUEST_KERNEL) {
		location.mapping = find_in_kernel(world, pid, when, addr, &location);
		if (!location.mapping)
			location.mapping = find_in_kernel(world, PD_GUEST_DEFAULT, when, addr, &location);
	}
	if (location.mapping) {
		location.object = location.mapping->object;
		location.offset =
			location.mapping->by_offset ? addr - location.mapping->start + location.mapping->pgoff : addr;
	}
	*location_out = location;
	return location.mapping;
}

bool pd_world_locate_copied(const struct pd_world *world, uint32_t pid, struct pd_moment when, uint64_t addr,
			    struct pd_location *location)
{
	const struct pd_mapping *copy = location->mapping;
	struct pd_location before, behind;

	if (!copy->anonymous || !copy->executable || !copy->start)
		return false;
	if (!pd_world_locate(world, pid, PD_CPUMODE_USER, when, copy->start - 1, &before) ||
	    !pd_world_locate(world, pid, PD_CPUMODE_USER, when, copy->end, &behind))
		return false;
	// pieces of one file, as far from each other as they are in it
	if (before.object != behind.object || before.object->kind != PD_OBJECT_FILE ||
	    before.before_exec != location->before_exec || behind.before_exec != location->before_exec ||
	    behind.offset - before.offset != copy->end - copy->start + 1)
		return false;
	before.offset += addr - copy->start + 1;
	before.begin = location->begin;
	before.end = location->end;
	*location = before;
	return true;
}

const char *pd_world_cgroup(const struct pd_world *world, uint64_t id)
{
	uint64_t hash = pd_hash_u64(world->seed, id);
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&world->cgroup_index, hash, &at)) != PD_INDEX_END;) {
		if (world->cgroups[i].id == id)
			return world->cgroups[i].path;
	}
	return NULL;
}

// Whether one sorts up to this id and moment: by id, then by the moment from which on it was there.
static bool is_bpf_until(const struct pd_bpf *bpf, uint32_t id, struct pd_moment when)
{
	return bpf->id < id || (bpf->id == id && !pd_moment_before(when, bpf->from));
}

const struct pd_bpf *pd_world_bpf(const struct pd_world *world, uint32_t id, struct pd_moment when)
{
	size_t low;

	PD_SEARCH(low, 0, world->finalized_bpf_count, i, is_bpf_until(&world->bpfs[i], id, when));
	if (!low || world->bpfs[low - 1].id != id || !pd_moment_before(when, world->bpfs[low - 1].until))
		return NULL;
	return &world->bpfs[low - 1];
}

// ---- everything ----

const struct pd_thread *pd_world_thread(const struct pd_world *world, size_t index)
{
	return index < world->thread_count ? &world->threads[index] : NULL;
}

struct pd_list pd_world_thread_names(const struct pd_world *world, const struct pd_thread *thread)
{
	const struct pd_thread_parts *parts = &world->parts[thread->index];

	return (struct pd_list){ &world->names[parts[0].names], parts[1].names - parts[0].names,
				 sizeof(*world->names) };
}

const struct pd_object *pd_world_object(const struct pd_world *world, size_t index)
{
	return index < world->object_count ? &world->objects[index]->object : NULL;
}

const struct pd_mapping *pd_world_mapping(const struct pd_world *world, size_t index)
{
	return index < world->mapping_count ? &world->mappings[index] : NULL;
}

const struct pd_code_change *pd_world_code_change(const struct pd_world *world, size_t index)
{
	return index < world->code_count ? &world->code[index] : NULL;
}
