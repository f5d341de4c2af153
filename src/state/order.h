/* SPDX-License-Identifier: MIT */
/* Putting changes in order of time. Records of one buffer are nearly in order, so sorting merges runs. */
#ifndef PD_STATE_ORDER_H
#define PD_STATE_ORDER_H

#include <perfdata/state.h>

struct pd_order_item {
	struct pd_moment when;
	uint32_t kind;
	uint32_t number;
};

bool pd_order_is_sorted(const struct pd_order_item *items, size_t count);
// Stable. spare has room for count items; false: the result is in items, true: it is in spare.
bool pd_order_sort(struct pd_order_item *items, struct pd_order_item *spare, size_t count);

#endif
