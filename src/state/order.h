/* SPDX-License-Identifier: MIT */
/* Changes in the order of time. Records of one buffer are in order, so what was fed is a few runs that are merged as they
 * are gone through. */
#ifndef PD_STATE_ORDER_H
#define PD_STATE_ORDER_H

#include <perfdata/state.h>

#include "state/blocks.h"

static inline bool pd_moment_before(struct pd_moment a, struct pd_moment b)
{
	return a.time_ns < b.time_ns || (a.time_ns == b.time_ns && a.order < b.order);
}

// A list whose items begin with their moment.
struct pd_order_list {
	const struct pd_blocks *items;
	size_t item_size;
};

enum {
	PD_ORDER_LISTS = 2
};

// Items of a list that stand in order.
struct pd_order_run {
	struct pd_moment next; // that of item `at`
	uint32_t list;
	uint32_t at, end;
};

struct pd_changes {
	struct pd_order_list lists[PD_ORDER_LISTS];
	struct pd_order_run *heap; // the one with the oldest item first
	size_t count, capacity;
	struct pd_order_run limit; // older items of the first run are older than those of all others
};

// Lists must not change meanwhile. False if the pool gives no memory.
bool pd_changes_begin(struct pd_changes *order, const struct pd_order_list lists[PD_ORDER_LISTS], struct pd_pool *temp);
// The next item of any list: the number of the list and of the item. Of one moment the first list comes first, and
// each as it stands. False at the end.
bool pd_changes_next(struct pd_changes *order, uint32_t *list_out, uint32_t *number_out);

#endif
