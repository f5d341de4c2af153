/* SPDX-License-Identifier: MIT */
/* What a split wrote, in words. */
#include <inttypes.h>

#include "base/text/text.h"
#include "edit/split/split.h"

void pd_split_text(const struct pd_split *split, struct pd_text *text)
{
	size_t files = pd_split_piece_count(split);
	struct pd_split_result result;
	uint64_t all;

	pd_split_count(split, &result);
	all = result.sample_count + result.lost_count;
	if (result.deep_count)
		pd_text_printf(
			text,
			"warning: %zu process%s %d or more ancestors: their files lack mappings inherited from more "
			"distant ones\n",
			result.deep_count, result.deep_count == 1 ? " has" : "es have", PD_SPLIT_MAX_ANCESTORS + 1);
	pd_text_printf(text, "%" PRIu64 " of %" PRIu64 " sample%s in %zu file%s\n", result.sample_count, all,
		       pd_plural(all), files, pd_plural(files));
	if (result.unknown_count)
		pd_text_printf(text, "%" PRIu64 " of them in the file named unknown: %s\n", result.unknown_count,
			       pd_split_unknown_reason(split));
	if (result.lost_count)
		pd_text_printf(text, "%" PRIu64 " sample%s in no file: damaged, or of an unknown event\n",
			       result.lost_count, pd_plural(result.lost_count));
}
