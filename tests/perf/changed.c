/* SPDX-License-Identifier: MIT */
/* Work whose amounts differ between builds, for recordings that are compared. */
#include <stdlib.h>

#ifndef FACTOR
#define FACTOR 10
#define THIRD third_of_old
#else
#define THIRD third_of_new
#endif

#define APART __attribute__((noinline, noclone))

static volatile unsigned long sink;

APART void first(long count)
{
	unsigned long sum = 1;

	for (long i = 0; i < count; i++)
		sum = sum * 31 + (unsigned long)i;
	sink = sum;
}

APART void second(long count)
{
	unsigned long sum = 1;

	for (long i = 0; i < count; i++)
		sum = (sum ^ (unsigned long)i) * 77;
	sink = sum;
}

APART void THIRD(long count)
{
	unsigned long sum = 1;

	for (long i = 0; i < count; i++)
		sum = sum * FACTOR + (unsigned long)i;
	sink = sum;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 100;

	while (rounds--) {
		first(700000);
		second(60000 * FACTOR);
		THIRD(300000);
	}
	return 0;
}
