/* SPDX-License-Identifier: MIT */
/*
 * Records in the order of time.
 *
 * What can seek and is not compressed is read once and cut into pieces, see pieces.h; each piece's oldest record
 * is noted. They are then loaded by age as chunks and sorted; a record is handed out when it is older
 * than all chunks that are not loaded. The order is exact whatever the recorder did, and memory is what overlaps.
 *
 * A pipe, or compressed records, come once. They are sorted by the rule of perf's rounds: FINISHED_ROUND says
 * that nothing that follows is older than the newest record before the round before. What is older is late: it is
 * counted, marked and handed out at once.
 *
 * Records without time go where perf has them: at the moment they are read, before all that then waits.
 */
#ifndef PD_STREAM_ORDER_H
#define PD_STREAM_ORDER_H

#include "stream/order/chunk.h"
#include "stream/read/inside.h"

struct pd_pieces;

// For a stream over a file. pieces are those of a pass to the end, which must stay as they are, or NULL: then the pass
// happens here.
enum pd_status pd_order_open(struct pd_stream *stream, const struct pd_pieces *pieces, struct pd_error *error);

// Makes the next record the current one, as pd_stream_next does: for those who read much in the order of time.
enum pd_status pd_order_next(struct pd_stream *stream, struct pd_error *error);

typedef enum pd_status pd_order_fn(void *self, struct pd_stream *stream, const struct pd_record *record,
				   struct pd_error *error);

struct pd_order_taker {
	pd_order_fn *record;
	pd_order_sample_fn *sample; // is asked first; NULL: samples are records as others
	void *self;
	// Whether samples of an event need no order, and of those without a call chain all that matters is on which CPUs there are
	// any: they are given to sample as they are read, one of each CPU at least, and not counted in pd_record.index. May be NULL.
	bool (*unordered)(void *self, const struct pd_event *event);
	uint64_t *passed; // is increased by how many were not given; may be NULL
	// What of samples of an event is wanted at their turn, so that their bytes need not be kept; where a sample is not as others of
	// its event, all of it is. May be NULL; asks for unordered. Of words there are PD_PACKED_WORDS, the last ones with any value.
	pd_order_pack_fn *pack;
	enum pd_status (*packed)(void *self, const struct pd_event_full *event, uint64_t time_ns, const uint64_t *words,
				 struct pd_error *error);
	bool no_rounds; // ends of rounds are not given, but passed
};

// Reads a file once, for who can begin again: records are given in the order of time when a round says that nothing older
// follows. PD_OK: these were all. PD_END: what was given is worth nothing, since a round was wrong, or missing for long, or there
// is something to be reported or learned, or a function failed; nothing was reported.
enum pd_status pd_order_try_rounds(struct pd_file *file, const struct pd_order_taker *taker, struct pd_error *error);

#endif
