/* SPDX-License-Identifier: MIT */
#include "stream/parallel/restart.h"

#include "base/error.h"

enum pd_status pd_run_restarting(struct pd_file *file, const struct pd_order_taker *taker, bool (*restart)(void *self),
				 struct pd_error *error)
{
	const struct pd_run_options options = { .size = sizeof(options), .threads = 1, .order = PD_ORDER_TIME };
	const struct pd_sink sink = { .size = sizeof(sink), .self = taker->self, .record = taker->record };
	enum pd_status status = pd_order_try_rounds(file, taker, error);

	if (status != PD_END)
		return status;
	return restart(taker->self) ? pd_run(file, &options, &sink, error) : pd_fail_memory(error);
}
