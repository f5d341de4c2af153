/* SPDX-License-Identifier: MIT */
/*
 * Runs: a pass that shows what is no sample and cuts the file, see pieces.h, then the records to a sink. Workers take
 * pieces from one counter, the calling thread among them; each has a stream and a sink of its own. What cannot be cut is
 * read by the calling thread, which hands copies of the records to the others. All that the file has to report about
 * itself was learned in the pass, so workers only read it.
 */
#include <perfdata/run.h>

#include <stdatomic.h>
#include <string.h>

#include "base/threads.h"
#include "stream/cut/pieces.h"
#include "stream/parallel/known.h"
#include "stream/parallel/peek.h"
#include "stream/parallel/queue.h"
#include "stream/order/order.h"
#include "stream/order/split.h"

enum {
	MOST_WORKERS = 256,
	BATCH_SIZE = 256 << 10,
	BYTES_PER_WORKER = 4 << 10, // of compressed records: for less a thread is not worth it
	RECORDS_PER_PROGRESS = 1 << 14,
	PART_SIZE = 4 << 20, // bytes of records of a part of the time
	PARTS_PER_WORKER = 4,
	PEEKED_PIECES_LEAST = 16,
};

struct run {
	struct pd_file *file;
	struct pd_run_options options;
	struct pd_sink sink;
	struct pd_pieces pieces;
	bool is_known;         // pieces are those of another run
	struct pd_split split; // if the sink wants parts of the time
	struct pd_window window;
	uint64_t total;             // bytes of one pass
	atomic_size_t next;         // piece that nobody has taken
	atomic_uint_least64_t done; // bytes of the second pass
	atomic_bool ended;          // one failed: all stop
	atomic_size_t failed_part;  // the first one that failed: earlier ones are shown to their end
};

struct worker {
	struct run *run;
	struct pd_queue *queue;
	struct pd_stream *stream;
	void *self; // of the sink
	bool forked;
	enum pd_status status;
	struct pd_error error;
};

static enum pd_status progress(struct run *run, uint64_t done, struct pd_error *error)
{
	const struct pd_run_options *options = &run->options;

	if (!options->progress || options->progress(options->self, done, 2 * run->total))
		return PD_OK;
	return pd_fail(error, PD_ERROR_STOPPED, PD_NO_OFFSET, "stopped by the progress callback");
}

// As many as are wanted.
static size_t thread_count(const struct run *run)
{
	size_t count = pd_thread_count(run->options.threads);

	return count > MOST_WORKERS ? MOST_WORKERS : count;
}

static size_t first_thread_count(const struct run *run)
{
	size_t count = thread_count(run);

	if (!run->sink.fork || run->options.first_samples)
		return 1;
	return run->options.first_threads && run->options.first_threads < count ? run->options.first_threads : count;
}

// ---- the first pass ----

static enum pd_status show_first(void *self, struct pd_stream *stream, const struct pd_record *record,
				 struct pd_error *error)
{
	const struct run *run = self;

	return run->options.first ? run->options.first(run->options.self, stream, record, error) : PD_OK;
}

static enum pd_status pass_progress(void *self, struct pd_stream *stream, struct pd_error *error)
{
	struct run *run = self;
	uint64_t done, total;

	pd_stream_progress(stream, &done, &total);
	return progress(run, done, error);
}

static enum pd_status first_pass(struct run *run, struct pd_error *error)
{
	struct pd_visitor visitor = {
		.self = run, .samples = run->options.first_samples, .record = show_first, .progress = pass_progress
	};
	struct pd_stream *stream;
	enum pd_status status = pd_stream_open(run->file, NULL, &stream, error);

	uint64_t done;

	if (status < 0)
		return status;
	stream->quiet = stream->finalized = run->options.quiet;
	pd_stream_progress(stream, &done, &run->total);
	status = pd_pieces_pass(&run->pieces, stream, &visitor, first_thread_count(run), error);
	pd_stream_close(stream);
	return status;
}

