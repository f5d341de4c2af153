/* SPDX-License-Identifier: MIT */
/*
 * Owners: who samples are added up for, and what is true of a thread. The state is asked only when that changes. Views
 * are a collector's own, owners are those of all collectors.
 */
#ifndef PD_PROFILE_COLLECT_OWNERS_H
#define PD_PROFILE_COLLECT_OWNERS_H

#include <perfdata/profile.h>

#include "base/cursor.h"
#include "symbol/codes.h"
#include "base/lookup/hash.h"

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

enum {
	PD_VIEWS = 4096
}; // threads whose view is kept at hand

struct pd_owners {
	const struct pd_state *state;
	const struct pd_codes *codes; // or NULL
	uint32_t by;                  // PD_BY_...
	uint64_t seed;
	struct pd_owner *items;
	size_t count, capacity;
	struct pd_index index;
};

void pd_owners_fini(struct pd_owners *owners);
// Fills a view but for the number of its owner, which comes in *owner_out.
void pd_owners_view(const struct pd_owners *owners, struct pd_thread_view *view, uint32_t pid, uint32_t tid,
		    struct pd_moment when, struct pd_owner *owner_out);
// The number of an owner; UINT32_MAX if there is no memory. Others must not use the owners meanwhile.
uint32_t pd_owners_find(struct pd_owners *owners, const struct pd_owner *owner);

static inline bool pd_in_view(const struct pd_view *view, struct pd_moment when)
{
	if (when.time_ns < view->from.time_ns || when.time_ns > view->until.time_ns)
		return false;
	return (when.time_ns > view->from.time_ns || when.order >= view->from.order) &&
	       (when.time_ns < view->until.time_ns || when.order < view->until.order);
}

static inline struct pd_thread_view *pd_view_of(struct pd_thread_view *views, uint32_t tid)
{
	return &views[(tid ^ tid >> 12) % PD_VIEWS];
}

static inline bool pd_view_holds(const struct pd_thread_view *view, uint32_t pid, uint32_t tid, struct pd_moment when)
{
	return view->used && view->tid == tid && view->pid == pid && pd_in_view(&view->view, when);
}

#endif
