/* SPDX-License-Identifier: MIT */
/* Runs in the order of time for sinks that can begin again: they mostly need one pass over the file instead of two. */
#ifndef PD_STREAM_RESTART_H
#define PD_STREAM_RESTART_H

#include <perfdata/run.h>

#include "stream/order/order.h"

// restart: forgets all records, which come again from the first one; false without memory.
enum pd_status pd_run_restarting(struct pd_file *file, const struct pd_order_taker *taker, bool (*restart)(void *self),
				 struct pd_error *error);

#endif
