/* SPDX-License-Identifier: MIT */
/*
 * What was recorded and not read yet: bytes in pieces, between a thread that empties the rings and one that reads. Memory of pieces that
 * were read is used again.
 */
#ifndef PD_RECORD_BACKLOG_H
#define PD_RECORD_BACKLOG_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct pd_backlog_piece;

struct pd_backlog {
	pthread_mutex_t lock;
	pthread_cond_t more, taken;
	struct pd_backlog_piece *filled;        // of the writer, not handed over yet
	struct pd_backlog_piece *reading;       // of the reader
	struct pd_backlog_piece *first, **last; // between both, with the lock
	struct pd_backlog_piece *spare;         // likewise
	size_t spare_count;                     // likewise
	size_t at;                              // in what is read
	size_t waiting;                         // bytes, likewise
	size_t most;                            // that may wait; 0 for as many as there are
	bool ended;                             // nobody writes any more
	bool left;                              // nobody reads any more
};

void pd_backlog_init(struct pd_backlog *backlog);
void pd_backlog_fini(struct pd_backlog *backlog);
// What was read or not is forgotten; others may write and read from now on. Nobody does while it is called. As many bytes as there are may wait.
void pd_backlog_restart(struct pd_backlog *backlog);

// ---- who writes ----

// False if there is no memory.
bool pd_backlog_put(struct pd_backlog *backlog, const void *data, size_t size);
// Hands over all that was put. Waits until less than most is waiting, or nobody reads.
void pd_backlog_flush(struct pd_backlog *backlog);
void pd_backlog_end(struct pd_backlog *backlog);
bool pd_backlog_is_left(struct pd_backlog *backlog);

// ---- who reads ----

// The bytes that are there, up to size. 0: none are there yet, or, if it may wait for them, at the end.
size_t pd_backlog_take(struct pd_backlog *backlog, void *data, size_t size, bool wait);
void pd_backlog_leave(struct pd_backlog *backlog);

#endif
