/* SPDX-License-Identifier: MIT */
/*
 * The first line of a report: the quality of the profile. Lost samples, truncated stacks and unresolved functions are
 * counted here; perfdata doctor says what to do about them.
 */
#include "report.h"

#include <inttypes.h>
#include <string.h>

void trust_add(struct trust *trust, const struct pd_profile_entry *entry, const struct pd_stack *stack, bool known)
{
	trust->samples += entry->samples;
	if (stack->cut || stack->damaged)
		trust->cut += entry->samples;
	if (!known)
		trust->unknown += entry->samples;
}

/* Where rows are not made of entries, nobody looked at them. */
static struct trust trust_of_entries(const struct report *report)
{
	const struct pd_profile_entry *entry;
	struct trust trust = { 0 };

	for (size_t i = 0; (entry = pd_profile_entry(report->profile, i)) != NULL; i++) {
		const struct pd_stack *stack = pd_profile_stack(report->profile, entry->stack);

		trust_add(&trust, entry, stack, pd_profile_frame(report->profile, stack->ip)->place.function);
	}
	return trust;
}

struct trust trust_of(const struct report *report)
{
	const struct pd_profile_losses *losses = pd_profile_losses(report->profile);
	struct trust trust = report->by_branch ? trust_of_entries(report) : report->trust;

	trust.lost = losses->lost + losses->lost_samples;
	trust.throttles = losses->throttles;
	trust.damaged = losses->damaged + losses->unknown_event;
	/* Branches are shown without callers. */
	for (size_t i = 0; !report->by_branch && i < pd_file_event_count(report->input.file); i++)
		trust.copied += pd_profile_total(report->profile, i)->copied_stacks;
	return trust;
}

static const char *verdict(const struct trust *trust)
{
	double lost = percent_of(trust->lost, trust->lost + trust->samples);
	double cut = percent_of(trust->cut, trust->samples), unknown = percent_of(trust->unknown, trust->samples);

	if (lost > 10 || unknown > 50 || cut > 50 || percent_of(trust->copied, trust->samples) > 10)
		return "poor";
	if (lost > 1 || unknown > 10 || cut > 10 || trust->copied || trust->throttles || trust->damaged)
		return "fair";
	return "good";
}

void trust_print(const struct trust *trust, struct pd_text *text)
{
	pd_text_printf(text, "# Profile quality: %s (%" PRIu64 " sample%s, %" PRIu64 " lost", verdict(trust),
		       trust->samples, plural(trust->samples), trust->lost);
	if (trust->lost)
		pd_text_printf(text, " = %.1f %%", percent_of(trust->lost, trust->lost + trust->samples));
	pd_text_printf(text, ", %" PRIu64 " throttled, %.1f %% truncated stacks, %.1f %% unresolved", trust->throttles,
		       percent_of(trust->cut, trust->samples), percent_of(trust->unknown, trust->samples));
	if (trust->damaged)
		pd_text_printf(text, ", %" PRIu64 " damaged", trust->damaged);
	pd_text_add(text, ")\n");
	if (trust->copied)
		pd_text_printf(text,
			       "# %" PRIu64
			       " sample%s with a copied user stack that is not unwound: callers in user space are "
			       "missing\n",
			       trust->copied, plural(trust->copied));
}
