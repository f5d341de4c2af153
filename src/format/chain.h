/* SPDX-License-Identifier: MIT */
/* Markers in call chains. */
#ifndef PD_FORMAT_CHAIN_H
#define PD_FORMAT_CHAIN_H

#include <perfdata/format.h>

// The CPU mode of the addresses after a marker. False for an unknown marker, which ends the chain.
static inline bool pd_chain_mode(uint64_t marker, unsigned *cpumode)
{
	switch ((int64_t)marker) {
	case PD_CONTEXT_HV:
		*cpumode = PD_CPUMODE_HYPERVISOR;
		return true;
	case PD_CONTEXT_KERNEL:
		*cpumode = PD_CPUMODE_KERNEL;
		return true;
	case PD_CONTEXT_USER:
		*cpumode = PD_CPUMODE_USER;
		return true;
	}
	return false;
}

// An unwound chain that does not reach the outermost function ends in a second marker of user space, which announces what is not
// there. perf passes over it. One alone stands where a kernel had nothing to say of user space, as that of s390x.
static inline bool pd_chain_is_truncated(struct pd_u64s chain)
{
	const uint64_t user = (uint64_t)PD_CONTEXT_USER;
	size_t i = chain.count;

	if (i < 2 || chain.items[--i] != user)
		return false;
	while (i && chain.items[i - 1] != user)
		i--;
	return i;
}

// So many addresses of a chain, one after another, with their CPU modes.
struct pd_chain_walk {
	struct pd_u64s chain;
	size_t at, left; // entries
	unsigned cpumode;
};

// perf takes a chain with an unknown marker among these for an empty one.
static inline struct pd_chain_walk pd_chain_walk(struct pd_u64s chain, size_t most)
{
	size_t passed = 0;
	unsigned mode;

	for (size_t i = 0; i < chain.count && passed < most; i++) {
		passed += chain.items[i] < PD_CONTEXT_MAX;
		if (chain.items[i] >= PD_CONTEXT_MAX && !pd_chain_mode(chain.items[i], &mode))
			chain.count = 0;
	}
	return (struct pd_chain_walk){ chain, 0, most, PD_CPUMODE_USER };
}

static inline bool pd_chain_next(struct pd_chain_walk *walk, uint64_t *addr_out)
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

#endif
