/* SPDX-License-Identifier: MIT */
/*
 * Going through all changes in the order of time: who lives, by what name, in which address space. What is
 * found belongs to lives in the order of their beginning; at the end all is put together by thread.
 */
#include <stdlib.h>
#include <string.h>

#include "state/state.h"

struct life {
	struct pd_thread thread;
	uint32_t number;  // index in numbers
	const char *comm; // the present one, or NULL
	uint32_t space;   // the present one; PD_NONE for threads that do not lead
};

// A thread number and who has it now.
struct number {
	uint32_t tid;
	uint32_t life;
};

struct owned_name {
	uint32_t life;
	struct pd_thread_name name;
};

struct owned_links {
	uint32_t life;
	struct pd_thread_links links;
};

struct owned_space {
	uint32_t life;
	struct pd_thread_space space;
};

struct replay {
	struct pd_state *state;
	struct pd_pool *temp;
	struct pd_index index; // of numbers
	struct number *numbers;
	size_t number_count, number_capacity;
	struct life *lives;
	size_t life_count, life_capacity;
	struct owned_name *names;
	size_t name_count, name_capacity;
	struct owned_links *links;
	size_t link_count, link_capacity;
	struct owned_space *life_spaces;
	size_t life_space_count, life_space_capacity;
	struct pd_intervals_space *spaces;
	size_t space_count, space_capacity;
	struct pd_kernel_space *kernels;
	size_t kernel_count, kernel_capacity;
	uint32_t ksymbol_space;
	uint32_t *map_spaces; // by mapping
};

#define MORE(r, items, item) \
	pd_pool_grow((r)->temp, (void **)&(r)->items, &(r)->item##_capacity, (r)->item##_count + 1, sizeof(*(r)->items))

// ---- lives ----

// PD_NONE if there is no memory.
static uint32_t number_of(struct replay *r, uint32_t tid)
{
	uint64_t hash = pd_hash_u64(r->state->seed, tid);
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&r->index, hash, &at)) != PD_INDEX_END;) {
		if (r->numbers[i].tid == tid)
			return i;
	}
	if (!MORE(r, numbers, number) || !pd_index_add(&r->index, hash, (uint32_t)r->number_count))
		return PD_NONE;
	r->numbers[r->number_count] = (struct number){ tid, PD_NONE };
	return (uint32_t)r->number_count++;
}

static uint32_t add_space(struct replay *r, uint32_t parent)
{
	if (!MORE(r, spaces, space))
		return PD_NONE;
	r->spaces[r->space_count] =
		(struct pd_intervals_space){ .parent = parent,
					     .parent_changes = parent == PD_NONE ? 0 : r->spaces[parent].count };
	return (uint32_t)r->space_count++;
}

// Gives a life a new space: empty, or what the parent has now.
static bool enter_space(struct replay *r, uint32_t life, uint32_t parent, struct pd_moment when)
{
	uint32_t space = add_space(r, parent);

	if (space == PD_NONE || !MORE(r, life_spaces, life_space))
		return false;
	r->life_spaces[r->life_space_count++] = (struct owned_space){ life, { when, space } };
	r->lives[life].space = space;
	return true;
}

static bool name_life(struct replay *r, uint32_t life, const char *comm, bool exec, struct pd_moment when)
{
	if (!MORE(r, names, name))
		return false;
	r->names[r->name_count++] = (struct owned_name){ life, { comm, when, exec } };
	r->lives[life].comm = comm;
	return true;
}

// Who leads gets a space with what the one of the parent has; PD_NONE for an empty one.
static uint32_t begin_life(struct replay *r, uint32_t number, uint32_t pid, uint32_t space, struct pd_moment when)
{
	uint32_t tid = r->numbers[number].tid, life = (uint32_t)r->life_count;

	if (!MORE(r, lives, life))
		return PD_NONE;
	r->lives[r->life_count++] = (struct life){
		.thread = { .pid = pid,
			    .tid = tid,
			    .ppid = UINT32_MAX,
			    .ptid = UINT32_MAX,
			    .begin = when,
			    .end = { PD_NEVER, UINT64_MAX } },
		.number = number,
		.space = PD_NONE,
	};
	r->numbers[number].life = life;
	return pid != tid || enter_space(r, life, space, when) ? life : PD_NONE;
}

