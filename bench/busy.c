/* SPDX-License-Identifier: MIT */
/*
 * The program that the benchmark records: threads that spend their time eight calls deep, so that a sample
 * with its call chain is about as large as those of ordinary programs. The arguments are the number of
 * threads and the milliseconds that each works; without them 4 and 1000. Built without optimisation, so
 * that every call keeps its frame.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define DEPTH       6
#define MAX_THREADS 64

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t burn(unsigned rounds)
{
	uint64_t x = 88172645463325252u;

	while (rounds--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

static uint64_t descend(unsigned depth, unsigned rounds)
{
	volatile uint64_t sum;

	sum = depth ? descend(depth - 1, rounds) : burn(rounds);
	return sum + 1;
}

static void *work(void *arg)
{
	uint64_t end = now_ns() + *(const uint64_t *)arg * 1000000u;
	volatile uint64_t sink = 0;

	while (now_ns() < end)
		sink += descend(DEPTH, 20000);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 4;
	uint64_t ms = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000;
	pthread_t threads[MAX_THREADS];

	if (count > MAX_THREADS)
		count = MAX_THREADS;
	for (unsigned long i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, &ms))
			return 1;
	for (unsigned long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
