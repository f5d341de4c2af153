/* SPDX-License-Identifier: MIT */
/*
 * From the addresses of a sample to its frames. What is known of places is asked for many addresses at once, so that memory is on
 * its way meanwhile. The outermost callers of a sample are mostly those of the one before: these are not asked for again.
 */
#include "base/memory.h"
#include "format/chain.h"
#include "profile/collect/pending.h"

static bool is_cut(const struct pd_attr *attr, struct pd_u64s chain)
{
	enum {
		USUAL_MOST = 127
	};
	size_t most = attr->sample_max_stack ? attr->sample_max_stack : USUAL_MOST, addresses = 0;

	if (chain.count < most)
		return false;
	for (size_t i = 0; i < chain.count; i++)
		addresses += chain.items[i] < PD_CONTEXT_MAX;
	return addresses >= most;
}

// ---- frames ----

// The period of each sample that has something that is merged is summed up, once for each place.
static bool count_merged(struct pd_collector *c, struct pd_miss *miss, size_t at)
{
	const struct pd_pending *pending = miss->pending;
	struct pd_merge_sum *sums = pd_sums_of(c, pending->event), *sum;

	if (PD_UNLIKELY(!sums))
		return false;
	sum = &sums[at];
	c->has_merged = true;
	if (sum->last == pending->when.order + 1)
		return true;
	sum->last = pending->when.order + 1;
	sum->period += pending->period;
	if (!miss->sum_count)
		miss->sums = (struct pd_key_sums){ .event = (uint16_t)(pending->event % PD_MERGE_EVENTS) };
	if (miss->sum_count < PD_KEY_SUMS)
		miss->sums.plus_1[miss->sum_count] = (uint16_t)(at + 1);
	miss->sum_count++;
	return true;
}

// A frame has been found; sum: of its address, if the frame is the merged one.
static inline bool end_frame(struct pd_collector *c, struct pd_miss *miss, size_t at, uint32_t frame, uint64_t addr,
			     size_t sum)
{
	c->found[at] = frame;
	if (PD_LIKELY(frame != c->common->frames.merge.frame))
		return true;
	c->found_sums[at] = (uint32_t)sum;
	if (c->keeps_rare)
		c->found_addrs[at] = addr;
	return count_merged(c, miss, sum);
}

static struct pd_code_address address_of(const struct pd_collector *c, const struct pd_ask *ask)
{
	const struct pd_pending *pending = c->misses[ask->miss].pending;
	struct pd_code_address address = { pending->maps, ask->addr,    pending->pid, pd_place_cpumode(&ask->place),
					   ask->depth,    pending->when };

	pd_code_address_normalize(&address);
	return address;
}

// Asks the table of frames, which takes a while. False if there is no memory.
static bool want_frame(struct pd_collector *c, const struct pd_ask *ask)
{
	const struct pd_code_address address = address_of(c, ask);
	struct pd_range_set *set = pd_range_set_of(c->ranges, &address);

	if (!PD_GROW(c->wanted, c->wanted_capacity, c->wanted_count + 1))
		return false;
	c->wanted[c->wanted_count++] = (struct pd_wanted){
		.address = address,
		.range = *pd_range_in(set, c->state, &address, c->common->frames.unnamed_as_one),
		.place = ask->place,
		.known = ask->known ? ask->known :
				      pd_known_slot(&c->common->frames, c->known, c->known_count, &ask->place),
		.at = ask->at,
		.miss = ask->miss,
	};
	return true;
}

// The frame of a caller where nothing is mapped, as far as it is known, or PD_NO_FRAME.
static uint32_t find_unmapped(const struct pd_collector *c, const struct pd_ask *ask)
{
	const struct pd_frames *frames = &c->common->frames;
	uint32_t frame = pd_merge_unmapped(&frames->merge, ask->place.where, ask->sum, ask->place.order_kind >> 8);

	if (frame != PD_NOT_MERGED)
		return frame;
	return frames->merge.heavy ?
		       pd_known_frame(pd_known_slot(frames, c->known, c->known_count, &ask->place), &ask->place) :
		       PD_NO_FRAME;
}

static inline size_t sum_of(const struct pd_collector *c, const struct pd_known_place *place)
{
	return pd_merge_sum(&c->common->frames.merge, place->what, place->where);
}

// Finds the frames that were asked for, as far as they are known. False if there is no memory.
static bool answer(struct pd_collector *c)
{
	const uint32_t merged = c->common->frames.merge.frame;

	for (size_t i = 0; i < c->ask_count; i++) {
		const struct pd_ask *ask = &c->asks[i];
		uint32_t frame = ask->known ? pd_known_frame(ask->known, &ask->place) : find_unmapped(c, ask);
		size_t sum = !ask->known ? ask->sum : frame == merged ? sum_of(c, &ask->place) : 0;

		if (!end_frame(c, &c->misses[ask->miss], ask->at, frame, ask->addr, sum) ||
		    (PD_UNLIKELY(frame == PD_NO_FRAME) && !want_frame(c, ask)))
			return false;
	}
	c->ask_count = 0;
	return true;
}

