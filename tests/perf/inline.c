// SPDX-License-Identifier: MIT
/*
 * A program to be recorded: most of its time is in functions that the compiler put into others.
 */
#include <stdint.h>

#define INSIDE static inline __attribute__((always_inline))

volatile uint64_t sink;

INSIDE void inmost(uint64_t i)
{
	for (int k = 0; k < 10; k++)
		sink += i * k;
}

INSIDE void between(uint64_t i)
{
	inmost(i);
	sink++;
}

__attribute__((noinline)) void outer(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		between(i);
}

int main(void)
{
	for (int i = 0; i < 100; i++)
		outer(60000);
	return sink == 1;
}
