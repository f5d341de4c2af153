/* SPDX-License-Identifier: MIT */
/*
 * Records in the order of the file. Outer records stand in the reader's window; a compressed one stays there
 * while the records inside are handed out. Damage is reported, and the stream looks for the next plausible record.
 */
#include "stream/read/batch.h"
#include "stream/read/inside.h"

#include <inttypes.h>
#include <string.h>

enum pd_status pd_stream_new(struct pd_file *file, struct pd_stream **stream_out, struct pd_error *error)
{
	struct pd_stream *stream;

	if (pd_file_pipe_has_started(file))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: a pipe can be read only once",
			       pd_file_name(file));
	stream = pd_alloc_padded(sizeof(*stream));
	if (!stream)
		return pd_fail_memory(error);
	stream->file = file;
	stream->scratch.context.file = file;
	stream->stopped = pd_file_stop_flag(file);
	stream->memory_limit = pd_file_memory_limit(file);
	stream->scratch.context.big_endian = pd_file_is_big(file);
	stream->swap = stream->scratch.context.swap = pd_file_is_swapped(file);
	stream->scratch.arena.limit =
		(size_t)(stream->memory_limit > SIZE_MAX / 16 ? SIZE_MAX : stream->memory_limit * 4);
	stream->scratch.context.scope.arena = &stream->scratch.arena;
	stream->record.scratch = &stream->scratch;
	*stream_out = stream;
	return PD_OK;
}

static void close_part(struct pd_stream *stream)
{
	if (!stream->part_open)
		return;
	stream->done += stream->reader.offset - stream->reader.begin;
	pd_reader_close(&stream->reader);
	pd_inflate_close(&stream->inflate);
	stream->part_open = false;
	stream->plain = false;
	memset(stream->no_piece_before, 0, sizeof(stream->no_piece_before));
	stream->outer_size = 0;
	stream->inner_size = 0;
	stream->tail_left = 0;
	stream->split_size = 0;
	stream->split_ready = false;
}

void pd_stream_close(struct pd_stream *stream)
{
	if (!stream)
		return;
	close_part(stream);
	pd_reader_fini(&stream->reader);
	if (stream->order)
		stream->sorting->close(stream->order);
	pd_arena_fini(&stream->scratch.arena);
	pd_free(stream->tail);
	pd_free(stream->split);
	pd_free(stream);
}

// ---- one record ----

void pd_stream_show(struct pd_stream *stream, size_t part, struct pd_bytes bytes, uint64_t offset,
		    uint64_t inner_offset)
{
	struct pd_record *record = &stream->record;
	struct pd_record_head head = pd_record_head(bytes.data, stream->swap);

	record->type = head.type == PD_RECORD_SAMPLE ? PD_RECORD_SAMPLE : pd_record_type_of(stream->file, &head);
	record->misc = head.misc;
	record->flags = inner_offset == PD_NO_OFFSET ? 0 : PD_RECORD_INFLATED;
	record->offset = offset;
	record->inner_offset = inner_offset;
	record->index = record->place = stream->index++;
	record->bytes = bytes;
	record->tail_size = 0;
	record->part = (uint32_t)part;
	stream->tail_bytes = (struct pd_bytes){ 0 };
	stream->tail_given = false;
	if (stream->scratch.used)
		pd_scratch_reset(&stream->scratch);
	if (record->type == PD_RECORD_SAMPLE)
		pd_stream_place_quickly(stream, record);
	else
		pd_stream_place(stream, record);
}

static void report_unknown_type(struct pd_stream *stream)
{
	const struct pd_record *record = &stream->record;
	uint64_t bit = UINT64_C(1) << (record->type & 63);

	if (stream->unknown_types & bit)
		return;
	stream->unknown_types |= bit;
	pd_stream_report(stream, PD_PROBLEM_UNKNOWN_RECORD, record->offset, NULL, "type %" PRIu32 ", %zu bytes",
			 record->type, record->bytes.size);
}

