/* SPDX-License-Identifier: MIT */
/* llvm-profgen's unsymbolized profile: ranges and branches, by offsets from where the code is loaded. */
#include <inttypes.h>

#include "base/text/text.h"
#include "export/format/branches.h"

static void put_list(struct pd_export *self, const struct pd_branch_list *list, const char *between)
{
	pd_text_printf(self->text, "%zu\n", list->count);
	for (size_t i = 0; i < list->count; i++) {
		const struct pd_branch_count *item = &list->items[i];

		pd_text_printf(self->text, "%" PRIx64 "%s%" PRIx64 ":%" PRIu64 "\n", item->from, between, item->to,
			       item->count);
		pd_export_flush(self);
	}
}

static void end(struct pd_export *self)
{
	const struct pd_branches *branches = self->sink;

	if (!pd_branches_end(self, PD_BRANCH_IN_MAPPED))
		return;
	put_list(self, &branches->ranges, "-");
	put_list(self, &branches->taken, "->");
}

const struct pd_export_sink pd_export_sink_llvm_profgen = {
	.size = sizeof(struct pd_branches),
	.sample = pd_branches_take,
	.end = end,
	.fini = pd_branches_fini,
};
