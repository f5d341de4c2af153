/* SPDX-License-Identifier: MIT */
/* Entries of the profile, in parts, and the callers of their stacks. */
#include "base/lookup/search.h"
#include "profile/entries.h"
#include "report/rows/building.h"

/* Entries are sorted by event. */
size_t pd_entries_before(const struct pd_report *report, size_t event)
{
	size_t before;

	PD_SEARCH(before, 0, pd_profile_entry_count(report->profile), i,
		  pd_profile_entry_event(report->profile, i) < event);
	return before;
}

size_t pd_part_entry(const struct building *building, size_t part)
{
	return building->begin + pd_part_begin(building->end - building->begin, building->part_count, part);
}

void pd_entry_prefetch(const struct building *building, size_t index)
{
	enum {
		LINE = 64
	};
	const struct pd_report *report = building->report;
	const char *callers;

	if (index + ENTRIES_AHEAD >= building->end)
		return;
	__builtin_prefetch(report_stack(report, pd_profile_entry_stack(report->profile, index + ENTRIES_AHEAD)));
	if (!report->children)
		return;
	callers = (const char *)report_stack(report, pd_profile_entry_stack(report->profile, index))->callers;
	__builtin_prefetch(callers);
	__builtin_prefetch(callers + LINE);
}

size_t pd_first_caller(const struct pd_report *report, size_t caller_count)
{
	/* Those with branches are not longer. */
	size_t most = report->graph.caller && !report->options.branch_history ? report->options.max_stack : 0;

	return most && caller_count > most ? caller_count - most : 0;
}

size_t pd_caller_at(const struct pd_report *report, size_t count, size_t first, size_t index)
{
	return report->graph.caller ? count - 1 - (index - first) : index;
}

bool pd_each_caller(struct building_part *part, const struct visit *visit, caller_fn *each)
{
	const struct pd_report *report = part->building->report;
	size_t count = visit->stack->caller_count, first = pd_first_caller(report, count);
	uint32_t sample = ++part->sample;

	part->last_sample[visit->place] = sample;
	for (size_t i = first; i < count; i++) {
		size_t at = pd_caller_at(report, count, first, i);
		uint32_t frame = visit->stack->callers[at], place = report->scratch.places[frame] - 1;
		bool counts = report->scratch.flags[frame] & FRAME_REQUESTED;

		if (frame == report->scratch.merged || part->last_sample[place] == sample ||
		    is_unresolved(report, report->scratch.flags[frame]))
			continue;
		if (counts)
			part->last_sample[place] = sample;
		if (!each(part, visit, place, (uint32_t)at, counts))
			return false;
	}
	return true;
}
