/* SPDX-License-Identifier: MIT */
/*
 * Samples of a pipe whose call chains end in a number: the rest comes with a later record of the thread, when it returns to user space.
 * Until then they wait, as copies, while other threads go on: a thread may sleep in between. So they are printed when perf does.
 */
#include <string.h>

#include "samples/samples.h"
#include "state/state.h"
#include "stream/read/batch.h"

enum {
	BUCKETS = 256,
	HELD_MOST = 64 << 20 /* bytes */
};

struct held {
	struct held *next;
	struct pd_batch copy; /* one record */
	uint64_t number;      /* in the order in which they came */
	uint32_t tid;
};

/* In each bucket in that order. */
struct pd_held_samples {
	struct pd_stream *shown;
	struct held *first[BUCKETS], **last[BUCKETS];
	uint64_t count;
	size_t bytes;
};

enum pd_status pd_samples_held_init(struct pd_samples *samples, struct pd_error *error)
{
	struct pd_held_samples *held = pd_alloc(sizeof(*held));
	enum pd_status status;

	if (!held)
		return pd_fail_memory(error);
	for (size_t i = 0; i < BUCKETS; i++)
		held->last[i] = &held->first[i];
	status = pd_stream_new(samples->file, &held->shown, error);
	if (status < 0)
		pd_free(held);
	else
		samples->held = held;
	return status;
}

static void free_held(struct held *sample)
{
	pd_batch_fini(&sample->copy);
	pd_free(sample);
}

void pd_samples_held_fini(struct pd_samples *samples)
{
	struct pd_held_samples *held = samples->held;
	struct held *next;

	if (!held)
		return;
	for (size_t i = 0; i < BUCKETS; i++)
		for (struct held *sample = held->first[i]; sample; sample = next) {
			next = sample->next;
			free_held(sample);
		}
	pd_stream_close(held->shown);
	pd_free(held);
	samples->held = NULL;
}

bool pd_samples_waits(const struct pd_samples *samples, const struct pd_record *record)
{
	return samples->held && !samples->options.no_unwind && !samples->options.no_chains &&
	       pd_unwinder_waits(samples->state, record);
}

/* Takes the one that a link points to out of its bucket, and prints it. */
static bool print_held(struct pd_samples *samples, size_t bucket, struct held **link, pd_samples_print_fn *print)
{
	struct pd_held_samples *held = samples->held;
	struct held *sample = *link;
	bool done;

	*link = sample->next;
	if (held->last[bucket] == &sample->next)
		held->last[bucket] = link;
	held->bytes -= sample->copy.size;
	done = print(samples, pd_stream_replay(held->shown, pd_kept_at(&sample->copy, 0)));
	pd_stream_end_replay(held->shown);
	free_held(sample);
	return done;
}

static bool print_first(struct pd_samples *samples, pd_samples_print_fn *print)
{
	struct pd_held_samples *held = samples->held;
	size_t first = BUCKETS;

	for (size_t i = 0; i < BUCKETS; i++)
		if (held->first[i] && (first == BUCKETS || held->first[i]->number < held->first[first]->number))
			first = i;
	return print_held(samples, first, &held->first[first], print);
}

bool pd_samples_hold(struct pd_samples *samples, const struct pd_record *record, pd_samples_print_fn *print)
{
	struct pd_held_samples *held = samples->held;
	struct held *sample = pd_alloc(sizeof(*sample));
	size_t bucket;
	bool done = true;

	if (!sample || !pd_batch_add(&sample->copy, record, (struct pd_bytes){ 0 })) {
		pd_free(sample);
		samples->status = pd_fail_memory(&samples->error);
		return false;
	}
	sample->tid = pd_as_sample(record)->tid;
	sample->number = held->count++;
	bucket = sample->tid % BUCKETS;
	*held->last[bucket] = sample;
	held->last[bucket] = &sample->next;
	held->bytes += sample->copy.size;
	while (done && held->bytes > HELD_MOST)
		done = print_first(samples, print);
	return done;
}

static uint32_t tid_of(const struct pd_record *record)
{
	const struct pd_callchain_deferred *chain;
	const struct pd_task *task;

	if (record->type == PD_RECORD_EXIT)
		return (task = pd_as_exit(record)) != NULL ? task->tid : UINT32_MAX;
	chain = pd_as_callchain_deferred(record);
	return chain && chain->sample_id ? chain->sample_id->tid : UINT32_MAX;
}

bool pd_samples_release(struct pd_samples *samples, const struct pd_record *record, pd_samples_print_fn *print)
{
	uint32_t tid = samples->held ? tid_of(record) : UINT32_MAX;
	struct held **link = samples->held ? &samples->held->first[tid % BUCKETS] : NULL;
	bool done = true;

	while (link && done && *link) {
		if ((*link)->tid == tid)
			done = print_held(samples, tid % BUCKETS, link, print);
		else
			link = &(*link)->next;
	}
	pd_state_forget_deferred(samples->state, samples->state->deferred_count);
	return done;
}

bool pd_samples_release_all(struct pd_samples *samples, pd_samples_print_fn *print)
{
	bool done = true;

	while (done && samples->held && samples->held->bytes)
		done = print_first(samples, print);
	return done;
}
