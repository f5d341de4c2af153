/* SPDX-License-Identifier: MIT */
/*
 * A hash table from numbers of 64 bits to numbers, or to pointers. One access to memory for most keys, since a file of
 * samples asks millions of times for the same ones. The hash is seeded, so that a file cannot choose what collides.
 */
#ifndef PD_BASE_LOOKUP_U64_MAP_H
#define PD_BASE_LOOKUP_U64_MAP_H

#include "base/lookup/hash.h"

struct pd_u64_map_slot {
	uint64_t key;
	uint64_t value; // 0 marks an empty slot
};

// Zeros are an empty map; who wants a seed sets it before the first key.
struct pd_u64_map {
	uint64_t seed;
	struct pd_u64_map_slot *slots;
	size_t count;
	size_t capacity; // a power of two, or 0
	size_t max;      // entries; 0: no limit. More are not kept
};

// The value of a key, or 0.
static inline uint64_t pd_u64_map_find(const struct pd_u64_map *map, uint64_t key)
{
	size_t mask = map->capacity - 1;

	if (!map->capacity)
		return 0;
	for (size_t at = (size_t)pd_hash_u64(map->seed, key) & mask; map->slots[at].value; at = (at + 1) & mask)
		if (map->slots[at].key == key)
			return map->slots[at].value;
	return 0;
}

static inline const void *pd_u64_map_find_pointer(const struct pd_u64_map *map, uint64_t key)
{
	return (const void *)(uintptr_t)pd_u64_map_find(map, key); // NOLINT: it was a pointer
}

// Asks for the memory that finding a key will need.
static inline void pd_u64_map_prefetch(const struct pd_u64_map *map, uint64_t key)
{
	if (map->capacity)
		__builtin_prefetch(&map->slots[(size_t)pd_hash_u64(map->seed, key) & (map->capacity - 1)]);
}

// Adds a key that is not there yet; value is not 0. False if there is no memory for it; nothing is changed then.
bool pd_u64_map_add(struct pd_u64_map *map, uint64_t key, uint64_t value);

static inline bool pd_u64_map_add_pointer(struct pd_u64_map *map, uint64_t key, const void *value)
{
	return pd_u64_map_add(map, key, (uintptr_t)value);
}

// Adds a key, or replaces its value. False if there is no memory.
bool pd_u64_map_set(struct pd_u64_map *map, uint64_t key, uint64_t value);
// False if there is no memory; the copy is empty then.
bool pd_u64_map_copy(struct pd_u64_map *copy_out, const struct pd_u64_map *map);
// Leaves an empty map of the same seed and limit.
void pd_u64_map_fini(struct pd_u64_map *map);

#endif
