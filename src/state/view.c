/* SPDX-License-Identifier: MIT */
/*
 * Views: what holds for a thread, and for how long. Each thing that a view consists of is a list of changes by time;
 * the view ends where the first of them has its next change.
 */
#include "state/locate.h"
#include "state/state.h"
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

static const struct pd_thread *thread_at(const struct pd_state *state, uint32_t tid, struct pd_moment when,
					 struct pd_view *view)
{
	uint32_t number = pd_state_tid(state, tid);
	struct changes lives;
	uint32_t first;
	size_t count;

	if (number == PD_INDEX_END)
		return NULL;
	first = state->tids[number].first;
	lives = (struct changes){ &state->threads[first].begin, sizeof(*state->threads), state->tids[number].count };
	count = count_until(&lives, when, view);
	return count ? &state->threads[first + count - 1] : NULL;
}

static const char *comm_at(const struct pd_state *state, const struct pd_thread *thread, struct pd_moment when,
			   struct pd_view *view)
{
	uint32_t first = state->parts[thread->index].names;
	struct changes names = { &state->names[first].from, sizeof(*state->names),
				 state->parts[thread->index + 1].names - first };
	size_t count = count_until(&names, when, view);

	return count ? state->names[first + count - 1].comm : NULL;
}

static uint32_t turn_of_process(const struct pd_state *state, const struct pd_thread *leader, struct pd_moment when,
				struct pd_view *view)
{
	uint32_t first = state->parts[leader->index].spaces;
	struct changes spaces = { &state->spaces[first].from, sizeof(*state->spaces),
				  state->parts[leader->index + 1].spaces - first };
	size_t count = count_until(&spaces, when, view);

	return count ? pd_spaces_turn(&state->address_spaces, &state->maps, state->spaces[first + count - 1].space,
				      when, &view->from, &view->until) :
		       0;
}

// Turns of a space go up with time, so the sum of two says which they are.
static uint32_t turn_of_kernel(const struct pd_state *state, struct pd_moment when, struct pd_view *view)
{
	uint32_t kernel = pd_state_kernel(state, state->kernels, 0);
	uint32_t turn = pd_spaces_turn(&state->address_spaces, &state->maps, state->ksymbol_space, when, &view->from,
				       &view->until);

	if (kernel != PD_INDEX_END)
		turn += pd_spaces_turn(&state->address_spaces, &state->maps, state->kernels[kernel].space, when,
				       &view->from, &view->until);
	return turn;
}

void pd_state_view_name(const struct pd_state *state, uint32_t tid, struct pd_moment when, struct pd_view *view_out)
{
	struct pd_view view = { .until = { PD_NEVER, UINT64_MAX } };
	const struct pd_thread *thread = state->finalized ? thread_at(state, tid, when, &view) : NULL;

	if (thread)
		view.comm = comm_at(state, thread, when, &view);
	*view_out = view;
}

void pd_state_view(const struct pd_state *state, uint32_t pid, uint32_t tid, struct pd_moment when,
		   struct pd_view *view_out)
{
	struct pd_view view = { .until = { PD_NEVER, UINT64_MAX } };
	const struct pd_thread *thread, *leader;
	uint32_t user = 0, kernel = 0;

	if (state->finalized) {
		thread = thread_at(state, tid, when, &view);
		leader = pid == tid ? thread : thread_at(state, pid, when, &view);
		if (thread)
			view.comm = comm_at(state, thread, when, &view);
		if (leader)
			user = turn_of_process(state, leader, when, &view);
		kernel = turn_of_kernel(state, when, &view);
	}
	view.maps = (uint64_t)user << 32 | kernel;
	*view_out = view;
}
