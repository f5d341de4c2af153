/* SPDX-License-Identifier: MIT */
#include "stream/order/chunk.h"

#include <string.h>

enum {
	VIEW_MOST = 4 << 20, // bytes of a piece; only what follows records makes one larger
	LINE = 64            // of the cache
};

void pd_chunk_memory_fini(struct pd_chunk_memory *memory)
{
	pd_batch_fini(&memory->batch);
	pd_free(memory->bytes);
	pd_free(memory->entries);
	*memory = (struct pd_chunk_memory){ 0 };
}

// ---- a piece as it is ----

// Its bytes in memory of the chunk; NULL, with *status_out, if they are not all there. Their alignment stays, so that arrays in
// them can be used in place.
static const uint8_t *copy_bytes(struct pd_chunk *chunk, struct pd_source *source, enum pd_status *status_out,
				 struct pd_error *error)
{
	const struct pd_piece *piece = chunk->piece;
	struct pd_chunk_memory *memory = &chunk->memory;
	size_t size = (size_t)(piece->end - piece->begin), got = 0;
	uint8_t *bytes;

	if (!PD_GROW(memory->bytes, memory->bytes_capacity, size + LINE)) {
		*status_out = pd_fail_memory(error);
		return NULL;
	}
	bytes = memory->bytes + (size_t)(piece->begin - (uintptr_t)memory->bytes) % LINE;
	*status_out = pd_source_read(source, piece->begin, bytes, size, &got, error);
	return *status_out >= 0 && got == size ? bytes : NULL;
}

static const uint8_t *find_bytes(struct pd_chunk *chunk, const struct pd_stream *stream, enum pd_status *status_out,
				 struct pd_error *error)
{
	const struct pd_piece *piece = chunk->piece;
	const struct pd_part *part = pd_file_part(stream->file, piece->part);
	struct pd_source *source = part->source;

	*status_out = PD_OK;
	if (piece->end > part->end)
		return NULL;
	if (!source->memory)
		return copy_bytes(chunk, source, status_out, error);
	return piece->end <= source->memory_size ? source->memory + piece->begin : NULL;
}

// The number that an entry has for an event.
static inline uint32_t number_of(const struct pd_event *event)
{
	return event->index < PD_ENTRY_EVENTS ? (uint32_t)event->index + 1 : 0;
}

// The event of a sample, if it was met lately; NULL if it takes more to place it.
PD_ALWAYS_INLINE const struct pd_event_full *place_sample(const struct pd_met *met, struct pd_bytes bytes, bool swap,
							  uint32_t number, struct pd_entry *entry)
{
	const struct pd_event_full *full = pd_met_event(met, bytes.data, bytes.size, swap);
	size_t at;

	if (!full)
		return NULL;
	at = PD_RECORD_HEADER_SIZE + 8 * (size_t)full->sample_time;
	if (at + 8 > bytes.size)
		return NULL;
	entry->time_ns = pd_load_u64(bytes.data + at, swap);
	entry->word = pd_entry_word(0, number_of(&full->event), number);
	return entry->time_ns ? full : NULL;
}

// Whether nothing about a record that was placed is to be reported, or learned from it, and it stands alone.
static bool is_plain(const struct pd_stream *stream)
{
	static const uint32_t plain[] = { PD_RECORD_FINISHED_ROUND, PD_RECORD_ID_INDEX,  PD_RECORD_THREAD_MAP,
					  PD_RECORD_CPU_MAP,        PD_RECORD_TIME_CONV, PD_RECORD_FINISHED_INIT };
	const struct pd_record *record = &stream->record;

	if (stream->unknown_ids)
		return false;
	if (record->type == PD_RECORD_SAMPLE)
		return record->event;
	if (record->type < 64)
		return record->type && pd_record_layout(record->type) &&
		       (!pd_mmap2_lacks_prot(record) || pd_file_quirks(stream->file) & MASK_QUIRKS(MMAP2_NO_PROT));
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (plain[i] == record->type)
			return true;
	return false;
}

static __attribute__((noinline)) void place_other(struct pd_stream *stream, const struct pd_chunk *chunk,
						  struct pd_bytes bytes, uint32_t number, struct pd_rounds *rounds,
						  struct pd_entry *entry)
{
	struct pd_record *record = &stream->record;
	struct pd_key key;

	pd_stream_show(stream, chunk->piece->part, bytes, chunk->piece->begin + (size_t)(bytes.data - chunk->view),
		       PD_NO_OFFSET);
	key = pd_rounds_take(rounds, record);
	entry->time_ns = key.time_ns;
	entry->word =
		pd_entry_word(key.rank, record->event && record->type < 64 ? number_of(record->event) : 0, number);
}

// PD_END: it has to be sorted.
PD_ALWAYS_INLINE enum pd_status take_unordered(const struct pd_chunk_taker *taker, const struct pd_event_full *full,
					       struct pd_bytes bytes, uint64_t time_ns)
{
	struct pd_error unwanted;

	if (!taker || !taker->unordered || full->event.index >= taker->count || !taker->unordered[full->event.index])
		return PD_END;
	return taker->sample(taker->self, full, bytes, time_ns, &unwanted);
}

