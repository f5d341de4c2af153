/* SPDX-License-Identifier: MIT */
#include "base/threads.h"

#include <sched.h>

struct part {
	void (*work)(void *self, size_t part);
	void *self;
	size_t number;
	pthread_t thread;
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

static void *run_part(void *self)
{
	struct part *part = self;

	part->work(part->self, part->number);
	return NULL;
}

void pd_in_parts(size_t parts, void (*work)(void *self, size_t part), void *self)
{
	struct part started[PD_PARTS_MOST];
	size_t count = 0;

	while (count + 1 < parts && count < PD_PARTS_MOST) {
		started[count] = (struct part){ .work = work, .self = self, .number = count + 1 };
		if (pthread_create(&started[count].thread, NULL, run_part, &started[count]) != 0)
			break;
		count++;
	}
	work(self, 0);
	for (size_t part = count + 1; part < parts; part++)
		work(self, part);
	for (size_t i = 0; i < count; i++)
		pthread_join(started[i].thread, NULL);
}