// Asks for the frame of an address, for which there is room. What is known of it is on its way from memory while others are asked
// for. False if there is no memory for more.
static inline bool add_frame(struct pd_collector *c, const struct pd_range *range,
			     const struct pd_code_address *address)
{
	const struct pd_frames *frames = &c->common->frames;
	struct pd_ask *ask = &c->asks[c->ask_count++];

	pd_place_fill(&ask->place, frames, address, range);
	ask->addr = address->addr;
	ask->depth = address->depth;
	ask->at = (uint32_t)c->found_count++;
	ask->miss = (uint32_t)c->miss_count - 1;
	if (pd_place_is_unmapped_caller(&ask->place)) {
		ask->known = NULL;
		ask->sum = (uint32_t)pd_merge_sum(&frames->merge, 0, ask->place.where);
		__builtin_prefetch(&frames->merge.own[ask->sum]);
	} else {
		ask->known = pd_known_slot(frames, c->known, c->known_count, &ask->place);
		__builtin_prefetch(ask->known);
	}
	return c->ask_count < PD_ASKS_MOST || answer(c);
}

static void drop_frames(struct pd_collector *c, size_t count)
{
	c->found_count -= count;
	while (c->wanted_count && c->wanted[c->wanted_count - 1].at >= c->found_count)
		c->wanted_count--;
}

// ---- what a chain shares with the one before ----

static size_t first_address(const struct pd_pending *pending)
{
	size_t i = 0;

	while (i < pending->chain_count && pending->chain[i] >= PD_CONTEXT_MAX)
		i++;
	return i;
}

// The mode of the address at a place of a chain of which all markers are known.
static unsigned mode_at(const struct pd_pending *pending, size_t at)
{
	unsigned mode = PD_CPUMODE_USER;

	while (at && pending->chain[at - 1] < PD_CONTEXT_MAX)
		at--;
	if (at)
		pd_chain_mode(pending->chain[at - 1], &mode);
	return mode;
}

// How many words at the end of a chain are those of the sample before, so that their frames are the same. Where a sample was taken
// is not among them, as that is no caller.
static size_t count_shared(const struct pd_collector *c, const struct pd_pending *pending, unsigned most_callers)
{
	const struct pd_miss *before = c->miss_count > 1 ? &c->misses[c->miss_count - 2] : NULL;
	const struct pd_pending *other = before ? before->pending : NULL;
	size_t count = pending->chain_count, other_count, shared = 0, most;

	if (!before || !before->is_whole || (most_callers && count > most_callers) || other->maps != pending->maps ||
	    other->pid != pending->pid || other->when.order > pending->when.order)
		return 0;
	other_count = other->chain_count;
	most = count < other_count ? count : other_count;
	while (shared < most && pending->chain[count - shared - 1] == other->chain[other_count - shared - 1])
		shared++;
	most = count - first_address(pending);
	if (shared >= most)
		shared = most ? most - 1 : 0;
	most = other_count - first_address(other);
	if (shared >= most)
		shared = most ? most - 1 : 0;
	if (!shared || pending->chain[count - shared] >= PD_CONTEXT_MAX)
		return shared;
	return mode_at(pending, count - shared) == mode_at(other, other_count - shared) ? shared : 0;
}

// Frames that are those of the sample before, once they are found.
static void share_frames(struct pd_collector *c, struct pd_miss *miss, size_t from)
{
	for (size_t i = from; i < miss->pending->chain_count; i++)
		miss->shared += miss->pending->chain[i] < PD_CONTEXT_MAX;
	miss->caller_count += miss->shared;
	c->found_count += miss->shared;
}

static bool take_shared(struct pd_collector *c, struct pd_miss *miss)
{
	size_t to = miss->found + 1 + miss->caller_count - miss->shared;
	size_t from = miss[-1].found + 1 + miss[-1].caller_count - miss->shared;

	for (size_t i = 0; i < miss->shared; i++)
		if (!end_frame(c, miss, to + i, c->found[from + i], c->keeps_rare ? c->found_addrs[from + i] : 0,
			       c->found_sums[from + i]))
			return false;
	return true;
}

// ---- chains ----

static inline bool reserve_found(struct pd_collector *c, size_t count)
{
	size_t want = c->found_count + count;

	if (PD_LIKELY(want <= c->found_capacity && want <= c->sums_capacity &&
		      (!c->keeps_rare || want <= c->addrs_capacity)))
		return true;
	if (c->keeps_rare && !PD_GROW(c->found_addrs, c->addrs_capacity, want))
		return false;
	return PD_GROW(c->found, c->found_capacity, want) && PD_GROW(c->found_sums, c->sums_capacity, want);
}

// Adds the next caller. *range is where the one before was, or NULL. False if there is no memory.
static inline bool add_caller(struct pd_collector *c, struct pd_miss *miss, struct pd_code_address *address,
			      struct pd_range_set *set, const struct pd_range **range)
{
	const struct pd_pending *pending = miss->pending;