// Pieces of a record that simpleperf cut because it was larger than 64 KiB.
static enum pd_status take_split(struct pd_stream *stream, struct pd_error *error)
{
	const struct pd_record *record = &stream->record;
	size_t size = record->bytes.size - PD_RECORD_HEADER_SIZE;

	if (record->type == PD_RECORD_SIMPLEPERF_SPLIT) {
		if (!size)
			return PD_OK;
		if (size > stream->memory_limit - stream->split_size)
			return pd_fail(error, PD_ERROR_LIMIT, record->offset, "%s: a split record is too large",
				       pd_file_name(stream->file));
		if (!PD_GROW(stream->split, stream->split_capacity, stream->split_size + size))
			return pd_fail_memory(error);
		memcpy(stream->split + stream->split_size, record->bytes.data + PD_RECORD_HEADER_SIZE, size);
		stream->split_size += size;
	} else if (stream->split_size) {
		stream->split_ready = true;
	}
	return PD_OK;
}

static enum pd_status take_compressed(struct pd_stream *stream, struct pd_error *error)
{
	const struct pd_record *record = &stream->record;
	size_t skip = record->type == PD_RECORD_COMPRESSED2 ? 16 : 8;
	struct pd_bytes packed = { record->bytes.data + skip, record->bytes.size - skip };

	if (record->type == PD_RECORD_COMPRESSED2) {
		uint64_t size = record->bytes.size < 16 ? 0 : pd_load_u64(record->bytes.data + 8, stream->swap);

		if (record->bytes.size < 16)
			return PD_OK;
		if (size < packed.size)
			packed.size = (size_t)size;
	}
	if (!stream->finalized)
		pd_file_note_compressed(stream->file);
	stream->inflate.quiet = stream->quiet;
	stream->inflate.restarts = stream->careful;
	return pd_inflate_feed(&stream->inflate, stream->file, packed, record->offset, error);
}

// What kinds of records need besides being handed out.
static enum pd_status take_record(struct pd_stream *stream, struct pd_error *error)
{
	const struct pd_record *record = &stream->record;
	bool inner = record->inner_offset != PD_NO_OFFSET;

	switch (record->type) {
	case PD_RECORD_COMPRESSED:
	case PD_RECORD_COMPRESSED2:
		if (!inner)
			return take_compressed(stream, error);
		pd_stream_report(stream, PD_PROBLEM_NESTED_COMPRESSION, record->offset, NULL,
				 "nested compressed record");
		return PD_OK;
	case PD_RECORD_SIMPLEPERF_SPLIT:
	case PD_RECORD_SIMPLEPERF_SPLIT_END:
		return inner ? PD_OK : take_split(stream, error);
	default:
		if (PD_UNLIKELY(!pd_record_layout(record->type)))
			report_unknown_type(stream);
		return record->type >= 64 ? pd_stream_learn(stream, error) : PD_OK;
	}
}

static enum pd_status drop_tail(struct pd_stream *stream, struct pd_error *error)
{
	uint64_t size = stream->tail_left, missing;
	enum pd_status status;

	stream->tail_left = 0;
	status = pd_reader_skip(&stream->reader, size, &missing, error);
	if (status >= 0 && missing)
		pd_stream_report(stream, PD_PROBLEM_TRUNCATED_TAIL, stream->outer_offset, NULL,
				 "%" PRIu64 " of %" PRIu64 " bytes after the record are missing", missing,
				 stream->record.tail_size);
	return status;
}

static void count_packed_losses(struct pd_stream *stream)
{
	struct pd_inflate *inflate = &stream->inflate;

	stream->losses.packed_bytes += inflate->lost;
	if (!inflate->broken)
		stream->losses.cut_bytes += inflate->size - inflate->at;
	inflate->lost = 0;
}

