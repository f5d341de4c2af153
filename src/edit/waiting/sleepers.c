/* SPDX-License-Identifier: MIT */
// Threads, by what was recorded last of them.
#include "edit/waiting/waiting.h"

#include <string.h>

struct pd_sleeper *pd_sleeper_of(struct pd_sleepers *sleepers, uint32_t tid)
{
	// 0 is no value of the map
	uint64_t number = pd_u64_map_find(&sleepers->map, tid);
	struct pd_sleeper *sleeper;

	if (number)
		return sleepers->all[number - 1];
	sleeper = pd_arena_alloc(&sleepers->arena, sizeof(*sleeper));
	if (!sleeper || !PD_GROW(sleepers->all, sleepers->capacity, sleepers->count + 1) ||
	    !pd_u64_map_set(&sleepers->map, tid, sleepers->count + 1))
		return NULL;
	sleeper->pid = UINT32_MAX;
	sleepers->all[sleepers->count++] = sleeper;
	if (!tid)
		memcpy(sleeper->name, "idle", 5);
	return sleeper;
}

bool pd_sleeper_keep_chain(struct pd_sleeper *sleeper, struct pd_u64s chain)
{
	sleeper->count = 0;
	if (chain.count > sleeper->capacity && !PD_GROW(sleeper->chain, sleeper->capacity, chain.count))
		return false;
	if (chain.count)
		memcpy(sleeper->chain, chain.items, chain.count * sizeof(*sleeper->chain));
	sleeper->count = chain.count;
	return true;
}

static bool take_name(struct pd_sleepers *sleepers, const struct pd_comm *comm)
{
	struct pd_sleeper *sleeper = pd_sleeper_of(sleepers, comm->tid);
	size_t length = comm->comm.length < PD_WAITING_NAME ? comm->comm.length : PD_WAITING_NAME - 1;

	if (!sleeper)
		return false;
	sleeper->pid = comm->pid;
	memset(sleeper->name, 0, sizeof(sleeper->name));
	memcpy(sleeper->name, comm->comm.data, length);
	return true;
}

// Has the name of its parent.
static bool take_fork(struct pd_sleepers *sleepers, const struct pd_task *fork)
{
	struct pd_sleeper *parent = pd_sleeper_of(sleepers, fork->ptid);
	struct pd_sleeper *sleeper = parent ? pd_sleeper_of(sleepers, fork->tid) : NULL;

	if (!sleeper)
		return false;
	sleeper->pid = fork->pid;
	sleeper->count = 0;
	memcpy(sleeper->name, parent->name, sizeof(sleeper->name));
	return true;
}

bool pd_sleepers_take(struct pd_sleepers *sleepers, const struct pd_record *record)
{
	const struct pd_comm *comm = pd_as_comm(record);
	const struct pd_task *fork = comm ? NULL : pd_as_fork(record);

	if (comm)
		return take_name(sleepers, comm);
	return fork ? take_fork(sleepers, fork) : true;
}

void pd_sleepers_fini(struct pd_sleepers *sleepers)
{
	for (size_t i = 0; i < sleepers->count; i++)
		pd_free(sleepers->all[i]->chain);
	pd_free(sleepers->all);
	pd_u64_map_fini(&sleepers->map);
	pd_arena_fini(&sleepers->arena);
}
