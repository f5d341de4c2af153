/* SPDX-License-Identifier: MIT */
#include "large.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
	HUGE_PAGE = 2 << 20
};

void *large_realloc(void *memory, size_t size)
{
	void *grown = realloc(memory, size);
#ifdef MADV_HUGEPAGE
	uintptr_t begin = ((uintptr_t)grown + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
	uintptr_t end = ((uintptr_t)grown + size) & ~(uintptr_t)(HUGE_PAGE - 1);

	/* Without them it works as well. */
	if (grown && size >= 2 * HUGE_PAGE && begin < end)
		(void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#endif
	return grown;
}
