/* SPDX-License-Identifier: MIT */
/* What stands at an address, and mappings, for the library itself: no struct pd_mapping is made for it, which a state keeps. */
#ifndef PD_STATE_LOCATE_H
#define PD_STATE_LOCATE_H

#include "state/maps.h"

enum {
	PD_NO_MAP = UINT32_MAX
};

// See pd_location; mappings are numbers, or PD_NO_MAP.
struct pd_found_map {
	uint64_t begin, end;
	uint32_t map, ksymbol;
	bool before_exec;
};

// As pd_state_locate.
bool pd_state_find_map(const struct pd_state *state, uint32_t pid, unsigned cpumode, struct pd_moment when,
		       uint64_t addr, struct pd_found_map *found_out);
// The location of an address that is in what was found, as pd_state_locate.
bool pd_state_found(const struct pd_state *state, const struct pd_found_map *found, uint64_t addr,
		    struct pd_location *location_out);
// As pd_state_view, but for mappings: the span is that of the name, which is longer, and maps is 0.
void pd_state_view_name(const struct pd_state *state, uint32_t tid, struct pd_moment when, struct pd_view *view_out);
// Of an address of what is there: its offset in the object, or itself.
uint64_t pd_state_map_offset(const struct pd_state *state, const struct pd_found_map *found, uint64_t addr);
// What is mapped by a mapping, or NULL past the end, as for PD_NO_MAP.
const struct pd_map_kind *pd_state_map_kind_of(const struct pd_state *state, uint32_t map);
// The index-th mapping. False past the end.
bool pd_state_get_mapping(const struct pd_state *state, size_t index, struct pd_mapping *mapping_out);

#endif
