/* SPDX-License-Identifier: MIT */
/* The bytes that follow a record and belong to it, such as AUX data: whole, or piece by piece as they are read. */
#include "stream/read/batch.h"
#include "stream/read/inside.h"

#include <inttypes.h>

uint64_t pd_stream_tail_there(const struct pd_stream *stream, const struct pd_record *record)
{
	uint64_t begin = record->offset + record->bytes.size, end, left;
	const struct pd_part *part;

	if (stream->kept && stream->kept->has_tail)
		return stream->kept->kept_size;
	if (!record->tail_size)
		return 0;
	part = pd_file_part(record->scratch->context.file, record->part);
	if (!part->source->seekable)
		return record->tail_size;
	end = part->source->size < part->end ? part->source->size : part->end;
	left = end > begin ? end - begin : 0;
	return record->tail_size < left ? record->tail_size : left;
}

struct pd_bytes pd_stream_read_tail(const struct pd_stream *stream)
{
	return stream->tail_bytes;
}

// What follows the record that is shown: kept, or read again.
static enum pd_status kept_tail(struct pd_stream *stream, struct pd_bytes *bytes_out, struct pd_error *error)
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
	if (size > stream->memory_limit)
		return pd_fail(error, PD_ERROR_LIMIT, kept->offset, "%s: %" PRIu64 " bytes after the record",
			       pd_file_name(stream->file), size);
	source = pd_file_part(stream->file, kept->part)->source;
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

enum pd_status pd_stream_tail(struct pd_stream *stream, struct pd_bytes *bytes_out, struct pd_error *error)
{
	// a size that the file cannot have must not take memory
	uint64_t size = pd_stream_tail_there(stream, &stream->record);
	enum pd_status status;
	uint8_t *tail;
	size_t got;

	if (!stream->record.tail_size || stream->tail_bytes.data) {
		*bytes_out = stream->tail_bytes;
		return PD_OK;
	}
	if (stream->order || stream->kept)
		return kept_tail(stream, bytes_out, error);
	if (size > stream->memory_limit)
		return pd_fail(error, PD_ERROR_LIMIT, stream->record.offset,
			       "%s: %" PRIu64 " bytes after the record, the limit is %" PRIu64,
			       pd_file_name(stream->file), size, stream->memory_limit);
	tail = pd_realloc(stream->tail, (size_t)size + !size);
	if (!tail)
		return pd_fail_memory(error);
	stream->tail = tail;
	// the window moves: the record itself must not be used any more, so it is kept in the arena
	stream->record.bytes.data =
		pd_arena_copy(&stream->scratch.arena, stream->record.bytes.data, stream->record.bytes.size);
	stream->scratch.used = true;
	if (!stream->record.bytes.data)
		return pd_fail_memory(error);
	pd_reader_advance(&stream->reader, stream->outer_size);
	stream->outer_size = 0;
	stream->tail_left = 0;
	status = pd_reader_copy(&stream->reader, tail, (size_t)size, &got, error);
	if (status < 0)
		return status;
	if (got < stream->record.tail_size)
		pd_stream_report(stream, PD_PROBLEM_TRUNCATED_TAIL, stream->record.offset, NULL,
				 "%" PRIu64 " of %" PRIu64 " bytes after the record are missing",
				 stream->record.tail_size - got, stream->record.tail_size);
	stream->tail_bytes = (struct pd_bytes){ tail, got };
	*bytes_out = stream->tail_bytes;
	return PD_OK;
}

enum pd_status pd_stream_tail_piece(struct pd_stream *stream, struct pd_bytes *bytes_out, struct pd_error *error)
{
	enum {
		PIECE = 128 << 10
	};
	struct pd_reader *reader = &stream->reader;
	size_t size = stream->tail_left < PIECE ? (size_t)stream->tail_left : PIECE;
	enum pd_status status;

	if (stream->order || stream->kept || stream->tail_bytes.data) {
		if (stream->tail_given)
			return PD_END;
		stream->tail_given = true;
		return pd_stream_tail(stream, bytes_out, error);
	}
	if (!size)
		return PD_END;
	if (stream->outer_size) {
		stream->record.bytes.data =
			pd_arena_copy(&stream->scratch.arena, stream->record.bytes.data, stream->record.bytes.size);
		stream->scratch.used = true;
		if (!stream->record.bytes.data)
			return pd_fail_memory(error);
		pd_reader_advance(reader, stream->outer_size);
		stream->outer_size = 0;
	}
	status = pd_reader_fill(reader, size, error);
	if (status < 0)
		return status;
	if (!reader->available)
		return PD_END; // the next record reports what is missing
	size = size < reader->available ? size : reader->available;
	*bytes_out = (struct pd_bytes){ reader->at, size };
	pd_reader_advance(reader, size);
	stream->tail_left -= size;
	return PD_OK;
}
