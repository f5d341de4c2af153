/* SPDX-License-Identifier: MIT */
#include "stream/pieces.h"

#include <inttypes.h>

enum {
	PIECE_SIZE = 256 << 10,
	PROGRESS_STEP = 1 << 20,
};

struct walk {
	struct pd_pieces *pieces;
	struct pd_stream *stream;
	const struct pd_watch *watch;
	struct pd_rounds rounds;
	struct pd_piece *piece; // the one that grows
	struct pd_piece whole;  // all of a file that cannot be cut
	uint64_t progress_at;
	uint32_t progress_part;
};

int pd_key_compare(struct pd_key a, struct pd_key b)
{
	if (a.time_ns != b.time_ns)
		return a.time_ns < b.time_ns ? -1 : 1;
	return a.rank < b.rank ? -1 : a.rank > b.rank;
}

struct pd_key pd_rounds_take(struct pd_rounds *rounds, const struct pd_record *record)
{
	struct pd_key key = {record->time_ns, 0};

	if (record->time_ns == PD_NO_TIME)
		key = (struct pd_key){rounds->flushed, 1};
	else if (record->time_ns > rounds->newest)
		rounds->newest = record->time_ns;
	if (record->type == PD_RECORD_FINISHED_ROUND) {
		rounds->flushed = rounds->limit;
		rounds->limit = rounds->newest;
	}
	return key;
}

bool pd_pieces_possible(const struct pd_file *file)
{
	for (size_t i = 0; i < file->part_count; i++)
		if (!file->parts[i].source->seekable)
			return false;
	return true;
}

// ---- the walk ----

static const struct pd_times no_times = {UINT64_MAX, 0};

static void join_times(struct pd_times *times, const struct pd_times *more)
{
	if (more->oldest_ns < times->oldest_ns)
		times->oldest_ns = more->oldest_ns;
	if (more->newest_ns > times->newest_ns)
		times->newest_ns = more->newest_ns;
}

// Records inside of others can be had in one pass only.
static bool holds_records(uint32_t type)
{
	return type == PD_RECORD_COMPRESSED || type == PD_RECORD_COMPRESSED2 || type == PD_RECORD_SIMPLEPERF_SPLIT;
}

static bool belongs(const struct pd_piece *piece, const struct pd_record *record)
{
	return piece && piece->part == record->part && record->offset - piece->begin < PIECE_SIZE &&
	       piece->end == record->offset;
}

// The piece that the record belongs to, or NULL if there is no memory.
static struct pd_piece *piece_of(struct walk *walk, const struct pd_record *record)
{
	struct pd_pieces *pieces = walk->pieces;

	if (pieces->once)
		return &walk->whole;
	if (belongs(walk->piece, record))
		return walk->piece;
	if (!PD_GROW(pieces->items, pieces->capacity, pieces->count + 1))
		return NULL;
	pieces->items[pieces->count] = (struct pd_piece){
		.begin = record->offset,
		.place = record->place,
		.times = no_times,
		.oldest = {UINT64_MAX, 1},
		.rounds = walk->rounds,
		.part = record->part,
	};
	return &pieces->items[pieces->count++];
}

// Sizes behind records are not to be trusted.
static uint64_t end_of(const struct pd_stream *stream, const struct pd_record *record)
{
	uint64_t end = record->offset + record->bytes.size, part_end = stream->file->parts[record->part].end;
	uint64_t left = part_end > end ? part_end - end : 0;

	return end + (record->tail_size < left ? record->tail_size : left);
}

static void note_sample(struct pd_piece *piece, const struct pd_record *record)
{
	if (record->time_ns == PD_NO_TIME)
		piece->timeless = true;
	else
		join_times(&piece->times, &(struct pd_times){record->time_ns, record->time_ns});
}

// Most samples follow a sample of the same event.
static void pass_samples(struct walk *walk)
{
	struct pd_piece *piece = walk->piece;
	struct pd_times times = no_times;
	uint64_t passed = pd_stream_pass_timed(walk->stream, piece->begin + PIECE_SIZE, &times);

	if (!passed)
		return;
	piece->count += passed;
	piece->end = walk->stream->reader.offset;
	join_times(&piece->times, &times);
	if (pd_key_compare((struct pd_key){times.oldest_ns, 0}, piece->oldest) < 0)
		piece->oldest = (struct pd_key){times.oldest_ns, 0};
	if (times.newest_ns > walk->rounds.newest)
		walk->rounds.newest = times.newest_ns;
}

static enum pd_status show(struct walk *walk, const struct pd_record *record, struct pd_error *error)
{
	struct pd_places *told = &walk->pieces->told;
	uint64_t place = record->place;
	enum pd_status status = PD_OK;

