/* SPDX-License-Identifier: MIT */
/*
 * Going on after damage. A place to go on is one where two records in a row can be records of this file (validate.c), or one
 * that ends the data. A careful stream asks of each record before it takes it, so that a size that is damaged does not
 * lead past records that are not.
 */
#include "stream/read/inside.h"
#include "format/traits.h"

#include <inttypes.h>
#include <string.h>

enum {
	LARGEST = 65535,
	RESYNC_WINDOW = 192 << 10, // two records of the largest size, and more
	SMALLEST_PACKED = 24,      // fewer bytes hold no compressed record
};

uint64_t pd_stream_tail_size(const struct pd_record *record, bool swap)
{
	struct pd_bytes bytes = record->bytes;

	// simpleperf has its tracing data inside the record
	if (record->type == PD_RECORD_HEADER_TRACING_DATA && bytes.size >= 12) {
		uint32_t size = pd_load_u32(bytes.data + 8, swap);

		return size && size <= bytes.size - 12 ? 0 : size;
	}
	if (record->type == PD_RECORD_AUXTRACE && bytes.size >= 16)
		return pd_load_u64(bytes.data + 8, swap);
	return 0;
}

static uint64_t tail_size_of(const struct pd_stream *stream, struct pd_bytes bytes, uint32_t type)
{
	const struct pd_record record = { .type = type, .bytes = bytes };

	return pd_stream_tail_size(&record, stream->swap);
}

// ---- what stands at a place ----

enum what {
	WHAT_HEAD, // something that may be a header
	WHAT_NONSENSE,
	WHAT_END,     // no header any more
	WHAT_UNKNOWN, // it cannot be looked at
};

static enum what validate_head(const struct pd_stream *stream, const uint8_t *at)
{
	struct pd_record_head head = pd_record_head(at, stream->swap);

	return pd_head_is_plausible(stream->file, &head) ? WHAT_HEAD : WHAT_NONSENSE;
}

// What stands so many bytes after the place of the reader, which does not move.
static enum what peek_at(struct pd_stream *stream, uint64_t skip)
{
	struct pd_reader *reader = &stream->reader;
	uint8_t head[PD_RECORD_HEADER_SIZE];
	size_t got;

	if (skip <= reader->available && reader->available - skip >= sizeof(head))
		return validate_head(stream, reader->at + skip);
	if (reader->end != UINT64_MAX && skip > reader->end - reader->offset)
		return WHAT_NONSENSE;
	if (reader->at_end && skip <= reader->available)
		return WHAT_END;
	if (!reader->source->seekable || reader->end == UINT64_MAX)
		return WHAT_UNKNOWN;
	if (reader->end - reader->offset - skip < sizeof(head))
		return WHAT_END;
	if (pd_source_read(reader->source, reader->offset + skip, head, sizeof(head), &got, NULL) < 0 ||
	    got < sizeof(head))
		return WHAT_UNKNOWN;
	return validate_head(stream, head);
}

bool pd_stream_head_follows(struct pd_stream *stream, uint64_t size)
{
	return peek_at(stream, size) == WHAT_HEAD;
}

static bool are_near(uint64_t a, uint64_t b)
{
	const uint64_t hours = UINT64_C(1) << 44;

	return a == PD_NO_TIME || b == PD_NO_TIME || (a > b ? a - b : b - a) < hours;
}

// A record that is known only by its place.
struct candidate {
	struct pd_bytes bytes;
	uint32_t type;
	enum pd_validity validity;
	uint64_t time_ns;
};

// False if it cannot be one, or is not all in the window.
static bool can_be(struct pd_stream *stream, size_t skip, struct candidate *candidate)
{
	struct pd_reader *reader = &stream->reader;
	size_t left = reader->available - skip;
	struct pd_record_head head;

	if (left < PD_RECORD_HEADER_SIZE)
		return false;
	head = pd_record_head(reader->at + skip, stream->swap);
	if (!pd_head_is_plausible(stream->file, &head) || head.size > left)
		return false;
	candidate->bytes = (struct pd_bytes){ reader->at + skip, (size_t)head.size };
	candidate->type = pd_record_type_of(stream->file, &head);
	candidate->validity = pd_stream_validate(stream, candidate->bytes, 0, PD_NO_OFFSET, &candidate->time_ns);
	return candidate->validity != PD_BROKEN;
}

