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

// An unwound chain that does not reach the outermost function ends in one more marker of user space, which announces what is not
// there. perf passes over it.
static inline bool pd_chain_is_truncated(struct pd_u64s chain)
{
	return chain.count > 1 && chain.items[chain.count - 1] == (uint64_t)PD_CONTEXT_USER;
}

#endif
