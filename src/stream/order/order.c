/* SPDX-License-Identifier: MIT */
#include "stream/order/order.h"

#include "stream/read/batch.h"
#include "stream/cut/pieces.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	RESERVED_MOST = 4 << 20
};

struct entry {
	uint64_t time_ns;
	uint32_t rank;
	uint32_t at; // of the record, in units of PD_KEPT_ALIGN
};

// A run of records. First a piece of the file, then its records, sorted, then nothing again.
struct chunk {
	const struct pd_piece *piece; // NULL if the input comes once
	struct pd_rounds rounds;      // before its first record
	uint64_t ordinal;             // in the order of the file
	struct pd_batch batch;
	struct entry *entries;
	size_t count, capacity, next;
};

struct pd_sorter {
	struct pd_file *file;
	bool once; // the input comes once
	struct pd_stream *source;
	const struct pd_pieces *pieces; // of a seekable file
	struct pd_pieces own;           // those, unless somebody lent them
	struct chunk *chunks;           // of the pieces, by age
	size_t chunk_count, chunk_next;
	struct chunk **heap; // loaded ones, the one with the oldest record first
	size_t heap_size, heap_capacity;
	struct pd_rounds rounds;
	struct entry *spare; // for sorting
	size_t spare_capacity;
	size_t loaded_bytes;
	uint64_t ordinal;
	bool source_ended;
	bool ended; // all was handed out
	uint64_t late_count, late_offset;
	struct chunk *shown; // chunk whose record is shown
	struct pd_key limit; // records of the first chunk in the heap before this are older than all others
	uint64_t done_bytes;
};

static struct pd_key key_of(const struct entry *entry)
{
	return (struct pd_key){ entry->time_ns, entry->rank };
}

static int compare_entries(const struct entry *a, const struct entry *b)
{
	return pd_key_compare(key_of(a), key_of(b));
}

// ---- sorting a chunk ----

// End of the ascending run that begins at i.
static size_t run_end(const struct entry *entries, size_t count, size_t i)
{
	for (i++; i < count; i++)
		if (compare_entries(&entries[i - 1], &entries[i]) > 0)
			break;
	return i;
}

static void merge(const struct entry *left, size_t left_count, const struct entry *right, size_t right_count,
		  struct entry *out)
{
	while (left_count && right_count) {
		if (compare_entries(left, right) <= 0) {
			*out++ = *left++;
			left_count--;
		} else {
			*out++ = *right++;
			right_count--;
		}
	}
	memcpy(out, left_count ? left : right, (left_count + right_count) * sizeof(*out));
}

// Merges neighbouring runs; true if there was but one.
static bool merge_runs(const struct entry *in, size_t count, struct entry *out)
{
	size_t i = 0;
	bool sorted = run_end(in, count, 0) == count;

	while (!sorted && i < count) {
		size_t middle = run_end(in, count, i);
		size_t end = middle < count ? run_end(in, count, middle) : count;

		merge(in + i, middle - i, in + middle, end - middle, out + i);
		i = end;
	}
	return sorted;
}

// Rings are drained one after another, so a chunk is a few runs that are in order already.
static enum pd_status sort_chunk(struct pd_sorter *order, struct chunk *chunk, struct pd_error *error)
{
	struct entry *from = chunk->entries, *to;

	if (chunk->count < 2)
		return PD_OK;
	if (!PD_GROW(order->spare, order->spare_capacity, chunk->count))
		return pd_fail_memory(error);
	to = order->spare;
	while (!merge_runs(from, chunk->count, to)) {
		struct entry *swap = from;

		from = to;
		to = swap;
	}
	if (from != chunk->entries)
		memcpy(chunk->entries, from, chunk->count * sizeof(*from));
	return PD_OK;
}

// ---- records of a chunk ----

static const struct pd_kept *kept_at(const struct chunk *chunk, size_t index)
{
	return pd_kept_at(&chunk->batch, (size_t)chunk->entries[index].at * PD_KEPT_ALIGN);
}

static enum pd_status add_record(struct pd_sorter *order, struct chunk *chunk, const struct pd_record *record,
				 struct pd_key key, struct pd_bytes tail, struct pd_error *error)
{
	size_t at = chunk->batch.size;
	struct pd_kept *kept;

