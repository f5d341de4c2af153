/* SPDX-License-Identifier: MIT */
#include "stream/cut/pieces.h"

#include <inttypes.h>

bool pd_pieces_possible(const struct pd_file *file)
{
	for (size_t i = 0; i < pd_file_part_count(file); i++)
		if (!pd_file_part(file, i)->source->seekable)
			return false;
	return true;
}

void pd_pieces_fini(struct pd_pieces *pieces)
{
	pd_free(pieces->items);
	pd_free(pieces->reported.items);
	*pieces = (struct pd_pieces){ 0 };
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

void pd_stream_follow(struct pd_stream *stream, const struct pd_pieces *pieces)
{
	stream->quiet = true;
	stream->finalized = true;
	stream->scratch.known = &pieces->reported;
}

enum pd_status pd_stream_open_piece(struct pd_stream *stream, const struct pd_piece *piece, struct pd_error *error)
{
	stream->index = piece->place;
	return pd_stream_open_range(stream, piece->part, piece->begin, piece->end, error);
}

void pd_stream_end_pass(struct pd_stream *stream, uint64_t found, uint64_t count, uint64_t offset)
{
	if (found != count)
		pd_file_report(stream->file, PD_PROBLEM_TRUNCATED_RECORD, offset, NULL,
			       "the file changed while it was read: of %" PRIu64 " records %" PRIu64 " are left", count,
			       found);
}