// Of a file that was passed over: only its size is not known yet.
static enum pd_status skip_first_pass(struct run *run, struct pd_error *error)
{
	struct pd_stream *stream;
	enum pd_status status = pd_stream_open(run->file, NULL, &stream, error);
	uint64_t done;

	if (status < 0)
		return status;
	pd_stream_progress(stream, &done, &run->total);
	pd_stream_close(stream);
	return PD_OK;
}

static enum pd_status choose_threads(struct run *run, struct pd_error *error)
{
	const struct pd_times *times = &run->pieces.times;
	const struct pd_run_options *options = &run->options;
	enum pd_status status = PD_OK;

	run->window.from_ns = options->from_ns;
	run->window.to_ns = options->to_ns;
	if (times->oldest_ns <= times->newest_ns) {
		run->window.first_ns = times->oldest_ns;
		run->window.last_ns = times->newest_ns;
	}
	if (options->ready)
		status = options->ready(options->self, &run->window, error);
	if (status < 0)
		return status;
	atomic_store(&run->done, pd_pieces_narrow(&run->pieces, run->window.from_ns, run->window.to_ns));
	return PD_OK;
}

// ---- all records through one stream ----

static enum pd_status stream_progress(struct run *run, struct pd_stream *stream, struct pd_error *error)
{
	uint64_t done, total;

	pd_stream_progress(stream, &done, &total);
	return progress(run, run->total + atomic_load(&run->done) + done, error);
}

// Most of what is read in the order of time comes this way.
static inline enum pd_status next_record(struct pd_stream *stream, const struct pd_record **record_out,
					 struct pd_error *error)
{
	if (!stream->order)
		return pd_stream_next(stream, record_out, error);
	*record_out = &stream->record;
	return pd_order_next(stream, error);
}

static bool wants_parts(const struct run *run)
{
	return run->sink.fork && run->sink.end_part;
}

static enum pd_status run_stream(struct run *run, struct pd_error *error)
{
	enum pd_order order = wants_parts(run) ? PD_ORDER_TIME : run->sink.fork ? PD_ORDER_FILE : run->options.order;
	const struct pd_record *record;
	struct pd_stream *stream;
	enum pd_status status = pd_stream_open_over(run->file, order, &run->pieces, &stream, error);

	if (status < 0)
		return status;
	pd_stream_follow(stream, &run->pieces);
	for (uint64_t i = 1; (status = next_record(stream, &record, error)) == PD_OK; i++) {
		status = run->sink.record(run->sink.self, stream, record, error);
		if (status >= 0 && i % RECORDS_PER_PROGRESS == 0)
			status = stream_progress(run, stream, error);
		if (status < 0)
			break;
	}
	// pieces are looked after where they are read
	if (status >= 0 && run->pieces.once)
		pd_stream_end_pass(stream, stream->index, run->pieces.record_count, PD_NO_OFFSET);
	pd_stream_close(stream);
	return status < 0 ? status : PD_OK;
}

// ---- pieces, on one thread or several ----

static void fail_worker(struct worker *worker, enum pd_status status)
{
	worker->status = status;
	atomic_store(&worker->run->ended, true);
}

static enum pd_status run_piece(struct worker *worker, const struct pd_piece *piece)
{
	struct run *run = worker->run;
	struct pd_stream *stream = worker->stream;
	const struct pd_record *record;
	enum pd_status status = pd_stream_open_piece(stream, piece, &worker->error);

	while (status >= 0 && (status = pd_stream_next(stream, &record, &worker->error)) == PD_OK) {
		if (PD_UNLIKELY(atomic_load_explicit(&run->ended, memory_order_relaxed)))
			return PD_OK;
		status = run->sink.record(worker->self, stream, record, &worker->error);
	}
	if (status >= 0)
		pd_stream_end_piece(stream, piece);
	return status < 0 ? status : PD_OK;
}

// What a sink does after its last record.
static void finish(struct worker *worker)
{
	const struct run *run = worker->run;

	if (run->sink.finish && !atomic_load(&run->ended))
		run->sink.finish(worker->self);
}

// The calling thread has the sink itself.
static bool is_caller(const struct worker *worker)
{
	return !worker->forked;
}

