/* SPDX-License-Identifier: MIT */
/*
 * Threads that wait for known reasons, and measure how long: for a timer, for each other through a pipe, for a lock that one of
 * them holds while it sleeps, and for a condition. Each prints its name and the ns that its waits took, as the clock says.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
	ROUNDS = 40,
	HOLDERS = 3
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int is_open, there[2], back[2];

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

// Stands still while the thread runs.
static uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC) - clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static void report(const char *name, uint64_t waited_ns)
{
	printf("%s %llu\n", name, (unsigned long long)waited_ns);
}

static void *sleeps(void *self)
{
	uint64_t waited_ns = 0;

	(void)self;
	prctl(PR_SET_NAME, "w-sleep");
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t from = now_ns();

		sleep_ms(10);
		waited_ns += now_ns() - from;
	}
	report("w-sleep", waited_ns);
	return NULL;
}

static void *asks(void *self)
{
	uint64_t waited_ns = 0;
	char byte = 0;

	(void)self;
	prctl(PR_SET_NAME, "w-asks");
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t from = now_ns();

		if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
			break;
		waited_ns += now_ns() - from;
	}
	close(there[1]);
	report("w-asks", waited_ns);
	return NULL;
}

static void *answers(void *self)
{
	char byte;

	(void)self;
	prctl(PR_SET_NAME, "w-answers");
	while (read(there[0], &byte, 1) == 1) {
		sleep_ms(5);
		if (write(back[1], &byte, 1) != 1)
			break;
	}
	return NULL;
}

// One after another holds the lock for 4 ms.
static void *holds(void *self)
{
	uint64_t waited_ns = 0;
	char name[16];

	snprintf(name, sizeof(name), "w-hold%d", (int)(intptr_t)self);
	prctl(PR_SET_NAME, name);
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t from = now_ns();

		pthread_mutex_lock(&lock);
		sleep_ms(4);
		pthread_mutex_unlock(&lock);
		waited_ns += now_ns() - from;
	}
	report(name, waited_ns);
	return NULL;
}

static void *passes(void *self)
{
	uint64_t from = now_ns();

	(void)self;
	prctl(PR_SET_NAME, "w-passes");
	pthread_mutex_lock(&gate);
	while (!is_open)
		pthread_cond_wait(&opened, &gate);
	pthread_mutex_unlock(&gate);
	report("w-passes", now_ns() - from);
	return NULL;
}

int main(void)
{
	pthread_t threads[4 + HOLDERS];
	void *(*const first[])(void *) = { sleeps, asks, answers, passes };
	size_t count = 0;

	if (pipe(there) || pipe(back))
		return 1;
	sleep_ms(100); // until all is recorded
	for (; count < 4; count++)
		pthread_create(&threads[count], NULL, first[count], NULL);
	for (intptr_t i = 0; i < HOLDERS; i++)
		pthread_create(&threads[count++], NULL, holds, (void *)i);
	sleep_ms(300);
	pthread_mutex_lock(&gate);
	is_open = 1;
	pthread_cond_signal(&opened);
	pthread_mutex_unlock(&gate);
	while (count)
		pthread_join(threads[--count], NULL);
	return 0;
}
