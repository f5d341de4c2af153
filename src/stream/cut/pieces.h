/* SPDX-License-Identifier: MIT */
/*
 * A file that can be read twice, cut into pieces. One pass in the order of the file notes where pieces begin and end
 * and what times are in them; runs and the order of time both read the pieces they want from then on.
 *
 * A piece ends where it is large enough, at the end of its part, and where bytes follow that are no records: there
 * is no damage inside of pieces. A file with records inside of records has none.
 */
#ifndef PD_STREAM_PIECES_H
#define PD_STREAM_PIECES_H

#include "stream/read/inside.h"

// What time is for records: theirs, or for those without one the moment that perf would hand them out at.
struct pd_key {
	uint64_t time_ns;
	uint32_t rank; // 0 with a time of its own, 1 without: after those of the same time
};

// Where perf's reader would be: what it has handed out, and will at the next round.
struct pd_rounds {
	uint64_t flushed; // all up to here was handed out
	uint64_t limit;   // all up to here will be at the next round
	uint64_t newest;
};

struct pd_piece {
	uint64_t begin, end; // in its part, with what follows its last record and belongs to it
	uint64_t place;      // of its first record
	uint64_t count;
	struct pd_times times;   // of its samples
	struct pd_key oldest;    // of its records
	struct pd_rounds rounds; // before its first record
	uint32_t part;
	bool timeless;  // there are samples without a time
	bool has_tails; // bytes follow a record and belong to it
};

struct pd_pieces {
	struct pd_piece *items;
	size_t count, capacity;
	uint64_t record_count;   // of all of the file
	bool once;               // there are records inside of others: they can be had in one pass only
	struct pd_times times;   // of all samples
	uint64_t reported_until; // problems before this place of reported_part were reported
	uint32_t reported_part;
	struct pd_places reported; // records that were reported to be damaged, ascending
};

// What a pass shows to whoever asked for it. Functions may be NULL.
struct pd_visitor {
	void *self;
	bool samples; // record is called for samples, too; on one thread
	// every record but samples
	enum pd_status (*record)(void *self, struct pd_stream *stream, const struct pd_record *record,
				 struct pd_error *error);
	// now and then
	enum pd_status (*progress)(void *self, struct pd_stream *stream, struct pd_error *error);
};

// Whether all parts of a file can be read twice.
bool pd_pieces_possible(const struct pd_file *file);
// Walks over a stream in the order of the file that has not begun. Without a visitor there is nothing to see after
// the first record that holds others, so it ends there. With more than one thread it is done sooner, and pieces do not
// know of rounds and of the oldest records in them: the order of time needs these.
enum pd_status pd_pieces_pass(struct pd_pieces *pieces, struct pd_stream *stream, const struct pd_visitor *visitor,
			      size_t threads, struct pd_error *error);
void pd_pieces_fini(struct pd_pieces *pieces);
// Leaves pieces out that have no sample in a window of time; to_ns 0 is open. Returns their bytes.
uint64_t pd_pieces_narrow(struct pd_pieces *pieces, uint64_t from_ns, uint64_t to_ns);

// The stream reads what a pass has read to the end: all problems were reported, and all facts learned.
void pd_stream_follow(struct pd_stream *stream, const struct pd_pieces *pieces);
// From now on the stream reads one piece; its records were all read before.
enum pd_status pd_stream_open_piece(struct pd_stream *stream, const struct pd_piece *piece, struct pd_error *error);
// At the end of a pass over what was read before: reports if there was less of it. found of count records, from offset on.
void pd_stream_end_pass(struct pd_stream *stream, uint64_t found, uint64_t count, uint64_t offset);
static inline void pd_stream_end_piece(struct pd_stream *stream, const struct pd_piece *piece)
{
	pd_stream_end_pass(stream, stream->index - piece->place, piece->count, piece->begin);
}

static inline int pd_key_compare(struct pd_key a, struct pd_key b)
{
	return a.time_ns != b.time_ns ? (a.time_ns < b.time_ns ? -1 : 1) : (a.rank > b.rank) - (a.rank < b.rank);
}

// The key of a round's end, which has no time.
struct pd_key pd_rounds_end(struct pd_rounds *rounds);
// The key of the next record, in the order of the file.
struct pd_key pd_rounds_take(struct pd_rounds *rounds, const struct pd_record *record);

#endif
