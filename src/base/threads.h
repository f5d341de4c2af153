/* SPDX-License-Identifier: MIT */
/*
 * Threads, and locks between them. The only place where a thread is created, apart from deps/cxa.c. Where the system has
 * none left everything is done all the same, by fewer or by the calling one.
 */
#ifndef PD_BASE_THREADS_H
#define PD_BASE_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

// How many threads are meant by a number that a user gave: 0 stands for one for each CPU that may be used.
size_t pd_thread_count(unsigned wanted);

// A thread beside the calling one. Zeros are one that was not started; it stays where it is until it was joined.
struct pd_worker {
	void (*work)(void *self);
	void *self;
	pthread_t id;
	bool started;
};

// Calls work on another thread. 0, or an error number if there is no thread left: who wants several goes on with those
// there are, and who wants one does the work without.
int pd_worker_start(struct pd_worker *worker, void (*work)(void *self), void *self);
// Waits until it has ended. One that was not started, or was joined before, is fine.
void pd_worker_join(struct pd_worker *worker);

// Calls work for each part, and comes back when all are done. The calling thread does the first one, and then those for
// which there was no thread: parts that share what is to be done from one counter find nothing left.
void pd_in_parts(size_t parts, void (*work)(void *self, size_t part), void *self);

// A lock that is held for less time than it takes to fall asleep: who wants it tries for a while before.
void pd_lock_init(pthread_mutex_t *lock);

enum {
	PD_PARTS_MOST = 64,
	// Bytes after what a part writes all the time, so that no other part has data in the same cache line; some processors
	// fetch two lines at once.
	PD_PARTS_PADDING = 128
};

// In how many parts so many things are done: one for each thread, but none with fewer than least. threads: as
// pd_thread_count. At least 1, at most PD_PARTS_MOST.
size_t pd_part_count(size_t threads, size_t count, size_t least);

// Where a part of so many things in a row begins; part parts begins at the end.
static inline size_t pd_part_begin(size_t count, size_t parts, size_t part)
{
	return count / parts * part + (part < count % parts ? part : count % parts);
}

#endif
