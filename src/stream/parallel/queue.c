/* SPDX-License-Identifier: MIT */
#include "stream/parallel/queue.h"

enum {
	KEPT = 1 << 20
}; // memory that a batch may keep when it is empty

static void push(struct pd_queued **list, struct pd_queued *queued)
{
	queued->next = *list;
	*list = queued;
}

static struct pd_queued *pop(struct pd_queued **list)
{
	struct pd_queued *queued = *list;

	if (queued)
		*list = queued->next;
	return queued;
}

bool pd_queue_fill(struct pd_queue *queue, size_t count)
{
	queue->all = pd_alloc(count * sizeof(*queue->all));
	if (!queue->all)
		return false;
	queue->count = count;
	for (size_t i = 0; i < count; i++)
		push(&queue->empty, &queue->all[i]);
	return true;
}

void pd_queue_fini(struct pd_queue *queue)
{
	for (size_t i = 0; i < queue->count; i++)
		pd_batch_fini(&queue->all[i].batch);
	pd_free(queue->all);
	pthread_cond_destroy(&queue->changed);
	pthread_mutex_destroy(&queue->lock);
}

struct pd_queued *pd_queue_take_empty(struct pd_queue *queue)
{
	struct pd_queued *queued;

	pthread_mutex_lock(&queue->lock);
	queued = pop(&queue->empty);
	pthread_mutex_unlock(&queue->lock);
	return queued;
}

struct pd_queued *pd_queue_take_full(struct pd_queue *queue, bool waits)
{
	struct pd_queued *queued;

	pthread_mutex_lock(&queue->lock);
	while (waits && !queue->full && !queue->ended)
		pthread_cond_wait(&queue->changed, &queue->lock);
	queued = pop(&queue->full);
	pthread_mutex_unlock(&queue->lock);
	return queued;
}

void pd_queue_put_full(struct pd_queue *queue, struct pd_queued *queued)
{
	pthread_mutex_lock(&queue->lock);
	push(&queue->full, queued);
	pthread_cond_signal(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}

void pd_queue_put_empty(struct pd_queue *queue, struct pd_queued *queued)
{
	queued->batch.size = 0;
	if (queued->batch.capacity > KEPT)
		pd_batch_fini(&queued->batch);
	pthread_mutex_lock(&queue->lock);
	push(&queue->empty, queued);
	pthread_mutex_unlock(&queue->lock);
}

void pd_queue_end(struct pd_queue *queue)
{
	pthread_mutex_lock(&queue->lock);
	queue->ended = true;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->lock);
}
