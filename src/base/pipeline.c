/* SPDX-License-Identifier: MIT */
#include "base/pipeline.h"
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

struct pd_pipeline {
	struct pd_pipeline_job job;
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

static struct slot *slot_of(struct pd_pipeline *pipeline, size_t index)
{
	return &pipeline->slots[index % pipeline->slot_count];
}

/* With the lock held. */
static bool can_make(const struct pd_pipeline *pipeline)
{
	return pipeline->next < pipeline->job.count && pipeline->next + 1 < pipeline->shown + pipeline->slot_count;
}

/* With the lock held, which is given back meanwhile. */
static void make_next(struct pd_pipeline *pipeline, void *scratch)
{
	size_t index = pipeline->next++;
	struct slot *slot = slot_of(pipeline, index);
	bool done;

	pthread_mutex_unlock(&pipeline->lock);
	done = pipeline->job.make(pipeline->job.self, scratch, index, slot->text);
	pthread_mutex_lock(&pipeline->lock);
	slot->failed = !done || pd_text_failed(slot->text);
	slot->made = true;
	if (pipeline->waits && index == pipeline->shown)
		pthread_cond_signal(&pipeline->made);
}

/* With the lock held. Waking somebody costs more than a small text: it is not done for each. */
static void signal_space(struct pd_pipeline *pipeline)
{
	if (pipeline->sleepers && pipeline->next <= pipeline->shown + pipeline->slot_count / 2)
		pthread_cond_broadcast(&pipeline->space);
}

/* With the lock held, which is given back meanwhile. */
static void wait_for_space(struct pd_pipeline *pipeline)
{
	pipeline->sleepers++;
	pthread_cond_wait(&pipeline->space, &pipeline->lock);
	pipeline->sleepers--;
}

static void work(void *self)
{
	struct pd_pipeline *pipeline = self;
	void *scratch = pipeline->job.begin(pipeline->job.self);

	if (!scratch)
		return; /* the others do it */
	pthread_mutex_lock(&pipeline->lock);
	while (!pipeline->ended && pipeline->next < pipeline->job.count)
		if (can_make(pipeline))
			make_next(pipeline, scratch);
		else
			wait_for_space(pipeline);
	pthread_mutex_unlock(&pipeline->lock);
	pipeline->job.end(scratch);
}

static bool make_slots(struct pd_pipeline *pipeline, size_t count)
{
	pipeline->slots = pd_alloc(count * sizeof(*pipeline->slots));
	if (!pipeline->slots)
		return false;
	pipeline->slot_count = count;
	for (size_t i = 0; i < count; i++)
		if (!(pipeline->slots[i].text = pd_text_new()))
			return false;
	return true;
}

struct pd_pipeline *pd_pipeline_start(const struct pd_pipeline_job *job)
{
	size_t threads = pd_part_count(job->threads, job->count, 1);
	struct pd_pipeline *pipeline = pd_alloc(sizeof(*pipeline));

	if (!pipeline)
		return NULL;
	pipeline->job = *job;
	pthread_mutex_init(&pipeline->lock, NULL);
	pthread_cond_init(&pipeline->made, NULL);
	pthread_cond_init(&pipeline->space, NULL);
	pipeline->own = job->begin(job->self);
	if (!pipeline->own || !make_slots(pipeline, threads * TEXTS_PER_THREAD)) {
		pd_pipeline_end(pipeline);
		return NULL;
	}
	while (pipeline->started + 1 < threads &&
	       pd_worker_start(&pipeline->workers[pipeline->started], work, pipeline) == 0)
		pipeline->started++;
	return pipeline;
}

/* With the lock held, which is given back meanwhile. */
static void wait_for_text(struct pd_pipeline *pipeline)
{
	pipeline->waits = true;
	pthread_cond_wait(&pipeline->made, &pipeline->lock);
	pipeline->waits = false;
}

const struct pd_text *pd_pipeline_next(struct pd_pipeline *pipeline)
{
	struct slot *slot;

	pthread_mutex_lock(&pipeline->lock);
	/* the one before was shown */
	if (pipeline->shown) {
		slot = slot_of(pipeline, pipeline->shown - 1);
		pd_text_clear(slot->text);
		slot->made = false;
	}
	slot = slot_of(pipeline, pipeline->shown);
	while (!slot->made)
		if (can_make(pipeline))
			make_next(pipeline, pipeline->own);
		else
			wait_for_text(pipeline);
	pipeline->shown++;
	signal_space(pipeline);
	pthread_mutex_unlock(&pipeline->lock);
	return slot->failed ? NULL : slot->text;
}

void pd_pipeline_end(struct pd_pipeline *pipeline)
{
	if (!pipeline)
		return;
	pthread_mutex_lock(&pipeline->lock);
	pipeline->ended = true;
	pthread_cond_broadcast(&pipeline->space);
	pthread_mutex_unlock(&pipeline->lock);
	for (size_t i = 0; i < pipeline->started; i++)
		pd_worker_join(&pipeline->workers[i]);
	for (size_t i = 0; i < pipeline->slot_count; i++)
		pd_text_free(pipeline->slots[i].text);
	if (pipeline->own)
		pipeline->job.end(pipeline->own);
	pthread_mutex_destroy(&pipeline->lock);
	pthread_cond_destroy(&pipeline->made);
	pthread_cond_destroy(&pipeline->space);
	pd_free(pipeline->slots);
	pd_free(pipeline);
}
