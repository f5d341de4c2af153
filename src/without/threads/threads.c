/* SPDX-License-Identifier: MIT */
// In place of base/threads.c where the library is built with -Dthreads=disabled: no thread can be created, which all who try
// take as no thread being left.
#include "base/threads.h"

#include <errno.h>

size_t pd_thread_count(unsigned wanted)
{
	(void)wanted;
	return 1;
}

size_t pd_part_count(size_t threads, size_t count, size_t least)
{
	(void)threads;
	(void)count;
	(void)least;
	return 1;
}

void pd_lock_init(pthread_mutex_t *lock)
{
	*lock = 0;
}

int pd_worker_start(struct pd_worker *worker, void (*work)(void *self), void *self)
{
	(void)work;
	(void)self;
	worker->started = false;
	return EAGAIN;
}

void pd_worker_join(struct pd_worker *worker)
{
	(void)worker;
}

void pd_in_parts(size_t parts, void (*work)(void *self, size_t part), void *self)
{
	for (size_t part = 0; part < parts; part++)
		work(self, part);
}
