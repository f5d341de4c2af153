/* SPDX-License-Identifier: MIT */
#include "base/lookup/u64_map.h"

#include <string.h>

#include "base/memory.h"

enum {
	FIRST = 64
};

// The slot of a key, or the empty one that it gets.
static struct pd_u64_map_slot *slot_of(const struct pd_u64_map *map, uint64_t key)
{
	size_t mask = map->capacity - 1, at = (size_t)pd_hash_u64(map->seed, key) & mask;

	while (map->slots[at].value && map->slots[at].key != key)
		at = (at + 1) & mask;
	return &map->slots[at];
}

static bool grow_map(struct pd_u64_map *map)
{
	struct pd_u64_map old = *map;

	map->capacity = old.capacity ? old.capacity * 2 : FIRST;
	map->slots = map->capacity > SIZE_MAX / sizeof(*map->slots) ? NULL :
								      pd_alloc(map->capacity * sizeof(*map->slots));
	if (!map->slots) {
		*map = old;
		return false;
	}
	for (size_t i = 0; i < old.capacity; i++)
		if (old.slots[i].value)
			*slot_of(map, old.slots[i].key) = old.slots[i];
	pd_free(old.slots);
	return true;
}

bool pd_u64_map_add(struct pd_u64_map *map, uint64_t key, uint64_t value)
{
	if (map->max && map->count >= map->max)
		return true;
	if (map->count >= map->capacity / 4 * 3 && !grow_map(map))
		return false;
	*slot_of(map, key) = (struct pd_u64_map_slot){ key, value };
	map->count++;
	return true;
}

bool pd_u64_map_set(struct pd_u64_map *map, uint64_t key, uint64_t value)
{
	if (!pd_u64_map_find(map, key))
		return pd_u64_map_add(map, key, value);
	slot_of(map, key)->value = value;
	return true;
}

bool pd_u64_map_copy(struct pd_u64_map *copy_out, const struct pd_u64_map *map)
{
	*copy_out = *map;
	copy_out->slots = map->capacity ? pd_alloc(map->capacity * sizeof(*map->slots)) : NULL;
	if (map->capacity && !copy_out->slots) {
		copy_out->count = copy_out->capacity = 0;
		return false;
	}
	if (map->capacity)
		memcpy(copy_out->slots, map->slots, map->capacity * sizeof(*map->slots));
	return true;
}

void pd_u64_map_fini(struct pd_u64_map *map)
{
	pd_free(map->slots);
	map->slots = NULL;
	map->count = map->capacity = 0;
}
