/* SPDX-License-Identifier: MIT */
/* AutoFDO's text profile, for create_llvm_prof and create_gcov: ranges, addresses and branches, by offsets in the file. */
#include <inttypes.h>

#include "base/text/text.h"
#include "export/format/branches.h"

static void put_list(struct pd_export *self, const struct pd_branch_list *list, const char *between)
{
	pd_text_printf(self->text, "%zu\n", list->count);
	for (size_t i = 0; i < list->count; i++) {
		const struct pd_branch_count *item = &list->items[i];

		if (between)
			pd_text_printf(self->text, "%" PRIx64 "%s%" PRIx64 ":%" PRIu64 "\n", item->from, between,
				       item->to, item->count);
		else
			pd_text_printf(self->text, "%" PRIx64 ":%" PRIu64 "\n", item->from, item->count);
		pd_export_flush(self);
	}
}

static void end(struct pd_export *self)
{
	const struct pd_branches *branches = self->sink;

	if (!pd_branches_end(self, PD_BRANCH_OFFSETS))
		return;
	put_list(self, &branches->ranges, "-");
	put_list(self, &branches->addresses, NULL);
	put_list(self, &branches->taken, "->");
}

const struct pd_export_sink pd_export_sink_autofdo = {
	.size = sizeof(struct pd_branches),
	.sample = pd_branches_take,
	.end = end,
	.fini = pd_branches_fini,
};
