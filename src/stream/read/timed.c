/* SPDX-License-Identifier: MIT */
/* Samples that are passed over with a look at their event and time: most of what a first pass does. */
#include "stream/read/batch.h"
#include "stream/read/inside.h"

enum {
	LARGE_SAMPLE = 4096, // reading less than this costs as much as leaving it out
	LARGE_HEAD = 128     // has the event and the time of a sample
};

// The size of a sample whose first bytes are there, unless it has no time or an event that is not known yet; else 0.
PD_ALWAYS_INLINE size_t timed_sample(const struct pd_stream *stream, const uint8_t *at, size_t have, uint64_t *time_out,
				     bool swap)
{
	size_t size = pd_load_u16(at + 6, swap), present = size < have ? size : have, time_at;
	const struct pd_event_full *full;

	if (pd_load_u32(at, swap) != PD_RECORD_SAMPLE)
		return 0;
	full = pd_stream_met_event(stream, at, present, swap);
	if (!full || (stream->verify && !pd_stream_is_whole(full, at, present, swap)))
		return 0;
	time_at = PD_RECORD_HEADER_SIZE + 8 * (size_t)full->sample_time;
	if (time_at + 8 > present)
		return 0;
	*time_out = pd_load_u64(at + time_at, swap);
	return *time_out ? size : 0;
}

PD_ALWAYS_INLINE uint64_t pass_samples(struct pd_stream *stream, const uint8_t *at, const uint8_t *stop,
				       const uint8_t *end, struct pd_times *times, bool swap)
{
	uint64_t oldest_ns = times->oldest_ns, newest_ns = times->newest_ns, passed = 0, time_ns;

	while (at < stop && (size_t)(end - at) >= PD_RECORD_HEADER_SIZE) {
		size_t size = timed_sample(stream, at, (size_t)(end - at), &time_ns, swap);

		if (!size || size > (size_t)(end - at))
			break;
		oldest_ns = time_ns < oldest_ns ? time_ns : oldest_ns;
		newest_ns = time_ns > newest_ns ? time_ns : newest_ns;
		at += size;
		passed++;
	}
	*times = (struct pd_times){ oldest_ns, newest_ns };
	if (passed)
		pd_stream_pass_span(stream, at, passed);
	return passed;
}

// Samples in the window.
static uint64_t pass_window(struct pd_stream *stream, uint64_t limit, struct pd_times *times)
{
	struct pd_reader *reader = &stream->reader;
	const uint8_t *at = reader->at + stream->outer_size, *end = reader->at + reader->available, *stop;

	stop = limit - reader->offset < reader->available ? reader->at + (limit - reader->offset) : end;
	return stream->swap ? pass_samples(stream, at, stop, end, times, true) :
			      pass_samples(stream, at, stop, end, times, false);
}

// Samples that begin in the window and go on outside of it are not read where they have copied stacks, which are most of the file.
static uint64_t pass_large(struct pd_stream *stream, uint64_t limit, struct pd_times *times)
{
	struct pd_reader *reader = &stream->reader;
	uint64_t passed = 0, time_ns;

	pd_reader_advance(reader, stream->outer_size);
	stream->outer_size = 0;
	// what cannot be read is told by who reads on
	while (reader->offset < limit && pd_reader_fill(reader, LARGE_HEAD, NULL) >= 0 &&
	       reader->available >= LARGE_HEAD) {
		size_t size = timed_sample(stream, reader->at, reader->available, &time_ns, stream->swap);

		if (size < LARGE_SAMPLE || size <= reader->available || !pd_reader_leap(reader, size))
			break;
		times->oldest_ns = time_ns < times->oldest_ns ? time_ns : times->oldest_ns;
		times->newest_ns = time_ns > times->newest_ns ? time_ns : times->newest_ns;
		passed++;
	}
	stream->index += passed;
	return passed;
}

uint64_t pd_stream_pass_timed(struct pd_stream *stream, uint64_t limit, struct pd_times *times)
{
	uint64_t passed = 0, step = 0;

	// after any record; events that come with one have to be looked up first
	if (!stream->plain || !stream->last_event)
		return 0;
	do {
		passed += step + pass_window(stream, limit, times);
		step = stream->verify ? 0 : pass_large(stream, limit, times);
	} while (step);
	return passed;
}
