/* SPDX-License-Identifier: MIT */
/*
 * A hash index: from a hash to the numbers of things that are kept elsewhere, and the hash itself. Who asks
 * compares the things. The hash is seeded, so that a file cannot choose what collides.
 */
#ifndef PD_BASE_LOOKUP_HASH_H
#define PD_BASE_LOOKUP_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PD_INDEX_END = UINT32_MAX
};

struct pd_index_slot {
	uint32_t hash;
	uint32_t number_plus_1; // 0 marks an empty slot
};

struct pd_index {
	struct pd_index_slot *slots;
	size_t count;
	size_t capacity; // a power of two, or 0
};

uint64_t pd_hash(uint64_t seed, const void *data, size_t size);
// A seed that whoever made a file cannot foresee.
uint64_t pd_hash_secret(void);

static inline uint64_t pd_hash_u64(uint64_t seed, uint64_t value)
{
	value = (value ^ seed) * UINT64_C(0x9e3779b97f4a7c15);
	value = (value ^ value >> 32) * (seed | 1);
	return value ^ value >> 29;
}

// Numbers with this hash: begin with *at = hash, until PD_INDEX_END.
static inline uint32_t pd_index_next(const struct pd_index *index, uint64_t hash, size_t *at)
{
	if (!index->capacity)
		return PD_INDEX_END;
	for (;;) {
		const struct pd_index_slot *slot = &index->slots[*at & (index->capacity - 1)];

		if (!slot->number_plus_1)
			return PD_INDEX_END;
		++*at;
		if (slot->hash == (uint32_t)hash)
			return slot->number_plus_1 - 1;
	}
}

// Asks for the memory that looking for a hash will need.
static inline void pd_index_prefetch(const struct pd_index *index, uint64_t hash)
{
	if (index->capacity)
		__builtin_prefetch(&index->slots[(uint32_t)hash & (index->capacity - 1)]);
}

// A number that may have this hash, or PD_INDEX_END.
static inline uint32_t pd_index_peek(const struct pd_index *index, uint64_t hash)
{
	return index->capacity ? index->slots[(uint32_t)hash & (index->capacity - 1)].number_plus_1 - 1 : PD_INDEX_END;
}

// Makes room for so many in all, so that they need not be moved while they come. Without memory it grows as they do.
void pd_index_reserve(struct pd_index *index, size_t count);
// False if there is no memory.
bool pd_index_add(struct pd_index *index, uint64_t hash, uint32_t number);
void pd_index_fini(struct pd_index *index);

#endif
