/* SPDX-License-Identifier: MIT */
/*
 * Allocations that fail, one when it is asked for. They are wrapped by the linker (--wrap); one file of a program includes this.
 * With FAILING_COUNTS_LIVE free is wrapped, too.
 */
#ifndef PD_TESTS_UNIT_FAILING_H
#define PD_TESTS_UNIT_FAILING_H

#include <stdbool.h>
#include <stdlib.h>

static long left = -1; // allocations until the one that fails; below 0 none does
static bool has_failed;
#ifdef FAILING_COUNTS_LIVE
static long live; // blocks
#endif

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);

static bool fails(void)
{
	bool now = left == 0;

	if (left >= 0)
		left--;
	has_failed |= now;
	return now;
}

static void *counted(void *memory)
{
#ifdef FAILING_COUNTS_LIVE
	live += memory != NULL;
#endif
	return memory;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : counted(__real_malloc(size));
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : counted(__real_calloc(count, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
	if (fails())
		return NULL;
	return memory ? __real_realloc(memory, size) : counted(__real_realloc(NULL, size));
}

#ifdef FAILING_COUNTS_LIVE
void __real_free(void *memory);
void __wrap_free(void *memory);

void __wrap_free(void *memory)
{
	live -= memory != NULL;
	__real_free(memory);
}
#endif

#endif
