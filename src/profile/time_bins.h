/* SPDX-License-Identifier: MIT */
/* What of a profile's buckets fell into which slices of time. */
#ifndef PD_PROFILE_PORTIONS_H
#define PD_PROFILE_PORTIONS_H

#include <stddef.h>
#include <stdint.h>

// What of a bucket fell into a slice of time. Slices are counted from the first one; strips are so many of them in a row.
struct pd_portion {
	uint64_t period;
	uint32_t bucket;
	uint16_t samples;
	uint16_t strip;
};

enum {
	PD_STRIP_NONE = UINT16_MAX, // the time is not known
	PD_STRIPS_MOST = 1 << 15,
	PD_PORTIONS_MOST = 1 << 22, // that differ; of more, strips become twice as long
};

struct pd_portions {
	struct pd_portion *items;
	size_t count, capacity;
	unsigned shift; // a strip has 1 << shift slices
};

// Sorts them and joins those that agree. However many samples there are, so many portions are enough. A strip that some
// thread finds too short would be so for all of them together: it does not depend on threads how long strips are in the end.
void pd_portions_pack(struct pd_portions *portions);

#endif
