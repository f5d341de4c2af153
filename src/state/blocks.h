/* SPDX-License-Identifier: MIT */
/* Lists that grow block by block: what is in them stays where it is, and nothing is copied as they grow. */
#ifndef PD_STATE_BLOCKS_H
#define PD_STATE_BLOCKS_H

#include "state/pool.h"

enum {
	PD_BLOCK_ITEMS = 256
};

struct pd_blocks {
	void **blocks;
	size_t block_count, capacity;
	size_t count;
};

static inline void *pd_blocks_at(const struct pd_blocks *list, size_t index, size_t item_size)
{
	return (uint8_t *)list->blocks[index / PD_BLOCK_ITEMS] + index % PD_BLOCK_ITEMS * item_size;
}

// The item with a number that is less than the count of the list.
#define PD_BLOCK_AT(list, type, index) ((type *)pd_blocks_at((list), (index), sizeof(type)))

static inline bool pd_blocks_are_full(const struct pd_blocks *list)
{
	return list->count == list->block_count * PD_BLOCK_ITEMS;
}

// A new item, zeroed; NULL if a pool gives no memory.
static inline void *pd_pool_add(struct pd_pool *pool, struct pd_blocks *list, size_t item_size)
{
	if (pd_blocks_are_full(list)) {
		void *block;

		if (!pd_pool_grow(pool, (void **)&list->blocks, &list->capacity, list->block_count + 1, sizeof(void *)))
			return NULL;
		block = pd_pool_array(pool, PD_BLOCK_ITEMS, item_size);
		if (!block)
			return NULL;
		list->blocks[list->block_count++] = block;
	}
	return pd_blocks_at(list, list->count++, item_size);
}

#define PD_POOL_ADD(pool, list, type) ((type *)pd_pool_add((pool), (list), sizeof(type)))

#endif
