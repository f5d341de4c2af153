/* SPDX-License-Identifier: MIT */
/* Allocations that fail, one when it is asked for. They are wrapped by the linker (--wrap); one file of a program includes this. */
#ifndef PD_TESTS_UNIT_FAILING_H
#define PD_TESTS_UNIT_FAILING_H

#include <stdbool.h>
#include <stdlib.h>

static long left = -1; // allocations until the one that fails; below 0 none does
static bool has_failed;

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

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
	return fails() ? NULL : __real_realloc(memory, size);
}

#endif
