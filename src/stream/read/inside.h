/* SPDX-License-Identifier: MIT */
/* The inside of a stream, which only this folder knows: readers of parts, and the scratch in which a record is decoded. */
#ifndef PD_STREAM_INSIDE_H
#define PD_STREAM_INSIDE_H

#include "stream/read/stream.h"

// Places of records, ascending.
struct pd_places {
	uint64_t *items;
	size_t count, capacity;
};

// Where a record is decoded: belongs to the stream, reset at the next record.
struct pd_scratch {
	struct pd_record_context context; // first, see pd_record_context; its scope is as of the last decoding
	struct pd_arena arena;
	const struct pd_event_full *scope_event; // whose words the scope holds unchanged, or NULL
	const struct pd_places *known;           // records whose damage was reported by another stream, or NULL
	bool used;                               // something was decoded since the last record
	bool reported;                           // the damage of this record was reported
};

// A window over one part that holds the next bytes in one piece.
struct pd_reader {
	struct pd_source *source;
	uint64_t begin;
	uint64_t end;    // UINT64_MAX if not known
	uint64_t offset; // of `at` in the part
	const uint8_t *at;
	size_t available; // bytes from `at` on
	uint8_t *buffer;  // NULL over memory
	size_t capacity;
	size_t step; // bytes to read at once, for a while less than a window; 0: a window
	bool at_end; // the source has no more
};

// A reader that was closed, or is all zero, can be opened; fini gives its memory back.
enum pd_status pd_reader_open(struct pd_reader *reader, const struct pd_part *part);
void pd_reader_close(struct pd_reader *reader);
void pd_reader_fini(struct pd_reader *reader);
// Makes at least size bytes readable, if there are so many; see reader->available.
enum pd_status pd_reader_fill_more(struct pd_reader *reader, size_t size, struct pd_error *error);
static inline enum pd_status pd_reader_fill(struct pd_reader *reader, size_t size, struct pd_error *error)
{
	return size <= reader->available ? PD_OK : pd_reader_fill_more(reader, size, error);
}
static inline void pd_reader_advance(struct pd_reader *reader, size_t size)
{
	reader->at += size;
	reader->available -= size;
	reader->offset += size;
}
// Goes on after bytes that need not be in the window. *short_out: bytes that were not there.
enum pd_status pd_reader_skip(struct pd_reader *reader, uint64_t size, uint64_t *short_out, struct pd_error *error);
// Copies the next bytes, without keeping them in the window. *got_out may be less at the end.
enum pd_status pd_reader_copy(struct pd_reader *reader, uint8_t *data, size_t size, size_t *got_out,
			      struct pd_error *error);
enum pd_status pd_reader_seek(struct pd_reader *reader, uint64_t offset);
// Goes on after a record most of which is not in the window, without reading it. False if it may not be there.
bool pd_reader_leap(struct pd_reader *reader, uint64_t size);

// Inflated records of one part.
struct pd_inflate {
	const struct pd_codec *codec;
	void *state;
	const uint8_t *packed; // what is left of the compressed record
	size_t packed_size;
	bool draining; // the codec may have more to give
	uint8_t *data; // inflated, [at, size)
	size_t at, size, capacity;
	uint64_t offset; // of data[at] in all that was inflated
	uint64_t total;
	uint64_t fed; // compressed bytes so far
	bool broken;
	bool quiet;    // problems were reported already
	bool restarts; // once broken, goes on at the next frame
	uint64_t lost; // compressed bytes that were not inflated
};

enum pd_status pd_inflate_feed(struct pd_inflate *inflate, struct pd_file *file, struct pd_bytes packed,
			       uint64_t offset, struct pd_error *error);
// Makes size bytes readable at data + at, if there are so many.
enum pd_status pd_inflate_fill(struct pd_inflate *inflate, struct pd_file *file, size_t size, uint64_t offset,
			       struct pd_error *error);
