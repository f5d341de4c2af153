/* SPDX-License-Identifier: MIT */
/*
 * A file that is read several times, record by record, by whoever asks for the next one: one pass cuts it into pieces, and
 * walks then read all of it or what can have samples of a part of the time. Problems are reported in the pass.
 */
#ifndef PD_STREAM_WALK_H
#define PD_STREAM_WALK_H

#include "stream/read/stream.h"

struct pd_known_file;
struct pd_walk;

// Passes over the file; `record`, if not NULL, is called for each record but samples. PD_ERROR_ARGUMENT: a pipe that is not kept.
enum pd_status pd_known_file_new(struct pd_file *file,
				 enum pd_status (*record)(void *self, struct pd_stream *stream,
							  const struct pd_record *record, struct pd_error *error),
				 void *self, struct pd_known_file **known_out, struct pd_error *error);
void pd_known_file_free(struct pd_known_file *known);
uint64_t pd_known_file_records(const struct pd_known_file *known);
// Of the samples; 0 if there are none.
void pd_known_file_times(const struct pd_known_file *known, uint64_t *first_ns_out, uint64_t *last_ns_out);

// Whoever wants records of a part of the time, to_ns (0: open) included, may get others as well.
enum pd_status pd_walk_new(const struct pd_known_file *known, enum pd_order order, uint64_t from_ns, uint64_t to_ns,
			   struct pd_walk **walk_out, struct pd_error *error);
void pd_walk_free(struct pd_walk *walk);
// The next record, valid until the next call, or PD_END.
enum pd_status pd_walk_next(struct pd_walk *walk, const struct pd_record **record_out, struct pd_error *error);
// As pd_stream_pass, inside of a piece.
uint64_t pd_walk_pass(struct pd_walk *walk);

#endif
