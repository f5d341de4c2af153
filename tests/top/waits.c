// SPDX-License-Identifier: MIT
// Waits in functions of known names, and says how long it was in each, in ns: "wait_asleep 600123456". Each function calls
// an inner one, because the caller of a libc function without frame pointers is not in call chains. usage: waits
#include <inttypes.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static int ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static volatile int sink;

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void nap(int ms)
{
	usleep((useconds_t)ms * 1000);
}

static NOINLINE void sleep_inside(void)
{
	nap(20);
	sink++;
}

static NOINLINE void wait_asleep(void)
{
	for (int i = 0; i < 30; i++)
		sleep_inside();
	sink++;
}

static NOINLINE void read_inside(void)
{
	char byte;

	sink += (int)read(ends[0], &byte, 1);
}

static NOINLINE void wait_for_pipe(void)
{
	for (int i = 0; i < 20; i++)
		read_inside();
	sink++;
}

static NOINLINE void lock_inside(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	sink++;
}

static NOINLINE void wait_for_lock(void)
{
	lock_inside();
	sink++;
}

static void *other(void *self)
{
	for (int i = 0; i < 20; i++) {
		nap(15);
		sink += (int)write(ends[1], "x", 1);
	}
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&mutex);
		pthread_barrier_wait(&barrier);
		nap(25);
		pthread_mutex_unlock(&mutex);
		pthread_barrier_wait(&barrier);
	}
	return self;
}

static void tell(const char *name, int64_t ns)
{
	printf("%s %" PRId64 "\n", name, ns);
}

int main(void)
{
	int64_t begin = now_ns(), locked = 0;
	pthread_t thread;

	if (pipe(ends) || pthread_barrier_init(&barrier, NULL, 2) || pthread_create(&thread, NULL, other, NULL))
		return 1;
	wait_for_pipe();
	tell("wait_for_pipe", now_ns() - begin);
	for (int i = 0; i < 10; i++) {
		pthread_barrier_wait(&barrier);
		begin = now_ns();
		wait_for_lock();
		locked += now_ns() - begin;
		pthread_barrier_wait(&barrier);
	}
	tell("wait_for_lock", locked);
	pthread_join(thread, NULL);
	begin = now_ns();
	wait_asleep();
	tell("wait_asleep", now_ns() - begin);
	return 0;
}
