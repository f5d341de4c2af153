/* SPDX-License-Identifier: MIT */
#include "stream/order/order.h"

#include "stream/order/merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	SPARE_MEMORIES = 128,
	AHEAD = 12, // records that are fetched before they are shown
	BLOCK_SIZE = 256 << 10,
	LINE = 64,             // of the cache
	BLOCKS_MOST = 32 << 20 // bytes that may wait for a round
};

// A part of a file that is read once, as plain as that.
struct block {
	struct pd_chunk chunk; // first
	struct pd_piece piece;
};

struct pd_sorter {
	struct pd_file *file;
	bool once;             // the input comes once
	struct pd_file *view;  // of a file that is read in blocks, in the hope that rounds are right; else NULL
	struct pd_piece after; // the blocks that were read: begin of the next one, and its number
	uint64_t settled;      // what was flushed before the last block
	struct pd_key given;   // of the last record that was merged
	bool unsure;           // the order is another one, or something is not plain
	struct pd_stream *source;
	const struct pd_pieces *pieces; // of a seekable file
	struct pd_pieces own;           // those, unless somebody lent them
	struct pd_chunk *chunks;        // of the pieces, by age
	size_t chunk_count, chunk_next;
	struct pd_entry_events events;
	struct pd_chunk_taker taker;
	bool *unordered;
	struct pd_chunk **loaded; // in the order of the file
	size_t loaded_count, loaded_capacity;
	struct pd_merging merging; // what comes next of these
	struct pd_rounds rounds;
	struct pd_entry_sorter sorter;
	struct pd_chunk_memory memories[SPARE_MEMORIES]; // of chunks that were handed out
	size_t memory_count;
	size_t loaded_bytes;
	uint64_t ordinal;
	bool source_ended;
	bool ended; // all was handed out
	uint64_t late_count, late_offset;
	uint64_t done_bytes;
};

// ---- records of a chunk ----

static const struct pd_frontier everything = { { UINT64_MAX, 1 }, UINT64_MAX };

static enum pd_status check_size(const struct pd_sorter *order, uint64_t offset, struct pd_error *error)
{
	if (order->loaded_bytes <= 2 * order->source->memory_limit)
		return PD_OK;
	return pd_fail(error, PD_ERROR_LIMIT, offset,
		       "%s: records to be sorted are too far apart in the file: %zu bytes would be buffered",
		       pd_file_name(order->file), order->loaded_bytes);
}

static enum pd_status add_record(struct pd_sorter *order, struct pd_chunk *chunk, const struct pd_record *record,
				 struct pd_key key, struct pd_bytes tail, struct pd_error *error)
{
	size_t size = chunk->size;
	enum pd_status status = check_size(order, record->offset, error);
	struct pd_kept *kept;

	if (status < 0)
		return status;
	kept = pd_chunk_copy(chunk, record, key, tail);
	if (!kept)
		return pd_fail_memory(error);
	kept->late = key.rank == 0 && key.time_ns < chunk->rounds.flushed && order->once;
	order->loaded_bytes += chunk->size - size;
	if (kept->late && !order->late_count++)
		order->late_offset = record->offset;
	return PD_OK;
}

static bool sort_chunk(struct pd_sorter *order, struct pd_chunk *chunk)
{
	return chunk->sorted ||
	       pd_entries_sort(&chunk->memory.entries, &chunk->memory.entry_capacity, chunk->count, &order->sorter);
}

static void unload(struct pd_sorter *order, struct pd_chunk *chunk)
{
	order->loaded_bytes -= chunk->size;
	chunk->memory.batch.size = 0;
	if (order->memory_count < SPARE_MEMORIES && !order->once)
		order->memories[order->memory_count++] = chunk->memory;
	else
		pd_chunk_memory_fini(&chunk->memory);
	chunk->memory = (struct pd_chunk_memory){ 0 };
	chunk->size = chunk->count = chunk->next = 0;
	if (order->once || order->view)
		pd_free(chunk);
}

// ---- loaded chunks ----

static enum pd_status add_loaded(struct pd_sorter *order, struct pd_chunk *chunk, struct pd_error *error)
{
	size_t at = order->loaded_count;

