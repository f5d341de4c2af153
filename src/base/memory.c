/* SPDX-License-Identifier: MIT */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
	FIRST_BLOCK = 16384,
	PAGE = 4096,
	MANY_PAGES = 16 * PAGE,
	HUGE_PAGE = 2 << 20,
	LARGE = 2 * HUGE_PAGE, // from here on pages are huge, where there are such
	LARGEST_BLOCK = LARGE,
};

struct pd_block {
	struct pd_block *next;
	size_t size;
	_Alignas(16) uint8_t bytes[];
};

// Tables are looked into at random, and several threads that get small pages one by one hold each other up.
static void *advise(void *memory, size_t size)
{
#ifdef MADV_HUGEPAGE
	uintptr_t begin = ((uintptr_t)memory + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
	uintptr_t end = ((uintptr_t)memory + size) & ~(uintptr_t)(HUGE_PAGE - 1);

	// without them it works as well
	if (memory && size >= LARGE && begin < end)
		(void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#endif
	return memory;
}

void *pd_alloc(size_t size)
{
	return advise(calloc(1, size ? size : 1), size);
}

void *pd_alloc_table(size_t size)
{
	void *memory = pd_alloc(size);
#ifdef MADV_POPULATE_WRITE
	uintptr_t begin = ((uintptr_t)memory + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
	uintptr_t end = ((uintptr_t)memory + size) & ~(uintptr_t)(PAGE - 1);

	// kernels before 5.14 refuse, and then it is only slower
	if (memory && size >= MANY_PAGES && begin < end)
		(void)madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
#endif
	return memory;
}

void *pd_alloc_lines(size_t size, void **memory_out)
{
	enum {
		LINE = 64
	};
	void *memory = size < SIZE_MAX - LINE ? pd_alloc_table(size + LINE) : NULL;

	*memory_out = memory;
	return memory ? (char *)memory + (LINE - (uintptr_t)memory % LINE) % LINE : NULL;
}

void *pd_alloc_padded(size_t size)
{
	enum {
		PADDING = 128
	}; // some processors fetch two lines at once

	return size < SIZE_MAX - PADDING ? pd_alloc(size + PADDING) : NULL;
}

void *pd_realloc(void *memory, size_t size)
{
	return advise(realloc(memory, size ? size : 1), size);
}

void pd_free(void *memory)
{
	free(memory);
}

bool pd_grow(void **items, size_t *capacity, size_t want, size_t item_size)
{
	size_t count = *capacity ? *capacity : 16;
	void *memory;

	if (want <= *capacity)
		return true;
	while (count < want) {
		if (count > SIZE_MAX / 2)
			return false;
		count *= 2;
	}
	if (count > SIZE_MAX / item_size)
		return false;
	memory = pd_realloc(*items, count * item_size);
	if (!memory)
		return false;
	*items = memory;
	*capacity = count;
	return true;
}

static void *grow(struct pd_arena *arena, size_t size)
{
	size_t want = arena->blocks ? arena->blocks->size : FIRST_BLOCK / 2;
	struct pd_block *block;

	if (size > SIZE_MAX / 4)
		return NULL;
	size = (size + 15) & ~(size_t)15;
	want *= 2;
	if (want > LARGEST_BLOCK)
		want = LARGEST_BLOCK;
	if (want < size)
		want = size;
	if (arena->limit && want > arena->limit - arena->used)
		want = size;
	if (arena->limit && (arena->used > arena->limit || want > arena->limit - arena->used))
		return NULL;
	block = advise(malloc(sizeof(*block) + want), want);
	if (!block)
		return NULL;
	block->next = arena->blocks;
	block->size = want;
	arena->blocks = block;
	arena->used += want;
	arena->at = block->bytes + size;
	arena->end = block->bytes + want;
	memset(block->bytes, 0, size);
	return block->bytes;
}

void *pd_arena_grow(struct pd_arena *arena, size_t size)
{
	void *memory = grow(arena, size);

	arena->failed |= !memory;
	return memory;
}

void *pd_arena_copy(struct pd_arena *arena, const void *data, size_t size)
{
	void *memory = pd_arena_alloc(arena, size);

	if (memory && size)
		memcpy(memory, data, size);
	return memory;
}

char *pd_arena_text(struct pd_arena *arena, const void *data, size_t size)
{
	char *memory = size < SIZE_MAX ? pd_arena_alloc(arena, size + 1) : NULL;

	if (memory && size)
		memcpy(memory, data, size);
	return memory;
}

static void free_blocks(struct pd_block *block)
{
	while (block) {
		struct pd_block *next = block->next;

		free(block);
		block = next;
	}
}

void pd_arena_reset(struct pd_arena *arena)
{
	struct pd_block *block = arena->blocks;

	if (!block)
		return;
	free_blocks(block->next);
	block->next = NULL;
	// one huge record must not keep its memory for the rest of the file
	if (block->size > (size_t)1 << 20) {
		pd_arena_fini(arena);
		return;
	}
	arena->used = block->size;
	arena->at = block->bytes;
	arena->end = block->bytes + block->size;
}

void pd_arena_fini(struct pd_arena *arena)
{
	free_blocks(arena->blocks);
	arena->blocks = NULL;
	arena->at = NULL;
	arena->end = NULL;
	arena->used = 0;
}
