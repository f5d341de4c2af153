/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

struct part {
	void (*work)(void *self, size_t part);
	void *self;
	size_t number;
	pthread_t thread;
	bool started;
};

size_t thread_count(size_t wanted)
{
	cpu_set_t set;

	if (!wanted)
		wanted = sched_getaffinity(0, sizeof(set), &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
	return wanted < PARTS_MOST ? wanted : PARTS_MOST;
}

size_t part_count(size_t threads, size_t count, size_t least)
{
	size_t parts = count / least < threads ? count / least : threads;

	return parts ? parts : 1;
}

static void *run(void *self)
{
	struct part *part = self;

	part->work(part->self, part->number);
	return NULL;
}

void parts_do(size_t parts, void (*work)(void *self, size_t part), void *self)
{
	struct part all[PARTS_MOST];

	for (size_t i = 1; i < parts; i++) {
		all[i] = (struct part){ .work = work, .self = self, .number = i };
		all[i].started = pthread_create(&all[i].thread, NULL, run, &all[i]) == 0;
	}
	work(self, 0);
	for (size_t i = 1; i < parts; i++)
		if (!all[i].started)
			work(self, i);
	for (size_t i = 1; i < parts; i++)
		if (all[i].started)
			pthread_join(all[i].thread, NULL);
}
