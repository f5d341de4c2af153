/* SPDX-License-Identifier: MIT */
/*
 * What stands at an address, by ranges of addresses: a process has few that are met again and again, those included in which
 * nothing is mapped, where call chains through code without frame pointers end. A collector's own.
 */
#ifndef PD_PROFILE_COLLECT_RANGES_H
#define PD_PROFILE_COLLECT_RANGES_H

#include <perfdata/profile.h>

#include "base/cursor.h"

// An address of a sample.
struct pd_code_address {
	uint64_t maps; // pd_view.maps
	uint64_t addr;
	uint32_t pid;
	unsigned cpumode;
	uint32_t depth; // 0: where it was taken; its callers after it
	struct pd_moment when;
};

// All processes see the same kernel.
static inline void pd_code_address_normalize(struct pd_code_address *address)
{
	if (address->cpumode == PD_CPUMODE_KERNEL || address->cpumode == PD_CPUMODE_HYPERVISOR) {
		address->maps = (uint32_t)address->maps;
		address->pid = 0;
	}
}

enum {
	PD_RANGE_MAPPED = 1,
	PD_RANGE_BY_OFFSET = 2, // of the mapping
	PD_RANGE_BY_PROCESS = 4 // memory without a file: an address says nothing to other processes
};

struct pd_range {
	uint64_t begin, end;
	uint32_t object, ksymbol; // one more than the index; 0: none
	uint64_t to_offset;       // added to an address of a file
	// of all places in it, see pd_place_fill
	uint64_t what, mask;
	uint32_t pid;
	uint8_t kind;
	uint8_t flags; // PD_RANGE_...
};

enum {
	PD_RANGES_IN_SET = 16,
	PD_RANGE_SETS = 256,
	PD_RANGE_GUESSES = 32
};

// Those of a process while its maps stay as they are; a newer one takes the place.
struct pd_range_set {
	uint64_t maps;
	uint32_t pid;
	uint8_t cpumode;
	uint8_t count;                   // 0: nothing is here
	uint8_t next;                    // to be replaced
	uint8_t guess[PD_RANGE_GUESSES]; // by a hash of the address: the range that it was in
	struct pd_range items[PD_RANGES_IN_SET];
};

// Asks the state, and keeps what it says. unmapped_as_one: where nothing is mapped in a process is one place.
const struct pd_range *pd_range_ask(struct pd_range_set *set, const struct pd_state *state,
				    const struct pd_code_address *address, bool unmapped_as_one);

static inline uint8_t *pd_range_guess(struct pd_range_set *set, uint64_t addr)
{
	return &set->guess[(addr >> 16 ^ addr >> 21) % PD_RANGE_GUESSES];
}

static inline bool pd_range_has(const struct pd_range *range, uint64_t addr)
{
	return addr - range->begin < range->end - range->begin;
}

// Where the ranges of the process and mode of an address are, or will be; the address is one that pd_code_address_normalize had.
static inline struct pd_range_set *pd_range_set_of(struct pd_range_set *sets, const struct pd_code_address *address)
{
	uint64_t hash = (address->maps ^ address->maps >> 29 ^ address->pid ^ (uint64_t)address->cpumode << 20) *
			UINT64_C(0x9e3779b97f4a7c15);

	return &sets[hash >> 32 & (PD_RANGE_SETS - 1)];
}

// The range of an address; valid until the next call.
static inline const struct pd_range *pd_range_in(struct pd_range_set *set, const struct pd_state *state,
						 const struct pd_code_address *address, bool unmapped_as_one)
{
	if (set->maps == address->maps && set->pid == address->pid && set->cpumode == address->cpumode) {
		uint8_t *guess = pd_range_guess(set, address->addr);

		if (PD_LIKELY(*guess < set->count && pd_range_has(&set->items[*guess], address->addr)))
			return &set->items[*guess];
		for (uint8_t i = 0; i < set->count; i++) {
			if (!pd_range_has(&set->items[i], address->addr))
				continue;
			*guess = i;
			return &set->items[i];
		}
	}
	return pd_range_ask(set, state, address, unmapped_as_one);
}

static inline const struct pd_range *pd_range_of(struct pd_range_set *sets, const struct pd_state *state,
						 const struct pd_code_address *address, bool unmapped_as_one)
{
	return pd_range_in(pd_range_set_of(sets, address), state, address, unmapped_as_one);
}

#endif