	if (at / PD_KEPT_ALIGN > UINT32_MAX - 1 || order->loaded_bytes > 2 * order->source->memory_limit)
		return pd_fail(error, PD_ERROR_LIMIT, record->offset,
			       "%s: records to be sorted are too far apart in the file: %zu bytes would be buffered",
			       pd_file_name(order->file), order->loaded_bytes);
	if (!PD_GROW(chunk->entries, chunk->capacity, chunk->count + 1))
		return pd_fail_memory(error);
	kept = pd_batch_add(&chunk->batch, record, tail);
	if (!kept)
		return pd_fail_memory(error);
	kept->late = key.rank == 0 && key.time_ns < chunk->rounds.flushed && order->once;
	chunk->entries[chunk->count++] = (struct entry){ key.time_ns, key.rank, (uint32_t)(at / PD_KEPT_ALIGN) };
	order->loaded_bytes += chunk->batch.size - at;
	if (kept->late && !order->late_count++)
		order->late_offset = record->offset;
	return PD_OK;
}

static void unload(struct pd_sorter *order, struct chunk *chunk)
{
	order->loaded_bytes -= chunk->batch.size;
	pd_batch_fini(&chunk->batch);
	pd_free(chunk->entries);
	chunk->entries = NULL;
	chunk->count = chunk->capacity = chunk->next = 0;
	if (order->once)
		pd_free(chunk);
}

// ---- the heap of loaded chunks ----

static bool is_before(const struct chunk *a, const struct chunk *b)
{
	int order = compare_entries(&a->entries[a->next], &b->entries[b->next]);

	return order < 0 || (order == 0 && a->ordinal < b->ordinal);
}

static void swap_chunks(struct pd_sorter *order, size_t a, size_t b)
{
	struct chunk *chunk = order->heap[a];

	order->heap[a] = order->heap[b];
	order->heap[b] = chunk;
}

static void sift_down(struct pd_sorter *order, size_t at)
{
	for (;;) {
		size_t child = 2 * at + 1;

		if (child >= order->heap_size)
			return;
		if (child + 1 < order->heap_size && is_before(order->heap[child + 1], order->heap[child]))
			child++;
		if (!is_before(order->heap[child], order->heap[at]))
			return;
		swap_chunks(order, at, child);
		at = child;
	}
}

static enum pd_status push(struct pd_sorter *order, struct chunk *chunk, struct pd_error *error)
{
	size_t at = order->heap_size;

	if (!PD_GROW(order->heap, order->heap_capacity, order->heap_size + 1))
		return pd_fail_memory(error);
	order->heap[order->heap_size++] = chunk;
	while (at && is_before(order->heap[at], order->heap[(at - 1) / 2])) {
		swap_chunks(order, at, (at - 1) / 2);
		at = (at - 1) / 2;
	}
	return PD_OK;
}

// The record that is shown is not needed any more.
static void let_go(struct pd_sorter *order)
{
	struct chunk *chunk = order->shown;

	order->shown = NULL;
	if (chunk && chunk->next == chunk->count)
		unload(order, chunk);
}

// ---- a file that can be read twice ----

static int compare_chunks(const void *a, const void *b)
{
	const struct chunk *left = a, *right = b;
	int order = pd_key_compare(left->piece->oldest, right->piece->oldest);

	return order ? order : left->ordinal < right->ordinal ? -1 : 1;
}

static enum pd_status make_chunks(struct pd_sorter *order, struct pd_error *error)
{
	size_t count = order->pieces->count;

	if (!count)
		return PD_OK;
	order->chunks = pd_alloc(count * sizeof(order->chunks[0]));
	if (!order->chunks)
		return pd_fail_memory(error);
	for (size_t i = 0; i < count; i++) {
		const struct pd_piece *piece = &order->pieces->items[i];

		order->chunks[i] = (struct chunk){ .piece = piece, .rounds = piece->rounds, .ordinal = piece->place };
	}
	order->chunk_count = count;
	qsort(order->chunks, count, sizeof(order->chunks[0]), compare_chunks);
	return PD_OK;
}

// What a piece has is known, so nothing has to grow. What follows its records may be large, and is not kept.
static bool reserve(struct chunk *chunk)
{
	const struct pd_piece *piece = chunk->piece;
	uint64_t bytes = piece->end - piece->begin + piece->count * sizeof(struct pd_kept);

	return bytes > RESERVED_MOST || (PD_GROW(chunk->batch.data, chunk->batch.capacity, (size_t)bytes) &&
					 PD_GROW(chunk->entries, chunk->capacity, (size_t)piece->count));
}

static enum pd_status fill_chunk(struct pd_sorter *order, struct chunk *chunk, struct pd_error *error)
{
	struct pd_rounds rounds = chunk->rounds;
	const struct pd_record *record;
	enum pd_status status = pd_stream_open_piece(order->source, chunk->piece, error);