// Takes pieces until there are none. Only the calling thread looks after progress.
static void take_pieces(void *self, size_t number)
{
	struct worker *worker = (struct worker *)self + number;
	struct run *run = worker->run;
	const struct pd_piece *piece;
	enum pd_status status = PD_OK;
	uint64_t done;
	size_t at;

	while (status >= 0 && !atomic_load(&run->ended) && (at = atomic_fetch_add(&run->next, 1)) < run->pieces.count) {
		piece = &run->pieces.items[at];
		status = run_piece(worker, piece);
		done = piece->end - piece->begin + atomic_fetch_add(&run->done, piece->end - piece->begin);
		if (status >= 0 && is_caller(worker))
			status = progress(run, run->total + done, &worker->error);
	}
	if (status < 0)
		fail_worker(worker, status);
	finish(worker);
}

static enum pd_status open_worker(struct run *run, struct worker *worker, bool for_caller, struct pd_error *error)
{
	enum pd_status status;

	worker->run = run;
	status = pd_stream_open(run->file, NULL, &worker->stream, error);
	if (status < 0)
		return status;
	pd_stream_follow(worker->stream, &run->pieces);
	if (for_caller) {
		worker->self = run->sink.self;
		return PD_OK;
	}
	status = run->sink.fork(run->sink.self, &worker->self, error);
	worker->forked = status >= 0;
	return status;
}

// Gives everything of a worker back; what its clone has goes to the sink.
static enum pd_status close_worker(struct run *run, struct worker *worker, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	if (worker->forked)
		status = run->sink.join(run->sink.self, worker->self, error);
	pd_stream_close(worker->stream);
	return status;
}

// The first failure in the order of the workers is the run's.
static enum pd_status close_workers(struct run *run, struct worker *workers, size_t count, enum pd_status status,
				    struct pd_error *error)
{
	for (size_t i = 0; i < count; i++) {
		if (workers[i].status < 0 && status >= 0) {
			status = workers[i].status;
			*error = workers[i].error;
		}
	}
	for (size_t i = 0; i < count; i++) {
		struct pd_error why = { 0 };
		enum pd_status joined = close_worker(run, &workers[i], &why);

		if (joined < 0 && status >= 0) {
			status = joined;
			*error = why;
		}
	}
	pd_free(workers);
	return status;
}

static size_t worker_count(const struct run *run)
{
	size_t count = thread_count(run);
	uint64_t most = run->pieces.once ? 1 + run->total / BYTES_PER_WORKER : run->pieces.count;

	if (!run->sink.fork)
		return 1;
	return count <= most ? count : most ? (size_t)most : 1;
}

// Opens workers, calls work for each by its number, and closes them. The first worker is the calling thread; fewer threads
// than wanted do the same work.
static enum pd_status run_workers(struct run *run, struct pd_queue *queue, size_t count,
				  void (*work)(void *workers, size_t number), struct pd_error *error)
{
	struct worker *workers = pd_alloc(count * sizeof(*workers));
	enum pd_status status = PD_OK;
	size_t opened = 0;

	if (!workers)
		return pd_fail_memory(error);
	for (; opened < count && status >= 0; opened++)
		status = open_worker(run, &workers[opened], opened == 0, error);
	for (size_t i = 0; i < opened; i++)
		workers[i].queue = queue;
	if (status >= 0)
		pd_in_parts(opened, work, workers);
	return close_workers(run, workers, opened, status, error);
}

// ---- parts of the time ----

// The bytes of pieces of two parts count twice.
static enum pd_status part_progress(struct worker *worker, const struct pd_stream *stream)
{
	struct run *run = worker->run;
	uint64_t done, total;

	pd_stream_progress(stream, &done, &total);
	done += atomic_load(&run->done);
	return progress(run, run->total + (done < run->total ? done : run->total), &worker->error);
}

