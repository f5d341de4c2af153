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

/** Addresses in the order of perf, which subtracts them: those of the kernel come first. */
static inline uint64_t pd_addr_order(uint64_t addr)
{
	return addr ^ UINT64_C(1) << 63;
}

#endif