	if (!PD_GROW(order->loaded, order->loaded_capacity, at + 1))
		return pd_fail_memory(error);
	for (; at && order->loaded[at - 1]->ordinal > chunk->ordinal; at--)
		order->loaded[at] = order->loaded[at - 1];
	order->loaded[at] = chunk;
	order->loaded_count++;
	return PD_OK;
}

// Nothing of what was merged is shown any more.
static void unload_used(struct pd_sorter *order)
{
	size_t left = 0;

	for (size_t i = 0; i < order->loaded_count; i++) {
		struct pd_chunk *chunk = order->loaded[i];

		if (chunk->next < chunk->count)
			order->loaded[left++] = chunk;
		else
			unload(order, chunk);
	}
	order->loaded_count = left;
}

// ---- a file that can be read twice ----

static int compare_chunks(const void *a, const void *b)
{
	const struct pd_chunk *left = a, *right = b;
	int order = pd_key_compare(left->piece->oldest, right->piece->oldest);

	return order ? order : left->ordinal < right->ordinal ? -1 : 1;
}

static bool find_events(struct pd_sorter *order)
{
	size_t count = pd_file_event_count(order->file);

	order->events.items = pd_alloc((count + 1) * sizeof(*order->events.items)); // NOLINT: of pointers
	order->events.places = pd_alloc((count + 1) * sizeof(*order->events.places));
	if (!order->events.items || !order->events.places)
		return false;
	for (size_t i = 0; i < count; i++) {
		order->events.items[i] = pd_file_full_event(order->file, i);
		order->events.places[i] = pd_entry_place_of(order->events.items[i], false);
	}
	order->events.count = count;
	return true;
}

static enum pd_status make_chunks(struct pd_sorter *order, struct pd_error *error)
{
	size_t count = order->pieces->count;

	if (!count)
		return PD_OK;
	if (!find_events(order))
		return pd_fail_memory(error);
	order->chunks = pd_alloc(count * sizeof(order->chunks[0]));
	if (!order->chunks)
		return pd_fail_memory(error);
	for (size_t i = 0; i < count; i++) {
		const struct pd_piece *piece = &order->pieces->items[i];

		order->chunks[i] =
			(struct pd_chunk){ .piece = piece, .rounds = piece->rounds, .ordinal = piece->place };
	}
	order->chunk_count = count;
	qsort(order->chunks, count, sizeof(order->chunks[0]), compare_chunks);
	return PD_OK;
}

// Record by record, as the file has them now.
static enum pd_status copy_chunk(struct pd_sorter *order, struct pd_chunk *chunk, struct pd_error *error)
{
	struct pd_rounds rounds = chunk->rounds;
	const struct pd_record *record;
	enum pd_status status = pd_stream_open_piece(order->source, chunk->piece, error);

	while (status >= 0 && (status = pd_stream_next(order->source, &record, error)) == PD_OK)
		status = add_record(order, chunk, record, pd_rounds_take(&rounds, record), (struct pd_bytes){ 0 },
				    error);
	if (status >= 0)
		pd_stream_end_piece(order->source, chunk->piece);
	return status < 0 ? status : PD_OK;
}

static enum pd_status fill_chunk(struct pd_sorter *order, struct pd_chunk *chunk, struct pd_error *error)
{
	enum pd_status status = check_size(order, chunk->piece->begin, error);

	if (status < 0)
		return status;
	if (order->memory_count)
		chunk->memory = order->memories[--order->memory_count];
	status = *order->source->stopped ? pd_file_stopped(error) :
					   pd_chunk_read(chunk, order->source, &order->events, error);
	order->loaded_bytes += chunk->size;
	if (status == PD_END)
		status = copy_chunk(order, chunk, error);
	if (status >= 0 && !sort_chunk(order, chunk))
		status = pd_fail_memory(error);
	return status;
}

static enum pd_status load_chunk(struct pd_sorter *order, struct pd_chunk *chunk, struct pd_error *error)
{
	enum pd_status status = fill_chunk(order, chunk, error);

	if (status >= 0 && chunk->count)
		status = add_loaded(order, chunk, error);
	// one that is not among the loaded ones is found by nobody
	if (status < 0)
		unload(order, chunk);
	else
		order->done_bytes += chunk->piece->end - chunk->piece->begin;
	return status < 0 ? status : PD_OK;
}

// What is before the chunk that is loaded next.
static struct pd_frontier frontier_of_chunks(const struct pd_sorter *order)
{
	const struct pd_chunk *next;

