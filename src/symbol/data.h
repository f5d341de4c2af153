/* SPDX-License-Identifier: MIT */
/*
 * Where data is that a sample accessed, and lines of the cache, with the rules of perf; and which places are resolved. Threads: those of
 * symbols.
 */
#ifndef PD_SYMBOL_DATA_H
#define PD_SYMBOL_DATA_H

#include <perfdata/symbol.h>

enum {
	PD_CACHE_LINE_BYTES = 64
};

/** What is accessed at an address; mapping is what was mapped there for the CPU mode of the sample, or NULL. */
struct pd_place pd_symbols_data(struct pd_symbols *symbols, const struct pd_mapping *mapping, unsigned cpumode,
				uint64_t addr);
/** The address that perf distinguishes lines by: in the file, if one is mapped there. */
uint64_t pd_data_offset(const struct pd_mapping *mapping, uint64_t addr);

/** A line of the cache, however it is mapped. Equal in group and addr: the same. */
struct pd_cache_line {
	uint64_t order; // before the address
	uint64_t group; // memory that the address is of
	uint64_t addr;
};

struct pd_cache_line pd_cache_line_of(const struct pd_mapping *mapping, unsigned cpumode, uint32_t pid, uint64_t addr);
/** Whether a place counts as one in a function. */
static inline bool pd_place_is_resolved(const struct pd_place *place)
{
	return place->function && !place->function->nameless;
}

/** Whether a sample was taken in code that its chain does not begin with: the chain has callers of the program alone and the sample is of
 * the kernel, or the CPU knows more precisely where the sample was taken, which is in another function. As in perf report, what the
 * sample counts for is its own address then, and the chain says who called that. */
static inline bool pd_place_is_called(const struct pd_place *sampled, unsigned cpumode, const struct pd_place *first,
				      unsigned first_cpumode)
{
	if (cpumode != first_cpumode)
		return true;
	return sampled->dso && (sampled->function != first->function || sampled->dso != first->dso);
}

/** Addresses in the order of perf, which subtracts them: those of the kernel come first. */
static inline uint64_t pd_addr_order(uint64_t addr)
{
	return addr ^ UINT64_C(1) << 63;
}

#endif