// Whether records of this type have been odd before.
static bool is_usual(const struct pd_stream *stream, uint32_t type)
{
	return stream->odd_types >> (type & 63) & 1;
}

// Some recorders write records that are odd, but then several in a row.
static bool begins_odd_run(struct pd_stream *stream, size_t skip, uint32_t type)
{
	enum {
		RUN = 3
	};
	struct candidate next;

	for (unsigned i = 1; i < RUN; i++) {
		if (!can_be(stream, skip, &next) || next.type != type)
			return false;
		skip += next.bytes.size;
	}
	return true;
}

// Two records in a row, or one that ends the data.
static bool is_pair(struct pd_stream *stream, size_t skip)
{
	const struct pd_reader *reader = &stream->reader;
	struct candidate first, second;
	struct pd_record_head head;
	uint64_t tail;

	if (!can_be(stream, skip, &first))
		return false;
	skip += first.bytes.size;
	tail = tail_size_of(stream, first.bytes, first.type);
	if (tail) {
		enum what what = peek_at(stream, skip + tail);

		return first.validity == PD_VALID && what != WHAT_NONSENSE;
	}
	if (first.validity <= PD_STRANGE && !is_usual(stream, first.type))
		return begins_odd_run(stream, skip, first.type);
	if (reader->available - skip < PD_RECORD_HEADER_SIZE)
		return reader->at_end && reader->available == skip && first.validity == PD_VALID;
	head = pd_record_head(reader->at + skip, stream->swap);
	if (head.size > reader->available - skip)
		return first.validity == PD_VALID && pd_head_is_plausible(stream->file, &head);
	// a gap of hours is one for both
	return can_be(stream, skip, &second) && (second.validity > PD_STRANGE || is_usual(stream, second.type)) &&
	       (first.validity == PD_VALID || are_near(first.time_ns, second.time_ns));
}

// Where records have odd sizes one may begin anywhere; zeros of numbers then look like parts of headers, so more
// records in a row are wanted.
static bool is_run(struct pd_stream *stream, size_t skip)
{
	enum {
		RUN = 4
	};
	struct candidate next;

	for (unsigned i = 0; i < RUN; i++) {
		if (stream->reader.available - skip < PD_RECORD_HEADER_SIZE)
			return i >= 2 && stream->reader.at_end && stream->reader.available == skip;
		if (!can_be(stream, skip, &next) || next.validity <= PD_STRANGE ||
		    tail_size_of(stream, next.bytes, next.type))
			return false;
		skip += next.bytes.size;
	}
	return true;
}

// damage: where it was met. Most records begin at a multiple of 8 from there, or from the last good one.
static bool is_start(struct pd_stream *stream, size_t skip, uint64_t damage)
{
	uint64_t offset = stream->reader.offset + skip;

	if ((offset - damage) % 8 == 0 || (offset - stream->outer_offset) % 8 == 0)
		return is_pair(stream, skip);
	return is_run(stream, skip);
}

// ---- looking for the next start ----

// A start in the window, less than limit after the reader; 0 if there is none.
static size_t find_start(struct pd_stream *stream, size_t skip, size_t limit)
{
	for (; skip < limit; skip++)
		if (is_start(stream, skip, stream->reader.offset))
			return skip;
	return 0;
}

// ---- which of several starts ----

// Stacks that are shorter than their buffer keep what was in the ring before: records of this file, older ones, that lead on
// from one sample to the next, sometimes to the end. After a damage such a row may begin before the records do.

struct row {
	uint64_t time_ns; // of the first record that has one
	size_t end;       // where it breaks
	bool leads_on;    // it does not, in the window
};

enum step {
	STEP,
	STEP_BREAKS,
	STEP_LEADS_ON
};