	if (!reserve(chunk))
		return pd_fail_memory(error);
	while (status >= 0 && (status = pd_stream_next(order->source, &record, error)) == PD_OK)
		status = add_record(order, chunk, record, pd_rounds_take(&rounds, record), (struct pd_bytes){ 0 },
				    error);
	if (status < 0)
		return status;
	pd_stream_end_piece(order->source, chunk->piece);
	return sort_chunk(order, chunk, error);
}

static enum pd_status load_chunk(struct pd_sorter *order, struct chunk *chunk, struct pd_error *error)
{
	enum pd_status status = fill_chunk(order, chunk, error);

	if (status >= 0 && chunk->count)
		status = push(order, chunk, error);
	// one that is not in the heap is found by nobody
	if (status < 0)
		unload(order, chunk);
	else
		order->done_bytes += chunk->piece->end - chunk->piece->begin;
	return status < 0 ? status : PD_OK;
}

// Whether the oldest loaded record is older than all that is not loaded.
static bool is_oldest_of_all(const struct pd_sorter *order)
{
	const struct chunk *top, *next;
	int compared;

	if (order->chunk_next == order->chunk_count)
		return order->heap_size > 0;
	if (!order->heap_size)
		return false;
	top = order->heap[0];
	next = &order->chunks[order->chunk_next];
	compared = pd_key_compare(key_of(&top->entries[top->next]), next->piece->oldest);
	return compared < 0 || (compared == 0 && top->ordinal < next->ordinal);
}

static enum pd_status make_ready_by_chunks(struct pd_sorter *order, struct pd_error *error)
{
	while (!is_oldest_of_all(order)) {
		enum pd_status status;

		if (order->chunk_next == order->chunk_count)
			return PD_END;
		status = load_chunk(order, &order->chunks[order->chunk_next++], error);
		if (status < 0)
			return status;
	}
	return PD_OK;
}

// ---- input that comes once ----

static enum pd_status keep(struct pd_sorter *order, struct chunk *chunk, const struct pd_record *record,
			   struct pd_error *error)
{
	struct pd_bytes tail = { 0 };
	struct pd_key key = pd_rounds_take(&order->rounds, record);

	if (order->source->quiet &&
	    (record->part > order->pieces->reported_part || record->offset >= order->pieces->reported_until))
		order->source->quiet = order->source->inflate.quiet = false;

	if (record->tail_size && record->tail_size <= order->source->memory_limit) {
		enum pd_status status = pd_stream_tail(order->source, &tail, error);

		if (status < 0)
			return status;
	}
	return add_record(order, chunk, record, key, tail, error);
}

// What is kept must not grow without bounds where rounds are missing: then half of it goes, sorted as it is.
static void make_round(struct pd_sorter *order)
{
	order->rounds.flushed = order->rounds.limit;
	order->rounds.limit = order->rounds.newest;
}

// Reads one round.
static enum pd_status load_round(struct pd_sorter *order, struct pd_error *error)
{
	struct chunk *chunk = pd_alloc(sizeof(*chunk));
	size_t limit = (size_t)order->source->memory_limit / 4;
	const struct pd_record *record;
	enum pd_status status = PD_OK;
	bool ended = false;

	if (!chunk)
		return pd_fail_memory(error);
	chunk->ordinal = order->ordinal++;
	chunk->rounds = order->rounds;
	while (!ended && (status = pd_stream_next(order->source, &record, error)) == PD_OK) {
		status = keep(order, chunk, record, error);
		if (status < 0)
			break;
		ended = record->type == PD_RECORD_FINISHED_ROUND;
		if (!ended && chunk->batch.size > limit) {
			make_round(order);
			ended = true;
		}
	}
	order->source_ended = status == PD_END;
	if (status >= 0)
		status = sort_chunk(order, chunk, error);
	if (status >= 0 && chunk->count)
		status = push(order, chunk, error);
	if (status < 0 || !chunk->count)
		unload(order, chunk);
	return status < 0 ? status : PD_OK;
}

static enum pd_status make_ready_by_rounds(struct pd_sorter *order, struct pd_error *error)
{
	for (;;) {
		enum pd_status status;

		if (order->heap_size) {
			const struct chunk *top = order->heap[0];

			if (order->source_ended || top->entries[top->next].time_ns <= order->rounds.flushed)
				return PD_OK;
		} else if (order->source_ended) {
			return PD_END;
		}
		status = load_round(order, error);
		if (status < 0)
			return status;
	}
}

// ---- handing out ----

static void report_late(struct pd_sorter *order)
{
	if (order->late_count)
		pd_file_report(order->file, PD_PROBLEM_LATE_RECORDS, order->late_offset, NULL,
			       "%" PRIu64 " records are older than records returned before them", order->late_count);
	order->late_count = 0;
}

