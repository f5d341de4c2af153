/* SPDX-License-Identifier: MIT */
/*
 * Views: what holds for a thread, and for how long. Each thing that a view consists of is a list of changes by time;
 * the view ends where the first of them has its next change.
 */
#include "state/world.h"
#include "base/lookup/search.h"

// A list of things that have a moment from which on they are true.
struct changes {
	const void *items; // the moment of the first one
	size_t stride;
	size_t count;
};

static struct pd_moment moment_at(const struct changes *changes, size_t index)
{
	return *(const struct pd_moment *)(const void *)((const char *)changes->items + index * changes->stride);
}

// How many are true at a moment. The span of the view shrinks to where this is so.
static size_t count_until(const struct changes *changes, struct pd_moment when, struct pd_view *view)
{
	size_t low;

	PD_SEARCH(low, 0, changes->count, i, !pd_moment_before(when, moment_at(changes, i)));
	if (low && pd_moment_before(view->from, moment_at(changes, low - 1)))
		view->from = moment_at(changes, low - 1);
	if (low < changes->count && pd_moment_before(moment_at(changes, low), view->until))
		view->until = moment_at(changes, low);
	return low;
}

static const struct pd_thread *thread_at(const struct pd_world *world, uint32_t tid, struct pd_moment when,
					 struct pd_view *view)
{
	uint32_t number = pd_world_tid(world, tid);
	struct changes lives;
	uint32_t first;
	size_t count;

	if (number == PD_INDEX_END)
		return NULL;
	first = world->tids[number].first;
	lives = (struct changes){ &world->threads[first].begin, sizeof(*world->threads),
				  world->tids[number + 1].first - first };
	count = count_until(&lives, when, view);
	return count ? &world->threads[first + count - 1] : NULL;
}

static const char *comm_at(const struct pd_world *world, const struct pd_thread *thread, struct pd_moment when,
			   struct pd_view *view)
{
	uint32_t first = world->parts[thread->index].names;
	struct changes names = { &world->names[first].from, sizeof(*world->names),
				 world->parts[thread->index + 1].names - first };
	size_t count = count_until(&names, when, view);

	return count ? world->names[first + count - 1].comm : NULL;
}

static uint32_t turn_of_process(const struct pd_world *world, const struct pd_thread *leader, struct pd_moment when,
				struct pd_view *view)
{
	uint32_t first = world->parts[leader->index].spaces;
	struct changes spaces = { &world->spaces[first].from, sizeof(*world->spaces),
				  world->parts[leader->index + 1].spaces - first };
	size_t count = count_until(&spaces, when, view);

	return count ? pd_intervals_turn(&world->intervals, world->mappings, world->spaces[first + count - 1].space,
					 when, &view->from, &view->until) :
		       0;
}

// Turns of a space go up with time, so the sum of two says which they are.
static uint32_t turn_of_kernel(const struct pd_world *world, struct pd_moment when, struct pd_view *view)
{
	uint32_t kernel = pd_world_kernel(world, world->kernels, 0);
	uint32_t turn = pd_intervals_turn(&world->intervals, world->mappings, world->ksymbol_space, when, &view->from,
					  &view->until);

	if (kernel != PD_INDEX_END)
		turn += pd_intervals_turn(&world->intervals, world->mappings, world->kernels[kernel].space, when,
					  &view->from, &view->until);
	return turn;
}

void pd_world_view(const struct pd_world *world, uint32_t pid, uint32_t tid, struct pd_moment when,
		   struct pd_view *view_out)
{
	struct pd_view view = { .until = { PD_NEVER, UINT64_MAX } };
	const struct pd_thread *thread, *leader;
	uint32_t user = 0, kernel = 0;

	if (world->finalized) {
		thread = thread_at(world, tid, when, &view);
		leader = pid == tid ? thread : thread_at(world, pid, when, &view);
		if (thread)
			view.comm = comm_at(world, thread, when, &view);
		if (leader)
			user = turn_of_process(world, leader, when, &view);
		kernel = turn_of_kernel(world, when, &view);
	}
	view.maps = (uint64_t)user << 32 | kernel;
	*view_out = view;
}
