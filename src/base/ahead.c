/* SPDX-License-Identifier: MIT */
#include "base/ahead.h"
#include "base/memory.h"
#include "base/threads.h"

#include <pthread.h>

enum {
	TEXTS_PER_THREAD = 32, /* that wait to be shown */
};

struct slot {
	struct pd_text *text;
	bool made, failed;
};

struct pd_ahead {
	struct pd_ahead_job job;
	pthread_mutex_t lock; /* over all below */
	pthread_cond_t made;  /* the text that is waited for */
	pthread_cond_t space; /* for more texts */
	bool waits;           /* who shows */
	size_t sleepers;      /* who waits for space */
	struct pd_worker workers[PD_PARTS_MOST];
	size_t started;
	struct slot *slots; /* a ring */
	size_t slot_count;
	size_t next;  /* that nobody makes */
	size_t shown; /* that were handed out; all but the last can be forgotten */
	bool ended;
	void *own; /* scratch of the thread that shows */
};

static struct slot *slot_of(struct pd_ahead *ahead, size_t index)
{
	return &ahead->slots[index % ahead->slot_count];
}

/* With the lock held. */
static bool can_make(const struct pd_ahead *ahead)
{
	return ahead->next < ahead->job.count && ahead->next + 1 < ahead->shown + ahead->slot_count;
}

/* With the lock held, which is given back meanwhile. */
static void make_next(struct pd_ahead *ahead, void *scratch)
{
	size_t index = ahead->next++;
	struct slot *slot = slot_of(ahead, index);
	bool done;

	pthread_mutex_unlock(&ahead->lock);
	done = ahead->job.make(ahead->job.self, scratch, index, slot->text);
	pthread_mutex_lock(&ahead->lock);
	slot->failed = !done || pd_text_failed(slot->text);
	slot->made = true;
	if (ahead->waits && index == ahead->shown)
		pthread_cond_signal(&ahead->made);
}

/* With the lock held. Waking somebody costs more than a small text: it is not done for each. */
static void signal_space(struct pd_ahead *ahead)
{
	if (ahead->sleepers && ahead->next <= ahead->shown + ahead->slot_count / 2)
		pthread_cond_broadcast(&ahead->space);
}

/* With the lock held, which is given back meanwhile. */
static void wait_for_space(struct pd_ahead *ahead)
{
	ahead->sleepers++;
	pthread_cond_wait(&ahead->space, &ahead->lock);
	ahead->sleepers--;
}

static void work(void *self)
{
	struct pd_ahead *ahead = self;
	void *scratch = ahead->job.begin(ahead->job.self);

	if (!scratch)
		return; /* the others do it */
	pthread_mutex_lock(&ahead->lock);
	while (!ahead->ended && ahead->next < ahead->job.count)
		if (can_make(ahead))
			make_next(ahead, scratch);
		else
			wait_for_space(ahead);
	pthread_mutex_unlock(&ahead->lock);
	ahead->job.end(scratch);
}

static bool make_slots(struct pd_ahead *ahead, size_t count)
{
	ahead->slots = pd_alloc(count * sizeof(*ahead->slots));
	if (!ahead->slots)
		return false;
	ahead->slot_count = count;
	for (size_t i = 0; i < count; i++)
		if (!(ahead->slots[i].text = pd_text_new()))
			return false;
	return true;
}

struct pd_ahead *pd_ahead_start(const struct pd_ahead_job *job)
{
	size_t threads = pd_part_count(job->threads, job->count, 1);
	struct pd_ahead *ahead = pd_alloc(sizeof(*ahead));

	if (!ahead)
		return NULL;
	ahead->job = *job;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->made, NULL);
	pthread_cond_init(&ahead->space, NULL);
	ahead->own = job->begin(job->self);
	if (!ahead->own || !make_slots(ahead, threads * TEXTS_PER_THREAD)) {
		pd_ahead_end(ahead);
		return NULL;
	}
	while (ahead->started + 1 < threads && pd_worker_start(&ahead->workers[ahead->started], work, ahead) == 0)
		ahead->started++;
	return ahead;
}

/* With the lock held, which is given back meanwhile. */
static void wait_for_text(struct pd_ahead *ahead)
{
	ahead->waits = true;
	pthread_cond_wait(&ahead->made, &ahead->lock);
	ahead->waits = false;
}

const struct pd_text *pd_ahead_next(struct pd_ahead *ahead)
{
	struct slot *slot;

	pthread_mutex_lock(&ahead->lock);
	/* the one before was shown */
	if (ahead->shown) {
		slot = slot_of(ahead, ahead->shown - 1);
		pd_text_clear(slot->text);
		slot->made = false;
	}
	slot = slot_of(ahead, ahead->shown);
	while (!slot->made)
		if (can_make(ahead))
			make_next(ahead, ahead->own);
		else
			wait_for_text(ahead);
	ahead->shown++;
	signal_space(ahead);
	pthread_mutex_unlock(&ahead->lock);
	return slot->failed ? NULL : slot->text;
}

void pd_ahead_end(struct pd_ahead *ahead)
{
	if (!ahead)
		return;
	pthread_mutex_lock(&ahead->lock);
	ahead->ended = true;
	pthread_cond_broadcast(&ahead->space);
	pthread_mutex_unlock(&ahead->lock);
	for (size_t i = 0; i < ahead->started; i++)
		pd_worker_join(&ahead->workers[i]);
	for (size_t i = 0; i < ahead->slot_count; i++)
		pd_text_free(ahead->slots[i].text);
	if (ahead->own)
		ahead->job.end(ahead->own);
	pthread_mutex_destroy(&ahead->lock);
	pthread_cond_destroy(&ahead->made);
	pthread_cond_destroy(&ahead->space);
	pd_free(ahead->slots);
	pd_free(ahead);
}
