/* SPDX-License-Identifier: MIT */
/*
 * Samples by parts of the time, so that several threads have them in the order of time: the pieces of a file, see pieces.h,
 * are put into the order of their oldest samples, and a part begins at the oldest sample of each so many bytes. A piece is read
 * for every part that it has samples of: with perf's rounds that is one or two more at each seam.
 */
#ifndef PD_STREAM_SPLIT_H
#define PD_STREAM_SPLIT_H

#include "stream/cut/pieces.h"

struct pd_split {
	const struct pd_pieces *pieces;
	struct pd_piece *by_age;
	uint64_t *newest_ns; // of by_age up to the same index
	size_t piece_count;
	uint64_t *begin_ns; // of parts, and of one after the last
	size_t count;       // of parts
};

// Parts of about so many bytes; there are none if pieces have samples without a time. False if there is no memory. Fini
// has to follow in either case; pieces have to stay.
bool pd_split_make(struct pd_split *split, const struct pd_pieces *pieces, uint64_t bytes);
void pd_split_fini(struct pd_split *split);
// The pieces that have samples of a part: *from_ns_out and later, but before *to_ns_out. What is in items alone is given away.
// False if there is no memory.
bool pd_split_part(const struct pd_split *split, size_t part, struct pd_pieces *pieces_out, uint64_t *from_ns_out,
		   uint64_t *to_ns_out);

#endif
