/* SPDX-License-Identifier: MIT */
#include "heap.h"

#include <limits.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__GLIBC__) && defined(MADV_HUGEPAGE)
enum {
	HUGE_PAGE = 2 << 20,
	RESERVE = 1 << 30, /* addresses; memory is what is written */
	USUAL_PAD = 128 << 10,
	LARGEST = 1 << 30, /* larger ones are on their own: they grow without being copied and are given back */
};

/* Has the heap grow over addresses that it does not use yet. */
static void *reserve(void)
{
	void *begin = sbrk(0);
	void *volatile memory; /* else compilers leave both calls out */

	mallopt(M_TOP_PAD, RESERVE);
	memory = malloc(HUGE_PAGE);
	free(memory);
	mallopt(M_TOP_PAD, USUAL_PAD);
	return begin;
}

void heap_prepare(void)
{
	uintptr_t begin, end;

	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, LARGEST);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	begin = ((uintptr_t)reserve() + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
	end = (uintptr_t)sbrk(0) & ~(uintptr_t)(HUGE_PAGE - 1);
	if (begin < end)
		(void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
}
#else
void heap_prepare(void)
{
}
#endif
