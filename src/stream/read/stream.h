/* SPDX-License-Identifier: MIT */
/* What a stream and its records are for the library; struct pd_stream and struct pd_scratch themselves are known to
 * src/stream alone (inside.h). */
#ifndef PD_STREAM_STREAM_H
#define PD_STREAM_STREAM_H

#include <perfdata/stream.h>

#include "base/cursor.h"
#include "file/file.h"

// ---- streams ----

// A stream in the order of the file.
enum pd_status pd_stream_new(struct pd_file *file, struct pd_stream **stream_out, struct pd_error *error);
// No problem is reported from now on: somebody else reports them.
void pd_stream_be_quiet(struct pd_stream *stream);
bool pd_stream_is_quiet(const struct pd_stream *stream);
const struct pd_record *pd_stream_current(const struct pd_stream *stream);

// ---- what a record is read with ----

// The head of pd_record.scratch. It is here because writers and filters ask for it at each record; they do so by the
// functions that follow.
struct pd_record_context {
	struct pd_scope scope;
	struct pd_file *file;
	const struct pd_event_full *event;
	bool big_endian, swap; // of the file
};

static inline const struct pd_record_context *pd_record_context(const struct pd_record *record)
{
	return (const struct pd_record_context *)(const void *)record->scratch;
}

static inline struct pd_file *pd_record_file(const struct pd_record *record)
{
	return pd_record_context(record)->file;
}

// Of the file.
static inline bool pd_record_is_big(const struct pd_record *record)
{
	return pd_record_context(record)->big_endian;
}

static inline bool pd_record_is_swapped(const struct pd_record *record)
{
	return pd_record_context(record)->swap;
}

// The event whose fields it has, which may be a stand-in for one that is not known; NULL if there is none.
static inline const struct pd_event_full *pd_record_full_event(const struct pd_record *record)
{
	return pd_record_context(record)->event;
}

// As of its decoding.
static inline const struct pd_scope *pd_record_scope(const struct pd_record *record)
{
	return &pd_record_context(record)->scope;
}

// What a record says, with a device where the kernel marked one as a build id: then *misc has no such mark, and what is returned is
// *memory. Else it is what was decoded.
const void *pd_record_unmark(const struct pd_record *record, const void *decoded, uint16_t *misc,
			     struct pd_mmap2 *memory);

// What is wanted of samples of tracepoints besides their raw data.
struct pd_raw_brief {
	uint64_t ip;
	uint64_t time_ns; // PD_NO_TIME: none
	uint32_t pid, tid, cpu;
	struct pd_u64s callchain; // valid until the next call on the stream
};

static inline uint32_t pd_brief_half(const uint8_t *body, uint8_t place)
{
	return place == PD_FIELD_MISSING ? UINT32_MAX : pd_load_u32(body + place, false);
}

// This and the raw data of a sample of an event, in the byte order of this machine, that ends with them, without decoding it. False:
// decode it.
PD_ALWAYS_INLINE bool pd_raw_brief_read(const struct pd_event_full *full, struct pd_bytes sample, uint64_t time_ns,
					struct pd_raw_brief *brief_out, struct pd_bytes *raw_out)
{
	const uint8_t *body = sample.data + PD_RECORD_HEADER_SIZE;
	size_t size = sample.size - PD_RECORD_HEADER_SIZE, at = full->brief.size;

	if (!full->brief.raw_last || !full->brief.sufficient || size < at + 4)
		return false;
	brief_out->callchain = (struct pd_u64s){ 0 };
	if (full->brief.callchain != PD_FIELD_MISSING) {
		const uint8_t *chain = body + full->brief.callchain;
		uint64_t count = pd_load_u64(chain, false);

		if (count > (size - at - 4) / 8 || (uintptr_t)chain % 8)
			return false;
		brief_out->callchain = (struct pd_u64s){ (const uint64_t *)(const void *)(chain + 8), (size_t)count };
		at += 8 * (size_t)count;
	}
	if (pd_load_u32(body + at, false) != size - at - 4)
		return false;
	*raw_out = (struct pd_bytes){ body + at + 4, size - at - 4 };
	brief_out->ip = full->brief.ip == PD_FIELD_MISSING ? 0 : pd_load_u64(body + full->brief.ip, false);
	brief_out->time_ns = time_ns;
	brief_out->pid = pd_brief_half(body, full->brief.pid);
	brief_out->tid = pd_brief_half(body, full->brief.tid);
	brief_out->cpu = pd_brief_half(body, full->brief.cpu);
	return true;
}

