/* SPDX-License-Identifier: MIT */
/*
 * Records of another file, on their way to the output. Most are passed as they are; this file says which are not:
 * those that stand elsewhere in another form, those that were compressed, and those in the other byte order.
 */
#include "write/inside.h"
#include "format/traits.h"

#include <inttypes.h>
#include <string.h>

// ---- what follows a record ----

// Piece by piece, because it may be large, and past the window of the stream, so that several writers can have it.
static enum pd_status copy_tail(struct pd_writer *writer, struct pd_output *out, const struct pd_record *record,
				uint64_t size, struct pd_error *error)
{
	enum {
		PIECE = 128 << 10
	};
	struct pd_source *source = pd_file_part(pd_record_file(record), record->part)->source;
	uint64_t offset = record->offset + record->bytes.size;
	uint8_t *scratch = pd_write_scratch(writer, PIECE);
	enum pd_status status = scratch ? PD_OK : pd_fail_memory(error);
	size_t got;

	for (; status >= 0 && size; offset += got, size -= got) {
		status = pd_source_read(source, offset, scratch, size < PIECE ? (size_t)size : PIECE, &got, error);
		if (status >= 0 && !got)
			return pd_fail(error, PD_ERROR_SYSTEM, offset, "%s: became shorter while it was read",
				       pd_file_name(pd_record_file(record)));
		if (status >= 0)
			status = pd_output_write(out, scratch, got, error);
	}
	return status;
}

// What comes once, or was kept.
static enum pd_status take_tail(struct pd_output *out, struct pd_stream *stream, struct pd_error *error)
{
	struct pd_bytes piece, tail = pd_stream_read_tail(stream);
	enum pd_status status;

	if (tail.data)
		return pd_output_write(out, tail.data, tail.size, error);
	while ((status = pd_stream_tail_piece(stream, &piece, error)) == PD_OK) {
		status = pd_output_write(out, piece.data, piece.size, error);
		if (status < 0)
			return status;
	}
	return status == PD_END ? PD_OK : status;
}

// To a multiple of 8, as recorders have it.
static unsigned padding_of(uint64_t size)
{
	return (unsigned)(-size & 7);
}

// Bytes that are to follow a record in the output. There are fewer than it says where the input was cut off, and none
// after one that was compressed: readers would pass over what stands after it.
static enum pd_status fit_tail(struct pd_writer *writer, struct pd_stream *stream, const struct pd_record *record,
			       struct pd_bytes *bytes, uint64_t *size_out, struct pd_error *error)
{
	bool inside = record->flags & PD_RECORD_INFLATED;
	struct pd_buffer buffer;
	uint8_t *scratch;

	*size_out = inside ? 0 : pd_stream_tail_there(stream, record);
	if (record->type != PD_RECORD_AUXTRACE || bytes->size < 2 * PD_RECORD_HEADER_SIZE ||
	    (inside ? writer->pack_type != 0 : *size_out == record->tail_size))
		return PD_OK;
	scratch = pd_write_scratch(writer, bytes->size);
	if (!scratch)
		return pd_fail_memory(error);
	if (bytes->data != scratch)
		memcpy(scratch, bytes->data, bytes->size);
	buffer = pd_buffer(scratch + PD_RECORD_HEADER_SIZE, 8, writer->big);
	pd_buffer_u64(&buffer, *size_out + padding_of(*size_out));
	bytes->data = scratch;
	return PD_OK;
}

static enum pd_status pass_tail(struct pd_writer *writer, struct pd_stream *stream, const struct pd_record *record,
				size_t part, uint64_t size, struct pd_error *error)
{
	static const uint8_t zeros[PD_RECORD_HEADER_SIZE];
	struct pd_output *out = &writer->parts[part].out;
	bool again = pd_file_part(pd_record_file(record), record->part)->source->seekable;
	enum pd_status status;

	status = again ? copy_tail(writer, out, record, size, error) : take_tail(out, stream, error);
	if (status >= 0 && size < record->tail_size)
		status = pd_output_write(out, zeros, padding_of(size), error);
	return status;
}