// Who has this number now. One that was not mentioned before was always there; one that is suddenly of
// another process is somebody else, whose fork was lost.
static uint32_t life_of(struct replay *r, uint32_t pid, uint32_t tid, struct pd_moment when)
{
	uint32_t number = number_of(r, tid);
	uint32_t life;

	if (number == PD_NONE)
		return PD_NONE;
	life = r->numbers[number].life;
	if (life == PD_NONE)
		return begin_life(r, number, pid, PD_NONE, (struct pd_moment){ 0, 0 });
	if (r->lives[life].thread.pid != pid)
		return begin_life(r, number, pid, PD_NONE, when);
	return life;
}

// ---- changes ----

static bool do_fork(struct replay *r, const struct pd_task_change *change, struct pd_moment when)
{
	uint32_t parent = life_of(r, change->ppid, change->ptid, when);
	uint32_t number = number_of(r, change->tid);
	uint32_t leader, life, space = PD_NONE;
	const char *comm;

	if (parent == PD_NONE || number == PD_NONE)
		return false;
	comm = r->lives[parent].comm;
	if (change->pid == change->tid && change->pid != change->ppid && !change->exec) {
		leader = life_of(r, change->ppid, change->ppid, when);
		if (leader == PD_NONE)
			return false;
		space = r->lives[leader].space;
	}
	life = begin_life(r, number, change->pid, space, when);
	if (life == PD_NONE)
		return false;
	r->lives[life].thread.ppid = change->ppid;
	r->lives[life].thread.ptid = change->ptid;
	if (comm && !name_life(r, life, comm, false, when))
		return false;
	// a thread needs the one that leads
	return change->pid == change->tid || life_of(r, change->pid, change->pid, when) != PD_NONE;
}

static bool do_name(struct replay *r, const struct pd_task_change *change, struct pd_moment when)
{
	uint32_t life = life_of(r, change->pid, change->tid, when);
	uint32_t leader;

	if (life == PD_NONE || !name_life(r, life, change->text, change->exec, when))
		return false;
	if (!change->exec)
		return true;
	leader = life_of(r, change->pid, change->pid, when);
	return leader != PD_NONE && enter_space(r, leader, PD_NONE, when);
}

static bool do_exit(struct replay *r, const struct pd_task_change *change, struct pd_moment when)
{
	uint32_t life = life_of(r, change->pid, change->tid, when);

	if (life == PD_NONE)
		return false;
	r->lives[life].thread.end = when;
	return true;
}

static bool do_namespaces(struct replay *r, const struct pd_task_change *change, struct pd_moment when)
{
	uint32_t life = life_of(r, change->pid, change->tid, when);

	if (life == PD_NONE || !MORE(r, links, link))
		return false;
	r->links[r->link_count++] = (struct owned_links){ life, { when, change->links } };
	return true;
}

uint32_t pd_state_kernel(const struct pd_state *state, const struct pd_kernel_space *kernels, uint32_t machine)
{
	uint64_t hash = pd_hash_u64(state->seed, machine);
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&state->kernel_index, hash, &at)) != PD_INDEX_END;) {
		if (kernels[i].machine == machine)
			return i;
	}
	return PD_INDEX_END;
}

static uint32_t kernel_space(struct replay *r, uint32_t machine)
{
	uint32_t kernel = pd_state_kernel(r->state, r->kernels, machine);
	uint32_t space;

	if (kernel != PD_INDEX_END)
		return r->kernels[kernel].space;
	space = add_space(r, PD_NONE);
	if (space == PD_NONE || !MORE(r, kernels, kernel) ||
	    !pd_index_add(&r->state->kernel_index, pd_hash_u64(r->state->seed, machine), (uint32_t)r->kernel_count))
		return PD_NONE;
	r->kernels[r->kernel_count++] = (struct pd_kernel_space){ machine, space };
	return space;
}