// How far is looked.
static size_t limit_of(const struct pd_reader *reader)
{
	return reader->available < RESYNC_WINDOW ? reader->available : RESYNC_WINDOW;
}

// From a record to the one after it.
static enum step step(struct pd_stream *stream, size_t *skip, uint64_t *time_ns)
{
	const struct pd_reader *reader = &stream->reader;
	size_t left = limit_of(reader) - *skip;
	struct candidate candidate;
	struct pd_record_head head;
	uint64_t tail;

	stream->doubted++;
	if (left < PD_RECORD_HEADER_SIZE)
		return left && left == reader->available - *skip && reader->at_end ? STEP_BREAKS : STEP_LEADS_ON;
	head = pd_record_head(reader->at + *skip, stream->swap);
	if (head.size > left)
		return pd_head_is_plausible(stream->file, &head) ? STEP_LEADS_ON : STEP_BREAKS;
	if (!can_be(stream, *skip, &candidate))
		return STEP_BREAKS;
	left -= candidate.bytes.size;
	// some recorders write odd ones
	if (candidate.validity <= PD_STRANGE && !is_usual(stream, candidate.type) && left >= PD_RECORD_HEADER_SIZE &&
	    validate_head(stream, candidate.bytes.data + candidate.bytes.size) == WHAT_NONSENSE)
		return STEP_BREAKS;
	tail = tail_size_of(stream, candidate.bytes, candidate.type);
	if (tail > left)
		return peek_at(stream, *skip + candidate.bytes.size + tail) == WHAT_NONSENSE ? STEP_BREAKS :
											       STEP_LEADS_ON;
	*skip += candidate.bytes.size + (size_t)tail;
	if (*time_ns == PD_NO_TIME)
		*time_ns = candidate.time_ns;
	return STEP;
}

static struct row follow(struct pd_stream *stream, size_t skip)
{
	struct row row = { .time_ns = PD_NO_TIME, .end = skip };
	enum step taken;

	while ((taken = step(stream, &row.end, &row.time_ns)) == STEP)
		;
	row.leads_on = taken == STEP_LEADS_ON;
	return row;
}

// Whether two rows come to the same record.
static bool rows_meet(struct pd_stream *stream, size_t one, size_t other)
{
	uint64_t time_ns = 0;

	while (one != other)
		if (step(stream, one < other ? &one : &other, &time_ns) != STEP)
			return false;
	return true;
}

// What was in the ring before is older than the sample that it stands in.
static bool is_better(struct pd_stream *stream, const struct row *row, size_t rival)
{
	struct row other = follow(stream, rival);

	if (!other.leads_on)
		return false;
	if (other.time_ns == PD_NO_TIME || row->time_ns == PD_NO_TIME)
		return !row->leads_on;
	return other.time_ns > row->time_ns;
}

// Bytes that may be anything do not make a search longer than what they are worth.
static bool has_doubted_enough(const struct pd_stream *stream)
{
	return stream->doubted / 4 > (1 << 18) + stream->reader.offset - stream->reader.begin;
}

// A better start inside of the records of the row that begins at the reader, not after the last place; 0 if there is none.
static size_t find_rival(struct pd_stream *stream, uint64_t damage, uint64_t last)
{
	struct row row = follow(stream, 0);
	size_t at = 0, next = 0;
	uint64_t time_ns = 0;

	while (stream->reader.offset + at < last && step(stream, &next, &time_ns) == STEP) {
		stream->doubted += (next - at) / 16;
		for (size_t skip = at + 1; skip < next && stream->reader.offset + skip <= last; skip++)
			if (is_start(stream, skip, damage) && !rows_meet(stream, next, skip) &&
			    is_better(stream, &row, skip))
				return skip;
			else if (has_doubted_enough(stream))
				return 0;
		at = next;
	}
	return 0;
}

// The end of the damaged record, if its header tells and the row that begins at the reader leads past it.
static size_t find_own_end(struct pd_stream *stream, uint64_t damage, uint64_t end)
{
	struct pd_reader *reader = &stream->reader;
	size_t skip;

	if (end <= reader->offset || end - reader->offset > limit_of(reader))
		return 0;
	skip = (size_t)(end - reader->offset);
	return !rows_meet(stream, 0, skip) && is_start(stream, skip, damage) && follow(stream, skip).leads_on ? skip :
														0;
}

