/* SPDX-License-Identifier: MIT */
/*
 * Owners: who samples are added up for, and what is true of a thread. The world is asked only when that changes.
 */
#ifndef PD_PROFILE_OWNERS_H
#define PD_PROFILE_OWNERS_H

#include <perfdata/profile.h>

#include "base/cursor.h"
#include "world/index.h"

// A thread, a process, or all of one name, as it was asked for.
struct pd_owner {
	const char *comm;  // NULL: not asked for, or not known
	uint32_t pid, tid; // UINT32_MAX: not asked for
	bool nameless;     // its name is asked for and not known: tid is what it is called by
};

// What is known of a thread for a while.
struct pd_thread_view {
	struct pd_view view;
	uint32_t pid, tid;
	uint32_t owner;
	bool used;
};

enum { PD_VIEWS = 4096 }; // threads whose view is kept at hand

struct pd_owners {
	const struct pd_world *world;
	uint32_t by; // PD_BY_...
	uint64_t seed;
	struct pd_owner *items;
	size_t count, capacity;
	struct pd_index index;
	struct pd_thread_view *views; // by a hash of the tid; a newer one takes the place
};

// world, by and seed must have been set. False if there is no memory.
bool pd_owners_init(struct pd_owners *owners);
void pd_owners_fini(struct pd_owners *owners);
// Asks the world anew. NULL if there is no memory.
const struct pd_thread_view *pd_owners_look(struct pd_owners *owners, struct pd_thread_view *view, uint32_t pid,
					    uint32_t tid, struct pd_moment when);

static inline bool pd_in_view(const struct pd_view *view, struct pd_moment when)
{
	if (when.time_ns < view->from.time_ns || when.time_ns > view->until.time_ns)
		return false;
	return (when.time_ns > view->from.time_ns || when.order >= view->from.order) &&
	       (when.time_ns < view->until.time_ns || when.order < view->until.order);
}

// What is true of a thread at a moment; valid until the next call. NULL if there is no memory.
static inline const struct pd_thread_view *pd_owners_view(struct pd_owners *owners, uint32_t pid, uint32_t tid,
							  struct pd_moment when)
{
	struct pd_thread_view *view = &owners->views[(tid ^ tid >> 12) % PD_VIEWS];

	if (PD_LIKELY(view->used && view->tid == tid && view->pid == pid && pd_in_view(&view->view, when)))
		return view;
	return pd_owners_look(owners, view, pid, tid, when);
}
// The number of an owner; UINT32_MAX if there is no memory.
uint32_t pd_owners_find(struct pd_owners *owners, const struct pd_owner *owner);

#endif
