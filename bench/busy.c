/* SPDX-License-Identifier: MIT */
/*
 * The program that the benchmark records: processes and threads with names of their own that walk at random through
 * 64 functions, 4 to 27 calls deep, so that nearly every sample has a stack of its own, as in a large program. The
 * arguments are the numbers of processes and of threads in each, and the milliseconds that all work; without them 6, 4
 * and 1000. Built without optimisation, so that every call keeps its frame.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	FUNCTIONS = 64,
	LEAST_DEPTH = 4,
	DEPTHS = 24,
	MAX_THREADS = 64
};

struct walk {
	uint64_t end_ns;
	uint64_t seed;
	unsigned number;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t next(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

typedef uint64_t step_fn(uint64_t *seed, unsigned depth);
static step_fn *const steps[FUNCTIONS];

static uint64_t burn(uint64_t *seed)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < 1500; i++)
		sum += next(seed);
	return sum;
}

#define STEP(n)                                                                             \
	static uint64_t step_##n(uint64_t *seed, unsigned depth)                            \
	{                                                                                   \
		volatile uint64_t sum = 0x##n;                                              \
                                                                                            \
		sum += depth ? steps[next(seed) % FUNCTIONS](seed, depth - 1) : burn(seed); \
		return sum;                                                                 \
	}
#define NAME(n) step_##n,
#define ROW(X, row) \
	X(row##0)   \
	X(row##1)   \
	X(row##2)   \
	X(row##3)   \
	X(row##4)   \
	X(row##5) X(row##6) X(row##7) X(row##8) X(row##9) X(row##a) X(row##b) X(row##c) X(row##d) X(row##e) X(row##f)
#define ALL(X) ROW(X, 0) ROW(X, 1) ROW(X, 2) ROW(X, 3)

ALL(STEP)

static step_fn *const steps[FUNCTIONS] = { ALL(NAME) };

static void *work(void *arg)
{
	struct walk *walk = arg;
	volatile uint64_t sink = 0;
	char name[16];

	snprintf(name, sizeof(name), "worker-%u", walk->number);
	prctl(PR_SET_NAME, name);
	while (now_ns() < walk->end_ns) {
		unsigned depth = LEAST_DEPTH + (unsigned)(next(&walk->seed) >> 20) % DEPTHS;

		sink += steps[next(&walk->seed) % FUNCTIONS](&walk->seed, depth);
	}
	return NULL;
}

static int run_threads(unsigned process, unsigned long count, uint64_t end_ns)
{
	pthread_t threads[MAX_THREADS];
	struct walk walks[MAX_THREADS];

	for (unsigned i = 0; i < count; i++) {
		walks[i] = (struct walk){ end_ns, 88172645463325252u + process * 1000 + i, i };
		if (pthread_create(&threads[i], NULL, work, &walks[i]))
			return 1;
	}
	for (unsigned long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}

static unsigned long argument(int argc, char **argv, int index, unsigned long other)
{
	unsigned long value = argc > index ? strtoul(argv[index], NULL, 10) : other;

	return index < 3 && value > MAX_THREADS ? MAX_THREADS : value;
}

int main(int argc, char **argv)
{
	unsigned long processes = argument(argc, argv, 1, 6), threads = argument(argc, argv, 2, 4);
	uint64_t end_ns = now_ns() + argument(argc, argv, 3, 1000) * 1000000u;
	char count[24], ms[24];

	/* Each process is a program of its own, with mappings of its own. */
	if (processes <= 1)
		return run_threads((unsigned)getpid(), threads, end_ns);
	snprintf(count, sizeof(count), "%lu", threads);
	snprintf(ms, sizeof(ms), "%lu", argument(argc, argv, 3, 1000));
	for (unsigned long i = 0; i < processes; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			execl("/proc/self/exe", argv[0], "1", count, ms, (char *)NULL);
			_exit(127);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
