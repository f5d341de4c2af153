/* SPDX-License-Identifier: MIT */
/* Five threads: a timer wakes w-chain1, which wakes w-chain2 through a pipe, and so on to w-chain5. Prints the number of that one. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	THREADS = 5,
	ROUNDS = 30
};

static int pipes[THREADS + 1][2];

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static void *pass_on(void *self)
{
	int number = (int)(intptr_t)self;
	char name[16], byte = 0;

	snprintf(name, sizeof(name), "w-chain%d", number);
	prctl(PR_SET_NAME, name);
	if (number == THREADS)
		printf("%ld\n", syscall(SYS_gettid));
	for (int i = 0; i < ROUNDS; i++) {
		if (number == 1)
			sleep_ms(10);
		else if (read(pipes[number - 1][0], &byte, 1) != 1)
			break;
		if (number < THREADS && write(pipes[number][1], &byte, 1) != 1)
			break;
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS + 1];

	for (int i = 0; i <= THREADS; i++)
		if (pipe(pipes[i]))
			return 1;
	sleep_ms(100); // until all is recorded
	for (intptr_t i = THREADS; i > 0; i--)
		pthread_create(&threads[i], NULL, pass_on, (void *)i);
	for (int i = 1; i <= THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
