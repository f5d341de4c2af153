/* SPDX-License-Identifier: MIT */
/* Counts of blocks, and what is read of them. */
#include "blocks/inside.h"

#include <stdlib.h>

#include "base/lookup/hash.h"
#include "base/lookup/search.h"
#include "base/memory.h"

struct pd_blocks {
	uint64_t seed;
	struct pd_index index; // while they are counted
	struct pd_block_count *items;
	size_t count, capacity;
	uint64_t cycles, all_cycles;
};

struct pd_blocks *pd_blocks_new(void)
{
	struct pd_blocks *blocks = pd_alloc(sizeof(*blocks));

	if (blocks)
		blocks->seed = pd_hash_secret();
	return blocks;
}

void pd_blocks_free(struct pd_blocks *blocks)
{
	if (!blocks)
		return;
	pd_index_fini(&blocks->index);
	pd_free(blocks->items);
	pd_free(blocks);
}

static uint64_t hash_of(const struct pd_blocks *blocks, const struct pd_block_count *block)
{
	const uint64_t key[] = { block->function->index, block->start, block->end };

	return pd_hash(blocks->seed, key, sizeof(key));
}

static bool is_same(const struct pd_block_count *a, const struct pd_block_count *b)
{
	return a->function == b->function && a->start == b->start && a->end == b->end;
}

static void add_counts(struct pd_block_count *to, const struct pd_block_count *from)
{
	if (from->timed && (!to->timed || from->least < to->least))
		to->least = from->least;
	if (from->most > to->most)
		to->most = from->most;
	to->count += from->count;
	to->predicted += from->predicted;
	to->timed += from->timed;
	to->cycles += from->cycles;
}

bool pd_blocks_add(struct pd_blocks *blocks, const struct pd_block_count *block)
{
	uint64_t hash = hash_of(blocks, block);
	size_t at = hash;
	uint32_t number;

	blocks->cycles += block->cycles;
	while ((number = pd_index_next(&blocks->index, hash, &at)) != PD_INDEX_END)
		if (is_same(&blocks->items[number], block)) {
			add_counts(&blocks->items[number], block);
			return true;
		}
	if (blocks->count >= UINT32_MAX - 1 || !PD_GROW(blocks->items, blocks->capacity, blocks->count + 1) ||
	    !pd_index_add(&blocks->index, hash, (uint32_t)blocks->count))
		return false;
	blocks->items[blocks->count++] = *block;
	return true;
}

static int compare_blocks(const void *left, const void *right)
{
	const struct pd_block_count *a = left, *b = right;

	if (a->function != b->function)
		return a->function->index < b->function->index ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return (a->start > b->start) - (a->start < b->start);
}

bool pd_blocks_sort(struct pd_blocks *blocks)
{
	if (blocks->count)
		qsort(blocks->items, blocks->count, sizeof(*blocks->items), compare_blocks);
	pd_index_fini(&blocks->index);
	return true;
}

const struct pd_block_count *pd_blocks_of(const struct pd_blocks *blocks, const struct pd_function *function,
					  size_t *count_out)
{
	const struct pd_block_count *items = blocks->items;
	size_t first, end;

	PD_SEARCH(first, (size_t)0, blocks->count, i, items[i].function->index < function->index);
	PD_SEARCH(end, first, blocks->count, i, items[i].function->index <= function->index);
	// code without a name has a number that another function has, too
	*count_out = end > first && items[first].function == function ? end - first : 0;
	return *count_out ? items + first : items;
}

const struct pd_block_count *pd_blocks_all(const struct pd_blocks *blocks, size_t *count_out)
{
	*count_out = blocks->count;
	return blocks->items;
}

uint64_t pd_blocks_cycles(const struct pd_blocks *blocks)
{
	return blocks->cycles;
}

uint64_t pd_blocks_all_cycles(const struct pd_blocks *blocks)
{
	return blocks->all_cycles;
}

void pd_blocks_add_cycles(struct pd_blocks *blocks, uint64_t cycles)
{
	blocks->all_cycles += cycles;
}

// As perf: a block of one instruction has no start.
static uint64_t start_of(const struct pd_block_count *count)
{
	return count->start < count->end ? count->start : PD_BLOCK_NO_START;
}

size_t pd_block_join(const struct pd_block_count *counts, size_t count, struct pd_block *block_out)
{
	struct pd_block block = { .function = counts->function, .start = PD_BLOCK_NO_START, .end = counts->end };
	size_t n = 0;

	for (; n < count && counts[n].function == block.function && counts[n].end == block.end; n++) {
		uint64_t start = start_of(&counts[n]);

		if (counts[n].timed && (!block.timed || counts[n].least < block.least))
			block.least = counts[n].least;
		if (counts[n].most > block.most)
			block.most = counts[n].most;
		block.count += counts[n].count;
		block.predicted += counts[n].predicted;
		block.timed += counts[n].timed;
		block.cycles += counts[n].cycles;
		if (!counts[n].timed)
			continue;
		if (start < block.start)
			block.own_timed = block.own_cycles = 0;
		if (start <= block.start) {
			block.start = start;
			block.own_timed += counts[n].timed;
			block.own_cycles += counts[n].cycles;
		}
	}
	*block_out = block;
	return n;
}
