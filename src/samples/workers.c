/* SPDX-License-Identifier: MIT */
/*
 * Samples printed by several threads, in time slices. Each thread has its own state of printing; what is known of the file
 * is shared. Text is written at once where all before it is written, else it waits in memory, and where there is much of it
 * its thread waits.
 */
#include <string.h>

#include <perfdata/run.h>

#include "base/threads.h"
#include "samples/samples.h"

enum {
	WAITING_MOST = 32 << 20 /* bytes of text that one thread keeps */
};

/* Text that waits: what was the buffer of lines. */
struct waiting_text {
	char *bytes; /* PD_LINE_ALLOCATED */
	size_t size;
};

struct pd_sample_workers {
	struct pd_samples *samples;
	pd_samples_print_fn *print;
	pthread_mutex_t symbols; /* over samples->symbols */
	pthread_mutex_t lock;    /* over what follows, and the output */
	pthread_cond_t changed;
	uint64_t turn; /* part that is written at once */
	bool shared;
	struct pd_sample_worker *own; /* of the thread that called */
};

struct pd_sample_worker {
	struct pd_sample_workers *workers;
	struct pd_samples *samples;
	uint64_t part;
	bool has_turn;
	bool failed;
	struct waiting_text *waiting;
	size_t waiting_count, waiting_capacity;
	size_t made; /* so many of waiting have a buffer; those that do not wait are used again */
	size_t size; /* bytes that wait */
	char padding[PD_PARTS_PADDING];
};

/* ---- text ---- */

void pd_samples_text_failed(struct pd_samples *samples)
{
	if (samples->status < 0)
		return;
	if (pd_text_failed(samples->line.text))
		samples->status = pd_fail_memory(&samples->error);
	else
		samples->status = pd_fail(&samples->error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "text cannot be written");
}

static void take_turn(struct pd_sample_worker *worker, bool waits)
{
	struct pd_sample_workers *workers = worker->workers;

	if (worker->has_turn)
		return;
	pthread_mutex_lock(&workers->lock);
	while (waits && workers->turn != worker->part)
		pthread_cond_wait(&workers->changed, &workers->lock);
	worker->has_turn = workers->turn == worker->part;
	pthread_mutex_unlock(&workers->lock);
}

static void give_turn(struct pd_sample_worker *worker)
{
	struct pd_sample_workers *workers = worker->workers;

	pthread_mutex_lock(&workers->lock);
	workers->turn++;
	worker->has_turn = false;
	pthread_cond_broadcast(&workers->changed);
	pthread_mutex_unlock(&workers->lock);
}

static bool check_text(struct pd_sample_worker *worker)
{
	if (pd_text_flush_large(worker->samples->line.text))
		return true;
	worker->failed = true;
	pd_samples_text_failed(worker->samples);
	return false;
}

/* Only who has the turn. */
static void write_waiting(struct pd_sample_worker *worker)
{
	struct pd_text *text = worker->samples->line.text;

	for (size_t i = 0; i < worker->waiting_count; i++) {
		struct waiting_text *waiting = &worker->waiting[i];

		pd_text_pass(text, &waiting->bytes, PD_LINE_ALLOCATED, waiting->size);
		if (!check_text(worker))
			break;
	}
	worker->waiting_count = 0;
	worker->size = 0;
}

/* Takes the buffer of the line, which gets another one. */
static bool keep_text(struct pd_sample_worker *worker, struct pd_line_buffer *line)
{
	size_t at = worker->waiting_count;
	struct waiting_text *waiting;
	char *other;

	if (!PD_GROW(worker->waiting, worker->waiting_capacity, at + 1))
		return false;
	waiting = &worker->waiting[at];
	other = at < worker->made ? waiting->bytes : pd_realloc(NULL, PD_LINE_ALLOCATED);
	if (!other)
		return false;
	*waiting = (struct waiting_text){ line->bytes, line->used };
	worker->made += at == worker->made;
	worker->waiting_count++;
	worker->size += line->used;
	line->bytes = other;
	return true;
}

/* Does not wait: symbols may be locked, and who has the turn may want them. */
static void take_text(void *self, struct pd_line_buffer *line)
{
	struct pd_sample_worker *worker = self;

	take_turn(worker, false);
	if (worker->has_turn) {
		write_waiting(worker);
		pd_text_pass(line->text, &line->bytes, PD_LINE_ALLOCATED, line->used);
		check_text(worker);
	} else if (!keep_text(worker, line)) {
		worker->samples->status = pd_fail_memory(&worker->samples->error);
		worker->failed = true;
	}
}

bool pd_sample_worker_wait(struct pd_sample_worker *worker)
{
	if (worker->size > WAITING_MOST) {
		take_turn(worker, true);
		write_waiting(worker);
	}
	return !worker->failed;
}

/* ---- the sink ---- */

static enum pd_status fail(const struct pd_samples *samples, struct pd_error *error)
{
	if (error)
		*error = samples->error;
	return samples->status < 0 ? samples->status : PD_ERROR_STOPPED;
}

static enum pd_status print(void *self, struct pd_stream *stream, const struct pd_record *record,
			    struct pd_error *error)
{
	struct pd_sample_worker *worker = self;

	(void)stream;
	worker->samples->sample_count += record->type == PD_RECORD_SAMPLE;
	return worker->workers->print(worker->samples, record) ? PD_OK : fail(worker->samples, error);
}

static enum pd_status begin_part(void *self, uint64_t number, struct pd_error *error)
{
	struct pd_sample_worker *worker = self;