static void end_of_part(struct pd_stream *stream)
{
	struct pd_inflate *inflate = &stream->inflate;

	stream->losses.cut_bytes += stream->reader.available;
	if (stream->reader.available)
		pd_stream_report(stream, PD_PROBLEM_TRUNCATED_RECORD, stream->reader.offset, NULL,
				 "only %zu bytes are left, less than the record size", stream->reader.available);
	else if (stream->reader.end != UINT64_MAX && stream->reader.offset < stream->reader.end)
		pd_stream_report(stream, PD_PROBLEM_TRUNCATED_RECORD, stream->reader.offset, NULL,
				 "the last %" PRIu64 " bytes disappeared while the file was read",
				 stream->reader.end - stream->reader.offset);
	if (!inflate->broken && inflate->size > inflate->at)
		pd_stream_report(stream, PD_PROBLEM_COMPRESSED_TAIL, stream->outer_offset, NULL,
				 "only %zu decompressed bytes are left, less than a record",
				 inflate->size - inflate->at);
	if (stream->split_size && !stream->split_ready)
		pd_stream_report(stream, PD_PROBLEM_SPLIT_RECORD, stream->outer_offset, NULL,
				 "the parts of a split record have no end");
	if (stream->part == 0 && !stream->quiet)
		pd_file_report_compression(stream->file);
	count_packed_losses(stream);
	close_part(stream);
	stream->part++;
}

// PD_END: no record in this part any more.
static enum pd_status next_outer(struct pd_stream *stream, struct pd_error *error)
{
	struct pd_reader *reader = &stream->reader;
	bool swap = stream->swap;
	struct pd_record_head head;
	enum pd_status status;

	pd_reader_advance(reader, stream->outer_size);
	stream->outer_size = 0;
	if (stream->tail_left) {
		status = drop_tail(stream, error);
		if (status < 0)
			return status;
	}
	for (;;) {
		status = pd_reader_fill(reader, PD_RECORD_HEADER_SIZE, error);
		if (status < 0)
			return status;
		if (reader->available < PD_RECORD_HEADER_SIZE)
			return PD_END;
		head = pd_record_head(reader->at, swap);
		if (head.type == PD_RECORD_COMPRESSED2) {
			status = pd_stream_recover_compressed2(stream, &head, error);
			if (status < 0)
				return status;
		}
		if (head.size >= PD_RECORD_HEADER_SIZE && head.size <= stream->memory_limit) {
			bool taken = true;

			status = stream->careful ? pd_stream_doubt(stream, &head, &taken, error) : PD_OK;
			if (status != PD_OK)
				return status;
			if (taken)
				break;
			continue;
		}
		pd_stream_report(stream, PD_PROBLEM_BAD_RECORD_SIZE, reader->offset, NULL,
				 "type %" PRIu32 " with size %" PRIu64, head.type, head.size);
		status = *stream->stopped ? pd_file_stopped(error) : pd_stream_resync(stream, error);
		if (status < 0)
			return status;
	}
	if (head.size > reader->available) {
		status = pd_reader_fill(reader, (size_t)head.size, error);
		if (status < 0)
			return status;
		if (head.size > reader->available)
			return PD_END;
	}
	stream->outer_size = (size_t)head.size;
	stream->outer_offset = reader->offset;
	pd_stream_show(stream, stream->part, (struct pd_bytes){ reader->at, (size_t)head.size }, reader->offset,
		       PD_NO_OFFSET);
	stream->record.tail_size = stream->tail_left =
		PD_UNLIKELY(head.type == PD_RECORD_AUXTRACE || head.type == PD_RECORD_HEADER_TRACING_DATA) ?
			pd_stream_tail_size(&stream->record, swap) :
			0;
	return PD_OK;
}

// Finds the next whole record inside of the compressed one. PD_END: there is none any more.
static enum pd_status find_inner(struct pd_stream *stream, struct pd_record_head *head_out, struct pd_error *error)
{
	struct pd_inflate *inflate = &stream->inflate;
	struct pd_record_head head = { 0 };
	enum pd_status status;