static enum pd_status show_part(struct worker *worker, size_t part, struct pd_stream *stream, uint64_t from_ns,
				uint64_t to_ns)
{
	struct run *run = worker->run;
	const struct pd_record *record;
	enum pd_status status;

	for (uint64_t i = 1; (status = next_record(stream, &record, &worker->error)) == PD_OK; i++) {
		if (is_caller(worker) && i % RECORDS_PER_PROGRESS == 0 && (status = part_progress(worker, stream)) < 0)
			break;
		if (record->type != PD_RECORD_SAMPLE || record->time_ns < from_ns)
			continue;
		if (record->time_ns >= to_ns || atomic_load_explicit(&run->failed_part, memory_order_relaxed) < part)
			break;
		status = run->sink.record(worker->self, stream, record, &worker->error);
		if (status < 0)
			break;
	}
	return status < 0 ? status : PD_OK;
}

static enum pd_status read_part(struct worker *worker, size_t part)
{
	struct run *run = worker->run;
	struct pd_stream *stream = NULL;
	struct pd_pieces pieces;
	uint64_t from_ns, to_ns;
	enum pd_status status;

	if (!pd_split_part(&run->split, part, &pieces, &from_ns, &to_ns))
		return pd_fail_memory(&worker->error);
	status = pd_stream_open_over(run->file, PD_ORDER_TIME, &pieces, &stream, &worker->error);
	if (status >= 0) {
		pd_stream_follow(stream, &run->pieces);
		status = show_part(worker, part, stream, from_ns, to_ns);
		pd_stream_close(stream);
	}
	for (size_t i = 0; i < pieces.count; i++)
		atomic_fetch_add(&run->done, pieces.items[i].end - pieces.items[i].begin);
	pd_free(pieces.items);
	return status;
}

static void fail_part(struct worker *worker, size_t part, enum pd_status status)
{
	size_t first = atomic_load(&worker->run->failed_part);

	while (part < first && !atomic_compare_exchange_weak(&worker->run->failed_part, &first, part))
		;
	worker->status = status;
}

// The sink may wait in end_part, with all that is to be reported about the part before it.
static enum pd_status run_part(struct worker *worker, size_t part)
{
	struct run *run = worker->run;
	enum pd_status status = run->sink.begin_part(worker->self, part, &worker->error), ended;
	struct pd_error error;

	if (status >= 0)
		status = read_part(worker, part);
	if (status < 0)
		fail_part(worker, part, status);
	ended = run->sink.end_part(worker->self, part, &error);
	if (ended >= 0 || status < 0)
		return status;
	worker->error = error;
	fail_part(worker, part, ended);
	return ended;
}

static void take_parts(void *workers, size_t number)
{
	struct worker *worker = (struct worker *)workers + number;
	struct run *run = worker->run;
	enum pd_status status = PD_OK;
	size_t part;

	while (status >= 0 && atomic_load(&run->failed_part) == SIZE_MAX &&
	       (part = atomic_fetch_add(&run->next, 1)) < run->split.count)
		status = run_part(worker, part);
	finish(worker);
}

// Pieces that several threads cut know nothing of rounds, which say where records without a time go.
static enum pd_status pass_again(struct run *run, struct pd_error *error)
{
	struct pd_pieces pieces = { 0 };
	struct pd_stream *stream;
	enum pd_status status = pd_stream_open(run->file, NULL, &stream, error);

	if (status < 0)
		return status;
	pd_stream_follow(stream, &run->pieces);
	status = pd_pieces_pass(&pieces, stream, NULL, 1, error);
	pd_stream_close(stream);
	if (status >= 0) {
		// what was reported is known from the first pass
		pd_free(pieces.reported.items);
		pieces.reported = run->pieces.reported;
		run->pieces.reported = (struct pd_places){ 0 };
		pd_pieces_fini(&run->pieces);
		run->pieces = pieces;
		pd_pieces_narrow(&run->pieces, run->window.from_ns, run->window.to_ns);
	} else {
		pd_pieces_fini(&pieces);
	}
	return status < 0 ? status : PD_OK;
}

// One part, which is all.
static enum pd_status run_whole(struct run *run, struct pd_error *error)
{
	enum pd_status status = run->sink.begin_part(run->sink.self, 0, error), ended;
	struct pd_error unwanted;

