/* SPDX-License-Identifier: MIT */
/*
 * The first line of a report: whether what follows can be believed. What the recorder lost, what it cut
 * off and what has no name is counted here; perfdata doctor says what to do about it.
 */
#include "report.h"

#include <inttypes.h>
#include <string.h>

struct trust trust_of(const struct report *report)
{
	const struct pd_profile_losses *losses = pd_profile_losses(report->profile);
	struct trust trust = {
		.lost = losses->lost + losses->lost_samples,
		.throttles = losses->throttles,
		.damaged = losses->damaged + losses->unknown_event,
	};
	const struct pd_profile_entry *entry;

	for (size_t i = 0; (entry = pd_profile_entry(report->profile, i)) != NULL; i++) {
		const struct pd_stack *stack = pd_profile_stack(report->profile, entry->stack);

		trust.samples += entry->samples;
		if (stack->cut || stack->damaged)
			trust.cut += entry->samples;
		if (!pd_profile_frame(report->profile, stack->ip)->place.function)
			trust.unknown += entry->samples;
	}
	return trust;
}

static const char *verdict(const struct trust *trust)
{
	double lost = percent_of(trust->lost, trust->lost + trust->samples);
	double cut = percent_of(trust->cut, trust->samples), unknown = percent_of(trust->unknown, trust->samples);

	if (lost > 10 || unknown > 50 || cut > 50)
		return "poor";
	if (lost > 1 || unknown > 10 || cut > 10 || trust->throttles || trust->damaged)
		return "fair";
	return "good";
}

void trust_print(const struct trust *trust, struct pd_text *text)
{
	pd_text_printf(text, "# Trust: %s: %" PRIu64 " samples, %" PRIu64 " lost (%.2f%%), %" PRIu64 " throttled",
		       verdict(trust), trust->samples, trust->lost,
		       percent_of(trust->lost, trust->lost + trust->samples), trust->throttles);
	pd_text_printf(text, ", %.2f%% of stacks cut off, %.2f%% of samples in unknown functions",
		       percent_of(trust->cut, trust->samples), percent_of(trust->unknown, trust->samples));
	if (trust->damaged)
		pd_text_printf(text, ", %" PRIu64 " samples damaged", trust->damaged);
	pd_text_add(text, "\n");
}