	inflate->at += stream->inner_size;
	inflate->offset += stream->inner_size;
	stream->inner_size = 0;
	if (inflate->broken)
		return PD_END;
	for (size_t need = PD_RECORD_HEADER_SIZE;; need = (size_t)head.size) {
		status = pd_inflate_fill(inflate, stream->file, need, stream->outer_offset, error);
		if (status < 0)
			return status;
		if (inflate->size - inflate->at < need)
			return PD_END;
		if (head.size)
			break;
		head = pd_record_head(inflate->data + inflate->at, stream->swap);
		if (head.size < PD_RECORD_HEADER_SIZE || head.size > stream->memory_limit) {
			pd_stream_report(stream, PD_PROBLEM_COMPRESSED_DAMAGE, stream->outer_offset, NULL,
					 "decompressed record at %" PRIu64 ": type %" PRIu32 " with size %" PRIu64,
					 inflate->offset, head.type, head.size);
			inflate->broken = true;
			return PD_END;
		}
	}
	*head_out = head;
	return PD_OK;
}

static enum pd_status next_inner(struct pd_stream *stream, struct pd_error *error)
{
	struct pd_inflate *inflate = &stream->inflate;
	struct pd_record_head head;
	bool taken = true;

	do {
		enum pd_status status = find_inner(stream, &head, error);

		if (status == PD_OK && stream->careful)
			status = pd_stream_doubt_inner(stream, &head, &taken, error);
		if (status != PD_OK)
			return status;
		stream->inner_size = (size_t)head.size;
	} while (!taken);
	pd_stream_show(stream, stream->part, (struct pd_bytes){ inflate->data + inflate->at, (size_t)head.size },
		       stream->outer_offset, inflate->offset);
	return PD_OK;
}

// A joined record is handed out once, as if it had been inflated.
static enum pd_status next_joined(struct pd_stream *stream)
{
	struct pd_record_head head;

	stream->split_ready = false;
	if (stream->split_size >= PD_RECORD_HEADER_SIZE) {
		head = pd_record_head(stream->split, stream->swap);
		if (head.size == stream->split_size) {
			pd_stream_show(stream, stream->part, (struct pd_bytes){ stream->split, stream->split_size },
				       stream->outer_offset, 0);
			stream->split_size = 0;
			return PD_OK;
		}
	}
	pd_stream_report(stream, PD_PROBLEM_SPLIT_RECORD, stream->outer_offset, NULL,
			 "the parts of a split record have %zu bytes, which is not its size", stream->split_size);
	stream->split_size = 0;
	return PD_END;
}

static enum pd_status next_in_part(struct pd_stream *stream, struct pd_error *error)
{
	if (stream->split_ready && next_joined(stream) == PD_OK)
		return PD_OK;
	if (stream->inflate.state) {
		enum pd_status status = next_inner(stream, error);

		if (status != PD_END)
			return status;
	}
	return next_outer(stream, error);
}

// The next sample where nothing but the last record stands before it in the window: the way of nearly all.
static bool next_quickly(struct pd_stream *stream)
{
	struct pd_reader *reader = &stream->reader;
	struct pd_record *record = &stream->record;
	struct pd_record_head head;
	size_t step = stream->outer_size;

	if (!stream->plain || reader->available - step < PD_RECORD_HEADER_SIZE)
		return false;
	head = pd_record_head(reader->at + step, stream->swap);
	if (head.type != PD_RECORD_SAMPLE || head.size > reader->available - step || head.size < PD_RECORD_HEADER_SIZE)
		return false;
	pd_reader_advance(reader, step);
	stream->outer_size = (size_t)head.size;
	stream->outer_offset = reader->offset;
	pd_stream_show_sample(stream, record->part, &head, reader->at, reader->offset);
	return true;
}

bool pd_stream_is_whole(const struct pd_event_full *full, const uint8_t *at, size_t size, bool swap)
{
	const struct pd_brief_places *places = &full->brief;
	size_t least = PD_RECORD_HEADER_SIZE + (size_t)places->size;

	if (!places->whole || size < least)
		return false;
	return places->callchain == PD_FIELD_MISSING ||
	       pd_load_u64(at + PD_RECORD_HEADER_SIZE + places->callchain, swap) <= (size - least) / 8;
}

