/* SPDX-License-Identifier: MIT */
#include "stream/order/chunk.h"

#include <string.h>

enum {
	VIEW_MOST = 4 << 20, // bytes of a piece; only what follows records makes one larger
	LINE = 64,           // of the cache
	PACKED_FEW = 4,
	KEPT_TIMES = 3, // as many bytes as a block has are kept of it at most, for
	LEAST_PACKED = (8 * PD_PACKED_WORDS + KEPT_TIMES - 1) / KEPT_TIMES,
	AHEAD = 16 * LINE, // what is fetched before it is read: where the next record begins is known late
	KEPT_ALIGN = 8
};

void pd_chunk_memory_fini(struct pd_chunk_memory *memory)
{
	pd_batch_fini(&memory->batch);
	pd_free(memory->bytes);
	pd_free(memory->entries);
	*memory = (struct pd_chunk_memory){ 0 };
}

// ---- a piece as it is ----

// Its bytes in a memory; NULL, with *status_out, if they are not all there. Their alignment stays, so that arrays in
// them can be used in place.
static const uint8_t *copy_bytes(const struct pd_piece *piece, struct pd_chunk_memory *memory, struct pd_source *source,
				 enum pd_status *status_out, struct pd_error *error)
{
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

static const uint8_t *find_bytes(const struct pd_piece *piece, struct pd_chunk_memory *memory,
				 const struct pd_stream *stream, enum pd_status *status_out, struct pd_error *error)
{
	const struct pd_part *part = pd_file_part(stream->file, piece->part);
	struct pd_source *source = part->source;

	*status_out = PD_OK;
	if (piece->end > part->end)
		return NULL;
	if (!source->memory)
		return copy_bytes(piece, memory, source, status_out, error);
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

// The end of a round, which there may be thousands of in each megabyte. False: it is another record.
static bool place_round(struct pd_record_head head, uint32_t number, struct pd_rounds *rounds, struct pd_entry *entry)
{
	struct pd_key key;

	if (head.type != PD_RECORD_FINISHED_ROUND || head.size != PD_RECORD_HEADER_SIZE)
		return false;
	key = pd_rounds_end(rounds);
	entry->time_ns = key.time_ns;
	entry->word = pd_entry_word(key.rank, 0, number);
	return true;
}

static __attribute__((noinline)) void place_other(struct pd_stream *stream, const struct pd_chunk *chunk,
						  struct pd_bytes bytes, uint64_t offset, uint32_t number,
						  struct pd_rounds *rounds, struct pd_entry *entry)
{
	struct pd_record *record = &stream->record;
	struct pd_key key;

	pd_stream_show(stream, chunk->piece->part, bytes, offset, PD_NO_OFFSET);
	key = pd_rounds_take(rounds, record);
	entry->time_ns = key.time_ns;
	entry->word =
		pd_entry_word(key.rank, record->event && record->type < 64 ? number_of(record->event) : 0, number);
}

// PD_END: it has to be sorted.
PD_ALWAYS_INLINE enum pd_status take_unordered(struct pd_chunk_taker *taker, const struct pd_event_full *full,
					       struct pd_bytes bytes, uint64_t time_ns)
{
	struct pd_error unwanted;
	enum pd_status status;
	uint32_t cpu;

	if (!taker || !taker->unordered || full->event.index >= taker->count || !taker->unordered[full->event.index])
		return PD_END;
	status = taker->sample(taker->self, full, bytes, time_ns, &unwanted);
	if (status == PD_OK && pd_sample_cpu(full, bytes, &cpu) && cpu < PD_ENTRY_CPUS)
		taker->met[cpu] = true;
	return status;
}

// What is made of records one after another.
struct filling {
	const uint8_t *begin, *at, *end;
	uint8_t *kept, *kept_at; // what is kept instead of the bytes; NULL: nothing
	struct pd_entry *entry;  // the next one
	uint32_t number, most;   // records
	uint64_t newest;         // time of them
	uint64_t passed;
	bool sorted; // entries ascend so far
};

static size_t kept_size(size_t size)
{
	return sizeof(uint64_t) + (size + KEPT_ALIGN - 1) / KEPT_ALIGN * KEPT_ALIGN;
}

struct pd_entry_place pd_entry_place_of(const struct pd_event_full *event, bool unordered)
{
	const struct pd_brief_places *brief = &event->brief;
	size_t time_at = PD_RECORD_HEADER_SIZE + 8 * (size_t)event->sample_time;
	size_t whole = PD_RECORD_HEADER_SIZE + (size_t)brief->size;
	struct pd_entry_place place = { .word = pd_entry_word(0, number_of(&event->event), 0),
					.size = PD_ENTRY_UNPLACED };

	if (time_at + 8 >= UINT16_MAX)
		return place;
	place.time_at = (uint16_t)time_at;
	if (!unordered) {
		place.size = (uint32_t)(time_at + 8);
	} else if (brief->sufficient && brief->callchain == PD_FIELD_MISSING && brief->cpu != PD_FIELD_MISSING) {
		place.size = (uint32_t)(time_at + 8 > whole ? time_at + 8 : whole);
		place.cpu_at = (uint16_t)(PD_RECORD_HEADER_SIZE + brief->cpu);
	}
	return place;
}

// How many bytes there have to be for words from i to end.
static size_t size_for(const struct pd_pack *pack, unsigned i, unsigned end)
{
	size_t size = 0;

	for (; i < end; i++)
		size = pack->at[i] + 8u > size ? pack->at[i] + 8u : size;
	return size;
}

void pd_entry_place_pack(struct pd_entry_place *place, const struct pd_event_full *event, const struct pd_pack *pack)
{
	const struct pd_brief_places *brief = &event->brief;
	size_t size = size_for(pack, 0, pack->before), raw_size = size_for(pack, pack->before, pack->count);

	if (!pack->count || place->size == PD_ENTRY_UNPLACED || event->event.index > PD_ENTRY_NUMBERS ||
	    (raw_size && (!brief->raw_last || !brief->sufficient)) || size > UINT8_MAX || raw_size > INT16_MAX) {
		place->size = PD_ENTRY_UNPLACED;
		return;
	}
	place->pack = *pack;
	place->word = pd_entry_word(0, PD_ENTRY_PACKED, (uint32_t)event->event.index);
	if (raw_size) {
		place->raw_at = (uint16_t)(PD_RECORD_HEADER_SIZE + brief->size);
		place->raw_size = (uint16_t)raw_size;
		size = size > place->raw_at + 4 + raw_size ? size : place->raw_at + 4 + raw_size;
		if (brief->callchain != PD_FIELD_MISSING)
			place->chain_at = (uint16_t)(PD_RECORD_HEADER_SIZE + brief->callchain);
	}
	// memory for what is kept of a block is as much
	size = size > LEAST_PACKED ? size : LEAST_PACKED;
	place->size = size > place->size ? (uint32_t)size : place->size;
	for (unsigned i = pack->before; i < pack->count; i++)
		place->pack.at[i] = (uint16_t)(place->raw_at + 4 + pack->at[i]);
	// at the begin of a sample there are words anyway
	for (unsigned i = pack->count; i < PD_PACKED_WORDS; i++)
		place->pack.at[i] = 0;
}

// The words of a sample with a call chain, after which its raw data are.
static __attribute__((noinline)) bool pack_after_chain(uint64_t *kept, const uint8_t *sample,
						       const struct pd_entry_place *place, size_t size)
{
	uint64_t count = pd_load_u64(sample + place->chain_at, false);
	size_t raw_at = place->raw_at + 8 * (size_t)count;

	if (count > size / 8 || raw_at + 4 + place->raw_size > size ||
	    pd_load_u32(sample + raw_at, false) != size - raw_at - 4)
		return false;
	for (unsigned i = 0; i < place->pack.count; i++)
		kept[i] = pd_load_u64(sample + place->pack.at[i] + (i < place->pack.before ? 0 : 8 * count), false);
	return true;
}

// Keeps the words of a sample that are wanted, for which there is memory; false: its record is kept. Most events want few words: so
// many are copied without a look at how many there are.
PD_ALWAYS_INLINE bool pack_sample(uint64_t *kept, const uint8_t *sample, const struct pd_entry_place *place,
				  size_t size)
{
	const uint16_t *at = place->pack.at;

	if (PD_UNLIKELY(place->chain_at))
		return pack_after_chain(kept, sample, place, size);
	if (PD_UNLIKELY(place->raw_at && pd_load_u32(sample + place->raw_at, false) != size - place->raw_at - 4))
		return false;
	for (unsigned i = 0; i < PACKED_FEW; i++)
		kept[i] = pd_load_u64(sample + at[i], false);
	if (PD_UNLIKELY(place->pack.count > PACKED_FEW))
		for (unsigned i = PACKED_FEW; i < PD_PACKED_WORDS; i++)
			kept[i] = pd_load_u64(sample + at[i], false);
	return true;
}

// An entry was made.
PD_ALWAYS_INLINE void end_entry(struct filling *fill, uint64_t time_ns)
{
	if (PD_UNLIKELY(time_ns <= fill->newest))
		fill->sorted = false;
	else
		fill->newest = time_ns;
	fill->entry++;
}

// Keeps the record of an entry. There is room for it.
static void keep_record(struct filling *fill, struct pd_bytes bytes)
{
	uint64_t offset = (uint64_t)(bytes.data - fill->begin);

	memcpy(fill->kept_at, &offset, sizeof(offset));
	memcpy(fill->kept_at + sizeof(offset), bytes.data, bytes.size);
	fill->entry->at = (uint32_t)(fill->kept_at - fill->kept + sizeof(offset));
	fill->kept_at += kept_size(bytes.size);
}

// Samples one after another, up to one that takes more than that, or another record: most of a file, so nothing is called.
PD_ALWAYS_INLINE void fill_samples(struct filling *fill, const struct pd_met *met, const struct pd_entry_events *events,
				   const struct pd_chunk_taker *taker, bool packs, bool swap)
{
	struct filling now = *fill;

	while (now.number < now.most && now.end - now.at >= PD_RECORD_HEADER_SIZE) {
		size_t size = pd_load_u16(now.at + 6, swap);
		const struct pd_event_full *full = pd_met_event(met, now.at, size, swap);
		const struct pd_entry_place *place;
		uint64_t time_ns;

		__builtin_prefetch(now.at + AHEAD);
		__builtin_prefetch(now.at + AHEAD + LINE);
		if (PD_UNLIKELY(pd_load_u32(now.at, swap) != PD_RECORD_SAMPLE || size > (size_t)(now.end - now.at) ||
				!full || full->event.index >= events->count))
			break;
		place = &events->places[full->event.index];
		if (PD_UNLIKELY(size < place->size))
			break;
		time_ns = pd_load_u64(now.at + place->time_at, swap);
		if (PD_UNLIKELY(!time_ns))
			break;
		if (place->cpu_at) {
			uint32_t cpu = pd_load_u32(now.at + place->cpu_at, swap);

			if (cpu >= PD_ENTRY_CPUS || !taker->met[cpu])
				break;
			now.newest = time_ns > now.newest ? time_ns : now.newest;
		} else if (packs) {
			if (PD_UNLIKELY(!pack_sample((uint64_t *)(void *)now.kept_at, now.at, place, size)))
				break;
			*now.entry = (struct pd_entry){ time_ns, (uint32_t)(now.kept_at - now.kept), place->word };
			now.kept_at += 8 * place->pack.count;
			end_entry(&now, time_ns);
		} else {
			*now.entry =
				(struct pd_entry){ time_ns, (uint32_t)(now.at - now.begin), place->word | now.number };
			end_entry(&now, time_ns);
		}
		now.at += size;
		now.number++;
	}
	now.passed += (now.number - fill->number) - (uint64_t)(now.entry - fill->entry);
	*fill = now;
}

// A record that fill_samples did not take. False: it is none, or in a block (there is a taker) it is not a plain one.
static bool fill_other(struct filling *fill, struct pd_chunk *chunk, struct pd_stream *stream, struct pd_rounds *rounds,
		       struct pd_chunk_taker *taker)
{
	const struct pd_met met = pd_stream_met(stream);
	const struct pd_event_full *full = NULL;
	enum pd_status status = PD_END;
	struct pd_record_head head;
	struct pd_bytes bytes;

	if (fill->end - fill->at < PD_RECORD_HEADER_SIZE)
		return false;
	head = pd_record_head(fill->at, stream->swap);
	if (head.size < PD_RECORD_HEADER_SIZE || head.size > (size_t)(fill->end - fill->at))
		return false;
	bytes = (struct pd_bytes){ fill->at, (size_t)head.size };
	fill->entry->at = (uint32_t)(fill->at - fill->begin);
	if (head.type == PD_RECORD_SAMPLE)
		full = place_sample(&met, bytes, stream->swap, fill->number, fill->entry);
	if (full) {
		status = take_unordered(taker, full, bytes, fill->entry->time_ns);
		if (status == PD_OK && fill->entry->time_ns > fill->newest)
			fill->newest = fill->entry->time_ns;
	} else if (place_round(head, fill->number, rounds, fill->entry)) {
		if (taker && taker->no_rounds) {
			status = PD_OK;
			fill->passed++;
		}
	} else {
		place_other(stream, chunk, bytes, chunk->piece->begin + fill->entry->at, fill->number, rounds,
			    fill->entry);
		if (taker && !is_plain(stream))
			return false;
	}
	if (status < 0)
		return false;
	if (fill->kept && status == PD_END)
		keep_record(fill, bytes);
	if (status == PD_END)
		end_entry(fill, fill->entry->time_ns);
	fill->at += head.size;
	fill->number++;
	return true;
}

// Entries for whole records, one after another, up to most of them. They end before the end where something is no record, or in a
// block (there is a taker) it is not a plain one.
static void make_entries(struct filling *fill, struct pd_chunk *chunk, struct pd_stream *stream,
			 struct pd_rounds *rounds, const struct pd_entry_events *events, struct pd_chunk_taker *taker)
{
	fill->entry = chunk->memory.entries;
	fill->sorted = true;
	do {
		const struct pd_met met = pd_stream_met(stream);

		if (stream->swap)
			fill_samples(fill, &met, events, taker, false, true);
		else if (fill->kept)
			fill_samples(fill, &met, events, taker, true, false);
		else
			fill_samples(fill, &met, events, taker, false, false);
		rounds->newest = fill->newest > rounds->newest ? fill->newest : rounds->newest;
	} while (fill->number < fill->most && fill_other(fill, chunk, stream, rounds, taker));
	chunk->count = (size_t)(fill->entry - chunk->memory.entries);
	chunk->sorted = fill->sorted;
}

static bool fill_view(struct pd_chunk *chunk, struct pd_stream *stream, const struct pd_entry_events *events)
{
	const struct pd_piece *piece = chunk->piece;
	struct filling fill = { .begin = chunk->view,
				.at = chunk->view,
				.end = chunk->view + (piece->end - piece->begin),
				.most = (uint32_t)piece->count };
	struct pd_rounds rounds = chunk->rounds;

	make_entries(&fill, chunk, stream, &rounds, events, NULL);
	return fill.at == fill.end && fill.number == fill.most;
}

enum pd_status pd_chunk_read(struct pd_chunk *chunk, struct pd_stream *source, const struct pd_entry_events *events,
			     struct pd_error *error)
{
	const struct pd_piece *piece = chunk->piece;
	enum pd_status status;

	if (piece->has_tails || piece->end - piece->begin > VIEW_MOST || piece->count > PD_ENTRY_NUMBERS)
		return PD_END;
	if (!PD_GROW(chunk->memory.entries, chunk->memory.entry_capacity, (size_t)piece->count))
		return pd_fail_memory(error);
	chunk->view = find_bytes(piece, &chunk->memory, source, &status, error);
	if (status < 0)
		return status;
	chunk->size = (size_t)(piece->end - piece->begin);
	if (chunk->view && fill_view(chunk, source, events))
		return PD_OK;
	chunk->view = NULL;
	chunk->size = chunk->count = 0;
	chunk->sorted = false;
	return PD_END;
}

// Entries for a block whose bytes are there; what is kept of them if there is memory for that.
static void fill_block(struct pd_chunk *chunk, struct pd_piece *piece, struct filling *fill, struct pd_stream *source,
		       struct pd_rounds *rounds, const struct pd_entry_events *events, struct pd_chunk_taker *taker)
{
	chunk->packed = fill->kept != NULL;
	make_entries(fill, chunk, source, rounds, events, taker);
	taker->passed += fill->passed;
	piece->count = fill->number;
	piece->end = piece->begin + (uint64_t)(fill->at - fill->begin);
	chunk->view = chunk->packed ? fill->kept : fill->begin;
	chunk->size = chunk->packed ? (size_t)(fill->kept_at - fill->kept) : (size_t)(fill->at - fill->begin);
}

enum pd_status pd_chunk_read_block(struct pd_chunk *chunk, struct pd_piece *piece, struct pd_stream *source,
				   struct pd_rounds *rounds, const struct pd_entry_events *events,
				   struct pd_chunk_taker *taker, struct pd_error *error)
{
	struct pd_chunk_memory *memory = taker->packs ? &taker->reading : &chunk->memory;
	size_t size = (size_t)(piece->end - piece->begin), most = size / PD_RECORD_HEADER_SIZE;
	// of a sample that is packed all words at most, of another record its bytes and an offset
	size_t kept_most = KEPT_TIMES * size + 8 * (size_t)PD_PACKED_WORDS;
	struct filling fill = { .most = (uint32_t)most };
	enum pd_status status;

	chunk->piece = piece;
	if (!PD_GROW(chunk->memory.entries, chunk->memory.entry_capacity, most) ||
	    (taker->packs && !PD_GROW(chunk->memory.bytes, chunk->memory.bytes_capacity, kept_most)))
		return pd_fail_memory(error);
	fill.begin = fill.at = find_bytes(piece, memory, source, &status, error);
	if (status < 0)
		return status;
	if (!fill.begin)
		return PD_END;
	fill.end = fill.begin + size;
	if (taker->packs)
		fill.kept = fill.kept_at = chunk->memory.bytes;
	fill_block(chunk, piece, &fill, source, rounds, events, taker);
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
	pd_stream_show(stream, piece->part, (struct pd_bytes){ at, (size_t)head.size }, pd_chunk_offset(chunk, entry),
		       PD_NO_OFFSET);
	stream->record.place = piece->place + (entry->word & PD_ENTRY_NUMBERS);
	stream->kept = NULL;
}
