/* SPDX-License-Identifier: MIT */
/*
 * Which event a record belongs to and when it was: id and time are read at known offsets, without decoding
 * the record. The rules are perf's: with one event everything belongs to it; records that perf made itself
 * have id 0 and belong to the first.
 */
#include <inttypes.h>

#include "stream/read/inside.h"
#include "format/traits.h"

static uint64_t time_or_none(uint64_t time_ns)
{
	// 0 stands in records that perf made before the recording
	return time_ns ? time_ns : PD_NO_TIME;
}

// Once there, it stays the first one. NULL: there is none yet.
static inline const struct pd_event_full *first_event(struct pd_stream *stream)
{
	if (PD_UNLIKELY(!stream->first_event))
		stream->first_event = pd_file_first_event(stream->file);
	return stream->first_event;
}

// Events come, but never go.
static inline bool has_several_events(struct pd_stream *stream)
{
	if (!stream->several_events)
		stream->several_events = pd_file_event_count(stream->file) > 1;
	return stream->several_events;
}

// The event of an id, or NULL. Runs of records mostly have the same id, and ids of one recording follow each other.
static const struct pd_event_full *find(struct pd_stream *stream, uint64_t id)
{
	struct pd_found_event *found = &stream->found[id % PD_FOUND_EVENTS];

	if (stream->last_event && stream->last_id == id)
		return stream->last_event;
	stream->last_id = id;
	if (found->event && found->id == id)
		return stream->last_event = found->event;
	stream->last_event = id ? pd_file_find_event(stream->file, id) : first_event(stream);
	*found = (struct pd_found_event){ id, stream->last_event };
	return stream->last_event;
}

static void report_unknown_id(struct pd_stream *stream, const struct pd_record *record, uint64_t id)
{
	stream->unknown_ids++;
	pd_stream_report(stream, PD_PROBLEM_UNKNOWN_ID, record->offset, NULL, "no event has id %" PRIu64, id);
}

static void place_unknown_sample(struct pd_stream *stream, struct pd_record *record, uint64_t id)
{
	const struct pd_event_full *full = pd_file_is_uniform(stream->file) ? first_event(stream) : NULL;
	size_t words = (record->bytes.size - PD_RECORD_HEADER_SIZE) / 8;

	report_unknown_id(stream, record, id);
	record->event = NULL;
	record->time_ns = PD_NO_TIME;
	stream->scratch.context.event = full;
	if (full && full->sample_time < words)
		record->time_ns = time_or_none(pd_load_u64(
			record->bytes.data + PD_RECORD_HEADER_SIZE + 8 * (size_t)full->sample_time, stream->swap));
}

void pd_stream_place_sample(struct pd_stream *stream, struct pd_record *record)
{
	const uint8_t *body = record->bytes.data + PD_RECORD_HEADER_SIZE;
	size_t words = (record->bytes.size - PD_RECORD_HEADER_SIZE) / 8;
	const struct pd_event_full *full;

	record->event = NULL;
	record->time_ns = PD_NO_TIME;
	stream->scratch.context.event = NULL;
	full = first_event(stream);
	if (!full) {
		pd_stream_report(stream, PD_PROBLEM_NO_ATTR_YET, record->offset, NULL, "a sample precedes any event");
		return;
	}
	if (!has_several_events(stream)) {
		stream->last_event = full;
		stream->only_event = true;
	} else if (full->sample_id < words) {
		uint64_t id = pd_load_u64(body + 8 * (size_t)full->sample_id, stream->swap);

		full = find(stream, id);
		if (PD_UNLIKELY(!full)) {
			place_unknown_sample(stream, record, id);
			return;
		}
	}
	record->event = &full->event;
	stream->scratch.context.event = full;
	if (full->sample_time < words)
		record->time_ns = time_or_none(pd_load_u64(body + 8 * (size_t)full->sample_time, stream->swap));
}

// Where the string begins that a record ends with, or 0.
static size_t text_offset(const struct pd_file *file, uint32_t type)
{
	const bool is_short = type == PD_RECORD_MMAP2 && pd_file_quirks(file) & MASK_QUIRKS(MMAP2_NO_PROT);

	return pd_record_traits(type)->text - (is_short ? 8 : 0);
}

// Recorders forget the trailer of some records that they make themselves.
static bool has_trailer(const struct pd_file *file, const struct pd_record *record, size_t trailer_size)
{
	const struct pd_layout *layout = pd_record_layout(record->type);
	size_t min_size = PD_RECORD_HEADER_SIZE + (layout ? layout->min_size : 0);
	size_t text = text_offset(file, record->type);

	if (record->bytes.size < min_size + trailer_size)
		return false;
	return !text || (record->bytes.size > text + trailer_size &&
			 memchr(record->bytes.data + text, 0, record->bytes.size - trailer_size - text));
}

static uint64_t word_from_end(const struct pd_record *record, size_t words, bool swap)
{
	return pd_load_u64(record->bytes.data + record->bytes.size - 8 * words, swap);
}

static void place_other(struct pd_stream *stream, struct pd_record *record, const struct pd_event_full *full)
{
	struct pd_file *file = stream->file;

	record->event = &full->event;
	stream->scratch.context.event = full;
	if (!full->trailer_size || !has_trailer(file, record, full->trailer_size))
		return;
	if (has_several_events(stream) && full->trailer_id != PD_FIELD_MISSING) {
		uint64_t id = word_from_end(record, full->trailer_id, stream->swap);
		const struct pd_event_full *found = find(stream, id);

		if (PD_UNLIKELY(!found)) {
			report_unknown_id(stream, record, id);
			record->event = NULL;
		} else if (found->trailer_size == full->trailer_size ||
			   has_trailer(file, record, found->trailer_size)) {
			full = found;
			record->event = &full->event;
			stream->scratch.context.event = full;
		}
	}
	if (full->trailer_time != PD_FIELD_MISSING)
		record->time_ns = time_or_none(word_from_end(record, full->trailer_time, stream->swap));
}

// Kernels 3.10 of Red Hat write MMAP2 without prot and flags: a path then stands where prot should be; no
// protection has the value of such a letter in either byte order.
bool pd_mmap2_lacks_prot(const struct pd_record *record)
{
	return record->type == PD_RECORD_MMAP2 && record->bytes.size > 72 &&
	       (record->bytes.data[64] == '/' || record->bytes.data[64] == '[');
}

void pd_stream_place(struct pd_stream *stream, struct pd_record *record)
{
	const struct pd_event_full *first;

	if (record->type == PD_RECORD_SAMPLE) {
		pd_stream_place_sample(stream, record);
		return;
	}
	record->event = NULL;
	record->time_ns = PD_NO_TIME;
	stream->scratch.context.event = NULL;
	if (!stream->finalized && pd_mmap2_lacks_prot(record))
		pd_file_add_quirks(stream->file, MASK_QUIRKS(MMAP2_NO_PROT));
	if (record->type < 64 && record->type && (first = first_event(stream)) != NULL)
		place_other(stream, record, first);
}
