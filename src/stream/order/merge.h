/* SPDX-License-Identifier: MIT */
/* Sorted chunks as one sequence, some thousands of entries at a time. */
#ifndef PD_STREAM_MERGE_H
#define PD_STREAM_MERGE_H

#include "stream/order/chunk.h"

struct pd_merged {
	struct pd_entry entry;
	struct pd_chunk *chunk;
};

struct pd_merging {
	struct pd_merged *items, *spare;
	size_t capacity, spare_capacity;
	size_t *ends; // of runs in items
	size_t end_capacity;
	size_t count, next; // items
};

// A place in the order of all records: what has a smaller key, or the same and comes first in the file, is before it.
struct pd_frontier {
	struct pd_key key;
	uint64_t ordinal; // of a chunk: what has this key in those before it is before it, too
};

// Merges entries of chunks, which are in the order of the file, as far as they are before the frontier and not too many. The
// chunks go on after them, and have to stay until they are shown. Count is 0 if there are none. False if there is no memory.
bool pd_merged_fill(struct pd_merging *merge, struct pd_chunk *const *chunks, size_t count,
		    struct pd_frontier frontier);
void pd_merged_fini(struct pd_merging *merge);

#endif
