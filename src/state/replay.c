/* SPDX-License-Identifier: MIT */
/*
 * Going through all changes in the order of time: who lives, by what name, in which address space. What is
 * found belongs to lives in the order of their beginning; at the end all is put together by thread.
 */
#include <stdlib.h>
#include <string.h>

#include "state/state.h"

// Lists of changes.
enum {
	TASKS,
	MAPS
};

struct life {
	uint32_t pid, ppid, ptid;
	uint32_t number; // index in numbers
	uint32_t comm;   // the present one, a number in texts and 1; 0 without one
	uint32_t space;  // the present one; PD_NONE for threads that do not lead
	struct pd_moment begin, end;
};

// A thread number and who has it now.
struct number {
	uint32_t tid;
	uint32_t life;
};

struct owned_name {
	struct pd_moment from;
	uint32_t life;
	uint32_t text;
	bool exec;
};

// Namespaces: a number in those of the state. Or the space that a life enters.
struct owned {
	struct pd_moment from;
	uint32_t life;
	uint32_t what;
};

// A space as it is found, and its mappings as a list.
struct found_space {
	struct pd_space space;
	uint32_t first_map, last_map;
};

struct replay {
	struct pd_state *state;
	struct pd_pool *temp;
	struct number last;       // that was looked up; `life` is its number
	struct pd_blocks numbers; // struct number
	struct pd_blocks lives;   // struct life
	struct pd_blocks names;   // struct owned_name
	struct pd_blocks links;   // struct owned
	struct pd_blocks entered; // struct owned
	struct pd_blocks spaces;  // struct found_space
	struct pd_kernel_space *kernels;
	size_t kernel_count, kernel_capacity;
	uint32_t ksymbol_space;
	uint32_t *next_maps; // by mapping, the next one of its space
};

static struct life *life_at(const struct replay *r, uint32_t life)
{
	return PD_BLOCK_AT(&r->lives, struct life, life);
}

static struct number *number_at(const struct replay *r, uint32_t number)
{
	return PD_BLOCK_AT(&r->numbers, struct number, number);
}

static struct found_space *space_at(const struct replay *r, uint32_t space)
{
	return PD_BLOCK_AT(&r->spaces, struct found_space, space);
}

// ---- lives ----

static uint32_t find_number(const struct replay *r, uint64_t hash, uint32_t tid)
{
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&r->state->tid_index, hash, &at)) != PD_INDEX_END;) {
		if (number_at(r, i)->tid == tid)
			return i;
	}
	return PD_NONE;
}

// PD_NONE if there is no memory. Many changes in a row are of one thread.
static uint32_t number_of(struct replay *r, uint32_t tid)
{
	uint64_t hash = pd_hash_u64(r->state->seed, tid);
	uint32_t found;

	if (r->numbers.count && r->last.tid == tid)
		return r->last.life;
	found = find_number(r, hash, tid);
	if (found == PD_NONE) {
		struct number *number = PD_POOL_ADD(r->temp, &r->numbers, struct number);

		found = (uint32_t)r->numbers.count - 1;
		if (!number || !pd_index_add(&r->state->tid_index, hash, found))
			return PD_NONE;
		*number = (struct number){ tid, PD_NONE };
	}
	r->last = (struct number){ tid, found };
	return found;
}

static uint32_t add_space(struct replay *r, uint32_t parent)
{
	struct found_space *found = PD_POOL_ADD(r->temp, &r->spaces, struct found_space);

	if (!found)
		return PD_NONE;
	found->space.parent = parent;
	found->space.parent_changes = parent == PD_NONE ? 0 : space_at(r, parent)->space.count;
	return (uint32_t)r->spaces.count - 1;
}

// Gives a life a new space: empty, or what the parent has now.
static bool enter_space(struct replay *r, uint32_t life, uint32_t parent, struct pd_moment when)
{
	uint32_t space = add_space(r, parent);
	struct owned *entered = PD_POOL_ADD(r->temp, &r->entered, struct owned);

	if (space == PD_NONE || !entered)
		return false;
	*entered = (struct owned){ when, life, space };
	life_at(r, life)->space = space;
	return true;
}