void pd_inflate_close(struct pd_inflate *inflate);
// From here on nothing is inflated, but by what restarts. Tells why.
void pd_inflate_break(struct pd_inflate *inflate, struct pd_file *file, uint64_t offset, const char *reason);

// Forgets what was decoded of the last record.
static inline void pd_scratch_reset(struct pd_scratch *scratch)
{
	pd_arena_reset(&scratch->arena);
	scratch->used = false;
	scratch->reported = false;
}

enum {
	PD_FOUND_EVENTS = 64
};

// The event of an id; NULL: it was not found yet.
struct pd_found_event {
	uint64_t id;
	const struct pd_event_full *event;
};

// What hands out the records of a stream in another order than that of the file. These are functions so that reading a file
// does not depend on sorting, which reads files.
struct pd_sorter;
struct pd_sorting {
	enum pd_status (*next)(struct pd_stream *stream, struct pd_error *error); // shows the next record
	void (*close)(struct pd_sorter *order);
	void (*progress)(const struct pd_sorter *order, uint64_t *done_out, uint64_t *total_out);
};

struct pd_stream {
	struct pd_file *file;
	const _Atomic bool *stopped; // of the file, as are the next two
	uint64_t memory_limit;
	bool swap;
	struct pd_record record;
	struct pd_scratch scratch;
	size_t part;
	bool part_open;
	struct pd_reader reader;
	struct pd_inflate inflate;
	size_t outer_size; // bytes of the current record outside of compression, still in the window
	uint64_t outer_offset;
	uint64_t tail_left; // bytes after the current record that were not read
	size_t inner_size;  // bytes of the current record inside, still in the inflated data
	uint8_t *tail;
	struct pd_bytes tail_bytes; // of the current record, once it was read
	bool tail_given;            // all of it, as a piece
	uint64_t index;
	const struct pd_kept *kept; // what is shown, if it was kept; see batch.h
	struct pd_sorter *order;    // records are shown in the order of time, by the functions of sorting; see order.h
	const struct pd_sorting *sorting;
	struct pd_part range; // what is read instead of the parts, if it has a source
	bool quiet;           // problems were reported already
	bool finalized;       // all of the file was read before: there is nothing to learn about it
	bool seeked;          // records were left out on purpose
	bool verify;          // see pd_stream_options
	bool plain;           // nothing but the record itself stands before the next one
	uint64_t done;        // bytes of the parts before this one
	// the last id that was looked up
	uint64_t last_id;
	const struct pd_event_full *last_event;
	struct pd_found_event found[PD_FOUND_EVENTS]; // by id
	bool only_event;                              // last_event is the only one, ids do not matter
	bool several_events;                          // seen so far
	const struct pd_event_full *first_event;      // of the file, once it was needed
	// a record of simpleperf in pieces
	uint8_t *split;
	size_t split_size, split_capacity;
	bool split_ready;
	uint64_t no_piece_before[8]; // COMPRESSED2: searched up to here, by alignment of the offset
	uint64_t unknown_types;      // reported so far, as bits of the low part of the number
	uint64_t unknown_ids;        // number of records
	// doubt
	bool careful;
	bool past_head;        // a record of the kernel was taken by a careful stream
	uint64_t near_time_ns; // of the last record that had one, 0 before
	uint64_t odd_types;    // that were odd and had a sound record after them, as bits of the low part of the number
	bool tight_stacks;     // samples with stacks were sound so far
	uint64_t doubted;      // what was looked at to tell which start is the right one
	struct pd_losses losses;
};

#define pd_stream_report(stream, ...) ((stream)->quiet ? (void)0 : pd_file_report((stream)->file, __VA_ARGS__))

// A stream as pd_stream_open makes it; for the order of time pieces may be those of an earlier pass.
struct pd_pieces;
enum pd_status pd_stream_open_over(struct pd_file *file, enum pd_order order, const struct pd_pieces *pieces,
				   struct pd_stream **stream_out, struct pd_error *error);
