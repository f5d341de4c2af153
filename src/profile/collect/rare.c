/* SPDX-License-Identifier: MIT */
#include "profile/collect/rare.h"

#include "base/memory.h"
#include "profile/collect/pending.h"

void pd_rare_fini(struct pd_rare_callers *callers)
{
	pd_free(callers->items);
	pd_index_fini(&callers->index);
	*callers = (struct pd_rare_callers){ 0 };
}

static uint64_t hash_of(uint64_t seed, uint64_t addr, uint32_t owner, uint32_t details)
{
	return pd_fold(addr ^ seed, ((uint64_t)owner << 32 | details) ^ ~seed);
}

// The one that is the same, or a new one without samples. NULL if there is no memory.
static struct pd_rare_caller *find(struct pd_rare_callers *callers, uint64_t addr, uint32_t owner, uint32_t details,
				   uint64_t hash)
{
	size_t at = (uint32_t)hash;
	struct pd_rare_caller *caller;

	for (uint32_t i; (i = pd_index_next(&callers->index, hash, &at)) != PD_INDEX_END;) {
		caller = &callers->items[i];
		if (caller->addr == addr && caller->owner == owner && caller->details == details)
			return caller;
	}
	if (callers->count >= PD_INDEX_END - 1 || !PD_GROW(callers->items, callers->capacity, callers->count + 1) ||
	    !pd_index_add(&callers->index, hash, (uint32_t)callers->count))
		return NULL;
	caller = &callers->items[callers->count++];
	*caller = (struct pd_rare_caller){
		.addr = addr,
		.order = UINT64_MAX,
		.owner = owner,
		.details = details,
	};
	return caller;
}

// The first caller of a miss that is kept.
static uint32_t first_kept(const struct pd_collector *c, const struct pd_miss *miss)
{
	unsigned most = c->options->keep_merged;

	return miss->caller_count > most ? miss->caller_count - most : 0;
}

// Callers come from the innermost on.
static void count_one(struct pd_rare_caller *caller, const struct pd_miss *miss, uint32_t at, uint32_t first)
{
	const struct pd_pending *pending = miss->pending;
	const uint64_t order = pending->when.order;
	bool again = caller->last == order + 1;

	if (order < caller->order) {
		caller->order = order;
		caller->bucket = miss->number;
		caller->inner = at;
	}
	if (order == caller->order)
		caller->outer = at;
	caller->above = at + 1 - first > caller->above ? at + 1 - first : caller->above;
	if (again)
		return;
	caller->last = order + 1;
	caller->samples++;
	caller->period += pending->period;
	caller->below = miss->caller_count - at > caller->below ? miss->caller_count - at : caller->below;
}

// Whether samples of a mode are shown, whoever asks.
static bool is_of_guest(unsigned cpumode)
{
	return cpumode == PD_CPUMODE_GUEST_KERNEL || cpumode == PD_CPUMODE_GUEST_USER;
}

// Those of a miss. False if there is no memory.
static bool ask_miss(struct pd_collector *c, const struct pd_miss *miss)
{
	const uint32_t merged = c->common->frames.merge.frame;
	const struct pd_pending *pending = miss->pending;

	// a sample without one, or that is not shown
	if (!miss->sum_count || is_of_guest(pending->cpumode))
		return true;
	if (!PD_GROW(c->rare_asks, c->rare_ask_capacity, c->rare_ask_count + miss->caller_count))
		return false;
	for (uint32_t i = first_kept(c, miss); i < miss->caller_count; i++) {
		const size_t at = miss->found + 1 + i;
		uint64_t hash;

		// where the sample was taken is in its row already
		if (c->found[at] != merged ||
		    (c->found_addrs[at] == pending->ip && pending->cpumode == PD_CPUMODE_USER))
			continue;
		hash = hash_of(c->seed, c->found_addrs[at], pending->owner, miss->key.details);
		pd_index_prefetch(&c->rare.index, hash);
		c->rare_asks[c->rare_ask_count++] = (struct pd_rare_ask){ hash, (uint32_t)(miss - c->misses), i };
	}
	return true;
}

bool pd_rare_count(struct pd_collector *c)
{
	c->rare_ask_count = 0;
	for (size_t i = 0; i < c->miss_count; i++)
		if (!ask_miss(c, &c->misses[i]))
			return false;
	for (size_t i = 0; i < c->rare_ask_count; i++) {
		uint32_t likely = pd_index_peek(&c->rare.index, c->rare_asks[i].hash);

		if (likely != PD_INDEX_END)
			__builtin_prefetch(&c->rare.items[likely], 1);
	}
	for (size_t i = 0; i < c->rare_ask_count; i++) {
		const struct pd_rare_ask *ask = &c->rare_asks[i];
		const struct pd_miss *miss = &c->misses[ask->miss];
		struct pd_rare_caller *caller = find(&c->rare, c->found_addrs[miss->found + 1 + ask->at],
						     miss->pending->owner, miss->key.details, ask->hash);

		if (!caller)
			return false;
		count_one(caller, miss, ask->at, first_kept(c, miss));
	}
	return true;
}

bool pd_rare_join(struct pd_collector *c, const struct pd_rare_callers *more)
{
	for (size_t i = 0; i < more->count; i++) {
		const struct pd_rare_caller *from = &more->items[i];
		struct pd_rare_caller *to = find(&c->rare, from->addr, from->owner, from->details,
						 hash_of(c->seed, from->addr, from->owner, from->details));

		if (!to)
			return false;
		to->samples += from->samples;
		to->period += from->period;
		to->below = from->below > to->below ? from->below : to->below;
		to->above = from->above > to->above ? from->above : to->above;
		if (from->order > to->order)
			continue;
		to->order = from->order;
		to->bucket = from->bucket;
		to->inner = from->inner;
		to->outer = from->outer;
	}
	return true;
}
