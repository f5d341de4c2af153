/* SPDX-License-Identifier: MIT */
/* What an injection did, in words. */
#include "edit/inject/inject.h"

#include <inttypes.h>

#include "base/text/text.h"

static void print_kept(const struct pd_inject_result *result, struct pd_text *text)
{
	bool all = result->kept_other_count == result->other_count;

	pd_text_add(text, "kept ");
	pd_text_grouped(text, result->kept_sample_count);
	pd_text_add(text, " of ");
	pd_text_grouped(text, result->sample_count);
	pd_text_printf(text, " sample%s, ", pd_plural(result->sample_count));
	if (all) {
		pd_text_add(text, "all ");
	} else {
		pd_text_grouped(text, result->kept_other_count);
		pd_text_add(text, " of ");
	}
	pd_text_grouped(text, result->other_count);
	pd_text_printf(text, " other record%s", pd_plural(result->other_count));
}

static void print_ids(const struct pd_inject *inject, struct pd_text *text)
{
	const struct pd_inject_result *result = &inject->result;

	if (pd_inject_is_in_maps(inject))
		pd_text_printf(text, "; build ids in %" PRIu64 " map%s", result->changed_map_count,
			       pd_plural(result->changed_map_count));
	else if (inject->options.build_ids != PD_INJECT_NO_BUILD_IDS)
		pd_text_printf(text, "; %" PRIu64 " build id%s added, %" PRIu64 " %s there already",
			       result->added_id_count, pd_plural(result->added_id_count), result->present_id_count,
			       pd_was_or_were(result->present_id_count));
	if (result->dropped_map_count)
		pd_text_printf(text, ", %" PRIu64 " map%s without samples dropped", result->dropped_map_count,
			       pd_plural(result->dropped_map_count));
	if (result->missing_id_count)
		pd_text_printf(text, ", %" PRIu64 " object%s without one", result->missing_id_count,
			       pd_plural(result->missing_id_count));
}

void pd_inject_text(const struct pd_inject *inject, struct pd_text *text)
{
	const struct pd_inject_result *result = &inject->result;

	print_kept(result, text);
	print_ids(inject, text);
	if (inject->options.jit)
		pd_text_printf(text,
			       "; %" PRIu64 " map%s added for code in %" PRIu64 " file%s, %" PRIu64
			       " map%s of jitdumps and %" PRIu64 " of anonymous memory dropped",
			       result->code_map_count, pd_plural(result->code_map_count), result->code_file_count,
			       pd_plural(result->code_file_count), result->dump_map_count,
			       pd_plural(result->dump_map_count), result->memory_map_count);
	if (inject->options.sched_stat)
		pd_text_printf(text, "; %" PRIu64 " sched_stat sample%s merged with switches, %" PRIu64 " without one",
			       result->joined_count, pd_plural(result->joined_count), result->unjoined_count);
	if (inject->unwind) {
		pd_text_add(text, "; ");
		pd_text_grouped(text, result->unwound_count);
		pd_text_printf(text, " copied stack%s unwound to call chains", pd_plural(result->unwound_count));
	}
	pd_text_add(text, "\n");
}