// The reader is at a start. end: of the damaged record, or 0.
static enum pd_status go_to_best(struct pd_stream *stream, uint64_t damage, uint64_t end, struct pd_error *error)
{
	struct pd_reader *reader = &stream->reader;
	enum pd_status status;
	size_t skip;

	do {
		status = pd_reader_fill(reader, RESYNC_WINDOW, error);
		if (status < 0 || has_doubted_enough(stream))
			return status;
		skip = find_own_end(stream, damage, end);
		if (!skip)
			skip = find_rival(stream, damage, damage + LARGEST);
		pd_reader_advance(reader, skip);
	} while (skip);
	return PD_OK;
}

// Where the damaged record at the reader ends, if this is not what is damaged; else 0.
static uint64_t own_end(const struct pd_stream *stream)
{
	const struct pd_reader *reader = &stream->reader;
	struct pd_record_head head;

	if (reader->available < PD_RECORD_HEADER_SIZE)
		return 0;
	head = pd_record_head(reader->at, stream->swap);
	return pd_head_is_plausible(stream->file, &head) ? reader->offset + head.size : 0;
}

// Moves the reader to the next start, or to the end.
static enum pd_status go_to_start(struct pd_stream *stream, size_t skip, struct pd_error *error)
{
	struct pd_reader *reader = &stream->reader;
	uint64_t damage = reader->offset, end = own_end(stream);
	bool found = false;

	while (!found) {
		enum pd_status status = pd_reader_fill(reader, RESYNC_WINDOW, error);

		if (status < 0)
			return status;
		while (skip + PD_RECORD_HEADER_SIZE <= reader->available &&
		       (reader->at_end || reader->available - skip >= 2 * LARGEST) &&
		       !(found = is_start(stream, skip, damage)))
			skip++;
		if (skip + PD_RECORD_HEADER_SIZE > reader->available && reader->at_end) {
			pd_reader_advance(reader, reader->available);
			return PD_OK;
		}
		if (skip > reader->available)
			skip = reader->available;
		pd_reader_advance(reader, skip);
		skip = 0;
	}
	return go_to_best(stream, damage, end, error);
}

// Among the bytes that were left out may be a piece of a compressed stream: what follows it makes no sense.
static void break_compression(struct pd_stream *stream, uint64_t offset, uint64_t size)
{
	if (!stream->careful || !stream->inflate.state || size < SMALLEST_PACKED || stream->inflate.broken)
		return;
	pd_inflate_break(&stream->inflate, stream->file, offset, "a piece of the stream may be lost");
}

static void leave_out(struct pd_stream *stream, uint64_t start, size_t record_size)
{
	uint64_t size = stream->reader.offset - start;

	stream->losses.bytes += size;
	if (size == record_size) {
		stream->losses.records++;
		pd_stream_report(stream, PD_PROBLEM_BAD_RECORD, start, NULL,
				 "%" PRIu64 " bytes cannot be a record of this file", size);
	} else {
		stream->losses.places++;
		pd_stream_report(stream, PD_PROBLEM_RESYNC, start, NULL, "%" PRIu64 " bytes were skipped", size);
	}
}

enum pd_status pd_stream_resync(struct pd_stream *stream, struct pd_error *error)
{
	uint64_t start = stream->reader.offset;
	enum pd_status status = go_to_start(stream, 1, error);

	if (status < 0)
		return status;
	leave_out(stream, start, 0);
	break_compression(stream, start, stream->reader.offset - start);
	return PD_OK;
}

// ---- each record of a careful stream ----

// Leaves out a record, or what stands up to the next start.
static enum pd_status skip_to_start(struct pd_stream *stream, const struct pd_record_head *head, struct pd_error *error)
{
	uint64_t start = stream->reader.offset, size;
	bool packed = pd_record_is(head->type, PD_TRAIT_COMPRESSED);
	enum pd_status status;