	// most chains begin with where the sample was taken, which is no caller, and was asked for
	if (!miss->caller_count++ && address->addr == pending->ip && address->cpumode == pending->cpumode) {
		miss->begins_with_ip = true;
		c->found_count++;
		return true;
	}
	address->depth = miss->caller_count;
	if (!*range || !pd_range_has(*range, address->addr))
		*range = pd_range_in(set, c->state, address, c->common->frames.unnamed_as_one);
	if (!add_frame(c, *range, address))
		return false;
	// what was asked for then may have taken its place
	if (!c->ask_count)
		*range = NULL;
	return true;
}

// Adds the frames of a chain. False if there is no memory.
static bool add_chain(struct pd_collector *c, unsigned most, struct pd_miss *miss)
{
	const struct pd_pending *pending = miss->pending;
	const size_t own = pending->chain_count - count_shared(c, pending, most);
	struct pd_code_address address = { pending->maps, 0, pending->pid, PD_CPUMODE_USER, 0, pending->when };
	struct pd_range_set *set = pd_range_set_of(c->ranges, &address);
	const struct pd_range *range = NULL;

	for (size_t i = 0; i < own; i++) {
		const uint64_t word = pending->chain[i];

		if (PD_LIKELY(word < PD_CONTEXT_MAX)) {
			if (most && miss->caller_count >= most)
				return true;
			address.addr = word;
			if (!add_caller(c, miss, &address, set, &range))
				return false;
		} else if (word == (uint64_t)PD_CONTEXT_USER_DEFERRED) {
			return true;
		} else if (pd_chain_mode(word, &address.cpumode)) {
			address.maps = pending->maps;
			address.pid = pending->pid;
			pd_code_address_normalize(&address);
			set = pd_range_set_of(c->ranges, &address);
			range = NULL;
		} else {
			miss->damaged = true;
			if (!answer(c))
				return false;
			drop_frames(c, miss->caller_count);
			miss->caller_count = 0;
			miss->begins_with_ip = false;
			return true;
		}
	}
	miss->is_whole = true;
	share_frames(c, miss, own);
	return true;
}

// 0: all. What has branches in front, or begins with the outermost caller then, is as deep as it may be.
static unsigned most_callers(const struct pd_collector *c)
{
	const struct pd_passed_branch *passed;
	const bool is_made = c->options->by & PD_BY_BRANCHES &&
			     (c->options->outermost_first || pd_branches_passed(c, &passed));

	return is_made ? 0 : c->options->max_stack;
}

bool pd_miss_begin(struct pd_collector *c, const struct pd_pending *pending)
{
	struct pd_u64s chain = { pending->chain, pending->chain_count };
	struct pd_code_address address = {
		pending->maps, pending->ip, pending->pid, pending->cpumode, 0, pending->when
	};
	struct pd_miss *miss = &c->misses[c->miss_count++];
	const struct pd_range *range;

	miss->pending = pending;
	miss->found = c->found_count;
	miss->caller_count = miss->shared = miss->sum_count = 0;
	miss->is_whole = miss->begins_with_ip = miss->cut = miss->damaged = miss->unfinished = false;
	pd_code_address_normalize(&address);
	range = pd_range_of(c->ranges, c->state, &address, c->common->frames.unnamed_as_one);
	if (!reserve_found(c, 1 + chain.count) || !add_frame(c, range, &address))
		return false;
	if (!(c->options->by & PD_BY_CHAIN))
		return true;
	// what was unwound is as deep as it may be
	if (pending->unwound) {
		miss->unfinished = pending->unwound == PD_UNWOUND_PARTLY;
		return add_chain(c, 0, miss);
	}
	miss->unfinished = pd_chain_is_truncated(chain);
	miss->cut = is_cut(c->totals[pending->event].event->attr, chain);
	return add_chain(c, most_callers(c), miss);
}

// Finds the frames that are not known. False if there is no memory.
static bool find_wanted(struct pd_collector *c)
{
	struct pd_common *common = c->common;
	bool found;

	if (!c->wanted_count)
		return true;
	pd_frames_identify(&common->frames, c->wanted, c->wanted_count);
	pd_common_lock(common, &common->names_lock);
	found = pd_frames_find(&common->frames, c->wanted, c->wanted_count);
	pd_common_unlock(common, &common->names_lock);
	for (size_t i = 0; found && i < c->wanted_count; i++) {
		const struct pd_wanted *wanted = &c->wanted[i];

		found = end_frame(c, &c->misses[wanted->miss], wanted->at, wanted->frame, wanted->address.addr,
				  sum_of(c, &wanted->place));
	}
	return found;
}

bool pd_misses_find_frames(struct pd_collector *c)
{
	if (!answer(c) || !find_wanted(c))
		return false;
	for (size_t i = 0; i < c->miss_count; i++) {
		struct pd_miss *miss = &c->misses[i];

		if (miss->begins_with_ip)
			c->found[miss->found + 1] = c->found[miss->found];
		if (miss->shared && !take_shared(c, miss))
			return false;
	}
	return true;
}
