/* SPDX-License-Identifier: MIT */
/* What is known of addresses: the cache of a thread, and what fills it. */
#include "unwind/unwinder.h"

#include "symbol/lookup.h"

static void find_rule(struct pd_unwind_known *known, const struct pd_unwind_walk *walk,
		      const struct pd_location *location)
{
	uint64_t addr = location->offset;
	uint32_t rule;

	known->module = pd_unwind_module_of(walk->unwinder->shared, location, walk->arch);
	if (!known->module ||
	    (location->mapping->by_offset && !pd_unwind_module_addr(known->module, location->offset, &addr)))
		return;
	rule = pd_unwind_table_find(&known->module->table, addr);
	if (rule)
		known->rule = pd_unwind_table_at(&known->module->table, rule);
}

static void fill(struct pd_unwind_known *known, const struct pd_unwind_walk *walk, uint64_t addr)
{
	struct pd_location location;

	*known = (struct pd_unwind_known){ .maps = walk->maps, .addr = addr, .pid = walk->pid, .is_known = true };
	if (!pd_state_locate(walk->unwinder->shared->state, walk->pid, PD_CPUMODE_USER, walk->when, addr, &location))
		return;
	known->is_mapped = true;
	known->is_code = location.mapping->executable;
	known->object = location.object;
	// code that a program made has no file
	if (!location.mapping->anonymous || !pd_lookup_is_nameless(&location))
		find_rule(known, walk, &location);
}

const struct pd_unwind_known *pd_unwind_ask(struct pd_unwind_walk *walk, uint64_t addr)
{
	uint64_t hash = (addr ^ walk->maps * UINT64_C(0xff51afd7ed558ccd)) * UINT64_C(0x9e3779b97f4a7c15);
	struct pd_unwind_known *known = &walk->unwinder->known[hash >> 49];

	_Static_assert((int)PD_UNWIND_KNOWN == 1 << 15, "so many bits of the hash are taken");
	if (known->addr != addr || known->maps != walk->maps || known->pid != walk->pid || !known->is_known)
		fill(known, walk, addr);
	return known;
}
