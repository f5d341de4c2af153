/* SPDX-License-Identifier: MIT */
/* A heap of numbers with the largest on top, in memory of the caller: what is open at a place of a sweep. */
#ifndef PD_BASE_LOOKUP_HEAP_H
#define PD_BASE_LOOKUP_HEAP_H

#include <stddef.h>
#include <stdint.h>

struct pd_heap {
	uint64_t *items; // items[0] is the largest
	size_t count;
};

// There must be memory for one more.
static inline void pd_heap_push(struct pd_heap *heap, uint64_t item)
{
	size_t at = heap->count++;

	while (at && heap->items[(at - 1) / 2] < item) {
		heap->items[at] = heap->items[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap->items[at] = item;
}

// Takes the largest away, which there must be.
static inline void pd_heap_pop(struct pd_heap *heap)
{
	uint64_t moved = heap->items[--heap->count];
	size_t at = 0;

	for (size_t child = 1; child < heap->count; child = 2 * at + 1) {
		child += child + 1 < heap->count && heap->items[child + 1] > heap->items[child];
		if (heap->items[child] <= moved)
			break;
		heap->items[at] = heap->items[child];
		at = child;
	}
	heap->items[at] = moved;
}

#endif