static bool name_life(struct replay *r, uint32_t life, uint32_t text, bool exec, struct pd_moment when)
{
	struct owned_name *name = PD_POOL_ADD(r->temp, &r->names, struct owned_name);

	if (!name)
		return false;
	*name = (struct owned_name){ when, life, text, exec };
	life_at(r, life)->comm = text + 1;
	return true;
}

// Who leads gets a space with what the one of the parent has; PD_NONE for an empty one.
static uint32_t begin_life(struct replay *r, uint32_t number, uint32_t pid, uint32_t space, struct pd_moment when)
{
	struct number *owner = number_at(r, number);
	struct life *life = PD_POOL_ADD(r->temp, &r->lives, struct life);
	uint32_t life_number = (uint32_t)r->lives.count - 1;

	if (!life)
		return PD_NONE;
	*life = (struct life){
		.pid = pid,
		.ppid = UINT32_MAX,
		.ptid = UINT32_MAX,
		.number = number,
		.space = PD_NONE,
		.begin = when,
		.end = { PD_NEVER, UINT64_MAX },
	};
	owner->life = life_number;
	return pid != owner->tid || enter_space(r, life_number, space, when) ? life_number : PD_NONE;
}

// Who has this number now. One that was not mentioned before was always there; one that is suddenly of
// another process is somebody else, whose fork was lost.
static uint32_t life_of(struct replay *r, uint32_t pid, uint32_t tid, struct pd_moment when)
{
	uint32_t number = number_of(r, tid);
	uint32_t life;

	if (number == PD_NONE)
		return PD_NONE;
	life = number_at(r, number)->life;
	if (life == PD_NONE)
		return begin_life(r, number, pid, PD_NONE, (struct pd_moment){ 0, 0 });
	if (life_at(r, life)->pid != pid)
		return begin_life(r, number, pid, PD_NONE, when);
	return life;
}

// ---- changes ----

static bool do_fork(struct replay *r, const struct pd_task_change *change, struct pd_moment when)
{
	uint32_t parent = life_of(r, change->ppid, change->ptid, when);
	uint32_t number = number_of(r, change->tid);
	uint32_t leader, life, comm, space = PD_NONE;

	if (parent == PD_NONE || number == PD_NONE)
		return false;
	comm = life_at(r, parent)->comm;
	if (change->pid == change->tid && change->pid != change->ppid && !change->exec) {
		leader = life_of(r, change->ppid, change->ppid, when);
		if (leader == PD_NONE)
			return false;
		space = life_at(r, leader)->space;
	}
	life = begin_life(r, number, change->pid, space, when);
	if (life == PD_NONE)
		return false;
	life_at(r, life)->ppid = change->ppid;
	life_at(r, life)->ptid = change->ptid;
	if (comm && !name_life(r, life, comm - 1, false, when))
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
	life_at(r, life)->end = when;
	return true;
}

static bool do_namespaces(struct replay *r, const struct pd_task_change *change, struct pd_moment when)
{
	uint32_t life = life_of(r, change->pid, change->tid, when);
	struct owned *links = PD_POOL_ADD(r->temp, &r->links, struct owned);

	if (life == PD_NONE || !links)
		return false;
	*links = (struct owned){ when, life, change->links };
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
	if (space == PD_NONE ||
	    !pd_pool_grow(r->temp, (void **)&r->kernels, &r->kernel_capacity, r->kernel_count + 1,
			  sizeof(*r->kernels)) ||
	    !pd_index_add(&r->state->kernel_index, pd_hash_u64(r->state->seed, machine), (uint32_t)r->kernel_count))
		return PD_NONE;
	r->kernels[r->kernel_count++] = (struct pd_kernel_space){ machine, space };
	return space;
}

static uint32_t space_of(struct replay *r, const struct pd_map *map)
{
	const struct pd_maps *maps = &r->state->maps;
	const struct pd_map_kind *kind = &maps->kinds[map->kind];
	uint32_t pid = maps->owners[map->owner].pid, leader;

	if (kind->place == PD_MAP_KSYMBOL)
		return r->ksymbol_space;
	if (kind->place == PD_MAP_KERNEL)
		return kernel_space(r, kind->object->machine);
	leader = life_of(r, pid, pid, map->from);
	return leader == PD_NONE ? PD_NONE : life_at(r, leader)->space;
}

