/* SPDX-License-Identifier: MIT */
/*
 * Call chains with the branches of a sample in front: of each, the last one first, where it went and where it came from. Chains for
 * graphs from the outermost caller down are the reverse of what perf makes, which begins there: the first branch, then the last
 * one, then the outermost caller. As perf, a loop that was passed several times is there once, and as many callers as there are
 * branches are left out at the end.
 */

#include <string.h>

#include "base/memory.h"
#include "format/chain.h"
#include "profile/collect/pending.h"

enum {
	BRANCHES_MOST = 127, // more are damage for perf
	SLOTS = 127,
	NO_BRANCH = UINT8_MAX,
	CALL_LENGTH_MOST = 8 // bytes
};

// The branches of a sample, in the order of its chain.
struct pd_branches {
	struct pd_branch items[BRANCHES_MOST];
	struct pd_passed_branch passed[BRANCHES_MOST];
	size_t count;
};

// ---- loops ----

static size_t slot_of(uint64_t from)
{
	return (size_t)(from * UINT64_C(0x61c8864680b583eb) >> 57) % SLOTS;
}

// How many branches from `at` on are those from `first` on, if all up to `at` are; else 0.
static size_t loop_length(const struct pd_branches *branches, size_t first, size_t at)
{
	size_t length = 0;

	while (first + length < at && at + length < branches->count) {
		if (branches->items[first + length].from != branches->items[at + length].from)
			return 0;
		length++;
	}
	return length;
}

static void remove_branches(struct pd_branches *branches, size_t at, size_t count)
{
	const size_t next = at + count, left = branches->count - next;
	struct pd_passed_branch *passed = &branches->passed[next];

	branches->count -= count;
	if (!count || !left)
		return;
	// what comes after a loop says how often it was passed
	passed->iterations++;
	passed->iteration_cycles = 0;
	for (size_t i = at; i < next; i++)
		passed->iteration_cycles += (uint32_t)PD_BITS(branches->items[i].flags, PD_BRANCH_CYCLES);
	memmove(&branches->passed[at], passed, left * sizeof(*passed));
	memmove(&branches->items[at], &branches->items[next], left * sizeof(branches->items[0]));
}

// Of branches that share a slot only the first one is remembered, as in perf.
static void remove_loops(struct pd_branches *branches)
{
	uint8_t slots[SLOTS];

	memset(slots, NO_BRANCH, sizeof(slots));
	for (size_t i = 0; i < branches->count; i++) {
		uint8_t *first = &slots[slot_of(branches->items[i].from)];

		if (*first == NO_BRANCH)
			*first = (uint8_t)i;
		else if (branches->items[*first].from == branches->items[i].from)
			remove_branches(branches, i, loop_length(branches, *first, i));
	}
}

static void take_branches(const struct pd_collector *c, const struct pd_branch_stack *stack)
{
	struct pd_branches *branches = c->branches;
	const size_t most = c->options->max_stack, all = stack->entries.count;

	branches->count = most && most < all ? most : all;
	memset(branches->passed, 0, branches->count * sizeof(branches->passed[0]));
	for (size_t i = 0; i < branches->count; i++)
		branches->items[i] = *PD_ITEM(pd_branch, stack->entries, c->options->outermost_first ? all - 1 - i : i);
}

static void note_flags(struct pd_branches *branches, bool reversed)
{
	for (size_t i = 0; i < branches->count; i++) {
		const uint64_t flags = branches->items[i].flags;

		branches->passed[i].cycles = (uint16_t)PD_BITS(flags, PD_BRANCH_CYCLES);
		branches->passed[i].flags = (uint8_t)((PD_BITS(flags, PD_BRANCH_PREDICTED) ? PD_PASSED_PREDICTED : 0) |
						      (PD_BITS(flags, PD_BRANCH_ABORT) ? PD_PASSED_ABORTED : 0) |
						      (reversed ? PD_PASSED_REVERSED : 0));
	}
}

// The last one first, as the frames are.
static void reverse(struct pd_branches *branches)
{
	for (size_t i = 0; i < branches->count / 2; i++) {
		const size_t other = branches->count - 1 - i;
		const struct pd_branch item = branches->items[i];
		const struct pd_passed_branch passed = branches->passed[i];

		branches->items[i] = branches->items[other];
		branches->items[other] = item;
		branches->passed[i] = branches->passed[other];
		branches->passed[other] = passed;
	}
}

// ---- chains ----

static void add_word(struct pd_collector *c, uint64_t word)
{
	c->branch_chain[c->branch_chain_count++] = word;
}

// An address, with a marker in front where the mode is another one.
static void add_addr(struct pd_collector *c, uint64_t addr, unsigned cpumode, unsigned *last)
{
	if (cpumode != *last)
		add_word(c, cpumode == PD_CPUMODE_KERNEL     ? (uint64_t)PD_CONTEXT_KERNEL :
			    cpumode == PD_CPUMODE_HYPERVISOR ? (uint64_t)PD_CONTEXT_HV :
							       (uint64_t)PD_CONTEXT_USER);
	*last = cpumode;
	add_word(c, addr < PD_CONTEXT_MAX ? addr : PD_CONTEXT_MAX - 1);
}

