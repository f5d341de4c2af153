/* SPDX-License-Identifier: MIT */
/*
 * A program to be recorded. Calls functions to a depth with frames of varied content until it used so much processor
 * time, and prints how much that was in the end, so that who recorded it can tell its own share.
 *
 * usage: busy SECONDS [THREADS [DEPTH]]
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds;
static unsigned most_depth = 30;
static volatile uint64_t sink;

static double used(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Each call takes another time, a half to one and a half of the mean: calls in step with a clock that samples them would
 * show one clock more of a function than another. */
#define WORK(name, rounds)                                                                       \
	__attribute__((noinline)) static uint64_t name(uint64_t seed)                            \
	{                                                                                        \
		for (uint64_t left = (rounds) / 2 + (seed >> 33) % ((rounds) + 1); left; left--) \
			seed = seed * 6364136223846793005u + 1;                                  \
		return seed;                                                                     \
	}

WORK(work_one, 1000)
WORK(work_two, 2000)
WORK(work_three, 3000)
WORK(work_four, 4000)

__attribute__((noinline)) static uint64_t deeper(unsigned depth, uint64_t seed)
{
	volatile uint64_t frame[32];

	for (unsigned i = 0; i < 32; i++)
		frame[i] = i % 3 ? seed >> (i & 7) * 8 : 0;
	if (depth)
		seed = deeper(depth - 1, seed * 3 + 1);
	else
		seed = work_one(seed) + work_two(seed) + work_three(seed) + work_four(seed);
	return seed + frame[seed & 31];
}

static void *work(void *unused)
{
	uint64_t seed = (uintptr_t)&unused;

	(void)unused;
	do
		for (unsigned i = 0; i < 50; i++)
			seed = deeper(most_depth, seed);
	while (used(CLOCK_THREAD_CPUTIME_ID) < seconds);
	sink += seed;
	return NULL;
}

int main(int count, char **words)
{
	unsigned threads = count > 2 ? (unsigned)atoi(words[2]) : 1;
	pthread_t *others;

	seconds = count > 1 ? atof(words[1]) : 1;
	most_depth = count > 3 ? (unsigned)atoi(words[3]) : most_depth;
	others = calloc(threads, sizeof(*others));
	if (!others)
		return 1;
	for (unsigned i = 1; i < threads; i++)
		if (pthread_create(&others[i], NULL, work, NULL) != 0)
			return 1;
	work(NULL);
	for (unsigned i = 1; i < threads; i++)
		pthread_join(others[i], NULL);
	free(others);
	printf("%.9f\n", used(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
