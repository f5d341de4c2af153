// SPDX-License-Identifier: MIT
// Burns time in functions with known shares: 60, 30 and 10 % of the time that this thread has run. usage: known SECONDS
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static volatile uint64_t sink;

static inline __attribute__((always_inline)) int64_t ran_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

// Until this thread has run so long; the clock is asked seldom, for it belongs to others.
static inline __attribute__((always_inline)) void burn_until(int64_t end)
{
	do
		for (int i = 0; i < 50000; i++)
			sink += (uint64_t)i * 3;
	while (ran_ns() < end);
}

static NOINLINE void burn_sixty(int64_t end)
{
	burn_until(end);
}

static NOINLINE void burn_thirty(int64_t end)
{
	burn_until(end);
}

static NOINLINE void burn_ten(int64_t end)
{
	burn_until(end);
}

int main(int argc, char **argv)
{
	int64_t end = (int64_t)((argc > 1 ? atof(argv[1]) : 1) * 1e9);
	int64_t at = ran_ns();

	for (end += at; at < end; at += 10000000) {
		burn_sixty(at + 6000000);
		burn_thirty(at + 9000000);
		burn_ten(at + 10000000);
	}
	return 0;
}