static uint32_t space_of(struct replay *r, const struct pd_mapping *mapping)
{
	const struct pd_object *object = mapping->object;
	uint32_t leader;

	if (!object || object->kind == PD_OBJECT_KSYMBOL)
		return r->ksymbol_space;
	if (object->kind == PD_OBJECT_KERNEL || object->kind == PD_OBJECT_MODULE)
		return kernel_space(r, object->machine);
	leader = life_of(r, mapping->pid, mapping->pid, mapping->from);
	return leader == PD_NONE ? PD_NONE : r->lives[leader].space;
}

static bool do_mapping(struct replay *r, uint32_t number)
{
	uint32_t space = space_of(r, &r->state->mappings[number]);

	if (space == PD_NONE)
		return false;
	r->map_spaces[number] = space;
	r->spaces[space].count++;
	return true;
}

typedef bool change_fn(struct replay *r, const struct pd_task_change *change, struct pd_moment when);

static change_fn *const changers[] = {
	[PD_CHANGE_NAME] = do_name,
	[PD_CHANGE_FORK] = do_fork,
	[PD_CHANGE_EXIT] = do_exit,
	[PD_CHANGE_NAMESPACES] = do_namespaces,
};

static bool go_through(struct replay *r)
{
	struct pd_state *state = r->state;
	uint32_t idle = number_of(r, 0);
	bool done;

	r->ksymbol_space = add_space(r, PD_NONE);
	if (idle == PD_NONE || r->ksymbol_space == PD_NONE ||
	    !PD_POOL_ARRAY(r->temp, r->map_spaces, state->mapping_count))
		return false;
	// what runs when nothing runs is mentioned by no record
	idle = begin_life(r, idle, 0, PD_NONE, (struct pd_moment){ 0, 0 });
	done = idle != PD_NONE && name_life(r, idle, "swapper", false, (struct pd_moment){ 0, 0 });
	for (size_t i = 0; done && i < state->order_count; i++) {
		const struct pd_order_item *item = &state->order[i];

		done = item->kind == PD_CHANGE_MAPPING ?
			       do_mapping(r, item->number) :
			       changers[item->kind](r, &state->tasks[item->number], item->when);
	}
	return done;
}

// ---- putting together ----

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = ((const struct number *)a)->tid, y = ((const struct number *)b)->tid;

	return x < y ? -1 : x > y;
}

// Orders lives by number, then by time. *places_out: where each life goes.
static bool place_threads(struct replay *r, uint32_t **places_out)
{
	struct pd_state *state = r->state;
	struct number *sorted;
	uint32_t *ranks, *places, total = 0;

	if (!PD_POOL_ARRAY(r->temp, sorted, r->number_count) || !PD_POOL_ARRAY(r->temp, ranks, r->number_count) ||
	    !PD_POOL_ARRAY(r->temp, places, r->life_count) ||
	    !PD_POOL_ARRAY(&state->pool, state->tids, r->number_count + 1) ||
	    !PD_POOL_ARRAY(&state->pool, state->threads, r->life_count) ||
	    !PD_POOL_ARRAY(&state->pool, state->parts, r->life_count + 1))
		return false;
	for (uint32_t i = 0; i < r->number_count; i++)
		sorted[i] = (struct number){ r->numbers[i].tid, i };
	qsort(sorted, r->number_count, sizeof(*sorted), compare_numbers);
	for (uint32_t i = 0; i < r->number_count; i++) {
		ranks[sorted[i].life] = i;
		state->tids[i].tid = sorted[i].tid;
		if (!pd_index_add(&state->tid_index, pd_hash_u64(state->seed, sorted[i].tid), i))
			return false;
	}
	for (size_t i = 0; i < r->life_count; i++)
		state->tids[ranks[r->lives[i].number]].first++;
	for (uint32_t i = 0; i <= r->number_count; i++) {
		uint32_t count = state->tids[i].first;

		state->tids[i].first = total;
		total += count;
	}
	for (uint32_t i = 0; i < r->number_count; i++)
		ranks[sorted[i].life] = state->tids[i].first;
	for (size_t i = 0; i < r->life_count; i++) {
		places[i] = ranks[r->lives[i].number]++;
		state->threads[places[i]] = r->lives[i].thread;
		state->threads[places[i]].index = places[i];
	}
	state->tid_count = r->number_count;
	state->thread_count = r->life_count;
	*places_out = places;
	return true;
}

