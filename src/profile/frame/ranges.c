/* SPDX-License-Identifier: MIT */
#include "profile/frame/ranges.h"

#include "state/locate.h"

static uint32_t number_of(const struct pd_map_kind *kind)
{
	return kind ? (uint32_t)kind->object->index + 1 : 0;
}

// What is the same for all places in a range.
static void fill_place(struct pd_range *range, const struct pd_code_address *address, bool unmapped_as_one)
{
	bool mapped = range->flags & PD_RANGE_MAPPED, by_process = range->flags & PD_RANGE_BY_PROCESS;

	range->kind = (uint8_t)(range->flags << 3 | address->cpumode);
	range->mask = mapped || !unmapped_as_one || address->cpumode != PD_CPUMODE_USER ? UINT64_MAX : 0;
	range->pid = by_process ? address->pid : 0;
	if (by_process)
		range->what = address->maps;
	else if (mapped)
		range->what = (uint64_t)range->ksymbol << 32 | range->object;
}

static void fill(struct pd_range *range, const struct pd_state *state, const struct pd_found_map *found, uint64_t addr)
{
	const struct pd_map_kind *kind = pd_state_map_kind_of(state, found->map);

	*range = (struct pd_range){ .begin = found->begin, .end = found->end };
	if (!kind)
		return;
	range->object = number_of(kind);
	range->ksymbol = number_of(pd_state_map_kind_of(state, found->ksymbol));
	range->flags = PD_RANGE_MAPPED;
	if (kind->by_offset)
		range->flags |= PD_RANGE_BY_OFFSET;
	// names of code without a file are the process's own
	if (kind->object->kind == PD_OBJECT_ANON || kind->anonymous)
		range->flags |= PD_RANGE_BY_PROCESS;
	else
		range->to_offset = pd_state_map_offset(state, found, addr) - addr;
}

const struct pd_range *pd_range_ask(struct pd_range_set *set, const struct pd_state *state,
				    const struct pd_code_address *address, bool unmapped_as_one)
{
	struct pd_found_map found;
	uint8_t at = 0;

	pd_state_find_map(state, address->pid, address->cpumode, address->when, address->addr, &found);
	if (set->maps != address->maps || set->pid != address->pid || set->cpumode != address->cpumode) {
		*set = (struct pd_range_set){ .maps = address->maps,
					      .pid = address->pid,
					      .cpumode = (uint8_t)address->cpumode };
	} else if (set->count == PD_RANGES_IN_SET) {
		at = set->next;
		set->next = (uint8_t)((at + 1) % PD_RANGES_IN_SET);
	} else {
		at = set->count;
	}
	set->count = at >= set->count ? (uint8_t)(at + 1) : set->count;
	*pd_range_guess(set, address->addr) = at;
	fill(&set->items[at], state, &found, address->addr);
	fill_place(&set->items[at], address, unmapped_as_one);
	return &set->items[at];
}
