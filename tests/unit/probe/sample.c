/* SPDX-License-Identifier: MIT */
/* A program that probes are defined in: each kind of variable, and functions that are inlined. */
#include "sample.h"

uint64_t total;
static int counter;

static inline __attribute__((always_inline)) int twice(int number)
{
	counter += number;
	return number * 2;
}

__attribute__((noinline)) int handle(struct outer *request, long size, const char *what)
{
	int sum = twice(request->id);

	if (size > 3)
		sum += twice(request->parts[1].high);
	total += (uint64_t)sum + (unsigned char)what[0];
	return sum;
}

__attribute__((noinline)) double scale(double value, int8_t small, _Bool on)
{
	return on ? value * small : value;
}

int main(int argc, char **argv)
{
	struct outer request = { .id = argc, .text = argv[0], .name = "name" };

	return handle(&request, argc, argv[0]) + (int)scale(argc, 2, argc > 1);
}