	if (*stream->stopped)
		return pd_file_stopped(error);
	status = go_to_start(stream, PD_RECORD_HEADER_SIZE, error);
	if (status < 0)
		return status;
	size = stream->reader.offset - start;
	leave_out(stream, start, (size_t)head->size);
	// a record of another type that is damaged inside has no piece in it
	if (packed || size != head->size || !pd_record_layout(head->type))
		break_compression(stream, start, packed ? UINT64_MAX : size);
	return PD_OK;
}

// Whether the part ends in a sample that may be one of this file. Only samples have room for other records.
static bool begins_sample(struct pd_stream *stream, const struct pd_record_head *head)
{
	uint8_t whole[LARGEST] = { 0 };
	struct pd_bytes bytes = { whole, (size_t)head->size };

	if (head->type != PD_RECORD_SAMPLE)
		return false;
	memcpy(whole, stream->reader.at, stream->reader.available);
	return pd_stream_validate(stream, bytes, 0, PD_NO_OFFSET, NULL) != PD_BROKEN;
}

static bool leads_to_end(struct pd_stream *stream, size_t skip)
{
	struct candidate next;

	while (skip < stream->reader.available && can_be(stream, skip, &next))
		skip += next.bytes.size;
	return skip == stream->reader.available;
}

// The rest of the part is less than what the record has. PD_END: it is torn off. What is in it may look like records: a
// stack of perf itself has some. They are the file's own, and the size is what is damaged, where they go on to the end.
static enum pd_status doubt_last(struct pd_stream *stream, const struct pd_record_head *head, struct pd_error *error)
{
	size_t start = find_start(stream, PD_RECORD_HEADER_SIZE, stream->reader.available);

	if (!start || (!leads_to_end(stream, start) && begins_sample(stream, head)))
		return PD_END;
	return skip_to_start(stream, head, error);
}

// Bytes after a record that lead to nothing. Either their number is damaged, or what follows them.
static enum pd_status doubt_tail(struct pd_stream *stream, const struct pd_record_head *head, uint64_t tail,
				 bool *taken_out, struct pd_error *error)
{
	struct pd_reader *reader = &stream->reader;
	uint64_t start = reader->offset, found;
	enum pd_status status = go_to_start(stream, (size_t)head->size, error);
	uint64_t after = start + head->size + tail;
	bool torn;

	if (status < 0)
		return status;
	found = reader->offset;
	// what follows may be anything, and looks like records in places
	torn = after > reader->end && !is_run(stream, 0);
	status = pd_reader_seek(reader, start);
	if (status >= 0)
		status = pd_reader_fill(reader, (size_t)head->size, error);
	if (status < 0)
		return status;
	if (found > after && after <= reader->end) {
		*taken_out = true;
		return PD_OK;
	}
	*taken_out = false;
	if (torn || found >= reader->end) {
		// the data end inside the tail
		stream->losses.cut_bytes += reader->end - start;
		pd_stream_report(stream, PD_PROBLEM_TRUNCATED_TAIL, start, NULL,
				 "%" PRIu64 " of %" PRIu64 " bytes after the record are missing", after - reader->end,
				 tail);
		return pd_reader_seek(reader, reader->end);
	}
	return skip_to_start(stream, head, error);
}

// A time that neither the records before nor the one after it have.
static bool is_alone_in_time(struct pd_stream *stream, size_t size)
{
	struct candidate next;

	return can_be(stream, size, &next) && next.validity == PD_VALID && next.time_ns != PD_NO_TIME;
}

static bool is_valid_record(struct pd_stream *stream, const struct pd_record_head *head, struct pd_bytes bytes,
			    enum pd_validity validity, enum what next)
{
	switch (validity) {
	case PD_VALID:
		return !pd_record_is(pd_record_type_of(stream->file, head), PD_TRAIT_SIZED_BY_HEADER) ||
		       next != WHAT_NONSENSE || !find_start(stream, PD_RECORD_HEADER_SIZE, bytes.size);
	case PD_WILD_TIME:
		return next != WHAT_NONSENSE && !is_alone_in_time(stream, bytes.size);
	case PD_STRANGE:
		return !find_start(stream, PD_RECORD_HEADER_SIZE, bytes.size);
	case PD_ODD:
		if (find_start(stream, PD_RECORD_HEADER_SIZE, bytes.size))
			return false;
		if (is_usual(stream, head->type))
			return true;
		return next != WHAT_NONSENSE && !pd_stream_has_other_type(stream, bytes, PD_NO_OFFSET);
	default:
		return false;
	}
}