// The CPU of a sample without a call chain, in the byte order of this machine, if nothing else of it is wanted. False: decode it.
static inline bool pd_sample_cpu(const struct pd_event_full *full, struct pd_bytes sample, uint32_t *cpu_out)
{
	const struct pd_brief_places *at = &full->brief;

	if (!at->sufficient || at->callchain != PD_FIELD_MISSING || at->cpu == PD_FIELD_MISSING ||
	    sample.size < PD_RECORD_HEADER_SIZE + (size_t)at->size)
		return false;
	*cpu_out = pd_load_u32(sample.data + PD_RECORD_HEADER_SIZE + at->cpu, false);
	return true;
}

static inline bool pd_record_raw_brief(const struct pd_record *record, struct pd_raw_brief *brief_out,
				       struct pd_bytes *raw_out)
{
	const struct pd_record_context *context = pd_record_context(record);

	return record->type == PD_RECORD_SAMPLE && record->event && context->event && !context->swap &&
	       pd_raw_brief_read(context->event, record->bytes, record->time_ns, brief_out, raw_out);
}

// The raw data of a sample that ends with them, without decoding it; brief is that of the sample. False: decode it.
bool pd_record_quick_raw(const struct pd_record *record, const struct pd_brief *brief, struct pd_bytes *raw_out);
// For what lives until the next record.
struct pd_arena *pd_record_arena(const struct pd_record *record);
// Whether the id at the end of a record of the kernel, if there is one, is one of the file.
bool pd_stream_knows_end(const struct pd_file *file, const struct pd_record *record);

// ---- bytes that follow a record ----

// Bytes that follow a record and belong to it, as the record says. Looks at type and bytes only.
uint64_t pd_stream_tail_size(const struct pd_record *record, bool swap);
// Those of them that are there: fewer where the input ends. What cannot seek is taken at its word.
uint64_t pd_stream_tail_there(const struct pd_stream *stream, const struct pd_record *record);
// Bytes after the current record, if they were read already; else data is NULL.
struct pd_bytes pd_stream_read_tail(const struct pd_stream *stream);
// Bytes after the current record, piece by piece; PD_END after the last one. A piece is valid until the next call on
// the stream.
enum pd_status pd_stream_tail_piece(struct pd_stream *stream, struct pd_bytes *bytes_out, struct pd_error *error);

// ---- samples in a row ----

// As pd_stream_pass, and the bytes of those samples. Stops before a limit of bytes is passed.
uint64_t pd_stream_pass_bytes(struct pd_stream *stream, size_t limit, struct pd_bytes *bytes_out);
// Records after the current one that were read already and may be samples of its event.
struct pd_span {
	const uint8_t *at, *end;
	const struct pd_event_full *full;
	uint64_t id;    // of the event
	uint64_t place; // of the first one
	bool any_id;    // there is no other event
};
// False if there are none of which anything is known. Only in the byte order of this machine.
bool pd_stream_span(const struct pd_stream *stream, struct pd_span *span_out);
// The event of a sample after those of a span; NULL: it takes more to know.
const struct pd_event_full *pd_stream_span_event(const struct pd_stream *stream, const uint8_t *at, size_t size);
// Whether a sample of a span is of the event.
static inline bool pd_stream_in_span(const struct pd_span *span, const uint8_t *at, size_t size)
{
	size_t id = PD_RECORD_HEADER_SIZE + 8 * (size_t)span->full->sample_id;

	return span->any_id || (id + 8 <= size && pd_load_u64(at + id, false) == span->id);
}
// The stream goes on at a place in the span that its user came to, so many samples after its start.
void pd_stream_pass_span(struct pd_stream *stream, const uint8_t *at, uint64_t passed);

#endif
