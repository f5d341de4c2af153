/* SPDX-License-Identifier: MIT */
/*
 * The first line of a report: whether what follows can be believed. What the recorder lost, what it cut
 * off and what has no name is counted here; perfdata doctor says what to do about it.
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
