/* SPDX-License-Identifier: MIT */
/*
 * The inside of an extraction. match.c (with match.h), range.c, rate.c and ends.c are the ways to extract: each may read the
 * file before anything is written, and then says of each record whether it is copied. extract.c is on top and writes;
 * common.c, which they share, is below.
 */
#ifndef PD_EXTRACT_EXTRACT_H
#define PD_EXTRACT_EXTRACT_H

#include <perfdata/extract.h>

#include "base/error.h"
#include "base/memory.h"
#include "stream/each.h"

enum pd_extract_action {
	PD_EXTRACT_DROP,
	PD_EXTRACT_PASS,
	PD_EXTRACT_PASSED, // it was written in another form
	PD_EXTRACT_END     // it is not copied, and nothing after it is
};

struct pd_extract {
	struct pd_extract_options options;
	const struct pd_extract_way *way;
	void *context; // of the way
	struct pd_file *file;
	struct pd_writer *writer; // from pd_extract_write on
	enum pd_order order;      // of the pass that writes
	uint64_t from_ns, to_ns;  // what is requested, for the features of a pipe; 0: open
	uint64_t *rounds;         // by part: records passed since the last round
	size_t part_count;
	struct pd_sample_time noted; // as the feature has it
	struct pd_extract_result result;
};

// A way to extract.
struct pd_extract_way {
	// Whether the file is read before the pass that writes.
	bool (*reads_twice)(const struct pd_extract_options *options);
	// Creates the context and reads what must be known. May be NULL.
	enum pd_status (*prepare)(struct pd_extract *extract, struct pd_error *error);
	// What happens to a record.
	enum pd_status (*choose)(struct pd_extract *extract, struct pd_stream *stream, const struct pd_record *record,
				 enum pd_extract_action *action_out, struct pd_error *error);
	// As in pd_changes; self is the extraction. May be NULL.
	enum pd_status (*event)(void *self, const struct pd_event *event, struct pd_attr *attr, const char **name,
				struct pd_error *error);
	// Frees the context, which may be NULL. NULL if there is none.
	void (*free)(void *context);
};

extern const struct pd_extract_way pd_extract_match;
extern const struct pd_extract_way pd_extract_range;
extern const struct pd_extract_way pd_extract_rate;
extern const struct pd_extract_way pd_extract_first;
extern const struct pd_extract_way pd_extract_last;

// ---- common.c ----

// Reads the file without writing, in file order.
enum pd_status pd_extract_scan(struct pd_extract *extract, pd_each_fn *each, void *self, struct pd_error *error);
// Extends the range of times by that of a sample, if it has one.
void pd_extract_note_time(struct pd_window *window, const struct pd_record *record);
// Makes the selection ready, now that the times of all samples are known, and notes the requested time.
enum pd_status pd_extract_ready(struct pd_extract *extract, const struct pd_window *window, struct pd_error *error);

#endif
