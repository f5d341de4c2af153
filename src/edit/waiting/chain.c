/* SPDX-License-Identifier: MIT */
// The call chain of a sample: who ended the wait, what it was for, and where it began; and whether it is a sample at all.
#include "edit/waiting/waiting.h"

#include <stdio.h>

static bool add_addr(struct pd_waiting *waiting, uint64_t addr)
{
	if (!PD_GROW(waiting->chain, waiting->chain_capacity, waiting->chain_count + 1))
		return false;
	waiting->chain[waiting->chain_count++] = addr;
	return true;
}

// The part of a chain in one address space, from its last entry to its first.
static bool add_reversed(struct pd_waiting *waiting, struct pd_u64s chain, uint64_t space)
{
	uint64_t now = 0;
	size_t from = waiting->chain_count;

	for (size_t i = 0; i < chain.count; i++) {
		if (chain.items[i] >= PD_CONTEXT_MAX)
			now = chain.items[i];
		else if (now == space && !add_addr(waiting, chain.items[i]))
			return false;
	}
	for (size_t i = from, j = waiting->chain_count; i + 1 < j; i++) {
		uint64_t last = waiting->chain[--j];

		waiting->chain[j] = waiting->chain[i];
		waiting->chain[i] = last;
	}
	return true;
}

// Addresses of user space are only known in the process that waits.
static bool add_waker_chain(struct pd_waiting *waiting, bool same_process)
{
	if (same_process && (!add_addr(waiting, (uint64_t)PD_CONTEXT_USER) ||
			     !add_reversed(waiting, waiting->waker_chain, (uint64_t)PD_CONTEXT_USER) ||
			     !add_addr(waiting, (uint64_t)PD_CONTEXT_KERNEL)))
		return false;
	return add_reversed(waiting, waiting->waker_chain, (uint64_t)PD_CONTEXT_KERNEL);
}

static enum pd_status add_label(struct pd_waiting *waiting, const char *name, uint64_t time_ns, struct pd_error *error)
{
	uint64_t addr;

	if (!pd_label_addr(waiting, name, time_ns, &addr, error))
		return error->status;
	return add_addr(waiting, addr) ? PD_OK : pd_fail_memory(error);
}

// Who ended it, and how that is called.
static enum pd_status add_waker(struct pd_waiting *waiting, const struct pd_waited *waited, struct pd_error *error)
{
	struct pd_sleeper *waker = pd_sleeper_of(&waiting->sleepers, waiting->waker);
	char name[PD_WAITING_NAME + 16];
	enum pd_status status;

	if (!waker)
		return pd_fail_memory(error);
	snprintf(name, sizeof(name), "[%s by %.15s]", waited->ended, *waker->name ? waker->name : "?");
	status = add_label(waiting, name, waited->end_ns, error);
	if (status >= 0 && !add_waker_chain(waiting, waker->pid == waited->pid && waited->pid != UINT32_MAX))
		status = pd_fail_memory(error);
	return status;
}

enum pd_status pd_waited_chain(struct pd_waiting *waiting, const struct pd_waited *waited, struct pd_error *error)
{
	enum pd_status status;

	waiting->chain_count = 0;
	status = add_addr(waiting, (uint64_t)PD_CONTEXT_KERNEL) ? PD_OK : pd_fail_memory(error);
	if (status >= 0 && waited->ended && !waiting->options.no_wakers)
		status = add_waker(waiting, waited, error);
	if (status >= 0)
		status = add_label(waiting, waited->name, waited->end_ns, error);
	for (size_t i = 0; status >= 0 && i < waited->chain.count; i++)
		if (!add_addr(waiting, waited->chain.items[i]))
			status = pd_fail_memory(error);
	return status;
}

bool pd_waiting_wants(struct pd_waiting *waiting, uint64_t length_ns)
{
	const struct pd_waiting_options *options = &waiting->options;
	bool wanted = length_ns >= options->min_ns && (!options->max_ns || length_ns <= options->max_ns);

	waiting->result.left_out_count += !wanted;
	return wanted;
}