// compressed2.c: corrects and reports the size of a COMPRESSED2 record that claims to go on in the next ones.
enum pd_status pd_stream_recover_compressed2(struct pd_stream *stream, struct pd_record_head *head,
					     struct pd_error *error);
// Makes bytes the current record, as if they had been read. Its tail_size is 0.
void pd_stream_show(struct pd_stream *stream, size_t part, struct pd_bytes record, uint64_t offset,
		    uint64_t inner_offset);
// Times of samples; the oldest is UINT64_MAX if there is none.
struct pd_times {
	uint64_t oldest_ns, newest_ns;
};
// Whether a sample of an event fits its layout, as far as that can be seen without decoding it.
bool pd_stream_is_whole(const struct pd_event_full *full, const uint8_t *at, size_t size, bool swap);
// Passes over samples like pd_stream_pass, but none without a time and none that begins at limit or after it. Adds
// their times.
uint64_t pd_stream_pass_timed(struct pd_stream *stream, uint64_t limit, struct pd_times *times);
// The next record is the one at an offset of the part that is open, with that index.
enum pd_status pd_stream_go_on(struct pd_stream *stream, uint64_t offset, uint64_t index);
// From now on only a range of a part is read, then there is an end.
enum pd_status pd_stream_open_range(struct pd_stream *stream, size_t part, uint64_t begin, uint64_t end,
				    struct pd_error *error);

// ---- validate.c: whether bytes can be a record of this file ----

enum pd_validity {
	PD_BROKEN,    // cannot be
	PD_ODD,       // its size is not what its content wants
	PD_STRANGE,   // has numbers that recorders do not write
	PD_WILD_TIME, // nothing else is wrong
	PD_VALID
};

uint32_t pd_record_type_of(const struct pd_file *file, const struct pd_record_head *head);
// Whether a header alone can be one.
bool pd_head_is_plausible(const struct pd_file *file, const struct pd_record_head *head);
// Tells and changes nothing. type is that of the header, or another one to be tried; 0 is the former.
enum pd_validity pd_stream_validate(struct pd_stream *stream, struct pd_bytes bytes, uint32_t type,
				    uint64_t inner_offset, uint64_t *time_ns_out);
// Whether only the type keeps bytes from being a sound record.
bool pd_stream_has_other_type(struct pd_stream *stream, struct pd_bytes bytes, uint64_t inner_offset);

// ---- resync.c: going on after damage ----

// Whether what may be a header stands so many bytes after the place of the reader.
bool pd_stream_head_follows(struct pd_stream *stream, uint64_t size);
// Leaves bytes out until the next place where records can be.
enum pd_status pd_stream_resync(struct pd_stream *stream, struct pd_error *error);
// Decides on the record at the reader; bytes that cannot be one are left out then. PD_END: it is torn off by the end.
enum pd_status pd_stream_doubt(struct pd_stream *stream, const struct pd_record_head *head, bool *taken_out,
			       struct pd_error *error);
// The same for a record that was inflated; what is not taken is still there. PD_END: the stream of compressed data is lost.
enum pd_status pd_stream_doubt_inner(struct pd_stream *stream, const struct pd_record_head *head, bool *taken_out,
				     struct pd_error *error);

// Looks at records that say something about the file: attrs, features, updates. stream/metadata.c
enum pd_status pd_stream_learn(struct pd_stream *stream, struct pd_error *error);
// A known deviation of some kernels.
bool pd_mmap2_lacks_prot(const struct pd_record *record);
// Finds the event of a record, its time, and the event to read it with.
void pd_stream_place(struct pd_stream *stream, struct pd_record *record);
// The same for a sample of an event that is not the one before it.
void pd_stream_place_sample(struct pd_stream *stream, struct pd_record *record);