	if (order->chunk_next == order->chunk_count)
		return everything;
	next = &order->chunks[order->chunk_next];
	return (struct pd_frontier){ next->piece->oldest, next->ordinal };
}

// ---- input that comes once ----

static enum pd_status keep(struct pd_sorter *order, struct pd_chunk *chunk, const struct pd_record *record,
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
	struct pd_chunk *chunk = pd_alloc(sizeof(*chunk));
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
		if (!ended && chunk->size > limit) {
			make_round(order);
			ended = true;
		}
	}
	order->source_ended = status == PD_END;
	if (status >= 0 && !sort_chunk(order, chunk))
		status = pd_fail_memory(error);
	if (status >= 0 && chunk->count)
		status = add_loaded(order, chunk, error);
	if (status < 0 || !chunk->count)
		unload(order, chunk);
	return status < 0 ? status : PD_OK;
}

// What was flushed, and what is late and older. Of blocks the last one waits: where a round is a few records that a recorder found in
// its rings while it wrote, some of the next one are older, and all would be merged a few at a time.
static struct pd_frontier frontier_of_rounds(const struct pd_sorter *order)
{
	uint64_t flushed = order->view ? order->settled : order->rounds.flushed;

	return order->source_ended ? everything : (struct pd_frontier){ { flushed, 1 }, UINT64_MAX };
}

// ---- a file in blocks ----

static bool is_in_order(const struct pd_sorter *order, const struct pd_chunk *chunk)
{
	return !chunk->count || pd_key_compare(pd_entry_key(pd_chunk_first(chunk)), order->given) >= 0;
}

static enum pd_status fill_block(struct pd_sorter *order, struct block *block, uint64_t end, struct pd_error *error)
{
	struct pd_chunk *chunk = &block->chunk;
	struct pd_piece *piece = &block->piece;
	enum pd_status status;

	*piece = (struct pd_piece){ .begin = order->after.begin, .place = order->after.place };
	piece->end = end - piece->begin < BLOCK_SIZE ? end : piece->begin + BLOCK_SIZE;
	chunk->ordinal = order->ordinal++;
	order->settled = order->rounds.flushed;
	if (order->memory_count)
		chunk->memory = order->memories[--order->memory_count];
	status = *order->source->stopped ? pd_file_stopped(error) :
					   pd_chunk_read_block(chunk, piece, order->source, &order->rounds,
							       &order->events, &order->taker, error);
	order->loaded_bytes += chunk->size;
	order->unsure = status == PD_END || !piece->count || order->loaded_bytes > BLOCKS_MOST;
	if (status >= 0 && !sort_chunk(order, chunk))
		status = pd_fail_memory(error);
	order->unsure |= status >= 0 && !is_in_order(order, chunk);
	order->after.begin = piece->end;
	order->after.place += piece->count;
	return status;
}

static enum pd_status load_block(struct pd_sorter *order, struct pd_error *error)
{
	uint64_t end = pd_file_part(order->view, 0)->end;
	struct block *block;
	enum pd_status status;

	if (order->after.begin >= end) {
		order->source_ended = true;
		return PD_OK;
	}
	block = pd_alloc(sizeof(*block));
	if (!block)
		return pd_fail_memory(error);
	status = fill_block(order, block, end, error);
	if (status < 0 || order->unsure || !block->chunk.count) {
		unload(order, &block->chunk);
		return status < 0 ? status : order->unsure ? PD_END : PD_OK;
	}
	status = add_loaded(order, &block->chunk, error);
	if (status < 0)
		unload(order, &block->chunk);
	return status;
}

// ---- handing out ----

static void report_late(struct pd_sorter *order)
{
	if (order->late_count)
		pd_file_report(order->file, PD_PROBLEM_LATE_RECORDS, order->late_offset, NULL,
			       "%" PRIu64 " records are older than records returned before them", order->late_count);
	order->late_count = 0;
}

// PD_END: there is none.
static enum pd_status load_next(struct pd_sorter *order, struct pd_error *error)
{
	if (order->once || order->view)
		return order->source_ended ? PD_END : order->view ? load_block(order, error) : load_round(order, error);
	if (order->chunk_next == order->chunk_count)
		return PD_END;
	return load_chunk(order, &order->chunks[order->chunk_next++], error);
}