// A record as it is to stand in the output.
static enum pd_status bytes_to_write(struct pd_writer *writer, const struct pd_record *record,
				     struct pd_bytes *bytes_out, struct pd_error *error)
{
	*bytes_out = record->bytes;
	if (writer->changed)
		*bytes_out = (struct pd_bytes){ writer->changed_bytes.data, writer->changed_bytes.size };
	else if (pd_record_is_big(record) != writer->big)
		return pd_convert_record(writer, record, bytes_out, error);
	return PD_OK;
}

static enum pd_status write_record(struct pd_writer *writer, struct pd_stream *stream, const struct pd_record *record,
				   size_t part, struct pd_error *error)
{
	struct pd_bytes bytes;
	uint64_t tail_size = 0;
	uint32_t type = record->type;
	enum pd_status status = bytes_to_write(writer, record, &bytes, error);

	if (status >= 0 && stream)
		status = fit_tail(writer, stream, record, &bytes, &tail_size, error);
	if (status >= 0 && type == PD_RECORD_AUXTRACE)
		status = pd_writer_note_aux(writer, part, error);
	if (status < 0)
		return status;
	if (record->tail_size)
		status = pd_writer_put_outside(writer, part, bytes.data, bytes.size, error);
	else
		status = pd_writer_put(writer, part, type, bytes.data, bytes.size, error);
	return status < 0 || !tail_size ? status : pass_tail(writer, stream, record, part, tail_size, error);
}

// ---- records that say something about the file ----

// In front of the first other record these stand where a file has a feature or a section for them.
static bool is_gathered(const struct pd_record *record)
{
	const struct pd_event_update *update;

	if (record->type == PD_RECORD_HEADER_BUILD_ID || record->type == PD_RECORD_HEADER_EVENT_TYPE)
		return true;
	update = record->type == PD_RECORD_EVENT_UPDATE ? pd_as_event_update(record) : NULL;
	return update && update->type == PD_EVENT_UPDATE_NAME;
}

static enum pd_status collect_by_cpu(struct pd_writer *writer, const struct pd_record *record, struct pd_error *error)
{
	struct pd_bytes bytes;
	struct pd_buffer buffer;
	enum pd_status status;
	size_t at = writer->build_ids.size;

	if (record->type == PD_RECORD_EVENT_UPDATE) {
		const struct pd_event_update *was = pd_as_event_update(record);
		const struct pd_event_update *update = writer->changed ? writer->changed : was;

		// whoever changes ids changes the one of the event too
		return pd_writer_take_name(writer, was->id, update->name.data, error);
	}
	status = bytes_to_write(writer, record, &bytes, error);
	if (status < 0)
		return status;
	if (record->type == PD_RECORD_HEADER_EVENT_TYPE) {
		bytes.data += PD_RECORD_HEADER_SIZE;
		bytes.size -= PD_RECORD_HEADER_SIZE;
		return pd_writer_add_event_type(writer, bytes, error);
	}
	if (!pd_write_put(&writer->build_ids, bytes.data, bytes.size))
		return pd_fail_memory(error);
	// the feature has them without a type
	buffer = pd_buffer(writer->build_ids.data + at, 4, writer->big);
	pd_buffer_u32(&buffer, 0);
	return PD_OK;
}

// The end of the list of features is a feature that is none.
static void note_end_marker(struct pd_writer *writer, const struct pd_record *record)
{
	if (record->type == PD_RECORD_HEADER_FEATURE && record->bytes.size == 16)
		writer->end_marker =
			pd_load_u64(record->bytes.data + PD_RECORD_HEADER_SIZE, pd_record_is_swapped(record));
}