	if (status >= 0 && first_thread_count(run) > 1 && !run->pieces.once)
		status = pass_again(run, error);
	if (status >= 0)
		status = run_stream(run, error);
	ended = run->sink.end_part(run->sink.self, 0, status < 0 ? &unwanted : error);
	return status < 0 ? status : ended;
}

// Threads that find names, each for itself, and pieces that are read for two parts: little is done sooner by one thread.
static size_t part_worker_count(const struct run *run)
{
	size_t count = thread_count(run);
	uint64_t bytes = 0, most;

	for (size_t i = 0; i < run->pieces.count; i++)
		bytes += run->pieces.items[i].end - run->pieces.items[i].begin;
	most = bytes / PART_SIZE / PARTS_PER_WORKER;
	return count <= most ? count : most ? (size_t)most : 1;
}

static enum pd_status run_by_time(struct run *run, struct pd_error *error)
{
	size_t count = part_worker_count(run);

	if (thread_count(run) > 1 && !run->window.whole &&
	    !pd_split_make(&run->split, &run->pieces, count > 1 ? PART_SIZE : UINT64_MAX))
		return pd_fail_memory(error);
	return run->split.count ? run_workers(run, NULL, count, take_parts, error) : run_whole(run, error);
}

// ---- records inside of others: one thread reads, whoever is free takes what it has read ----

// Shows the records of a batch; after a failure anywhere nothing is shown any more.
static void empty_batch(struct worker *worker, struct pd_queued *queued)
{
	struct run *run = worker->run;
	struct pd_stream *stream = worker->stream;
	const struct pd_batch *batch = &queued->batch;
	enum pd_status status = PD_OK;

	for (size_t at = 0; status >= 0 && at < batch->size; at += pd_kept_step(pd_kept_at(batch, at))) {
		const struct pd_record *record;

		if (PD_UNLIKELY(atomic_load_explicit(&run->ended, memory_order_relaxed)))
			break;
		record = pd_stream_replay(stream, pd_kept_at(batch, at));
		status = run->sink.record(worker->self, stream, record, &worker->error);
		if (status >= 0 && *stream->stopped)
			status = pd_file_stopped(&worker->error);
	}
	pd_stream_end_replay(stream);
	pd_queue_put_empty(worker->queue, queued);
	if (status < 0)
		fail_worker(worker, status);
}

// One that can be filled. Whoever reads helps to empty them when the others cannot keep up: there are more batches
// than workers, so one is empty or full.
static struct pd_queued *next_batch(struct worker *worker)
{
	struct pd_queued *queued;

	while (!(queued = pd_queue_take_empty(worker->queue))) {
		queued = pd_queue_take_full(worker->queue, false);
		if (queued)
			empty_batch(worker, queued);
	}
	return queued;
}

static enum pd_status fill_batches(struct worker *worker, struct pd_stream *stream, struct pd_error *error)
{
	struct run *run = worker->run;
	struct pd_queued *queued = next_batch(worker);
	const struct pd_record *record;
	enum pd_status status;

	while ((status = pd_stream_next(stream, &record, error)) == PD_OK && !atomic_load(&run->ended)) {
		if (!pd_batch_add(&queued->batch, record, (struct pd_bytes){ 0 }))
			status = pd_fail_memory(error);
		if (status >= 0 && queued->batch.size >= BATCH_SIZE) {
			pd_queue_put_full(worker->queue, queued);
			queued = next_batch(worker);
			status = stream_progress(run, stream, error);
		}
		if (status < 0)
			break;
	}
	pd_queue_put_full(worker->queue, queued);
	if (status == PD_END)
		pd_stream_end_pass(stream, stream->index, run->pieces.record_count, PD_NO_OFFSET);
	return status < 0 ? status : PD_OK;
}

static void read_batches(struct worker *worker)
{
	struct run *run = worker->run;
	struct pd_stream *stream;
	enum pd_status status = pd_stream_open(run->file, NULL, &stream, &worker->error);

	if (status >= 0) {
		pd_stream_follow(stream, &run->pieces);
		status = fill_batches(worker, stream, &worker->error);
		pd_stream_close(stream);
	}
	if (status < 0)
		fail_worker(worker, status);
	pd_queue_end(worker->queue);
}