// Entries for whole records, one after another, so many at most. Returns where they end, which is before the end where something
// is no record, or in a block (there is a taker) not a plain one. *count_out is that of the records.
PD_ALWAYS_INLINE const uint8_t *make_entries(struct pd_chunk *chunk, struct pd_stream *stream, const uint8_t *end,
					     uint32_t most, struct pd_rounds *rounds,
					     const struct pd_chunk_taker *taker, bool swap, uint64_t *count_out)
{
	const uint8_t *at = chunk->view;
	struct pd_entry *entry = chunk->memory.entries;
	struct pd_met met = pd_stream_met(stream);
	uint32_t number;

	for (number = 0; number < most; number++) {
		const struct pd_event_full *full = NULL;
		enum pd_status status = PD_END;
		struct pd_record_head head;
		struct pd_bytes bytes;

		if (end - at < PD_RECORD_HEADER_SIZE)
			break;
		head = pd_record_head(at, swap);
		if (head.size < PD_RECORD_HEADER_SIZE || head.size > (size_t)(end - at))
			break;
		bytes = (struct pd_bytes){ at, (size_t)head.size };
		entry->at = (uint32_t)(at - chunk->view);
		if (PD_LIKELY(head.type == PD_RECORD_SAMPLE))
			full = place_sample(&met, bytes, swap, number, entry);
		if (PD_LIKELY(full)) {
			rounds->newest = entry->time_ns > rounds->newest ? entry->time_ns : rounds->newest;
			status = take_unordered(taker, full, bytes, entry->time_ns);
		} else {
			place_other(stream, chunk, bytes, number, rounds, entry);
			met = pd_stream_met(stream);
		}
		if (PD_UNLIKELY(status < 0 || (!full && taker && !is_plain(stream))))
			break;
		entry += status == PD_END;
		at += head.size;
	}
	chunk->count = (size_t)(entry - chunk->memory.entries);
	*count_out = number;
	return at;
}

static bool fill_view(struct pd_chunk *chunk, struct pd_stream *stream)
{
	const struct pd_piece *piece = chunk->piece;
	const uint8_t *end = chunk->view + (piece->end - piece->begin);
	struct pd_rounds rounds = chunk->rounds;
	uint32_t count = (uint32_t)piece->count;
	uint64_t found;

	return (stream->swap ? make_entries(chunk, stream, end, count, &rounds, NULL, true, &found) :
			       make_entries(chunk, stream, end, count, &rounds, NULL, false, &found)) == end &&
	       found == count;
}

enum pd_status pd_chunk_read(struct pd_chunk *chunk, struct pd_stream *source, struct pd_error *error)
{
	const struct pd_piece *piece = chunk->piece;
	enum pd_status status;

	if (piece->has_tails || piece->end - piece->begin > VIEW_MOST || piece->count > PD_ENTRY_NUMBERS)
		return PD_END;
	if (!PD_GROW(chunk->memory.entries, chunk->memory.entry_capacity, (size_t)piece->count))
		return pd_fail_memory(error);
	chunk->view = find_bytes(chunk, source, &status, error);
	if (status < 0)
		return status;
	chunk->size = (size_t)(piece->end - piece->begin);
	if (chunk->view && fill_view(chunk, source))
		return PD_OK;
	chunk->view = NULL;
	chunk->size = chunk->count = 0;
	return PD_END;
}

enum pd_status pd_chunk_read_block(struct pd_chunk *chunk, struct pd_piece *piece, struct pd_stream *source,
				   struct pd_rounds *rounds, const struct pd_chunk_taker *taker, struct pd_error *error)
{
	size_t size = (size_t)(piece->end - piece->begin), most = size / PD_RECORD_HEADER_SIZE;
	enum pd_status status;
	const uint8_t *end;

	chunk->piece = piece;
	if (!PD_GROW(chunk->memory.entries, chunk->memory.entry_capacity, most))
		return pd_fail_memory(error);
	chunk->view = find_bytes(chunk, source, &status, error);
	if (status < 0)
		return status;
	if (!chunk->view)
		return PD_END;
	chunk->size = size;
	end = chunk->view + size;
	end = source->swap ? make_entries(chunk, source, end, (uint32_t)most, rounds, taker, true, &piece->count) :
			     make_entries(chunk, source, end, (uint32_t)most, rounds, taker, false, &piece->count);
	piece->end = piece->begin + (uint64_t)(end - chunk->view);
	return PD_OK;
}

// ---- copies ----

struct pd_kept *pd_chunk_copy(struct pd_chunk *chunk, const struct pd_record *record, struct pd_key key,
			      struct pd_bytes tail)
{
	struct pd_chunk_memory *memory = &chunk->memory;
	size_t at = memory->batch.size;
	struct pd_kept *kept;

	if (!PD_GROW(memory->entries, memory->entry_capacity, chunk->count + 1))
		return NULL;
	kept = pd_batch_add(&memory->batch, record, tail);
	if (!kept)
		return NULL;
	memory->entries[chunk->count++] =
		(struct pd_entry){ key.time_ns, (uint32_t)(at / PD_KEPT_ALIGN), pd_entry_word(key.rank, 0, 0) };
	chunk->size = memory->batch.size;
	return kept;
}

// ---- showing ----

void pd_chunk_show_other(const struct pd_chunk *chunk, const struct pd_entry *entry, struct pd_stream *stream)
{
	const struct pd_piece *piece = chunk->piece;
	struct pd_record_head head;
	const uint8_t *at;

	if (!chunk->view) {
		pd_stream_show_kept(stream, pd_kept_at(&chunk->memory.batch, (size_t)entry->at * PD_KEPT_ALIGN));
		return;
	}
	at = chunk->view + entry->at;
	head = pd_record_head(at, stream->swap);
	pd_stream_show(stream, piece->part, (struct pd_bytes){ at, (size_t)head.size }, piece->begin + entry->at,
		       PD_NO_OFFSET);
	stream->record.place = piece->place + (entry->word & PD_ENTRY_NUMBERS);
	stream->kept = NULL;
}
