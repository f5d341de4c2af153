/* SPDX-License-Identifier: MIT */
/*
 * Rows of callers that the profile merged: each has a row of its own, as if its stacks had been told apart. They have no graphs, as none
 * shows them.
 */
#include "base/lookup/search.h"
#include "profile/entries.h"
#include "report/rows/building.h"

size_t pd_rare_count_all(const struct pd_report *report)
{
	struct pd_merged_caller caller;
	size_t count, above = 1;

	while (pd_profile_merged_caller(report->profile, above - 1, &caller))
		above *= 2;
	PD_SEARCH(count, 0, above, i, pd_profile_merged_caller(report->profile, i, &caller));
	return count;
}

/* As perf: a place in no object has the level of the one before it, in the order in which callers are visited. */
static unsigned level_of(const struct pd_report *report, const struct pd_merged_caller *caller)
{
	const struct pd_stack *stack = report_stack(report, pd_profile_entry_stack(report->profile, caller->entry));
	size_t count = stack->caller_count;
	size_t before = report->graph.caller ? count - 1 - caller->outer : caller->inner;
	unsigned level = report->scratch.flags[stack->ip] & FRAME_LEVEL;

	for (size_t i = 0; i < before; i++) {
		uint8_t flags = report->scratch.flags[stack->callers[pd_caller_at(report, count, 0, i)]];

		if (flags & FRAME_OBJECT)
			level = flags & FRAME_LEVEL;
	}
	return level;
}

static bool is_of_table(const struct building *building, const struct pd_merged_caller *caller)
{
	return caller->entry >= building->begin && caller->entry < building->end;
}

/* False if there is no memory. */
static bool number_one(struct building *building, const struct pd_merged_caller *caller, uint32_t *place_out)
{
	const struct pd_frame frame = {
		.place = { .addr = caller->addr, .recorded = caller->addr },
		.cpumode = PD_CPUMODE_USER,
	};
	struct pd_profile_entry entry;
	const struct key_context context = {
		.entry = &entry,
		.merged = &frame,
		.cpumode = level_of(building->report, caller),
	};

	pd_profile_entry(building->report->profile, caller->entry, &entry);
	return pd_values_find(building->report, &context, true, place_out);
}

bool pd_rare_number(struct building *building, uint64_t before)
{
	struct pd_merged_caller caller;

	for (; pd_profile_merged_caller(building->report->profile, building->rare_count, &caller) &&
	       caller.order < before;
	     building->rare_count++) {
		if (is_of_table(building, &caller) &&
		    !number_one(building, &caller, &building->rare_places[building->rare_count]))
			return false;
	}
	return true;
}

static uint32_t who_of(const struct building *building, size_t entry)
{
	uint32_t who = building->states[entry - building->begin].who;
	size_t part = 0;

	while (part + 1 < building->part_count && entry >= pd_part_entry(building, part + 1))
		part++;
	return who ? building->parts[part].whos[who - 1] : UINT32_MAX;
}

/* False if there is no memory. */
static bool add_row(const struct building *building, const struct pd_merged_caller *caller, uint32_t place)
{
	const struct pd_report *report = building->report;
	struct row_set *rows = &building->parts[0].rows;
	size_t event = pd_profile_entry_event(report->profile, caller->entry) - building->table->head.first_event;
	uint32_t who = who_of(building, caller->entry), row,
		 depth = report->graph.caller ? caller->above : caller->below;
	struct pd_report_amounts *amounts;

	if (who == UINT32_MAX)
		return true;
	if (!pd_row_set_add(rows, who, place, &row))
		return false;
	amounts = &rows->amounts[row * rows->event_count + event];
	amounts->children_period += caller->period;
	amounts->children_samples += caller->samples;
	if (has_graphs(report) && !event && depth > rows->rows[row].depth)
		rows->rows[row].depth = depth;
	return true;
}

bool pd_rare_rows(struct building *building)
{
	struct pd_merged_caller caller;

	for (size_t i = 0; i < building->rare_count; i++) {
		pd_profile_merged_caller(building->report->profile, i, &caller);
		if (is_of_table(building, &caller) && !add_row(building, &caller, building->rare_places[i]))
			return false;
	}
	return true;
}
