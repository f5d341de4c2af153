/* SPDX-License-Identifier: MIT */
// Waits that are shown, with their call chains as copies: there are few of them, and one of each thread.
#include "pairs/why.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "format/chain.h"

enum {
	STACK_MOST = 160 // addresses and markers
};

bool pd_why_stack_set(struct pd_why_stack *stack, uint32_t pid, struct pd_u64s chain)
{
	size_t count = chain.count < STACK_MOST ? chain.count : STACK_MOST;

	stack->pid = pid;
	stack->count = 0;
	if (!count)
		return true;
	if (!PD_GROW(stack->addrs, stack->capacity, count))
		return false;
	memcpy(stack->addrs, chain.items, count * sizeof(*stack->addrs));
	stack->count = count;
	return true;
}

static bool set_kept(struct pd_why_kept *kept, const struct pd_why_wait *wait, const struct pd_why_stack *stack)
{
	kept->wait = *wait;
	return pd_why_stack_set(&kept->stack, stack->pid, (struct pd_u64s){ stack->addrs, stack->count });
}

static bool keep_longest(struct pd_why *why, const struct pd_why_wait *wait, const struct pd_why_stack *stack)
{
	struct pd_why_kept *all = why->longest, last;
	size_t at = why->longest_count;

	if (at == why->options.count && wait->total_ns <= all[at - 1].wait.total_ns)
		return true;
	if (at < why->options.count)
		why->longest_count++;
	else
		at--;
	// what drops out gives its memory to the new one
	last = all[at];
	for (; at && all[at - 1].wait.total_ns < wait->total_ns; at--)
		all[at] = all[at - 1];
	all[at] = last;
	return set_kept(&all[at], wait, stack);
}

bool pd_why_keep(struct pd_why *why, const struct pd_why_wait *wait, const struct pd_why_stack *stack)
{
	struct pd_why_kept *first = &why->first[pd_histogram_bits(wait->total_ns)];

	return (first->wait.depth || set_kept(first, wait, stack)) && keep_longest(why, wait, stack);
}

const struct pd_why_kept *pd_why_first_outlier(const struct pd_why *why, unsigned *bits_out, uint64_t *count_out)
{
	const struct pd_why_kept *found = NULL;

	*bits_out = pd_histogram_outliers(why->lengths, count_out);
	for (unsigned bits = *bits_out; bits < PD_WHY_FIRSTS; bits++) {
		const struct pd_why_kept *first = &why->first[bits];

		if (first->wait.depth && (!found || first->wait.links[0].begin_ns < found->wait.links[0].begin_ns))
			found = first;
	}
	return found;
}

// ---- names ----

bool pd_why_stack_name(struct pd_why *why, const struct pd_why_kept *kept, size_t index, unsigned *cpumode,
		       struct pd_text *name)
{
	struct pd_moment when = { kept->wait.links[0].begin_ns, UINT64_MAX };
	uint64_t addr = kept->stack.addrs[index];
	struct pd_place place;

	if (addr >= PD_CONTEXT_MAX) {
		pd_chain_mode(addr, cpumode);
		return false;
	}
	place = pd_symbols_place(why->symbols, kept->stack.pid, *cpumode, when, addr);
	if (place.function)
		pd_text_escaped(name, place.function->name, strlen(place.function->name));
	else if (place.dso)
		pd_text_escaped(name, place.dso->name, strlen(place.dso->name));
	if (!place.function)
		pd_text_printf(name, "%s0x%" PRIx64, place.dso ? "+" : "", place.addr);
	return true;
}

void pd_why_stacks_fini(struct pd_why *why)
{
	for (size_t i = 0; i < why->sched.thread_count; i++) {
		struct pd_why_thread *thread = why->sched.threads[i]->own;

		if (thread)
			pd_free(thread->stack.addrs);
	}
	for (size_t i = 0; why->longest && i < why->options.count; i++)
		pd_free(why->longest[i].stack.addrs);
	for (size_t i = 0; why->first && i < PD_WHY_FIRSTS; i++)
		pd_free(why->first[i].stack.addrs);
	pd_free(why->longest);
	pd_free(why->first);
	pd_symbols_free(why->symbols);
	pd_state_free(why->state);
}
