/* SPDX-License-Identifier: MIT */
/*
 * A run of records by their time: views of a piece of the file, which is read into memory as it is, or copies. What is sorted
 * are entries of 16 bytes.
 */
#ifndef PD_STREAM_CHUNK_H
#define PD_STREAM_CHUNK_H

#include "stream/order/entry.h"
#include "stream/order/pack.h"
#include "stream/read/batch.h"

enum {
	PD_ENTRY_CPUS = 4096,
	PD_ENTRY_UNPLACED = UINT16_MAX + 1
};

// Where samples of an event have what an entry is made of.
struct pd_entry_place {
	uint32_t word; // of entries, without the number
	uint32_t size; // bytes that a sample has to have; more than it can have (PD_ENTRY_UNPLACED): it takes more to know
	uint16_t time_at; // in a sample
	uint16_t cpu_at;  // of events of which the CPU alone is of interest; else 0
	struct pd_pack pack;
	// of those that are kept as words of raw data, too:
	uint16_t chain_at; // the call chain; 0: samples have none
	uint16_t raw_at;   // the size of the raw data, if the chain is empty
	uint16_t raw_size; // bytes that these have to have
};

// Events of a file by index.
struct pd_entry_events {
	const struct pd_event_full **items;
	struct pd_entry_place *places;
	size_t count;
};

// The place of an event; unordered: its samples are for takers as they are read.
struct pd_entry_place pd_entry_place_of(const struct pd_event_full *event, bool unordered);
// Only these words of its samples are kept, if samples have them at such places; otherwise it takes more to know.
void pd_entry_place_pack(struct pd_entry_place *place, const struct pd_event_full *event, const struct pd_pack *pack);

// What a chunk needs while it is loaded, and the next one then.
struct pd_chunk_memory {
	struct pd_batch batch; // copies
	uint8_t *bytes;        // of a piece
	size_t bytes_capacity;
	struct pd_entry *entries;
	size_t entry_capacity;
};

// First a piece of the file, then its records, sorted, then nothing again.
struct pd_chunk {
	const struct pd_piece *piece; // NULL if the input comes once
	struct pd_rounds rounds;      // before its first record
	uint64_t ordinal;             // in the order of the file
	const uint8_t *view;          // the bytes of the piece; NULL: records are copies
	bool packed; // the view is what was kept of them: words, and records after their offset in the piece
	struct pd_chunk_memory memory;
	size_t size;             // bytes of records that are in memory for it
	size_t count, next, end; // entries; end: of those that are to be merged
	bool sorted;             // they are known to ascend
};

// The entry that comes next, which there must be.
static inline const struct pd_entry *pd_chunk_first(const struct pd_chunk *chunk)
{
	return &chunk->memory.entries[chunk->next];
}

// Reads the piece and makes entries for its records. PD_END: it has to be copied record by record, because of what follows
// records, or because the file is not what it was. The source is a stream of the file that knows all that is to be known of it.
enum pd_status pd_chunk_read(struct pd_chunk *chunk, struct pd_stream *source, const struct pd_entry_events *events,
			     struct pd_error *error);
// A sample of an event that has a time, in the byte order of this machine: most of a file. PD_END: it is wanted as a record.
typedef enum pd_status pd_order_sample_fn(void *self, const struct pd_event_full *event, struct pd_bytes sample,
					  uint64_t time_ns, struct pd_error *error);

// What of samples of an event is to be kept until their turn; pack_out is all zero before.
typedef void pd_order_pack_fn(void *self, const struct pd_event_full *event, struct pd_pack *pack_out);

// Who takes samples that need no order, and says what is kept of others.
struct pd_chunk_taker {
	pd_order_sample_fn *sample;
	void *self;
	const bool *unordered; // by the index of events; NULL: none
	size_t count;
	bool packs;                     // else blocks are kept as they are
	bool no_rounds;                 // ends of rounds are passed
	bool met[PD_ENTRY_CPUS];        // CPUs of which it took a sample
	uint64_t passed;                // others of these that were not given to it
	struct pd_chunk_memory reading; // for blocks of which little is kept
};

// Reads a block that nothing is known of yet: from the begin of the piece to its end, which becomes that of the last record that is
// whole and plain; its count becomes that of its records, with those that the taker took or that were passed. PD_END: the bytes are not there.
enum pd_status pd_chunk_read_block(struct pd_chunk *chunk, struct pd_piece *piece, struct pd_stream *source,
				   struct pd_rounds *rounds, const struct pd_entry_events *events,
				   struct pd_chunk_taker *taker, struct pd_error *error);
// Adds a copy of a record. NULL: no memory.
struct pd_kept *pd_chunk_copy(struct pd_chunk *chunk, const struct pd_record *record, struct pd_key key,
			      struct pd_bytes tail);
void pd_chunk_memory_fini(struct pd_chunk_memory *memory);

// For pd_chunk_show: one that has to be placed again, or is a copy.
void pd_chunk_show_other(const struct pd_chunk *chunk, const struct pd_entry *entry, struct pd_stream *stream);

// Where a record of the view is in the file.
static inline uint64_t pd_chunk_offset(const struct pd_chunk *chunk, const struct pd_entry *entry)
{
	return chunk->piece->begin +
	       (chunk->packed ? pd_load_u64(chunk->view + entry->at - sizeof(uint64_t), false) : entry->at);
}

// Makes the record of an entry the current one of a stream. The chunk has to stay until another is shown. All records come here,
// most of them samples of events that are known.
static inline void pd_chunk_show(const struct pd_chunk *chunk, const struct pd_entry *entry,
				 const struct pd_entry_events *events, struct pd_stream *stream)
{
	uint32_t event = pd_entry_event(entry);
	const struct pd_event_full *full;
	struct pd_record *record = &stream->record;
	struct pd_record_head head;
	const uint8_t *at;

	if (PD_UNLIKELY(!event || event > events->count)) {
		pd_chunk_show_other(chunk, entry, stream);
		return;
	}
	full = events->items[event - 1];
	at = chunk->view + entry->at;
	head = pd_record_head(at, stream->swap);
	record->type = head.type;
	record->misc = head.misc;
	record->flags = 0;
	record->offset = pd_chunk_offset(chunk, entry);
	record->inner_offset = PD_NO_OFFSET;
	record->index = stream->index++;
	record->time_ns = pd_entry_rank(entry) ? PD_NO_TIME : entry->time_ns;
	record->event = &full->event;
	record->bytes.data = at;
	record->bytes.size = (size_t)head.size;
	record->tail_size = 0;
	record->part = chunk->piece->part;
	record->place = chunk->piece->place + (entry->word & PD_ENTRY_NUMBERS);
	stream->scratch.context.event = full;
	stream->kept = NULL;
	stream->tail_given = false;
	if (PD_UNLIKELY(stream->scratch.used))
		pd_scratch_reset(&stream->scratch);
}

#endif
