/* SPDX-License-Identifier: MIT */
#include "stream/cut/cut.h"

enum {
	PIECE_SIZE = 256 << 10
};

static const struct pd_times no_times = { UINT64_MAX, 0 };

bool pd_holds_records(uint32_t type)
{
	return type == PD_RECORD_COMPRESSED || type == PD_RECORD_COMPRESSED2 || type == PD_RECORD_SIMPLEPERF_SPLIT;
}

void pd_times_join(struct pd_times *times, const struct pd_times *more)
{
	if (more->oldest_ns < times->oldest_ns)
		times->oldest_ns = more->oldest_ns;
	if (more->newest_ns > times->newest_ns)
		times->newest_ns = more->newest_ns;
}

void pd_cut_init(struct pd_cut *cut, struct pd_pieces *pieces, struct pd_stream *stream)
{
	*cut = (struct pd_cut){
		.pieces = pieces,
		.stream = stream,
		.whole.times = no_times,
		.limit = UINT64_MAX,
	};
}

static bool belongs(const struct pd_piece *piece, const struct pd_record *record)
{
	return piece && piece->part == record->part && record->offset - piece->begin < PIECE_SIZE &&
	       piece->end == record->offset;
}

// The piece that the record belongs to, or NULL if there is no memory.
static struct pd_piece *piece_of(struct pd_cut *cut, const struct pd_record *record)
{
	struct pd_pieces *pieces = cut->pieces;

	if (pieces->once)
		return &cut->whole;
	if (belongs(cut->piece, record))
		return cut->piece;
	if (!PD_GROW(pieces->items, pieces->capacity, pieces->count + 1))
		return NULL;
	pieces->items[pieces->count] = (struct pd_piece){
		.begin = record->offset,
		.place = record->place,
		.times = no_times,
		.oldest = { UINT64_MAX, 1 },
		.rounds = cut->rounds,
		.part = record->part,
	};
	return &pieces->items[pieces->count++];
}

// Sizes after records are not to be trusted.
static uint64_t end_of(const struct pd_stream *stream, const struct pd_record *record)
{
	uint64_t end = record->offset + record->bytes.size, part_end = pd_file_part(stream->file, record->part)->end;
	uint64_t left = part_end > end ? part_end - end : 0;

	return end + (record->tail_size < left ? record->tail_size : left);
}

static void note_sample(struct pd_piece *piece, const struct pd_record *record)
{
	if (record->time_ns == PD_NO_TIME)
		piece->timeless = true;
	else
		pd_times_join(&piece->times, &(struct pd_times){ record->time_ns, record->time_ns });
}

bool pd_cut_take(struct pd_cut *cut, const struct pd_record *record)
{
	struct pd_piece *piece = cut->piece = piece_of(cut, record);
	struct pd_key key;

	if (!piece)
		return false;
	key = pd_rounds_take(&cut->rounds, record);
	if (pd_key_compare(key, piece->oldest) < 0)
		piece->oldest = key;
	piece->count++;
	piece->end = end_of(cut->stream, record);
	piece->has_tails |= record->tail_size != 0;
	if (record->type == PD_RECORD_SAMPLE)
		note_sample(piece, record);
	return true;
}

// Most samples follow a sample of the same event.
void pd_cut_pass(struct pd_cut *cut)
{
	struct pd_piece *piece = cut->piece;
	struct pd_times times = no_times;
	uint64_t limit = piece->begin + PIECE_SIZE, passed;

	if (cut->pieces->once)
		return;
	passed = pd_stream_pass_timed(cut->stream, limit < cut->limit ? limit : cut->limit, &times);
	if (!passed)
		return;
	piece->count += passed;
	piece->end = cut->stream->reader.offset;
	pd_times_join(&piece->times, &times);
	if (pd_key_compare((struct pd_key){ times.oldest_ns, 0 }, piece->oldest) < 0)
		piece->oldest = (struct pd_key){ times.oldest_ns, 0 };
	if (times.newest_ns > cut->rounds.newest)
		cut->rounds.newest = times.newest_ns;
}
