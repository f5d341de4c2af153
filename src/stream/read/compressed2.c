/* SPDX-License-Identifier: MIT */
/* The size of a COMPRESSED2 record whose header is wrong. */
#include "stream/read/inside.h"

#include <inttypes.h>

// Some versions of perf give the first of several COMPRESSED2 records the size of them all. Looks for the header
// of the second one; returns the size of the first, or 0.
static size_t find_compressed2_size(struct pd_stream *stream, uint64_t data_size)
{
	enum {
		LARGEST = 65536
	};
	const struct pd_reader *reader = &stream->reader;
	uint64_t *none_before = &stream->no_piece_before[reader->offset & 7];
	size_t span = reader->available < LARGEST + 16 ? reader->available : LARGEST + 16;
	size_t at = 16;

	if (data_size < span - 16)
		span = (size_t)data_size + 16;
	// what was searched for the record before is not searched again
	if (*none_before > reader->offset + at)
		at = *none_before - reader->offset < span ? (size_t)(*none_before - reader->offset) : span;
	for (; at + 16 <= span; at += 8) {
		struct pd_record_head head = pd_record_head(reader->at + at, stream->swap);
		uint64_t inner = pd_load_u64(reader->at + at + 8, stream->swap);

		if (head.type == PD_RECORD_COMPRESSED2 && head.size >= 16 && inner <= head.size - 16 &&
		    head.size - 16 - inner < 8)
			return at;
	}
	if (reader->offset + at > *none_before)
		*none_before = reader->offset + at;
	return 0;
}

enum pd_status pd_stream_recover_compressed2(struct pd_stream *stream, struct pd_record_head *head,
					     struct pd_error *error)
{
	struct pd_reader *reader = &stream->reader;
	uint64_t data_size;
	enum pd_status status;
	size_t size;

	if (head->size < 16 || reader->available < 16)
		return PD_OK;
	data_size = pd_load_u64(reader->at + 8, stream->swap);
	if (data_size <= head->size - 16 || (stream->careful && pd_stream_head_follows(stream, head->size)))
		return PD_OK;
	status = pd_reader_fill(reader, 2 * 65536, error);
	if (status < 0)
		return status;
	size = find_compressed2_size(stream, data_size);
	pd_stream_report(stream, PD_PROBLEM_COMPRESSED2_SIZE, reader->offset, "compressed2.data",
			 "claims %" PRIu64 " bytes in a record of %" PRIu64 "%s", data_size, head->size,
			 size ? "" : ", and no later part was found");
	if (size)
		head->size = size;
	return PD_OK;
}