	(void)error;
	worker->part = number;
	return PD_OK;
}

static enum pd_status end_part(void *self, uint64_t number, struct pd_error *error)
{
	struct pd_sample_worker *worker = self;

	(void)number;
	if (!worker->workers->shared)
		return PD_OK;
	pd_line_flush(&worker->samples->line);
	take_turn(worker, true);
	write_waiting(worker);
	give_turn(worker);
	return worker->failed ? fail(worker->samples, error) : PD_OK;
}

static struct pd_sample_worker *worker_new(struct pd_sample_workers *workers, struct pd_samples *samples)
{
	struct pd_sample_worker *worker = pd_alloc(sizeof(*worker));

	if (!worker)
		return NULL;
	worker->workers = workers;
	worker->samples = samples;
	return worker;
}

static void share(struct pd_sample_worker *worker)
{
	worker->samples->worker = worker;
	worker->samples->line.take = take_text;
	worker->samples->line.self = worker;
}

/* One thread alone does not lock. */
static void lock_symbols(struct pd_sample_worker *worker)
{
	worker->samples->symbols_lock = &worker->workers->symbols;
	if (worker->samples->unwinder)
		pd_unwinder_set_lock(worker->samples->unwinder, &worker->workers->symbols);
}

/* What is made as lines are printed is made anew; the texts of addresses are joined. */
static void begin_anew(struct pd_samples *samples)
{
	samples->line = (struct pd_line_buffer){ .text = samples->line.text, .escape = samples->line.escape };
	samples->frames = (struct pd_address_texts){ 0 };
	samples->styles = NULL;
	samples->style_count = 0;
	samples->views = NULL;
	samples->last_values = (struct pd_last_values){ .places.seed = samples->last_values.places.seed };
	samples->printed = samples->copied = samples->sample_count = 0;
	samples->unwinder = NULL;
}

static void worker_free(struct pd_sample_worker *worker)
{
	if (!worker)
		return;
	if (worker->samples != worker->workers->samples) {
		pd_samples_sample_fini(worker->samples);
		pd_unwinder_free(worker->samples->unwinder);
		pd_line_fini(&worker->samples->line);
		pd_free(worker->samples);
	}
	for (size_t i = 0; i < worker->made; i++)
		pd_free(worker->waiting[i].bytes);
	pd_free(worker->waiting);
	pd_free(worker);
}

static enum pd_status fork_worker(void *self, void **clone_out, struct pd_error *error)
{
	struct pd_sample_worker *worker = self, *clone;
	struct pd_samples *samples = pd_alloc(sizeof(*samples));

	if (!samples)
		return pd_fail_memory(error);
	memcpy(samples, worker->samples, sizeof(*samples));
	begin_anew(samples);
	clone = worker_new(worker->workers, samples);
	if (!clone) {
		pd_free(samples);
		return pd_fail_memory(error);
	}
	if (!pd_line_init(&samples->line) || !pd_address_texts_join(&samples->frames, &worker->samples->frames)) {
		worker_free(clone);
		return pd_fail_memory(error);
	}
	if (worker->samples->unwinder &&
	    pd_unwinder_clone(worker->samples->unwinder, &samples->unwinder, error) != PD_OK) {
		worker_free(clone);
		return PD_ERROR_MEMORY;
	}
	share(clone);
	lock_symbols(worker);
	lock_symbols(clone);
	*clone_out = clone;
	return PD_OK;
}

static enum pd_status join_worker(void *self, void *other, struct pd_error *error)
{
	struct pd_sample_worker *worker = self, *clone = other;

	(void)error;
	worker->samples->printed += clone->samples->printed;
	worker->samples->copied += clone->samples->copied;
	worker->samples->sample_count += clone->samples->sample_count;
	if (worker->samples->unwinder)
		pd_unwinder_join(worker->samples->unwinder, clone->samples->unwinder);
	worker_free(clone);
	return PD_OK;
}

/* ---- all of it ---- */

void pd_sample_workers_share(struct pd_sample_workers *workers)
{
	workers->shared = true;
	share(workers->own);
}

struct pd_sample_workers *pd_sample_workers_new(struct pd_samples *samples, pd_samples_print_fn *print_record,
						struct pd_sink *sink_out)
{
	struct pd_sample_workers *workers = pd_alloc(sizeof(*workers));

	if (!workers)
		return NULL;
	workers->samples = samples;
	workers->print = print_record;
	workers->own = worker_new(workers, samples);
	if (!workers->own) {
		pd_free(workers);
		return NULL;
	}
	pthread_mutex_init(&workers->symbols, NULL);
	pthread_mutex_init(&workers->lock, NULL);
	pthread_cond_init(&workers->changed, NULL);
	*sink_out = (struct pd_sink){ .size = sizeof(*sink_out),
				      .self = workers->own,
				      .record = print,
				      .fork = fork_worker,
				      .join = join_worker,
				      .begin_part = begin_part,
				      .end_part = end_part };
	return workers;
}

void pd_sample_workers_free(struct pd_sample_workers *workers)
{
	if (!workers)
		return;
	workers->samples->worker = NULL;
	workers->samples->symbols_lock = NULL;
	workers->samples->line.take = NULL;
	if (workers->samples->unwinder)
		pd_unwinder_set_lock(workers->samples->unwinder, NULL);
	worker_free(workers->own);
	pthread_cond_destroy(&workers->changed);
	pthread_mutex_destroy(&workers->lock);
	pthread_mutex_destroy(&workers->symbols);
	pd_free(workers);
}