bool pd_writer_takes_pipe_record(struct pd_writer *writer, const struct pd_record *record, enum pd_status *status,
				 struct pd_error *error)
{
	*status = PD_OK;
	if (pd_record_is(record->type, PD_TRAIT_SECTION)) {
		note_end_marker(writer, record);
		if (writer->started) {
			*status = pd_writer_learn(writer, error);
			if (*status >= 0 && writer->mode == PD_MODE_PIPE)
				*status = pd_writer_send(writer, error);
		}
		return true;
	}
	if (writer->started || !is_gathered(record) || record->bytes.size < PD_RECORD_HEADER_SIZE + 8)
		return false;
	*status = collect_by_cpu(writer, record, error);
	return true;
}

// In the data of a file such records say nothing, in a pipe they would.
static bool would_be_taken(struct pd_writer *writer, const struct pd_record *record)
{
	if (writer->mode != PD_MODE_PIPE || !pd_record_is(record->type, PD_TRAIT_SECTION) ||
	    record->type == PD_RECORD_HEADER_TRACING_DATA)
		return false;
	pd_file_report(pd_record_file(record), PD_PROBLEM_NOT_CARRIED, record->offset, pd_record_name(record->type),
		       "a pipe-only record in a file");
	return true;
}

// ---- compressed records ----

// Whether a record is left out because it is there in its other shape, compressed or not.
static bool is_other_shape(struct pd_writer *writer, const struct pd_record *record)
{
	bool inside = record->flags & PD_RECORD_INFLATED;
	bool keep = writer->packing == PD_PACK_KEEP && !writer->repack;

	if (!pd_record_is(record->type, PD_TRAIT_COMPRESSED) || inside)
		return keep && inside;
	if (writer->repack && !writer->pack_type)
		writer->pack_type = record->type;
	return !keep;
}

// ---- records in pieces ----

// A record of simpleperf that is larger than a record can be. Its pieces have the byte order of the whole.
static enum pd_status write_pieces(struct pd_writer *writer, const struct pd_record *record, size_t part,
				   struct pd_error *error)
{
	enum {
		MOST = UINT16_MAX - PD_RECORD_HEADER_SIZE
	};
	struct pd_bytes bytes;
	enum pd_status status = bytes_to_write(writer, record, &bytes, error);

	for (bool end = false; status >= 0 && !end;) {
		size_t size = bytes.size < MOST ? bytes.size : MOST;
		uint8_t head[PD_RECORD_HEADER_SIZE];
		struct pd_buffer buffer = pd_buffer(head, sizeof(head), writer->big);

		end = !size;
		pd_buffer_u32(&buffer, end ? PD_RECORD_SIMPLEPERF_SPLIT_END : PD_RECORD_SIMPLEPERF_SPLIT);
		pd_buffer_u16(&buffer, 0);
		pd_buffer_u16(&buffer, (uint16_t)(sizeof(head) + size));
		status = pd_writer_put_outside(writer, part, head, sizeof(head), error);
		if (status >= 0)
			status = pd_writer_put_outside(writer, part, bytes.data, size, error);
		bytes.data += size;
		bytes.size -= size;
	}
	return status;
}

// The whole comes after its pieces, and counts as inflated.
bool pd_writer_is_whole(struct pd_writer *writer, const struct pd_record *record)
{
	bool is_whole = writer->in_pieces && record->flags & PD_RECORD_INFLATED;

	writer->in_pieces = record->type == PD_RECORD_SIMPLEPERF_SPLIT_END;
	return is_whole;
}

// In the byte order that it has the pieces of a record are passed, else the whole is cut again. True if that is all.
static bool takes_pieces(struct pd_writer *writer, const struct pd_record *record, size_t part, enum pd_status *status,
			 struct pd_error *error)
{
	bool is_whole = pd_writer_is_whole(writer, record), other;

	*status = PD_OK;
	if (!is_whole && !pd_record_is(record->type, PD_TRAIT_CHUNK))
		return false;
	other = pd_record_is_big(record) != writer->big || writer->changed || writer->rejoin;
	if (is_whole && other)
		*status = write_pieces(writer, record, part, error);
	return is_whole || other;
}