static void take_batches(void *workers, size_t number)
{
	struct worker *worker = (struct worker *)workers + number;
	struct pd_queued *queued;

	if (is_caller(worker))
		read_batches(worker);
	while ((queued = pd_queue_take_full(worker->queue, true)) != NULL)
		empty_batch(worker, queued);
	finish(worker);
}

static enum pd_status run_batches(struct run *run, struct pd_error *error)
{
	size_t count = worker_count(run);
	struct pd_queue queue = PD_QUEUE_START;
	enum pd_status status = pd_queue_fill(&queue, 2 * count) ? PD_OK : pd_fail_memory(error);

	if (status >= 0)
		status = run_workers(run, &queue, count, take_batches, error);
	pd_queue_fini(&queue);
	return status;
}

// ---- all of it ----

static enum pd_status go(struct run *run, struct pd_error *error)
{
	enum pd_status status = run->is_known ? skip_first_pass(run, error) : first_pass(run, error);

	if (status >= 0)
		status = choose_threads(run, error);
	if (status < 0)
		return status;
	if (run->options.peek && !run->pieces.once && run->pieces.count >= PEEKED_PIECES_LEAST)
		status = pd_peek(run->file, &run->pieces, run->options.peek, run->options.self, error);
	if (status < 0)
		return status;
	if (wants_parts(run))
		return run_by_time(run, error);
	if (run->pieces.once && worker_count(run) > 1)
		return run_batches(run, error);
	if (run->pieces.once || (run->options.order == PD_ORDER_TIME && !run->sink.fork))
		return run_stream(run, error);
	return run_workers(run, NULL, worker_count(run), take_pieces, error);
}

// pieces: of the run before, or empty; then those of this run, or NULL.
static enum pd_status run_over(struct pd_file *file, const struct pd_run_options *options, const struct pd_sink *sink,
			       struct pd_pieces *pieces, bool is_known, struct pd_error *error)
{
	struct run run = { .file = file, .failed_part = SIZE_MAX, .is_known = is_known };
	struct pd_error unwanted;
	enum pd_status status;

	if ((options && !options->size) || !sink->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "the size member of the options or of the sink is 0");
	// functions of the caller may count on one
	if (!error)
		error = &unwanted;
	if (options)
		memcpy(&run.options, options,
		       options->size < sizeof(run.options) ? options->size : sizeof(run.options));
	memcpy(&run.sink, sink, sink->size < sizeof(run.sink) ? sink->size : sizeof(run.sink));
	if (!pd_pieces_possible(file))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "%s: a pipe can be read only once unless it is buffered", pd_file_name(file));
	if (pieces)
		run.pieces = *pieces;
	status = go(&run, error);
	pd_split_fini(&run.split);
	if (pieces)
		*pieces = run.pieces;
	else
		pd_pieces_fini(&run.pieces);
	return status;
}

enum pd_status pd_run(struct pd_file *file, const struct pd_run_options *options, const struct pd_sink *sink,
		      struct pd_error *error)
{
	return run_over(file, options, sink, NULL, false, error);
}

enum pd_status pd_run_first(struct pd_file *file, const struct pd_run_options *options, const struct pd_sink *sink,
			    struct pd_pieces **pieces_out, struct pd_error *error)
{
	struct pd_pieces *pieces = pd_alloc(sizeof(*pieces));
	enum pd_status status = pieces ? run_over(file, options, sink, pieces, false, error) : pd_fail_memory(error);

	if (status < 0)
		pd_run_forget(pieces);
	*pieces_out = status < 0 ? NULL : pieces;
	return status;
}

enum pd_status pd_run_next(struct pd_file *file, const struct pd_run_options *options, const struct pd_sink *sink,
			   struct pd_pieces *pieces, struct pd_error *error)
{
	return run_over(file, options, sink, pieces, true, error);
}

void pd_run_forget(struct pd_pieces *pieces)
{
	if (!pieces)
		return;
	pd_pieces_fini(pieces);
	pd_free(pieces);
}
