/* SPDX-License-Identifier: MIT */
/* What a merge did, in words. */
#include "edit/merge/merge.h"

#include <inttypes.h>

#include "base/text/text.h"

void pd_merge_result_text(const struct pd_merge *merge, const struct pd_merge_result *result, struct pd_text *text)
{
	pd_text_printf(text,
		       "%zu file%s merged: %" PRIu64 " sample%s of %zu event%s and %" PRIu64 " other record%s; %" PRIu64
		       " found in several pieces %s written once\n",
		       merge->source_count, pd_plural(merge->source_count), result->sample_count,
		       pd_plural(result->sample_count), result->event_count, pd_plural(result->event_count),
		       result->other_count, pd_plural(result->other_count), result->repeated_count,
		       pd_was_or_were(result->repeated_count));
	if (result->aux_count)
		pd_text_printf(text, "%" PRIu64 " record%s of AUX data %s dropped\n", result->aux_count,
			       pd_plural(result->aux_count), pd_was_or_were(result->aux_count));
	if (result->single_count)
		pd_text_printf(
			text,
			"%" PRIu64
			" THREAD_MAP, CPU_MAP and TIME_CONV record%s %s dropped: those of the first recording are kept\n",
			result->single_count, pd_plural(result->single_count), pd_was_or_were(result->single_count));
	if (result->undecoded_count)
		pd_text_printf(text, "%" PRIu64 " record%s (%" PRIu64 " sample%s) that cannot be decoded %s dropped\n",
			       result->undecoded_count, pd_plural(result->undecoded_count),
			       result->undecoded_sample_count, pd_plural(result->undecoded_sample_count),
			       pd_was_or_were(result->undecoded_count));
}