// ---- all ----

static enum pd_status find_part(struct pd_writer *writer, const struct pd_record *record, size_t *part_out,
				struct pd_error *error)
{
	if (writer->by_cpu)
		return pd_writer_split_by_cpu(writer, record, part_out, error);
	*part_out = record->part < writer->part_count ? record->part : 0;
	return PD_OK;
}

// Rounds of one file say nothing about the others once they are one, or once one has become several.
static bool is_void_round(const struct pd_writer *writer, const struct pd_record *record)
{
	return record->type == PD_RECORD_FINISHED_ROUND &&
	       (writer->part_count < pd_file_part_count(pd_record_file(record)) || pd_writer_splits_by_cpu(writer));
}

// A file of perf stat is known by a feature without content, which a pipe does not have. Without it perf wants samples of
// its events to be distinguished from each other.
static enum pd_status note_stat(struct pd_writer *writer, const struct pd_record *record, struct pd_error *error)
{
	if (record->type < PD_RECORD_STAT_CONFIG || record->type > PD_RECORD_STAT_ROUND ||
	    writer->mode == PD_MODE_PIPE || writer->features[PD_FEATURE_STAT].present)
		return PD_OK;
	return pd_writer_keep_feature(writer, PD_FEATURE_STAT, (struct pd_bytes){ NULL, 0 }, error);
}

static enum pd_status pass(struct pd_writer *writer, struct pd_stream *stream, const struct pd_record *record,
			   struct pd_error *error)
{
	const struct pd_file *file = pd_record_file(record);
	enum pd_status status = PD_OK;
	size_t part;

	if (file == writer->source && pd_file_mode(file) == PD_MODE_PIPE) {
		if (pd_writer_takes_pipe_record(writer, record, &status, error))
			return status;
		status = note_stat(writer, record, error);
	} else if (would_be_taken(writer, record)) {
		return PD_OK;
	}
	if (status < 0 || (!writer->in_pieces && is_other_shape(writer, record)) || is_void_round(writer, record) ||
	    !pd_consumer_takes_record(writer, record))
		return status;
	if (!writer->started && writer->source)
		status = pd_writer_learn(writer, error);
	if (status >= 0)
		status = pd_writer_start(writer, error);
	if (status >= 0)
		status = find_part(writer, record, &part, error);
	if (status < 0 || takes_pieces(writer, record, part, &status, error))
		return status;
	return write_record(writer, stream, record, part, error);
}

// Whether a sample can go into the buffer as it is.
static bool is_plain(const struct pd_writer *writer, const struct pd_record *record)
{
	return record->type == PD_RECORD_SAMPLE && writer->started && !writer->pack_type && !record->flags &&
	       !record->part && !writer->by_cpu && pd_record_is_big(record) == writer->big;
}

uint64_t pd_writer_pass_following(struct pd_writer *writer, struct pd_stream *stream)
{
	struct pd_output *out = &writer->parts[0].out;
	struct pd_bytes bytes;
	uint64_t passed;

	if (writer->status < 0 || !is_plain(writer, pd_stream_current(stream)))
		return 0;
	passed = pd_stream_pass_bytes(stream, out->capacity - out->used, &bytes);
	if (passed) {
		memcpy(out->buffer + out->used, bytes.data, bytes.size);
		out->used += bytes.size;
	}
	return passed;
}

enum pd_status pd_writer_pass(struct pd_writer *writer, struct pd_stream *stream, const struct pd_record *record,
			      struct pd_error *error)
{
	struct pd_output *out = &writer->parts[0].out;
	struct pd_error own;

	// nearly all: a sample as it is, with room in the buffer
	if (PD_LIKELY(is_plain(writer, record) && record->bytes.size <= out->capacity - out->used)) {
		memcpy(out->buffer + out->used, record->bytes.data, record->bytes.size);
		out->used += record->bytes.size;
		return PD_OK;
	}
	if (writer->status < 0) {
		if (error)
			*error = writer->error;
		return writer->status;
	}
	return pd_writer_fail(writer, pass(writer, stream, record, error ? error : &own), error ? error : &own);
}

