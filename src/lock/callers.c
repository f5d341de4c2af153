/* SPDX-License-Identifier: MIT */
// Who waits for a lock: the first function of the call chain that is not one of locks.
#include "lock/lock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/chain.h"

static struct pd_chain_walk begin_walk(const struct pd_locks *locks, const struct pd_tracepoint_sample *sample)
{
	return pd_chain_walk(sample->brief.callchain, locks->options.max_stack);
}

// What is known of the next address; perf knows no functions of user space here. PD_END: there is none.
static enum pd_status next_place(struct pd_locks *locks, struct pd_chain_walk *walk, uint64_t *addr_out,
				 const struct pd_pair_place **place_out, struct pd_error *error)
{
	static const struct pd_pair_place nothing = { 0 };

	if (!pd_chain_next(walk, addr_out))
		return PD_END;
	*place_out = walk->cpumode == PD_CPUMODE_KERNEL ? pd_pair_place(&locks->pairs, *addr_out) : &nothing;
	return *place_out ? PD_OK : pd_fail_memory(error);
}

enum pd_status pd_lock_caller(struct pd_locks *locks, const struct pd_tracepoint_sample *sample, uint64_t *key_out,
			      struct pd_error *error)
{
	struct pd_chain_walk walk = begin_walk(locks, sample);
	const struct pd_pair_place *place;
	enum pd_status status;
	uint64_t addr;

	*key_out = 0;
	for (unsigned i = 0; (status = next_place(locks, &walk, &addr, &place, error)) == PD_OK; i++)
		if (i >= locks->options.skip && !(place->function && place->is_lock))
			*key_out ^=
				(uint32_t)(addr * UINT64_C(0x61c8864680b583eb)); // perf's: equal rows are sorted by it
	return status == PD_END ? PD_OK : status;
}

enum pd_status pd_lock_name_caller(struct pd_locks *locks, const struct pd_tracepoint_sample *sample, char *name,
				   size_t size, struct pd_error *error)
{
	struct pd_chain_walk walk = begin_walk(locks, sample);
	const struct pd_pair_place *place;
	enum pd_status status;
	uint64_t addr;

	snprintf(name, size, "Unknown");
	for (unsigned i = 0; (status = next_place(locks, &walk, &addr, &place, error)) == PD_OK; i++) {
		if (i < locks->options.skip || !place->function || place->is_lock)
			continue;
		if (place->offset)
			snprintf(name, size, "%s+%#" PRIx64, place->name, place->offset);
		else
			snprintf(name, size, "%s", place->name);
		return PD_OK;
	}
	return status == PD_END ? PD_OK : status;
}

bool pd_lock_keep_stack(struct pd_locks *locks, const struct pd_tracepoint_sample *sample, struct pd_lock *lock)
{
	struct pd_chain_walk walk = { sample->brief.callchain, 0, locks->options.max_stack, 0 };
	size_t count = walk.chain.count < walk.left ? walk.chain.count : walk.left;
	uint64_t *stack = pd_arena_alloc(&locks->pairs.sched.arena, (count + 1) * sizeof(*stack));

	// it ends where perf's does
	while (stack && pd_chain_next(&walk, &stack[lock->stack_count]) && stack[lock->stack_count])
		lock->stack_count++;
	lock->stack = stack;
	return stack;
}
