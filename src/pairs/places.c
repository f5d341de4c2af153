/* SPDX-License-Identifier: MIT */
// Functions of the kernel.
#include <string.h>

#include "pairs/pairs.h"

#include "symbol/lookup.h"

// Functions that take locks or switch threads are together in sections of their own.
static bool is_lock(struct pd_pairs *pairs, uint64_t addr)
{
	const uint64_t *at = pairs->sections;

	if (!pairs->sections_known)
		pairs->has_sections = pd_lookup_kernel_sections(pairs->symbols, pairs->sections);
	pairs->sections_known = true;
	return pairs->has_sections && ((addr >= at[0] && addr < at[1]) || (addr >= at[2] && addr < at[3]));
}

const struct pd_pair_place *pd_pair_find_place(struct pd_pairs *pairs, uint64_t addr)
{
	const struct pd_moment end = { PD_NEVER, UINT64_MAX };
	struct pd_pair_place *place =
		(struct pd_pair_place *)(uintptr_t)pd_u64_map_find(&pairs->places, addr); // NOLINT
	struct pd_place found;

	if (place)
		return place;
	place = pd_arena_alloc(&pairs->sched.arena, sizeof(*place));
	if (!place || !pd_u64_map_add_pointer(&pairs->places, addr, place))
		return NULL;
	found = pd_symbols_place(pairs->symbols, UINT32_MAX, PD_CPUMODE_KERNEL, end, addr);
	place->addr = addr;
	place->function = found.function;
	place->offset = found.function ? found.addr - found.function->start : 0;
	if (found.function)
		place->name = pd_pairs_name(pairs, found.function->name, strlen(found.function->name));
	if (found.function && !place->name)
		return NULL;
	place->is_lock = is_lock(pairs, addr);
	return pd_symbols_failed(pairs->symbols) ? NULL : place;
}
