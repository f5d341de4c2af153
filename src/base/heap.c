/* SPDX-License-Identifier: MIT */
/*
 * The heap of programs that build large tables once, and end. Memory that comes page by page, and goes back to the
 * system whenever a table has grown, was a fifth of the time that a report takes. So it comes in huge pages where the
 * system has them at hand, and stays.
 */
#include <perfdata/base.h>

#ifdef __GLIBC__
#include <limits.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#endif

#if defined(__GLIBC__) && defined(M_ARENA_MAX) && defined(MADV_HUGEPAGE)
enum {
	HUGE_PAGE = 2 << 20,
	RESERVE = 512 << 20, /* addresses; memory is what is written */
	USUAL_PAD = 128 << 10,
	/* Larger blocks are on their own: they grow without being copied, and are given back. Before 2.35 glibc refuses
	 * more than the second of these. */
	LARGEST = 1 << 30,
	LARGEST_BEFORE = 32 << 20,
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

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* A tenth of a millisecond is usual. Where a virtual machine gives free pages back to its host, which it does with large
 * ones first, it is twenty times that, and small ones come sooner. */
static bool comes_fast(volatile char *page)
{
	const double slow_ms = 1;
	double begin = now_ms();

	*page = 0;
	return now_ms() - begin < slow_ms;
}

static void use_huge_pages(uintptr_t begin, uintptr_t end)
{
	begin = (begin + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1);
	end &= ~(uintptr_t)(HUGE_PAGE - 1);
	if (begin >= end || madvise((void *)begin, end - begin, MADV_HUGEPAGE) != 0)
		return;
	if (!comes_fast((char *)end - HUGE_PAGE))
		(void)madvise((void *)begin, end - begin, MADV_NOHUGEPAGE);
	/* the one at the end that was tried will hardly be used */
	(void)madvise((void *)(end - HUGE_PAGE), HUGE_PAGE, MADV_DONTNEED);
}

static bool is_unlimited(int what)
{
	struct rlimit limit;

	return getrlimit(what, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY;
}

void pd_heap_prepare(void)
{
	uintptr_t begin;

	/* what the heap reserves would not be there for the stacks of threads */
	if (!is_unlimited(RLIMIT_AS) || !is_unlimited(RLIMIT_DATA))
		return;
	if (!mallopt(M_MMAP_THRESHOLD, LARGEST) && !mallopt(M_MMAP_THRESHOLD, LARGEST_BEFORE))
		return;
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	begin = (uintptr_t)reserve();
	use_huge_pages(begin, (uintptr_t)sbrk(0));
}
#else
void pd_heap_prepare(void)
{
}
#endif
