/* SPDX-License-Identifier: MIT */
/* What of a profile's buckets fell into which slices of time. */
#ifndef PD_PROFILE_TIME_BINS_H
#define PD_PROFILE_TIME_BINS_H

#include <stddef.h>
#include <stdint.h>

// What of a bucket fell into a slice of time. Slices are counted from the first one; a bin is N of them in a row.
struct pd_binned {
	uint64_t period;
	uint32_t bucket;
	uint16_t samples;
	uint16_t bin;
};

enum {
	PD_BIN_NONE = UINT16_MAX, // the time is not known
	PD_TIME_BINS_MOST = 1 << 15,
	PD_BINNED_MAX = 1 << 22, // that differ; of more, bins become twice as long
};

struct pd_binned_list {
	struct pd_binned *items;
	size_t count, capacity;
	unsigned shift; // a bin has 1 << shift slices
};

// Sorts them and joins those that agree. However many samples there are, so many entries are enough. A bin that some
// thread finds too short would be so for all of them together: it does not depend on threads how long bins are in the end.
void pd_binned_pack(struct pd_binned_list *binned);

#endif
