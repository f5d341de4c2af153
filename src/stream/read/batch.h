/* SPDX-License-Identifier: MIT */
/* Copies of records, one after another, for those who need them later or on another thread. */
#ifndef PD_STREAM_BATCH_H
#define PD_STREAM_BATCH_H

#include "stream/read/stream.h"

enum {
	PD_KEPT_ALIGN = 8
};

// A record: this, then its bytes, then its tail if it is kept.
struct pd_kept {
	uint64_t offset;
	uint64_t inner_offset;
	uint64_t tail_size;
	uint64_t place;
	uint32_t size;
	uint32_t part;
	bool late;
	bool has_tail;
	size_t kept_size; // of the tail: less than tail_size where the input ends
};

struct pd_batch {
	uint8_t *data;
	size_t size, capacity;
};

static inline size_t pd_kept_padded(size_t size)
{
	return (size + PD_KEPT_ALIGN - 1) & ~(size_t)(PD_KEPT_ALIGN - 1);
}

// From the start of one to the next.
static inline size_t pd_kept_step(const struct pd_kept *kept)
{
	return sizeof(*kept) + pd_kept_padded(kept->size) + pd_kept_padded(kept->kept_size);
}

static inline const struct pd_kept *pd_kept_at(const struct pd_batch *batch, size_t at)
{
	return (const struct pd_kept *)(const void *)(batch->data + at);
}

// Adds a record, and its tail if that has data. Valid until the next one is added; NULL if there is no memory.
struct pd_kept *pd_batch_add(struct pd_batch *batch, const struct pd_record *record, struct pd_bytes tail);
void pd_batch_fini(struct pd_batch *batch);
// Makes a kept record the current one. It has to stay until another is shown.
void pd_stream_show_kept(struct pd_stream *stream, const struct pd_kept *kept);
// The same on a stream that reads nothing itself: the number of the record is its place. Returns it.
const struct pd_record *pd_stream_replay(struct pd_stream *stream, const struct pd_kept *kept);
// The record that was shown last may go.
void pd_stream_end_replay(struct pd_stream *stream);
// What the stream does with a record besides handing it out, for one that was read ahead of it. place: of the record.
enum pd_status pd_stream_take_kept(struct pd_stream *stream, const struct pd_kept *kept, uint64_t place,
				   struct pd_error *error);

#endif