enum pd_status pd_writer_encode_changed(struct pd_writer *writer, const struct pd_record *record, uint16_t misc,
					const void *decoded, const uint64_t *words, struct pd_error *error)
{
	const struct pd_layout *layout = pd_record_layout(record->type);
	struct pd_record_head head = pd_record_head(record->bytes.data, pd_record_is_swapped(record));
	struct pd_write_bytes *to = &writer->changed_bytes;
	struct pd_scope all = { .arena = NULL };
	size_t capacity = record->bytes.size;
	struct pd_buffer buffer;

	if (!layout)
		return pd_fail(error, PD_ERROR_ARGUMENT, record->offset, "%" PRIu32 ": unknown record type",
			       record->type);
	if (words)
		memcpy(all.words, words, sizeof(all.words));
	all.words[PD_WORD_MISC] = misc;
	all.words[PD_WORD_QUIRKS] = pd_file_quirks(pd_record_file(record));
	head.misc = misc;
	for (unsigned i = 0; i < 2; i++) {
		struct pd_scope scope = all;

		if (!PD_GROW(to->data, to->capacity, capacity))
			return pd_fail_memory(error);
		buffer = pd_buffer(to->data, to->capacity, writer->big);
		pd_record_put(&buffer, &head, layout, pd_record_group(record->type), &scope, decoded);
		if (buffer.failed || !pd_buffer_full(&buffer))
			break;
		capacity = buffer.need;
	}
	to->size = buffer.need;
	if (!buffer.failed)
		return PD_OK;
	return pd_fail(error, PD_ERROR_FORMAT, record->offset, "%s: %s.%s: %s", writer->name,
		       buffer.layout ? buffer.layout : layout->name, buffer.field ? buffer.field : "body",
		       buffer.reason);
}

enum pd_status pd_writer_pass_instead(struct pd_writer *writer, struct pd_stream *stream,
				      const struct pd_record *record, const void *changed, struct pd_error *error)
{
	enum pd_status status;

	writer->changed = changed;
	status = pd_writer_fail(writer, pass(writer, stream, record, error), error);
	writer->changed = NULL;
	return status;
}

// The words that say which fields a record has in the output: its event may have others there than in the input.
static const uint64_t *changed_words(const struct pd_writer *writer, const struct pd_record *record)
{
	const struct pd_file *file = pd_record_file(record);
	const struct pd_event_full *full = pd_record_full_event(record);

	if (file == writer->source && full && full->event.index < writer->event_count &&
	    pd_file_full_event(file, full->event.index) == full)
		return writer->events[full->event.index].words;
	return full ? full->words : NULL;
}

static enum pd_status pass_changed(struct pd_writer *writer, struct pd_stream *stream, const struct pd_record *record,
				   uint16_t misc, const void *decoded, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	if (record->event && writer->source && record->event->index >= writer->event_count)
		status = pd_writer_fail(writer, pd_writer_learn(writer, error), error);
	if (status >= 0)
		status = pd_writer_encode_changed(writer, record, misc, decoded, changed_words(writer, record), error);
	return status < 0 ? status : pd_writer_pass_instead(writer, stream, record, decoded, error);
}

enum pd_status pd_writer_pass_changed(struct pd_writer *writer, struct pd_stream *stream,
				      const struct pd_record *record, uint16_t misc, const void *decoded,
				      struct pd_error *error)
{
	struct pd_error own;
	enum pd_status status;

	if (writer->status < 0) {
		if (error)
			*error = writer->error;
		return writer->status;
	}
	status = pass_changed(writer, stream, record, misc, decoded, error ? error : &own);
	// a value that does not fit is the fault of the caller, who may go on
	return status == PD_ERROR_MEMORY ? pd_writer_fail(writer, status, error ? error : &own) : status;
}