// Merges what is older than all that is not loaded.
static enum pd_status merge_more(struct pd_sorter *order, struct pd_error *error)
{
	unload_used(order);
	for (;;) {
		struct pd_frontier frontier = order->once || order->view ? frontier_of_rounds(order) :
									   frontier_of_chunks(order);
		enum pd_status status;

		if (!pd_merged_fill(&order->merging, order->loaded, order->loaded_count, frontier))
			return pd_fail_memory(error);
		if (order->merging.count) {
			order->given = pd_entry_key(&order->merging.items[order->merging.count - 1].entry);
			return PD_OK;
		}
		status = load_next(order, error);
		if (status != PD_OK)
			return status;
	}
}

static __attribute__((noinline)) enum pd_status get_ready(struct pd_stream *stream, struct pd_error *error)
{
	struct pd_sorter *order = stream->order;
	enum pd_status status;

	stream->kept = NULL;
	status = merge_more(order, error);
	if (status == PD_END) {
		order->ended = true;
		report_late(order);
	}
	return status;
}

// Records are from all over what is loaded.
static inline void fetch(const struct pd_merged *merged)
{
	const uint8_t *at = merged->chunk->view;

	if (!at)
		return;
	__builtin_prefetch(at + merged->entry.at);
	__builtin_prefetch(at + merged->entry.at + LINE);
}

static inline enum pd_status next_merged(struct pd_stream *stream, const struct pd_merged **merged_out,
					 struct pd_error *error)
{
	struct pd_sorter *order = stream->order;

	if (PD_UNLIKELY(order->merging.next == order->merging.count)) {
		enum pd_status status = get_ready(stream, error);

		if (status != PD_OK)
			return status;
	}
	*merged_out = &order->merging.items[order->merging.next++];
	if (order->merging.next + AHEAD <= order->merging.count)
		fetch(&(*merged_out)[AHEAD]);
	return PD_OK;
}

enum pd_status pd_order_next(struct pd_stream *stream, struct pd_error *error)
{
	const struct pd_merged *merged;
	enum pd_status status = next_merged(stream, &merged, error);

	if (status == PD_OK)
		pd_chunk_show(merged->chunk, &merged->entry, &stream->order->events, stream);
	return status;
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
	for (size_t i = 0; i < order->loaded_count; i++)
		unload(order, order->loaded[i]);
	pd_stream_close(order->source);
	pd_pieces_fini(&order->own);
	pd_free(order->chunks);
	pd_free(order->loaded);
	pd_free(order->events.items);
	pd_free(order->events.places);
	pd_free(order->unordered);
	pd_chunk_memory_fini(&order->taker.reading);
	pd_merged_fini(&order->merging);
	pd_file_view_free(order->view);
	pd_entry_sorter_fini(&order->sorter);
	for (size_t i = 0; i < order->memory_count; i++)
		pd_chunk_memory_fini(&order->memories[i]);
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
	.next = pd_order_next,
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

// ---- one pass ----

// What rounds order if a recorder wrote it, and whose records need nothing to be learned first.
static bool may_be_in_rounds(const struct pd_file *file)
{
	return pd_file_mode(file) != PD_MODE_PIPE && pd_file_part_count(file) == 1 && pd_pieces_possible(file) &&
	       pd_file_event_count(file) && pd_file_part(file, 0)->end != UINT64_MAX &&
	       !pd_file_has_feature(file, PD_FEATURE_COMPRESSED) && !pd_file_has_compressed(file);
}

static enum pd_status open_blocks(struct pd_stream *stream, struct pd_error *error)
{
	struct pd_sorter *order = pd_alloc(sizeof(*order));

