/* SPDX-License-Identifier: MIT */
/* Pre-aggregated samples of BOLT, for perf2bolt -pa: branches and what was run through, by addresses as linked. */
#include <inttypes.h>

#include "base/text/text.h"
#include "export/format/branches.h"

static void end(struct pd_export *self)
{
	const struct pd_branches *branches = self->sink;

	if (!pd_branches_end(self, PD_BRANCH_VIRTUAL))
		return;
	for (size_t i = 0; i < branches->taken.count; i++) {
		const struct pd_branch_count *item = &branches->taken.items[i];

		pd_text_printf(self->text, "B %" PRIx64 " %" PRIx64 " %" PRIu64 " %" PRIu64 "\n", item->from, item->to,
			       item->count, item->mispredicted);
		pd_export_flush(self);
	}
	for (size_t i = 0; i < branches->ranges.count; i++) {
		const struct pd_branch_count *item = &branches->ranges.items[i];

		pd_text_printf(self->text, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n", item->from, item->to,
			       item->count);
		pd_export_flush(self);
	}
}

const struct pd_export_sink pd_export_sink_bolt = {
	.size = sizeof(struct pd_branches),
	.sample = pd_branches_take,
	.end = end,
	.fini = pd_branches_fini,
};