// The event of a sample if its id was looked up lately, else NULL.
static inline const struct pd_event_full *pd_stream_find_quickly(struct pd_stream *stream, const uint8_t *body,
								 size_t words)
{
	const struct pd_event_full *first = stream->first_event;
	const struct pd_found_event *found;
	uint64_t id;

	if (!first || !stream->several_events || first->sample_id >= words)
		return NULL;
	id = pd_load_u64(body + 8 * (size_t)first->sample_id, stream->swap);
	found = &stream->found[id % PD_FOUND_EVENTS];
	if (!found->event || found->id != id)
		return NULL;
	stream->last_id = id;
	stream->last_event = found->event;
	return found->event;
}

// How the events of samples are found that were looked up lately: the only one, or that of the id that ends after so many bytes.
struct pd_met {
	const struct pd_event_full *only;
	const struct pd_found_event *found;
	size_t id_end; // SIZE_MAX: it takes more to know
};

static inline struct pd_met pd_stream_met(const struct pd_stream *stream)
{
	const struct pd_event_full *first = stream->several_events ? stream->first_event : NULL;

	return (struct pd_met){ stream->only_event ? stream->last_event : NULL, stream->found,
				first ? PD_RECORD_HEADER_SIZE + 8 * (size_t)first->sample_id + 8 : SIZE_MAX };
}

// NULL: it takes more to know.
PD_ALWAYS_INLINE const struct pd_event_full *pd_met_event(const struct pd_met *met, const uint8_t *sample, size_t size,
							  bool swap)
{
	const struct pd_found_event *found;
	uint64_t id;

	if (met->only || met->id_end > size)
		return met->only;
	id = pd_load_u64(sample + met->id_end - 8, swap);
	found = &met->found[id % PD_FOUND_EVENTS];
	return found->id == id ? found->event : NULL;
}

// The event of a sample that was looked up lately, whatever was before it; changes nothing.
PD_ALWAYS_INLINE const struct pd_event_full *pd_stream_met_event(const struct pd_stream *stream, const uint8_t *sample,
								 size_t size, bool swap)
{
	struct pd_met met = pd_stream_met(stream);

	return pd_met_event(&met, sample, size, swap);
}

// The same for any sample; here because most of a file are samples.
static inline void pd_stream_place_quickly(struct pd_stream *stream, struct pd_record *record)
{
	const struct pd_event_full *full = stream->last_event;
	const uint8_t *body = record->bytes.data + PD_RECORD_HEADER_SIZE;
	size_t words = (record->bytes.size - PD_RECORD_HEADER_SIZE) / 8;
	uint64_t time_ns = 0;

	if (PD_UNLIKELY(!full || (!stream->only_event &&
				  (full->sample_id >= words || pd_load_u64(body + 8 * (size_t)full->sample_id,
									   stream->swap) != stream->last_id)))) {
		full = pd_stream_find_quickly(stream, body, words);
		if (!full) {
			pd_stream_place_sample(stream, record);
			return;
		}
	}
	record->event = &full->event;
	stream->scratch.context.event = full;
	if (full->sample_time < words)
		time_ns = pd_load_u64(body + 8 * (size_t)full->sample_time, stream->swap);
	record->time_ns = time_ns ? time_ns : PD_NO_TIME;
}

// Makes bytes the current record, which is a sample and was not inflated. Nothing is known of what follows it.
static inline void pd_stream_show_sample(struct pd_stream *stream, uint32_t part, const struct pd_record_head *head,
					 const uint8_t *at, uint64_t offset)
{
	struct pd_record *record = &stream->record;

	record->type = PD_RECORD_SAMPLE;
	record->misc = head->misc;
	record->flags = 0;
	record->part = part;
	record->offset = offset;
	record->inner_offset = PD_NO_OFFSET;
	record->index = record->place = stream->index++;
	record->bytes.data = at;
	record->bytes.size = (size_t)head->size;
	record->tail_size = 0;
	if (stream->scratch.used)
		pd_scratch_reset(&stream->scratch);
	pd_stream_place_quickly(stream, record);
}

#endif
