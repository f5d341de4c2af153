// SPDX-License-Identifier: MIT
/*
 * A shared library to be recorded; load.c opens it.
 */
#include <stdint.h>

static volatile uint64_t sink;

static __attribute__((noinline)) void inside(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		sink += i * i;
	sink++;
}

void library_work(uint64_t n);

void library_work(uint64_t n)
{
	inside(n);
	inside(n / 2);
	sink++;
}