// Branches do not say in which mode they are.
static void add_end(struct pd_collector *c, const struct pd_branch_sample *sample, uint64_t addr, unsigned *last)
{
	struct pd_location location;
	bool kernel = !pd_state_locate(c->state, sample->pid, PD_CPUMODE_USER, sample->when, addr, &location) &&
		      pd_state_locate(c->state, sample->pid, PD_CPUMODE_KERNEL, sample->when, addr, &location);

	add_addr(c, addr, kernel ? PD_CPUMODE_KERNEL : PD_CPUMODE_USER, last);
}

static void add_branches(struct pd_collector *c, const struct pd_branch_sample *of, const struct pd_branches *branches,
			 unsigned *last)
{
	const bool reversed = c->options->outermost_first;

	for (size_t i = 0; i < branches->count; i++) {
		const struct pd_branch *branch = &branches->items[i];

		add_end(c, of, reversed ? branch->from : branch->to, last);
		add_end(c, of, reversed ? branch->to : branch->from, last);
	}
}

// How many words from one on have so many addresses; with reversed, up to one.
static size_t count_words(struct pd_u64s chain, size_t count, size_t most, bool reversed)
{
	size_t words = 0, addresses = 0;

	for (; words < count && (!most || addresses < most); words++)
		addresses += chain.items[reversed ? count - 1 - words : words] < PD_CONTEXT_MAX;
	return words;
}

// Adds the callers at some words of a chain.
static void add_callers(struct pd_collector *c, struct pd_u64s chain, size_t begin, size_t end, unsigned *last)
{
	unsigned mode = PD_CPUMODE_USER;

	for (size_t i = 0; i < end; i++) {
		if (chain.items[i] >= PD_CONTEXT_MAX) {
			if (!pd_chain_mode(chain.items[i], &mode))
				return;
		} else if (i >= begin) {
			add_addr(c, chain.items[i], mode, last);
		}
	}
}

static void add_innermost(struct pd_collector *c, struct pd_u64s chain, size_t begin, size_t end, unsigned *last)
{
	const struct pd_u64s rest = { chain.count ? chain.items + begin : NULL, begin < end ? end - begin : 0 };

	add_callers(c, chain, begin, begin + count_words(rest, rest.count, c->options->max_stack, false), last);
}

static void add_outermost(struct pd_collector *c, struct pd_u64s chain, size_t count, unsigned *last)
{
	const struct pd_u64s rest = { chain.count ? chain.items + (chain.count - count) : NULL, count };

	add_callers(c, chain, chain.count - count_words(rest, count, c->options->max_stack, true), chain.count, last);
}

// How many words of a chain are left out, as calls that are among the branches: a return address is behind its call.
static size_t count_overlap(const struct pd_u64s *chain, const struct pd_branches *branches)
{
	size_t first = 0;

	for (size_t i = 0; i < branches->count && first < chain->count; i++) {
		const uint64_t from = branches->items[i].from, caller = chain->items[first];

		first += caller >= PD_CONTEXT_MAX || (from < caller && from >= caller - CALL_LENGTH_MOST);
	}
	return first;
}

// Stacks of calls are call chains already.
static bool has_branches(const struct pd_branch_sample *of)
{
	const struct pd_branch_stack *stack = of->sample->branch_stack;

	return stack && stack->entries.count <= BRANCHES_MOST &&
	       !PD_BITS(of->event->attr->branch_sample_type, PD_BRANCH_TYPE_CALL_STACK);
}

static bool reserve(struct pd_collector *c, size_t caller_count)
{
	if (!c->branches)
		c->branches = pd_alloc(sizeof(*c->branches));
	// each address may have a marker
	return c->branches &&
	       PD_GROW(c->branch_chain, c->branch_chain_capacity, 2 * (2 * BRANCHES_MOST + caller_count));
}

bool pd_branches_chain(struct pd_collector *c, const struct pd_branch_sample *of, struct pd_u64s *chain)
{
	const struct pd_u64s callers = *chain;
	const bool reversed = c->options->outermost_first;
	unsigned last = PD_CPUMODE_UNKNOWN;
	size_t overlap, left;

	if (!reserve(c, callers.count))
		return false;
	c->branches->count = c->branch_chain_count = 0;
	if (!has_branches(of)) {
		if (!reversed || !c->options->max_stack)
			return true;
		add_outermost(c, callers, callers.count, &last);
		*chain = (struct pd_u64s){ c->branch_chain, c->branch_chain_count };
		return true;
	}
	take_branches(c, of->sample->branch_stack);
	overlap = reversed ? 0 : count_overlap(&callers, c->branches);
	remove_loops(c->branches);
	note_flags(c->branches, reversed);
	left = callers.count > c->branches->count ? callers.count - c->branches->count : 0;
	if (reversed) {
		reverse(c->branches);
		add_outermost(c, callers, left, &last);
		add_branches(c, of, c->branches, &last);
	} else {
		add_branches(c, of, c->branches, &last);
		add_innermost(c, callers, overlap, left, &last);
	}
	*chain = (struct pd_u64s){ c->branch_chain, c->branch_chain_count };
	return true;
}

size_t pd_branches_passed(const struct pd_collector *c, const struct pd_passed_branch **passed_out)
{
	*passed_out = c->branches->passed;
	return c->branches->count;
}
