/* SPDX-License-Identifier: MIT */
/* Batches on their way from the thread that reads to whoever is free. There are as many as were asked for, and each is
 * empty, full or used by a worker. The order of the full ones does not matter. */
#ifndef PD_STREAM_QUEUE_H
#define PD_STREAM_QUEUE_H

#include <pthread.h>

#include "stream/read/batch.h"

struct pd_queued {
	struct pd_batch batch;
	struct pd_queued *next;
};

struct pd_queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct pd_queued *all, *empty, *full;
	size_t count;
	bool ended;
};

#define PD_QUEUE_START                                                                 \
	{                                                                              \
		.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER \
	}

// All are empty at first. False if there is no memory. Fini has to follow in either case.
bool pd_queue_fill(struct pd_queue *queue, size_t count);
void pd_queue_fini(struct pd_queue *queue);
// NULL if there is none.
struct pd_queued *pd_queue_take_empty(struct pd_queue *queue);
// NULL if there is none; one that waits does so until there is one or none will come.
struct pd_queued *pd_queue_take_full(struct pd_queue *queue, bool waits);
void pd_queue_put_full(struct pd_queue *queue, struct pd_queued *queued);
void pd_queue_put_empty(struct pd_queue *queue, struct pd_queued *queued);
// Nothing will be put any more.
void pd_queue_end(struct pd_queue *queue);

#endif