	if (!order)
		return pd_fail_memory(error);
	stream->order = order;
	stream->sorting = &sorting;
	order->pieces = &order->own;
	order->file = stream->file;
	order->view = stream->file;
	order->after.begin = pd_file_part(order->view, 0)->begin;
	if (!find_events(order))
		return pd_fail_memory(error);
	return open_source(order, error);
}

static enum pd_status give_record(struct pd_stream *stream, const struct pd_merged *merged,
				  const struct pd_order_taker *taker, struct pd_error *error)
{
	enum pd_status status;

	pd_chunk_show(merged->chunk, &merged->entry, &stream->order->events, stream);
	status = taker->record(taker->self, stream, &stream->record, error);
	return status < 0 || stream->scratch.reported ? PD_END : PD_OK;
}

static inline enum pd_status give(struct pd_stream *stream, const struct pd_merged *merged,
				  const struct pd_order_taker *taker, struct pd_error *error)
{
	const struct pd_entry_events *events = &stream->order->events;
	uint32_t event = pd_entry_event(&merged->entry);
	struct pd_record_head head;
	struct pd_bytes bytes;

	if (event == PD_ENTRY_PACKED) {
		const uint64_t *words = (const uint64_t *)(const void *)(merged->chunk->view + merged->entry.at);
		const struct pd_event_full *full = events->items[merged->entry.word & PD_ENTRY_NUMBERS];

		stream->index++;
		return taker->packed(taker->self, full, merged->entry.time_ns, words, error);
	}
	if (PD_LIKELY(taker->sample && event && event <= events->count && !pd_entry_rank(&merged->entry))) {
		bytes.data = merged->chunk->view + merged->entry.at;
		head = pd_record_head(bytes.data, false);
		bytes.size = (size_t)head.size;
		if (PD_LIKELY(head.type == PD_RECORD_SAMPLE)) {
			enum pd_status status = taker->sample(taker->self, events->items[event - 1], bytes,
							      merged->entry.time_ns, error);

			if (PD_LIKELY(status != PD_END)) {
				stream->index++;
				return status;
			}
		}
	}
	return give_record(stream, merged, taker, error);
}

// Gives all that is merged.
static enum pd_status give_all(struct pd_stream *stream, struct pd_merging *merging, const struct pd_order_taker *taker,
			       struct pd_error *error)
{
	const struct pd_merged *merged = merging->items, *end = merged + merging->count;

	merging->next = merging->count;
	for (; merged < end; merged++) {
		if (end - merged > AHEAD)
			fetch(merged + AHEAD);
		if (PD_UNLIKELY(give(stream, merged, taker, error) != PD_OK))
			return PD_END;
	}
	return PD_OK;
}

// Which samples need no order, and what is kept of others.
static bool ask_taker(struct pd_sorter *order, const struct pd_order_taker *taker)
{
	size_t count = order->events.count;

	order->taker.no_rounds = taker->no_rounds;
	if (!taker->sample || !taker->unordered)
		return true;
	order->unordered = pd_alloc(count * sizeof(*order->unordered));
	if (!order->unordered)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct pd_event_full *event = order->events.items[i];
		struct pd_pack pack = { 0 };

		order->unordered[i] = taker->unordered(taker->self, &event->event);
		order->events.places[i] = pd_entry_place_of(event, order->unordered[i]);
		if (!taker->pack || order->unordered[i])
			continue;
		taker->pack(taker->self, event, &pack);
		pd_entry_place_pack(&order->events.places[i], event, &pack);
	}
	order->taker.sample = taker->sample;
	order->taker.packs = taker->pack != NULL;
	order->taker.self = taker->self;
	order->taker.unordered = order->unordered;
	order->taker.count = count;
	return true;
}

static enum pd_status pass_blocks(struct pd_stream *stream, const struct pd_order_taker *taker, struct pd_error *error)
{
	struct pd_order_taker own = *taker;
	struct pd_sorter *order = stream->order;
	enum pd_status status;

	order->source->quiet = order->source->finalized = true;
	if (stream->swap)
		own.sample = NULL;
	if (!ask_taker(order, &own))
		return PD_END;
	while ((status = get_ready(stream, error)) == PD_OK)
		if (give_all(stream, &order->merging, &own, error) != PD_OK)
			return PD_END;
	if (taker->passed)
		*taker->passed += order->taker.passed;
	return status < 0 || order->unsure ? PD_END : PD_OK;
}

enum pd_status pd_order_try_rounds(struct pd_file *file, const struct pd_order_taker *taker, struct pd_error *error)
{
	struct pd_file *view = may_be_in_rounds(file) ? pd_file_view_new(file) : NULL;
	struct pd_stream *stream = NULL;
	enum pd_status status = PD_END;

	if (!view)
		return PD_END;
	if (pd_stream_new(view, &stream, error) < 0) {
		pd_file_view_free(view);
		return PD_END;
	}
	stream->quiet = true;
	if (open_blocks(stream, error) >= 0)
		status = pass_blocks(stream, taker, error);
	else if (!stream->order)
		pd_file_view_free(view);
	pd_stream_close(stream);
	return status;
}