enum pd_status pd_stream_doubt(struct pd_stream *stream, const struct pd_record_head *head, bool *taken_out,
			       struct pd_error *error)
{
	struct pd_reader *reader = &stream->reader;
	enum pd_status status = pd_reader_fill(reader, (size_t)head->size + PD_RECORD_HEADER_SIZE, error);
	enum pd_validity validity;
	struct pd_bytes bytes;
	uint64_t tail, time_ns;
	enum what next;

	if (status < 0)
		return status;
	*taken_out = false;
	if (head->size > reader->available)
		return doubt_last(stream, head, error);
	bytes = (struct pd_bytes){ reader->at, (size_t)head->size };
	validity = pd_stream_validate(stream, bytes, 0, PD_NO_OFFSET, &time_ns);
	tail = tail_size_of(stream, bytes, pd_record_type_of(stream->file, head));
	next = peek_at(stream, head->size + tail);
	if (validity == PD_VALID && tail && next == WHAT_NONSENSE && reader->source->seekable &&
	    reader->end != UINT64_MAX)
		return doubt_tail(stream, head, tail, taken_out, error);
	if (validity != PD_VALID || next == WHAT_NONSENSE) {
		// more of what follows is wanted
		status = pd_reader_fill(reader, RESYNC_WINDOW, error);
		if (status < 0)
			return status;
		bytes.data = reader->at;
	}
	if (!is_valid_record(stream, head, bytes, validity, next))
		return skip_to_start(stream, head, error);
	if (validity == PD_ODD || validity == PD_STRANGE)
		stream->odd_types |= UINT64_C(1) << (head->type & 63);
	if (head->type == PD_RECORD_SAMPLE && !is_usual(stream, head->type))
		stream->tight_stacks = true;
	stream->past_head |= head->type < 64;
	if (time_ns != PD_NO_TIME)
		stream->near_time_ns = time_ns;
	*taken_out = true;
	return PD_OK;
}

enum pd_status pd_stream_doubt_inner(struct pd_stream *stream, const struct pd_record_head *head, bool *taken_out,
				     struct pd_error *error)
{
	struct pd_inflate *inflate = &stream->inflate;
	size_t size = (size_t)head->size;
	enum pd_status status =
		pd_inflate_fill(inflate, stream->file, size + PD_RECORD_HEADER_SIZE, stream->outer_offset, error);
	struct pd_bytes bytes = { inflate->data + inflate->at, size };
	enum pd_validity validity;
	uint64_t time_ns;
	bool follows;

	if (status < 0)
		return status;
	validity = pd_stream_validate(stream, bytes, 0, inflate->offset, &time_ns);
	follows = inflate->size - inflate->at < size + PD_RECORD_HEADER_SIZE ||
		  validate_head(stream, bytes.data + size) == WHAT_HEAD;
	*taken_out = validity >= PD_STRANGE ||
		     (validity == PD_ODD && follows && !pd_stream_has_other_type(stream, bytes, inflate->offset));
	if (*taken_out) {
		if (time_ns != PD_NO_TIME)
			stream->near_time_ns = time_ns;
		return PD_OK;
	}
	if (!follows) {
		// matches of the codec propagate what is wrong
		pd_inflate_break(inflate, stream->file, stream->outer_offset, "the decompressed data has no records");
		return PD_END;
	}
	stream->losses.bytes += size;
	stream->losses.records++;
	pd_stream_report(stream, PD_PROBLEM_BAD_RECORD, stream->outer_offset, NULL,
			 "%zu decompressed bytes at %" PRIu64 " cannot be a record of this file", size,
			 inflate->offset);
	return PD_OK;
}
