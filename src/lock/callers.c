/* SPDX-License-Identifier: MIT */
// Who waits for a lock: the first function of the call chain that is not one of locks.
#include "lock/lock.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/chain.h"

struct walk {
	struct pd_u64s chain;
	size_t at, left; // entries
	unsigned cpumode;
};

// An unknown marker: perf takes such a chain for an empty one.
static bool is_usable(struct pd_u64s chain)
{
	unsigned mode;

	for (size_t i = 0; i < chain.count; i++)
		if (chain.items[i] >= PD_CONTEXT_MAX && !pd_chain_mode(chain.items[i], &mode))
			return false;
	return true;
}

static struct walk begin_walk(const struct pd_locks *locks, const struct pd_tracepoint_sample *sample)
{
	struct pd_u64s chain = sample->brief.callchain;

	if (!is_usable(chain))
		chain.count = 0;
	return (struct walk){ chain, 0, locks->options.max_stack, PD_CPUMODE_USER };
}

static bool next_address(struct walk *walk, uint64_t *addr_out)
{
	while (walk->at < walk->chain.count && walk->left) {
		*addr_out = walk->chain.items[walk->at++];
		if (*addr_out >= PD_CONTEXT_MAX) {
			pd_chain_mode(*addr_out, &walk->cpumode);
			continue;
		}
		walk->left--;
		return true;
	}
	return false;
}

// What is known of the next address; perf knows no functions of user space here. PD_END: there is none.
static enum pd_status next_place(struct pd_locks *locks, struct walk *walk, uint64_t *addr_out,
				 const struct pd_pair_place **place_out, struct pd_error *error)
{
	static const struct pd_pair_place nothing = { 0 };

	if (!next_address(walk, addr_out))
		return PD_END;
	*place_out = walk->cpumode == PD_CPUMODE_KERNEL ? pd_pair_place(&locks->pairs, *addr_out) : &nothing;
	return *place_out ? PD_OK : pd_fail_memory(error);
}

enum pd_status pd_lock_caller(struct pd_locks *locks, const struct pd_tracepoint_sample *sample, uint64_t *key_out,
			      struct pd_error *error)
{
	struct walk walk = begin_walk(locks, sample);
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
	struct walk walk = begin_walk(locks, sample);
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
	struct walk walk = { sample->brief.callchain, 0, locks->options.max_stack, 0 };
	size_t count = walk.chain.count < walk.left ? walk.chain.count : walk.left;
	uint64_t *stack = pd_arena_alloc(&locks->pairs.sched.arena, (count + 1) * sizeof(*stack));

	// it ends where perf's does
	while (stack && next_address(&walk, &stack[lock->stack_count]) && stack[lock->stack_count])
		lock->stack_count++;
	lock->stack = stack;
	return stack;
}