	if (walk->watch && walk->watch->record)
		status = walk->watch->record(walk->watch->self, walk->stream, record, error);
	if (status < 0 || !walk->stream->scratch.told)
		return status;
	if (!PD_GROW(told->items, told->capacity, told->count + 1))
		return pd_fail_memory(error);
	told->items[told->count++] = place;
	return PD_OK;
}

static enum pd_status step(struct walk *walk, const struct pd_record *record, struct pd_error *error)
{
	if (record->part == walk->progress_part && record->offset < walk->progress_at)
		return PD_OK;
	walk->progress_part = record->part;
	walk->progress_at = record->offset + PROGRESS_STEP;
	return walk->watch->progress(walk->watch->self, walk->stream, error);
}

static enum pd_status take(struct walk *walk, const struct pd_record *record, struct pd_error *error)
{
	struct pd_piece *piece = walk->piece = piece_of(walk, record);
	struct pd_key key;

	if (!piece)
		return pd_fail_memory(error);
	key = pd_rounds_take(&walk->rounds, record);
	if (pd_key_compare(key, piece->oldest) < 0)
		piece->oldest = key;
	piece->count++;
	piece->end = end_of(walk->stream, record);
	if (walk->watch && walk->watch->progress) {
		enum pd_status status = step(walk, record, error);

		if (status < 0)
			return status;
	}
	if (record->type != PD_RECORD_SAMPLE)
		return show(walk, record, error);
	note_sample(piece, record);
	if (!walk->pieces->once)
		pass_samples(walk);
	return PD_OK;
}

// What was cut so far is one with the rest.
static void give_up_cutting(struct walk *walk, const struct pd_record *record)
{
	struct pd_pieces *pieces = walk->pieces;

	pieces->once = true;
	pieces->told_until = record->offset;
	pieces->told_part = record->part;
	for (size_t i = 0; i < pieces->count; i++)
		join_times(&walk->whole.times, &pieces->items[i].times);
	pieces->count = 0;
}

enum pd_status pd_pieces_walk(struct pd_pieces *pieces, struct pd_stream *stream, const struct pd_watch *watch,
			      struct pd_error *error)
{
	struct walk walk = {.pieces = pieces, .stream = stream, .watch = watch, .whole.times = no_times};
	const struct pd_record *record;
	enum pd_status status;

	while ((status = pd_stream_next(stream, &record, error)) == PD_OK) {
		// not only files whose features say so are compressed
		if (!pieces->once && holds_records(record->type)) {
			give_up_cutting(&walk, record);
			if (!watch)
				return PD_OK;
		}
		status = take(&walk, record, error);
		if (status < 0)
			return status;
	}
	if (status < 0)
		return status;
	pieces->told_until = UINT64_MAX;
	pieces->told_part = UINT32_MAX;
	pieces->times = walk.whole.times;
	pieces->record_count = stream->index;
	for (size_t i = 0; i < pieces->count; i++)
		join_times(&pieces->times, &pieces->items[i].times);
	return PD_OK;
}

void pd_pieces_fini(struct pd_pieces *pieces)
{
	pd_free(pieces->items);
	pd_free(pieces->told.items);
	*pieces = (struct pd_pieces){0};
}

uint64_t pd_pieces_narrow(struct pd_pieces *pieces, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t left_out = 0;
	size_t kept = 0;

	if (!from_ns && !to_ns)
		return 0;
	for (size_t i = 0; i < pieces->count; i++) {
		const struct pd_piece *piece = &pieces->items[i];
		bool inside = piece->times.oldest_ns <= piece->times.newest_ns && piece->times.newest_ns >= from_ns &&
			      (!to_ns || piece->times.oldest_ns <= to_ns);

		if (inside || piece->timeless)
			pieces->items[kept++] = *piece;
		else
			left_out += piece->end - piece->begin;
	}
	pieces->count = kept;
	return left_out;
}

// ---- reading one ----

enum pd_status pd_stream_open_piece(struct pd_stream *stream, const struct pd_piece *piece, struct pd_error *error)
{
	stream->index = piece->place;
	return pd_stream_open_range(stream, piece->part, piece->begin, piece->end, error);
}

void pd_stream_end_pass(struct pd_stream *stream, uint64_t seen, uint64_t count, uint64_t offset)
{
	if (seen != count)
		pd_file_tell(stream->file, PD_PROBLEM_TRUNCATED_RECORD, offset, NULL,
			     "the file changed while it was read: of %" PRIu64 " records %" PRIu64 " are left", count,
			     seen);
}
