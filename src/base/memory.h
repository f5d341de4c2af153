/* SPDX-License-Identifier: MIT */
/*
 * Memory: the only calls of malloc, and an arena for what lives together. Both count on a limit that the
 * caller sets, so that a hostile file cannot take all memory. A test makes each allocation fail in turn.
 */
#ifndef PD_BASE_MEMORY_H
#define PD_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// NULL if there is no memory. pd_alloc gives zeroed memory.
void *pd_alloc(size_t size);
void *pd_realloc(void *memory, size_t size);
// Zeroed memory that is looked into at random before it is written. A page that is read first and written later costs two
// faults, and the second one stops all threads of the process for a moment; so it gets its pages at once.
void *pd_alloc_table(size_t size);
// The same, at the begin of a line of the processor's cache. What is to be freed is *memory_out.
void *pd_alloc_lines(size_t size, void **memory_out);
// Zeroed memory of what one thread writes all the time: what others have is not in the same line of the processor's cache.
void *pd_alloc_padded(size_t size);
void pd_free(void *memory);

// Makes *items hold at least want elements, doubling. False if there is no memory; *items stays valid.
bool pd_grow(void **items, size_t *capacity, size_t want, size_t item_size);
#define PD_GROW(items, capacity, want) pd_grow((void **)&(items), &(capacity), (want), sizeof(*(items)))

struct pd_block;

struct pd_arena {
	struct pd_block *blocks; // the one in use first
	uint8_t *at;
	uint8_t *end;
	size_t used;  // bytes of all blocks
	size_t limit; // most bytes of all blocks; 0 means no limit
	bool failed;  // some memory was refused
};

void *pd_arena_grow(struct pd_arena *arena, size_t size);

// Zeroed memory, 16-aligned, until reset or fini. NULL if there is no memory or the limit is reached.
static inline void *pd_arena_alloc(struct pd_arena *arena, size_t size)
{
	uint8_t *at = arena->at;

	if (size >= (size_t)(arena->end - at))
		return pd_arena_grow(arena, size);
	size = (size + 15) & ~(size_t)15;
	// blocks are multiples of 16, so the rounded size fits as well
	arena->at = at + size;
	__builtin_memset(at, 0, size);
	return at;
}

void *pd_arena_copy(struct pd_arena *arena, const void *data, size_t size);
// Bytes with a NUL after them.
char *pd_arena_text(struct pd_arena *arena, const void *data, size_t size);
// Gives everything back but one block, which is used again.
void pd_arena_reset(struct pd_arena *arena);
void pd_arena_fini(struct pd_arena *arena);

#endif
