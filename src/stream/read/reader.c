/* SPDX-License-Identifier: MIT */
/* A window that moves over a part. Records are looked at in it; nothing is copied but the piece of a record at
 * its end. Bytes keep their alignment to 8, so that arrays in them can be used in place. */
#include "stream/read/inside.h"

#include <string.h>

enum {
	WINDOW = 128 << 10,
	LINE = 64,         // of the cache
	STEP = 512,        // what is read after bytes that were left out: more of them may come soon
	KEPT = 4 * WINDOW, // a buffer up to this size serves the next part too
};

enum pd_status pd_reader_open(struct pd_reader *reader, const struct pd_part *part)
{
	*reader = (struct pd_reader){
		.source = part->source,
		.begin = part->begin,
		.end = part->end,
		.offset = part->begin,
		.at = (const uint8_t *)"", // never NULL, so that it can be moved by 0
		.buffer = reader->buffer,
		.capacity = reader->capacity,
	};
	return pd_reader_seek(reader, part->begin);
}

void pd_reader_close(struct pd_reader *reader)
{
	uint8_t *buffer = reader->buffer;
	size_t capacity = reader->capacity;

	*reader = (struct pd_reader){ 0 };
	if (capacity > KEPT) {
		pd_free(buffer);
		return;
	}
	reader->buffer = buffer;
	reader->capacity = capacity;
}

void pd_reader_fini(struct pd_reader *reader)
{
	pd_free(reader->buffer);
	*reader = (struct pd_reader){ 0 };
}

enum pd_status pd_reader_seek(struct pd_reader *reader, uint64_t offset)
{
	reader->offset = offset;
	reader->available = 0;
	reader->at_end = false;
	// compressed bytes in memory are read through the codec
	if (!reader->source->memory || !reader->source->seekable)
		return PD_OK;
	reader->at = reader->source->memory;
	if (offset < reader->source->memory_size && offset < reader->end) {
		uint64_t end = reader->end < reader->source->memory_size ? reader->end : reader->source->memory_size;

		reader->at += offset;
		reader->available = (size_t)(end - offset);
	}
	reader->at_end = true;
	return PD_OK;
}

// Where in a buffer the bytes go that are there: their alignment stays, and what is read after them begins with a line of
// the cache if it can, because the kernel copies to such places a tenth faster.
static size_t place_in(const uint8_t *buffer, const struct pd_reader *reader)
{
	return (size_t)(reader->offset - (uintptr_t)buffer) % LINE;
}

// Reserves memory for size bytes from the present offset on.
static enum pd_status reserve_bytes(struct pd_reader *reader, size_t size, struct pd_error *error)
{
	size_t shift;
	// with slack, so that records after records that want much do not move all of it each time
	size_t want = size + LINE > WINDOW ? size + WINDOW : WINDOW;

	if (size + LINE > reader->capacity) {
		// not zeroed: of a small file most pages are never used
		uint8_t *buffer = pd_realloc(NULL, want);

		if (!buffer)
			return pd_fail_memory(error);
		shift = place_in(buffer, reader);
		if (reader->available)
			memcpy(buffer + shift, reader->at, reader->available);
		pd_free(reader->buffer);
		reader->buffer = buffer;
		reader->capacity = want;
	} else {
		shift = place_in(reader->buffer, reader);
		if (reader->available)
			memmove(reader->buffer + shift, reader->at, reader->available);
	}
	reader->at = reader->buffer + shift;
	return PD_OK;
}

bool pd_reader_leap(struct pd_reader *reader, uint64_t size)
{
	uint64_t end = reader->end < reader->source->size ? reader->end : reader->source->size;

	if (!reader->source->seekable || reader->source->memory || reader->offset > end || size > end - reader->offset)
		return false;
	reader->step = STEP;
	return pd_reader_seek(reader, reader->offset + size) == PD_OK;
}

// How many bytes to read where there is capacity for so many. Steps grow as long as nothing is left out.
static size_t next_step(struct pd_reader *reader, size_t capacity, size_t least)
{
	size_t step = reader->step > least ? reader->step : least;

	if (!reader->step || step >= capacity) {
		reader->step = 0;
		return capacity;
	}
	reader->step *= 2;
	return step;
}

enum pd_status pd_reader_fill_more(struct pd_reader *reader, size_t size, struct pd_error *error)
{
	uint64_t left, have;
	size_t want, least, got;
	enum pd_status status;

	if (size <= reader->available || reader->at_end)
		return PD_OK;
	status = reserve_bytes(reader, size, error);
	if (status < 0)
		return status;
	have = reader->available;
	left = reader->end > reader->offset + have ? reader->end - reader->offset - have : 0;
	want = next_step(reader, reader->capacity - (size_t)(reader->at - reader->buffer) - (size_t)have,
			 size - (size_t)have);
	if (want > left)
		want = (size_t)left;
	// who reads while it is recorded does not wait for a window full
	least = reader->source->seekable || size - have > want ? want : size - (size_t)have;
	status = pd_source_read_some(reader->source, reader->offset + have,
				     reader->buffer + (reader->at - reader->buffer) + have, least, want, &got, error);
	if (status < 0)
		return status;
	reader->available += got;
	reader->at_end = got < least || want == left;
	return PD_OK;
}

enum pd_status pd_reader_skip(struct pd_reader *reader, uint64_t size, uint64_t *short_out, struct pd_error *error)
{
	*short_out = 0;
	if (size <= reader->available) {
		pd_reader_advance(reader, (size_t)size);
		return PD_OK;
	}
	if (reader->source->seekable && reader->end != UINT64_MAX) {
		uint64_t left = reader->end > reader->offset ? reader->end - reader->offset : 0;

		if (size > left) {
			*short_out = size - left;
			size = left;
		}
		return pd_reader_seek(reader, reader->offset + size);
	}
	while (size) {
		size_t step;
		enum pd_status status = pd_reader_fill(reader, 1, error);

		if (status < 0)
			return status;
		if (!reader->available)
			break;
		step = size < reader->available ? (size_t)size : reader->available;
		pd_reader_advance(reader, step);
		size -= step;
	}
	*short_out = size;
	return PD_OK;
}

enum pd_status pd_reader_copy(struct pd_reader *reader, uint8_t *data, size_t size, size_t *got_out,
			      struct pd_error *error)
{
	size_t got = 0;

	while (got < size) {
		size_t step;
		enum pd_status status = pd_reader_fill(reader, 1, error);

		if (status < 0)
			return status;
		if (!reader->available)
			break;
		step = size - got < reader->available ? size - got : reader->available;
		memcpy(data + got, reader->at, step);
		pd_reader_advance(reader, step);
		got += step;
	}
	*got_out = got;
	return PD_OK;
}