// Turns counts in parts[i + 1] into where those of i + 1 end.
static void add_up(struct pd_thread_parts *parts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		parts[i + 1].names += parts[i].names;
		parts[i + 1].links += parts[i].links;
		parts[i + 1].spaces += parts[i].spaces;
	}
}

static bool place_parts(struct replay *r, const uint32_t *places)
{
	struct pd_state *state = r->state;
	struct pd_thread_parts *parts = state->parts, *next;

	if (!PD_POOL_ARRAY(&state->pool, state->names, r->name_count) ||
	    !PD_POOL_ARRAY(&state->pool, state->links, r->link_count) ||
	    !PD_POOL_ARRAY(&state->pool, state->spaces, r->life_space_count) ||
	    !PD_POOL_ARRAY(r->temp, next, r->life_count + 1))
		return false;
	for (size_t i = 0; i < r->name_count; i++)
		parts[places[r->names[i].life] + 1].names++;
	for (size_t i = 0; i < r->link_count; i++)
		parts[places[r->links[i].life] + 1].links++;
	for (size_t i = 0; i < r->life_space_count; i++)
		parts[places[r->life_spaces[i].life] + 1].spaces++;
	add_up(parts, r->life_count);
	memcpy(next, parts, (r->life_count + 1) * sizeof(*next));
	for (size_t i = 0; i < r->name_count; i++)
		state->names[next[places[r->names[i].life]].names++] = r->names[i].name;
	for (size_t i = 0; i < r->link_count; i++)
		state->links[next[places[r->links[i].life]].links++] = r->links[i].links;
	for (size_t i = 0; i < r->life_space_count; i++)
		state->spaces[next[places[r->life_spaces[i].life]].spaces++] = r->life_spaces[i].space;
	return true;
}

static bool place_spaces(struct replay *r)
{
	struct pd_state *state = r->state;
	struct pd_intervals *intervals = &state->intervals;
	uint32_t first = 0;

	*intervals = (struct pd_intervals){ .space_count = r->space_count, .change_count = state->mapping_count };
	if (!PD_POOL_ARRAY(&state->pool, intervals->spaces, r->space_count) ||
	    !PD_POOL_ARRAY(&state->pool, intervals->changes, state->mapping_count) ||
	    !PD_POOL_ARRAY(&state->pool, state->kernels, r->kernel_count))
		return false;
	for (size_t i = 0; i < r->space_count; i++) {
		intervals->spaces[i] = r->spaces[i];
		intervals->spaces[i].first = first;
		intervals->spaces[i].count = 0;
		first += r->spaces[i].count;
	}
	for (size_t i = 0; i < state->order_count; i++) {
		const struct pd_order_item *item = &state->order[i];
		struct pd_intervals_space *space;

		if (item->kind != PD_CHANGE_MAPPING)
			continue;
		space = &intervals->spaces[r->map_spaces[item->number]];
		intervals->changes[space->first + space->count++] =
			(struct pd_intervals_change){ .time_ns = item->when.time_ns, .map = item->number };
	}
	if (r->kernel_count)
		memcpy(state->kernels, r->kernels, r->kernel_count * sizeof(*r->kernels));
	state->kernel_count = r->kernel_count;
	state->ksymbol_space = r->ksymbol_space;
	return true;
}

bool pd_state_replay(struct pd_state *state, struct pd_pool *temp)
{
	struct replay r = { .state = state, .temp = temp };
	uint32_t *places;
	bool done = go_through(&r) && place_threads(&r, &places) && place_parts(&r, places) && place_spaces(&r);

	pd_index_fini(&r.index);
	return done;
}
