/* SPDX-License-Identifier: MIT */
#include "stream/batch.h"

#include <inttypes.h>
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

enum pd_status pd_stream_kept_tail(struct pd_stream *stream, struct pd_bytes *bytes_out, struct pd_error *error)
{
	const struct pd_kept *kept = stream->kept;
	uint64_t size = pd_stream_tail_there(stream, &stream->record);
	struct pd_source *source;
	enum pd_status status;
	uint8_t *tail;
	size_t got;

	if (!kept) {
		*bytes_out = (struct pd_bytes){ 0 };
		return PD_OK;
	}
	if (!kept->tail_size || kept->has_tail) {
		*bytes_out =
			(struct pd_bytes){ (const uint8_t *)(kept + 1) + pd_kept_padded(kept->size), kept->kept_size };
		return PD_OK;
	}
	if (size > stream->file->memory_limit)
		return pd_fail(error, PD_ERROR_LIMIT, kept->offset, "%s: %" PRIu64 " bytes after the record",
			       stream->file->name, size);
	source = stream->file->parts[kept->part].source;
	tail = pd_realloc(stream->tail, (size_t)size + !size);
	if (!tail)
		return pd_fail_memory(error);
	stream->tail = tail;
	status = pd_source_read(source, kept->offset + kept->size, tail, (size_t)size, &got, error);
	if (status < 0)
		return status;
	*bytes_out = (struct pd_bytes){ tail, got };
	return PD_OK;
}