// Whether bytes begin with a sample of the event that last_event is, without a problem to report.
static inline bool is_same_event(const struct pd_stream *stream, const uint8_t *at, size_t size)
{
	size_t id = PD_RECORD_HEADER_SIZE + 8 * (size_t)stream->last_event->sample_id;

	if (!stream->only_event && (id + 8 > size || pd_load_u64(at + id, stream->swap) != stream->last_id))
		return false;
	return !stream->verify || pd_stream_is_whole(stream->last_event, at, size, stream->swap);
}

// Whether what follows the current record may be passed over.
static bool can_pass(const struct pd_stream *stream)
{
	return stream->plain && stream->record.type == PD_RECORD_SAMPLE && stream->record.event && stream->last_event &&
	       stream->record.event == &stream->last_event->event;
}

static uint64_t end_pass(struct pd_stream *stream, const uint8_t *at, uint64_t passed)
{
	if (!passed)
		return 0;
	stream->index += passed;
	stream->outer_size = 0;
	pd_reader_advance(&stream->reader, (size_t)(at - stream->reader.at));
	return passed;
}

bool pd_stream_span(const struct pd_stream *stream, struct pd_span *span_out)
{
	const struct pd_reader *reader = &stream->reader;

	if (!can_pass(stream) || stream->swap)
		return false;
	*span_out = (struct pd_span){
		.at = reader->at + stream->outer_size,
		.end = reader->at + reader->available,
		.full = stream->last_event,
		.id = stream->last_id,
		.place = stream->index,
		.any_id = stream->only_event,
	};
	return true;
}

const struct pd_event_full *pd_stream_span_event(const struct pd_stream *stream, const uint8_t *at, size_t size)
{
	return pd_stream_met_event(stream, at, size, false);
}

void pd_stream_pass_span(struct pd_stream *stream, const uint8_t *at, uint64_t passed)
{
	end_pass(stream, at, passed);
}

uint64_t pd_stream_pass_bytes(struct pd_stream *stream, size_t limit, struct pd_bytes *bytes_out)
{
	struct pd_reader *reader = &stream->reader;
	const uint8_t *at, *begin, *end;
	bool swap = stream->swap;
	uint64_t passed = 0;

	if (!can_pass(stream))
		return 0;
	begin = at = reader->at + stream->outer_size;
	end = reader->at + reader->available;
	if (limit < (size_t)(end - at))
		end = at + limit;
	while ((size_t)(end - at) >= PD_RECORD_HEADER_SIZE) {
		uint32_t type = pd_load_u32(at, swap);
		size_t size = pd_load_u16(at + 6, swap);

		if (type != PD_RECORD_SAMPLE || size > (size_t)(end - at) || size < PD_RECORD_HEADER_SIZE ||
		    !is_same_event(stream, at, size))
			break;
		at += size;
		passed++;
	}
	*bytes_out = (struct pd_bytes){ begin, (size_t)(at - begin) };
	return end_pass(stream, at, passed);
}

uint64_t pd_stream_pass(struct pd_stream *stream)
{
	struct pd_bytes bytes;

	return pd_stream_pass_bytes(stream, SIZE_MAX, &bytes);
}

static enum pd_status next_slowly(struct pd_stream *stream, struct pd_error *error)
{
	enum pd_status status;

	for (;;) {
		if (*stream->stopped)
			return pd_file_stopped(error);
		if (!stream->part_open) {
			if (stream->range.source || stream->part >= pd_file_part_count(stream->file))
				return PD_END;
			status = pd_reader_open(&stream->reader, pd_file_part(stream->file, stream->part));
			if (status < 0)
				return status;
			stream->part_open = true;
		}
		status = next_in_part(stream, error);
		if (status != PD_END)
			break;
		end_of_part(stream);
	}
	if (status == PD_OK && stream->record.type != PD_RECORD_SAMPLE)
		status = take_record(stream, error);
	stream->plain = status == PD_OK && !stream->inflate.state && !stream->split_ready && !stream->tail_left &&
			!stream->careful && !*stream->stopped;
	return status;
}

