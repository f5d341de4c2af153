/* SPDX-License-Identifier: MIT */
/*
 * The first line of a report: the quality of the profile. Lost samples, truncated stacks and unresolved functions are
 * counted here; perfdata doctor says what to do about them.
 */
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

#include "base/text/text.h"
#include "symbol/data.h"
#include "unwind/unwinder.h"

void pd_quality_add(struct pd_report_quality *quality, const struct pd_profile_entry *entry,
		    const struct pd_stack *stack, bool resolved)
{
	quality->samples += entry->samples;
	if (stack->cut || stack->damaged)
		quality->cut_stacks += entry->samples;
	if (!resolved)
		quality->unresolved += entry->samples;
}

/* Where rows are not made of entries, nobody looked at them. */
static struct pd_report_quality quality_of_entries(const struct pd_report *report)
{
	struct pd_profile_entry entry;
	struct pd_report_quality quality = { 0 };

	for (size_t i = 0; pd_profile_entry(report->profile, i, &entry); i++) {
		const struct pd_stack *stack = pd_profile_stack(report->profile, entry.stack);

		pd_quality_add(&quality, &entry, stack,
			       pd_place_is_resolved(&pd_profile_frame(report->profile, stack->ip)->place));
	}
	return quality;
}

void pd_report_quality(const struct pd_report *report, struct pd_report_quality *quality_out)
{
	const struct pd_profile_losses *losses = pd_profile_losses(report->profile);
	struct pd_report_quality quality = report->by_branch ? quality_of_entries(report) : report->quality;

	quality.lost = losses->lost + losses->lost_samples;
	quality.throttles = losses->throttles;
	quality.damaged = losses->damaged + losses->unknown_event;
	/* Branches are shown without callers. */
	for (size_t i = 0; !report->by_branch && i < pd_file_event_count(report->file); i++)
		quality.copied_stacks += pd_profile_total(report->profile, i)->copied_stacks;
	if (!report->by_branch)
		quality.unwinder = pd_profile_unwinder(report->profile);
	*quality_out = quality;
}

static const char *rating(const struct pd_report_quality *quality)
{
	double lost = pd_percent(quality->lost, quality->lost + quality->samples);
	double cut = pd_percent(quality->cut_stacks, quality->samples),
	       unknown = pd_percent(quality->unresolved, quality->samples);

	if (lost > 10 || unknown > 50 || cut > 50 || pd_percent(quality->copied_stacks, quality->samples) > 10)
		return "poor";
	if (lost > 1 || unknown > 10 || cut > 10 || quality->copied_stacks || quality->throttles || quality->damaged)
		return "fair";
	return "good";
}

void pd_quality_print(const struct pd_report_quality *quality, struct pd_text *text)
{
	pd_text_printf(text, "# Profile quality: %s (%" PRIu64 " sample%s, %" PRIu64 " lost", rating(quality),
		       quality->samples, pd_plural(quality->samples), quality->lost);
	if (quality->lost)
		pd_text_printf(text, " = %.1f %%", pd_percent(quality->lost, quality->lost + quality->samples));
	pd_text_printf(text, ", %" PRIu64 " throttled, %.1f %% truncated stacks, %.1f %% unresolved",
		       quality->throttles, pd_percent(quality->cut_stacks, quality->samples),
		       pd_percent(quality->unresolved, quality->samples));
	if (quality->damaged)
		pd_text_printf(text, ", %" PRIu64 " damaged", quality->damaged);
	pd_text_add(text, ")\n");
	if (quality->copied_stacks)
		pd_text_printf(text,
			       "# %" PRIu64
			       " sample%s with a copied user stack that is not unwound: callers in user space are "
			       "missing\n",
			       quality->copied_stacks, pd_plural(quality->copied_stacks));
	if (quality->unwinder && !pd_unwinder_is_complete(quality->unwinder)) {
		pd_text_add(text, "# ");
		pd_print_unwinding(quality->unwinder, text);
		pd_text_add(text, "\n");
	}
}
