/* SPDX-License-Identifier: MIT */
#include "base/threads.h"

#include <sched.h>

enum {
	THREADS_MOST = 255, // beside the calling one
};

struct part {
	void (*work)(void *self, size_t part);
	void *self;
	size_t number;
	struct pd_worker thread;
};

size_t pd_thread_count(unsigned wanted)
{
	cpu_set_t set;

	if (wanted)
		return wanted;
	return sched_getaffinity(0, sizeof(set), &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
}

size_t pd_part_count(size_t threads, size_t count, size_t least)
{
	size_t all = pd_thread_count((unsigned)threads), parts = count / least;

	all = all < PD_PARTS_MOST ? all : PD_PARTS_MOST;
	parts = parts < all ? parts : all;
	return parts ? parts : 1;
}

void pd_lock_init(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
#ifdef PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ADAPTIVE_NP);
#endif
	pthread_mutex_init(lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

static void *run_worker(void *self)
{
	struct pd_worker *worker = self;

	worker->work(worker->self);
	return NULL;
}

int pd_worker_start(struct pd_worker *worker, void (*work)(void *self), void *self)
{
	int failure;

	worker->work = work;
	worker->self = self;
	failure = pthread_create(&worker->id, NULL, run_worker, worker);
	worker->started = !failure;
	return failure;
}

void pd_worker_join(struct pd_worker *worker)
{
	if (worker->started)
		pthread_join(worker->id, NULL);
	worker->started = false;
}

static void run_part(void *self)
{
	const struct part *part = self;

	part->work(part->self, part->number);
}

void pd_in_parts(size_t parts, void (*work)(void *self, size_t part), void *self)
{
	struct part started[THREADS_MOST];
	size_t count = 0;

	while (count + 1 < parts && count < THREADS_MOST) {
		started[count] = (struct part){ .work = work, .self = self, .number = count + 1 };
		if (pd_worker_start(&started[count].thread, run_part, &started[count]) != 0)
			break;
		count++;
	}
	work(self, 0);
	for (size_t part = count + 1; part < parts; part++)
		work(self, part);
	for (size_t i = 0; i < count; i++)
		pd_worker_join(&started[i].thread);
}