// Chunks are runs of the same time, so the next record mostly is of the same one.
static bool show_of_same(struct pd_stream *stream)
{
	struct pd_sorter *order = stream->order;
	struct chunk *chunk = order->shown;
	const struct entry *entry;

	if (!chunk || chunk->next + 1 >= chunk->count)
		return false;
	entry = &chunk->entries[chunk->next];
	if (pd_key_compare(key_of(entry), order->limit) >= 0)
		return false;
	pd_stream_show_kept(stream, kept_at(chunk, chunk->next++));
	return true;
}

static void find_limit(struct pd_sorter *order)
{
	order->limit = (struct pd_key){ 0 };
	if (!order->heap_size || order->heap[0] != order->shown)
		return;
	order->limit.time_ns = order->once && !order->source_ended ? order->rounds.flushed : UINT64_MAX;
	for (size_t i = 1; i < order->heap_size && i < 3; i++) {
		const struct chunk *chunk = order->heap[i];

		if (pd_key_compare(key_of(&chunk->entries[chunk->next]), order->limit) < 0)
			order->limit = key_of(&chunk->entries[chunk->next]);
	}
	if (order->chunk_next < order->chunk_count &&
	    pd_key_compare(order->chunks[order->chunk_next].piece->oldest, order->limit) < 0)
		order->limit = order->chunks[order->chunk_next].piece->oldest;
}

static enum pd_status show_next(struct pd_stream *stream, struct pd_error *error)
{
	struct pd_sorter *order = stream->order;
	struct chunk *chunk;
	enum pd_status status;

	if (show_of_same(stream))
		return PD_OK;
	sift_down(order, 0); // what was shown of the first chunk
	let_go(order);
	stream->kept = NULL;
	status = order->once ? make_ready_by_rounds(order, error) : make_ready_by_chunks(order, error);
	if (status == PD_END) {
		order->ended = true;
		report_late(order);
	}
	if (status != PD_OK)
		return status;
	chunk = order->heap[0];
	pd_stream_show_kept(stream, kept_at(chunk, chunk->next));
	order->shown = chunk;
	if (++chunk->next == chunk->count)
		order->heap[0] = order->heap[--order->heap_size];
	sift_down(order, 0);
	find_limit(order);
	return PD_OK;
}

static enum pd_status open_source(struct pd_sorter *order, struct pd_error *error)
{
	return pd_stream_new(order->file, &order->source, error);
}

// One more pass, after the one that cut the file.
static enum pd_status open_again(struct pd_sorter *order, struct pd_error *error)
{
	enum pd_status status;

	pd_stream_close(order->source);
	order->source = NULL;
	status = open_source(order, error);
	if (status < 0)
		return status;
	order->source->quiet = true; // all problems were reported
	order->once = order->pieces->once;
	order->source->finalized = !order->once; // the pass was to the end
	return order->once ? PD_OK : make_chunks(order, error);
}

static void close_order(struct pd_sorter *order)
{
	if (!order)
		return;
	let_go(order);
	for (size_t i = 0; i < order->heap_size; i++)
		unload(order, order->heap[i]);
	pd_stream_close(order->source);
	pd_pieces_fini(&order->own);
	pd_free(order->chunks);
	pd_free(order->heap);
	pd_free(order->spare);
	pd_free(order);
}

static void order_progress(const struct pd_sorter *order, uint64_t *done_out, uint64_t *total_out)
{
	uint64_t passed;

	pd_stream_progress(order->source, &passed, total_out);
	// tails and what was left out belong to no chunk
	*done_out = order->once ? passed : order->ended ? *total_out : order->done_bytes;
}

static const struct pd_sorting sorting = {
	.next = show_next,
	.close = close_order,
	.progress = order_progress,
};

enum pd_status pd_order_open(struct pd_stream *stream, const struct pd_pieces *pieces, struct pd_error *error)
{
	struct pd_sorter *order = pd_alloc(sizeof(*order));
	enum pd_status status;

	if (!order)
		return pd_fail_memory(error);
	stream->order = order;
	stream->sorting = &sorting;
	stream->quiet = true; // the source reports
	order->file = stream->file;
	order->pieces = pieces ? pieces : &order->own;
	stream->scratch.known = &order->pieces->reported;
	if (!pieces) {
		order->once = !pd_pieces_possible(stream->file);
		status = open_source(order, error);
		if (status >= 0 && !order->once)
			status = pd_pieces_pass(&order->own, order->source, NULL, 1, error);
		if (status < 0 || order->once)
			return status;
	}
	return open_again(order, error);
}
