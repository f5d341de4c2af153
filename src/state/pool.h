/* SPDX-License-Identifier: MIT */
/* Arrays that live together, in an arena that says whether its limit or the system refused. */
#ifndef PD_STATE_POOL_H
#define PD_STATE_POOL_H

#include <string.h>

#include "base/memory.h"

struct pd_pool {
	struct pd_arena arena;
	bool full; // something was refused because of the limit
};

// Zeroed. NULL if there is no memory or the limit is reached.
static inline void *pd_pool_array(struct pd_pool *pool, size_t count, size_t item_size)
{
	struct pd_arena *arena = &pool->arena;

	if (count > SIZE_MAX / 8 / item_size ||
	    (arena->limit && count * item_size > (size_t)(arena->end - arena->at) &&
	     (arena->used > arena->limit || count * item_size + 16 > arena->limit - arena->used))) {
		pool->full = true;
		return NULL;
	}
	return pd_arena_alloc(arena, count * item_size);
}

#define PD_POOL_ARRAY(pool, items, count) ((items) = pd_pool_array((pool), (count), sizeof(*(items))))

// Makes *items hold at least want elements, doubling; what it held before stays in the pool unused.
static inline bool pd_pool_grow(struct pd_pool *pool, void **items, size_t *capacity, size_t want, size_t item_size)
{
	size_t after = *capacity ? *capacity * 2 : 64;
	void *memory;

	if (want <= *capacity)
		return true;
	memory = pd_pool_array(pool, after, item_size);
	if (!memory)
		return false;
	if (*capacity)
		memcpy(memory, *items, *capacity * item_size);
	*items = memory;
	*capacity = after;
	return true;
}

#endif
