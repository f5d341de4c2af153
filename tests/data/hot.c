/* SPDX-License-Identifier: MIT */
/*
 * The program the recordings in this directory were made of: a few named
 * functions which burn processor time, one child process and one named
 * thread.  The argument is the work in milliseconds for every one of the
 * three; without it, 15.  Built without optimisation, so that every function
 * has a frame and call chains by frame pointer are complete.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;

static uint64_t burn_mul(unsigned int rounds)
{
	uint64_t x = 88172645463325252ull;

	while (rounds--) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	sink = x;
	return sink;
}

static uint64_t burn_div(unsigned int rounds)
{
	uint64_t x = 0xfedcba9876543210ull;

	while (rounds--)
		x = x / (rounds | 3) + 0xfedcba9876543210ull;
	sink = x;
	return sink;
}

/* Fresh pages every time, so that page faults have something to count. */
static uint64_t touch_pages(unsigned int pages)
{
	size_t size = (size_t)pages * 4096;
	unsigned char *p = aligned_alloc(4096, size);
	uint64_t sum = 0;

	if (!p)
		return 0;
	memset(p, 1, size);
	for (size_t i = 0; i < size; i += 4096)
		sum += p[i];
	free(p);
	sink = sum;
	return sink;
}

static uint64_t middle(unsigned int rounds)
{
	uint64_t sum = burn_mul(rounds * 3);

	sum += burn_div(rounds);
	sink = sum;
	return sink;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Gives the processor away, so that the scheduler has something to trace. */
static void nap(void)
{
	struct timespec ts = { 0, 100000 };

	nanosleep(&ts, NULL);
}

static void work(unsigned int ms)
{
	uint64_t end = now_ns() + (uint64_t)ms * 1000000u;

	do {
		middle(100000);
		touch_pages(2);
		nap();
	} while (now_ns() < end);
}

static void *thread_main(void *arg)
{
	prctl(PR_SET_NAME, "hot-thread");
	work(*(unsigned int *)arg);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned int ms = argc > 1 ? (unsigned int)strtoul(argv[1], NULL, 10) : 15;
	pthread_t thread;
	pid_t child;

	child = fork();
	if (child < 0)
		return 1;
	if (!child) {
		prctl(PR_SET_NAME, "hot-child");
		work(ms);
		_exit(0);
	}
	if (pthread_create(&thread, NULL, thread_main, &ms))
		return 1;
	work(ms);
	pthread_join(thread, NULL);
	waitpid(child, NULL, 0);
	return 0;
}
