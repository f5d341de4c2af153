/* SPDX-License-Identifier: MIT */
/*
 * Mappings as a state keeps them: what is mapped stands once, however many processes map it, and a mapping is a
 * number of that, a start, a process and a moment. struct pd_mapping is made of both for who asks.
 */
#ifndef PD_STATE_MAPS_H
#define PD_STATE_MAPS_H

#include <perfdata/state.h>

#include <stdatomic.h>

#include "base/lookup/hash.h"
#include "state/blocks.h"

enum pd_map_place {
	PD_MAP_USER,
	PD_MAP_KERNEL, // and modules
	PD_MAP_KSYMBOL
};

// What is mapped.
struct pd_map_kind {
	const struct pd_object *object; // NULL: code that went
	const char *symbol;
	uint64_t size, pgoff;
	uint32_t prot, flags;
	bool executable, anonymous, by_offset;
	uint8_t place; // enum pd_map_place
};

// Who mapped it. Processes map much at once, so one stands for many mappings.
struct pd_map_owner {
	uint32_t pid, tid;
};

struct pd_map {
	struct pd_moment from; // first: see order.h
	uint64_t start;
	uint32_t kind, owner;
};

struct pd_maps {
	struct pd_blocks maps; // struct pd_map
	struct pd_map_kind *kinds;
	size_t kind_count, kind_capacity;
	struct pd_index kind_index;
	struct pd_map_owner *owners;
	size_t owner_count, owner_capacity;
};

// Mappings that somebody wanted as struct pd_mapping: made at the first time, by whoever is the first.
struct pd_map_views {
	struct pd_mapping *views;
	_Atomic uint32_t *by_map; // number of a view and 1; 0: there is none yet
	_Atomic uint32_t count;
};

static inline const struct pd_map *pd_map_at(const struct pd_maps *maps, size_t number)
{
	return PD_BLOCK_AT(&maps->maps, struct pd_map, number);
}

static inline const struct pd_map_kind *pd_map_kind_at(const struct pd_maps *maps, size_t number)
{
	return &maps->kinds[pd_map_at(maps, number)->kind];
}

struct pd_range_of_map {
	uint64_t start, end;
};

static inline struct pd_range_of_map pd_map_range(const struct pd_maps *maps, size_t number)
{
	const struct pd_map *map = pd_map_at(maps, number);

	return (struct pd_range_of_map){ map->start, map->start + maps->kinds[map->kind].size };
}

static inline void pd_map_fill(const struct pd_maps *maps, size_t number, struct pd_mapping *mapping_out)
{
	const struct pd_map *map = pd_map_at(maps, number);
	const struct pd_map_kind *kind = &maps->kinds[map->kind];
	const struct pd_map_owner *owner = &maps->owners[map->owner];

	*mapping_out = (struct pd_mapping){
		.start = map->start,
		.end = map->start + kind->size,
		.pgoff = kind->pgoff,
		.object = kind->object,
		.symbol = kind->symbol,
		.pid = owner->pid,
		.tid = owner->tid,
		.prot = kind->prot,
		.flags = kind->flags,
		.executable = kind->executable,
		.anonymous = kind->anonymous,
		.by_offset = kind->by_offset,
		.from = map->from,
	};
}

#endif
