/* SPDX-License-Identifier: MIT */
// In place of base/threads.c where the library is built with -Dthreads=disabled.
#include "base/threads.h"

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

void pd_in_parts(size_t parts, void (*work)(void *self, size_t part), void *self)
{
	for (size_t part = 0; part < parts; part++)
		work(self, part);
}
