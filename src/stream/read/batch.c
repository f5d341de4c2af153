/* SPDX-License-Identifier: MIT */
#include "stream/read/batch.h"
#include "stream/read/inside.h"

#include <string.h>

struct pd_kept *pd_batch_add(struct pd_batch *batch, const struct pd_record *record, struct pd_bytes tail)
{
	size_t body = pd_kept_padded(record->bytes.size);
	size_t need = sizeof(struct pd_kept) + body + pd_kept_padded(tail.size);
	struct pd_kept *kept;

	if (!PD_GROW(batch->data, batch->capacity, batch->size + need))
		return NULL;
	kept = (struct pd_kept *)(void *)(batch->data + batch->size);
	*kept = (struct pd_kept){
		.offset = record->offset,
		.inner_offset = record->inner_offset,
		.tail_size = record->tail_size,
		.place = record->place,
		.size = (uint32_t)record->bytes.size,
		.part = record->part,
		.has_tail = tail.data != NULL,
		.kept_size = tail.size,
	};
	memcpy(kept + 1, record->bytes.data, record->bytes.size);
	if (tail.size)
		memcpy((uint8_t *)(kept + 1) + body, tail.data, tail.size);
	batch->size += need;
	return kept;
}

void pd_batch_fini(struct pd_batch *batch)
{
	pd_free(batch->data);
	*batch = (struct pd_batch){ 0 };
}

void pd_stream_show_kept(struct pd_stream *stream, const struct pd_kept *kept)
{
	pd_stream_show(stream, kept->part, (struct pd_bytes){ (const uint8_t *)(kept + 1), kept->size }, kept->offset,
		       kept->inner_offset);
	stream->record.place = kept->place;
	stream->record.tail_size = kept->tail_size;
	if (kept->late)
		stream->record.flags |= PD_RECORD_LATE;
	stream->kept = kept;
}

const struct pd_record *pd_stream_replay(struct pd_stream *stream, const struct pd_kept *kept)
{
	stream->index = kept->place;
	pd_stream_show_kept(stream, kept);
	return &stream->record;
}

void pd_stream_end_replay(struct pd_stream *stream)
{
	stream->kept = NULL;
}
