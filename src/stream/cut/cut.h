/* SPDX-License-Identifier: MIT */
/* Cutting a file into pieces, record by record. */
#ifndef PD_STREAM_CUT_H
#define PD_STREAM_CUT_H

#include "stream/cut/pieces.h"

struct pd_cut {
	struct pd_pieces *pieces;
	struct pd_stream *stream;
	struct pd_rounds rounds;
	struct pd_piece *piece; // the one that grows; NULL: a new one begins
	struct pd_piece whole;  // all of a file that cannot be cut
	uint64_t limit;         // of the part: samples that begin there or after it are not passed over
};

// Whether records are inside of those of a type: they can be had in one pass only.
bool pd_holds_records(uint32_t type);
void pd_times_join(struct pd_times *times, const struct pd_times *more);
// Begins; nothing was cut yet.
void pd_cut_init(struct pd_cut *cut, struct pd_pieces *pieces, struct pd_stream *stream);
// The current record of the stream belongs to a piece, which may be new. False if there is no memory.
bool pd_cut_take(struct pd_cut *cut, const struct pd_record *record);
// Behind pd_cut_take, if the record is a sample: passes over samples that follow it and belong to the same piece.
void pd_cut_pass(struct pd_cut *cut);

#endif