static bool do_mapping(struct replay *r, uint32_t number)
{
	uint32_t space = space_of(r, pd_map_at(&r->state->maps, number));
	struct found_space *found;

	if (space == PD_NONE)
		return false;
	found = space_at(r, space);
	if (found->space.count++)
		r->next_maps[found->last_map] = number;
	else
		found->first_map = number;
	found->last_map = number;
	return true;
}

typedef bool change_fn(struct replay *r, const struct pd_task_change *change, struct pd_moment when);

static change_fn *const changers[] = {
	[PD_CHANGE_NAME] = do_name,
	[PD_CHANGE_FORK] = do_fork,
	[PD_CHANGE_EXIT] = do_exit,
	[PD_CHANGE_NAMESPACES] = do_namespaces,
};

static uint32_t text_of_idle(struct pd_state *state)
{
	static const char name[] = "swapper";

	return pd_state_text_number(state, name, sizeof(name) - 1);
}

static bool go_through(struct replay *r)
{
	struct pd_state *state = r->state;
	const struct pd_order_list lists[PD_ORDER_LISTS] = {
		[TASKS] = { &state->tasks, sizeof(struct pd_task_change) },
		[MAPS] = { &state->maps.maps, sizeof(struct pd_map) },
	};
	uint32_t idle = number_of(r, 0), list, number, text = text_of_idle(state);
	struct pd_changes order;
	bool done;

	r->ksymbol_space = add_space(r, PD_NONE);
	if (idle == PD_NONE || text == PD_INDEX_END || r->ksymbol_space == PD_NONE ||
	    !PD_POOL_ARRAY(r->temp, r->next_maps, state->maps.maps.count) || !pd_changes_begin(&order, lists, r->temp))
		return false;
	// what runs when nothing runs is mentioned by no record
	idle = begin_life(r, idle, 0, PD_NONE, (struct pd_moment){ 0, 0 });
	done = idle != PD_NONE && name_life(r, idle, text, false, (struct pd_moment){ 0, 0 });
	while (done && pd_changes_next(&order, &list, &number)) {
		const struct pd_task_change *change;

		if (list == MAPS) {
			done = do_mapping(r, number);
			continue;
		}
		change = PD_BLOCK_AT(&state->tasks, struct pd_task_change, number);
		done = changers[change->kind](r, change, change->when);
	}
	return done;
}

// ---- putting together ----

static int compare_numbers(const void *a, const void *b)
{
	uint32_t x = ((const struct number *)a)->tid, y = ((const struct number *)b)->tid;

	return x < y ? -1 : x > y;
}

// Thread numbers in their order; their `life` is the number of each.
static struct number *sort_numbers(const struct replay *r)
{
	size_t count = r->numbers.count;
	struct number *sorted = pd_pool_array(r->temp, count, sizeof(*sorted));
	bool in_order = true;

	for (uint32_t i = 0; sorted && i < count; i++) {
		sorted[i] = (struct number){ number_at(r, i)->tid, i };
		in_order &= !i || sorted[i - 1].tid < sorted[i].tid;
	}
	if (sorted && !in_order)
		qsort(sorted, count, sizeof(*sorted), compare_numbers);
	return sorted;
}

static void fill_thread(const struct replay *r, const struct life *life, uint32_t place)
{
	r->state->threads[place] = (struct pd_thread){ .index = place,
						       .pid = life->pid,
						       .tid = r->state->tids[life->number].tid,
						       .ppid = life->ppid,
						       .ptid = life->ptid,
						       .begin = life->begin,
						       .end = life->end };
}