// Tells what is wrong with the current record.
static void verify(struct pd_stream *stream)
{
	const struct pd_record *record = &stream->record;

	if (record->type != PD_RECORD_SAMPLE || !record->event ||
	    !pd_stream_is_whole(stream->scratch.context.event, record->bytes.data, record->bytes.size, stream->swap))
		pd_record_as(record, record->type);
}

enum pd_status pd_stream_next(struct pd_stream *stream, const struct pd_record **record_out, struct pd_error *error)
{
	if (PD_UNLIKELY(!next_quickly(stream))) {
		enum pd_status status = stream->order ? stream->sorting->next(stream, error) :
							next_slowly(stream, error);

		if (status != PD_OK)
			return status;
	} else if (PD_UNLIKELY(*stream->stopped)) {
		stream->plain = false;
	}
	if (PD_UNLIKELY(stream->verify))
		verify(stream);
	*record_out = &stream->record;
	return PD_OK;
}

enum pd_status pd_stream_take_kept(struct pd_stream *stream, const struct pd_kept *kept, uint64_t place,
				   struct pd_error *error)
{
	if (*stream->stopped)
		return pd_file_stopped(error);
	stream->index = place;
	pd_stream_show(stream, kept->part, (struct pd_bytes){ (const uint8_t *)(kept + 1), kept->size }, kept->offset,
		       PD_NO_OFFSET);
	return take_record(stream, error);
}

enum pd_status pd_stream_go_on(struct pd_stream *stream, uint64_t offset, uint64_t index)
{
	stream->index = index;
	stream->outer_size = 0;
	stream->tail_left = 0;
	stream->plain = false;
	return pd_reader_seek(&stream->reader, offset);
}

enum pd_status pd_stream_open_range(struct pd_stream *stream, size_t part, uint64_t begin, uint64_t end,
				    struct pd_error *error)
{
	(void)error;
	close_part(stream);
	stream->part = part;
	stream->range = *pd_file_part(stream->file, part);
	stream->range.begin = begin;
	stream->range.end = end;
	stream->part_open = true;
	return pd_reader_open(&stream->reader, &stream->range);
}

enum pd_status pd_stream_seek(struct pd_stream *stream, uint64_t offset, struct pd_error *error)
{
	const struct pd_part *part = pd_file_part(stream->file, 0);

	if (stream->order || stream->range.source)
		return pd_fail(error, PD_ERROR_ARGUMENT, offset, "%s: the stream is already sorted",
			       pd_file_name(stream->file));
	if (!part->source->seekable || pd_file_has_compressed(stream->file))
		return pd_fail(error, PD_ERROR_ARGUMENT, offset, "%s: cannot seek in %s", pd_file_name(stream->file),
			       part->source->seekable ? "compressed records" : "a pipe");
	if (offset < part->begin || offset >= part->end)
		return pd_fail(error, PD_ERROR_ARGUMENT, offset, "%s: offset %" PRIu64 " is outside of the data",
			       pd_file_name(stream->file), offset);
	close_part(stream);
	stream->seeked = true;
	stream->part = 0;
	stream->done = 0;
	stream->part_open = true;
	if (pd_reader_open(&stream->reader, part) < 0)
		return pd_fail_memory(error);
	return pd_reader_seek(&stream->reader, offset);
}

void pd_stream_progress(const struct pd_stream *stream, uint64_t *done_out, uint64_t *total_out)
{
	uint64_t total = 0;

	if (stream->order) {
		stream->sorting->progress(stream->order, done_out, total_out);
		return;
	}
	*done_out = stream->done + (stream->part_open ? stream->reader.offset - stream->reader.begin : 0);
	for (size_t i = 0; i < pd_file_part_count(stream->file); i++) {
		const struct pd_part *part = pd_file_part(stream->file, i);

		if (part->end == UINT64_MAX) {
			total = 0;
			break;
		}
		total += part->end > part->begin ? part->end - part->begin : 0;
	}
	*total_out = total;
}

void pd_stream_losses(const struct pd_stream *stream, struct pd_losses *losses_out)
{
	*losses_out = stream->losses;
}