// Orders lives by number, then by time. *places_out: where each life goes.
static bool place_threads(struct replay *r, uint32_t **places_out)
{
	struct pd_state *state = r->state;
	size_t number_count = r->numbers.count, life_count = r->lives.count;
	struct number *sorted = sort_numbers(r);
	uint32_t *places, total = 0;

	if (!sorted || !PD_POOL_ARRAY(r->temp, places, life_count) ||
	    !PD_POOL_ARRAY(&state->pool, state->tids, number_count) ||
	    !PD_POOL_ARRAY(&state->pool, state->threads, life_count) ||
	    !PD_POOL_ARRAY(&state->pool, state->parts, life_count + 1))
		return false;
	for (uint32_t i = 0; i < number_count; i++)
		state->tids[i].tid = number_at(r, i)->tid;
	for (uint32_t i = 0; i < life_count; i++)
		state->tids[life_at(r, i)->number].count++;
	for (uint32_t i = 0; i < number_count; i++) {
		struct pd_tid *tid = &state->tids[sorted[i].life];

		tid->first = total;
		total += tid->count;
		tid->count = 0;
	}
	for (uint32_t i = 0; i < life_count; i++) {
		const struct life *life = life_at(r, i);
		struct pd_tid *tid = &state->tids[life->number];

		places[i] = tid->first + tid->count++;
		fill_thread(r, life, places[i]);
	}
	state->thread_count = life_count;
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

static void count_parts(const struct replay *r, const uint32_t *places)
{
	struct pd_thread_parts *parts = r->state->parts;

	for (size_t i = 0; i < r->names.count; i++)
		parts[places[PD_BLOCK_AT(&r->names, struct owned_name, i)->life] + 1].names++;
	for (size_t i = 0; i < r->links.count; i++)
		parts[places[PD_BLOCK_AT(&r->links, struct owned, i)->life] + 1].links++;
	for (size_t i = 0; i < r->entered.count; i++)
		parts[places[PD_BLOCK_AT(&r->entered, struct owned, i)->life] + 1].spaces++;
	add_up(parts, r->lives.count);
}

static void fill_parts(const struct replay *r, const uint32_t *places, struct pd_thread_parts *next)
{
	struct pd_state *state = r->state;

	for (size_t i = 0; i < r->names.count; i++) {
		const struct owned_name *name = PD_BLOCK_AT(&r->names, struct owned_name, i);

		state->names[next[places[name->life]].names++] =
			(struct pd_thread_name){ state->texts[name->text], name->from, name->exec };
	}
	for (size_t i = 0; i < r->links.count; i++) {
		const struct owned *links = PD_BLOCK_AT(&r->links, struct owned, i);

		state->links[next[places[links->life]].links++] =
			(struct pd_thread_links){ links->from, state->namespaces[links->what] };
	}
	for (size_t i = 0; i < r->entered.count; i++) {
		const struct owned *entered = PD_BLOCK_AT(&r->entered, struct owned, i);

		state->spaces[next[places[entered->life]].spaces++] =
			(struct pd_thread_space){ entered->from, entered->what };
	}
}

static bool place_parts(struct replay *r, const uint32_t *places)
{
	struct pd_state *state = r->state;
	struct pd_thread_parts *next;

	if (!PD_POOL_ARRAY(&state->pool, state->names, r->names.count) ||
	    !PD_POOL_ARRAY(&state->pool, state->links, r->links.count) ||
	    !PD_POOL_ARRAY(&state->pool, state->spaces, r->entered.count) ||
	    !PD_POOL_ARRAY(r->temp, next, r->lives.count + 1))
		return false;
	count_parts(r, places);
	memcpy(next, state->parts, (r->lives.count + 1) * sizeof(*next));
	fill_parts(r, places, next);
	return true;
}

static bool place_spaces(struct replay *r)
{
	struct pd_state *state = r->state;
	struct pd_spaces *spaces = &state->address_spaces;
	uint32_t filled = 0;

	*spaces = (struct pd_spaces){ .count = r->spaces.count, .map_count = state->maps.maps.count };
	if (!PD_POOL_ARRAY(&state->pool, spaces->items, spaces->count) ||
	    !PD_POOL_ARRAY(&state->pool, spaces->maps, spaces->map_count) ||
	    !PD_POOL_ARRAY(&state->pool, state->kernels, r->kernel_count))
		return false;
	for (uint32_t i = 0; i < spaces->count; i++) {
		const struct found_space *found = space_at(r, i);
		uint32_t map = found->first_map;

		spaces->items[i] = found->space;
		spaces->items[i].first = filled;
		for (uint32_t k = 0; k < found->space.count; k++, map = r->next_maps[map])
			spaces->maps[filled++] = map;
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

	return go_through(&r) && place_threads(&r, &places) && place_parts(&r, places) && place_spaces(&r);
}
