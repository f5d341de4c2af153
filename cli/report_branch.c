/* SPDX-License-Identifier: MIT */
/*
 * The view of branches: what is added up are the entries of branch stacks in place of samples, each with a period of 1.
 * The profile says who ran and what was mapped; the stacks are read here, in a walk of their own.
 */
#include "report.h"

#include <stdlib.h>

struct walk {
	struct report *report;
	struct table *table;
	branch_fn *each;
	void *self;
	bool failed;
};

bool branches_recorded(struct pd_file *file)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		if (pd_file_event(file, i)->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_BRANCH_STACK))
			return true;
	return false;
}

/* As perf: branches that were asked for, not those that the recorder makes call chains of. */
bool branches_are_usual(struct pd_file *file)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		if (pd_file_event(file, i)->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_STACK_USER))
			return false;
	return branches_recorded(file) && pd_file_branch_stack(file);
}

/* perf has the letter of a hypervisor where nothing is mapped. */
static struct pd_frame end_at(const struct walk *walk, uint32_t pid, struct pd_moment when, uint64_t addr)
{
	struct pd_frame end = { .cpumode = PD_CPUMODE_HYPERVISOR, .pid = pid, .when = when };

	end.place = pd_symbols_place(walk->report->symbols, pid, PD_CPUMODE_UNKNOWN, when, addr);
	if (end.place.dso)
		end.cpumode = end.place.dso->kernel ? PD_CPUMODE_KERNEL : PD_CPUMODE_USER;
	return end;
}

static bool take_branch(struct walk *walk, struct pd_profile_entry *entry, const struct taken_branch *branch,
			bool is_shown)
{
	struct report *report = walk->report;
	size_t event = entry->event->index - walk->table->first_event;
	struct subject subject = { .entry = entry, .cpumode = branch->to.cpumode, .branch = branch };

	if (report->hide_unresolved && !(branch->from.place.function && branch->to.place.function))
		return true;
	if (is_shown || !report->relative) {
		walk->table->totals[event]++;
		walk->table->samples[event]++;
	}
	return !is_shown || walk->each(walk->self, &subject);
}

static bool is_shown(const struct report *report, const struct pd_brief *brief, struct pd_moment when)
{
	struct pd_place place;

	if (brief->cpumode == PD_CPUMODE_GUEST_KERNEL || brief->cpumode == PD_CPUMODE_GUEST_USER)
		return false;
	if (!report->hide_unresolved && !select_by_place(&report->select))
		return true;
	place = pd_symbols_place(report->symbols, brief->pid, brief->cpumode, when, brief->ip);
	return (!report->hide_unresolved || place.function) &&
	       (!select_by_place(&report->select) || select_has_place(&report->select, &place));
}

static bool take_stack(struct walk *walk, const struct pd_sample *sample, struct pd_profile_entry *entry,
		       struct pd_moment when, bool shown)
{
	const struct pd_branch_stack *stack = sample->branch_stack;
	uint64_t cycles =
		stack->entries.count ? PD_BITS(PD_ITEM(pd_branch, stack->entries, 0)->flags, PD_BRANCH_CYCLES) : 0;

	/* As perf: all branches of a stack weigh what the first one took. */
	entry->weight = cycles ? cycles : 1;
	for (size_t i = 0; i < stack->entries.count; i++) {
		const struct pd_branch *from = PD_ITEM(pd_branch, stack->entries, i);
		struct taken_branch branch = {
			.from = end_at(walk, entry->pid, when, from->from),
			.to = end_at(walk, entry->pid, when, from->to),
			.flags = from->flags,
		};

		if (!take_branch(walk, entry, &branch, shown))
			return false;
	}
	return true;
}

static bool in_table(const struct table *table, const struct pd_event *event)
{
	return event && event->index >= table->first_event && event->index < table->first_event + table->event_count;
}

static bool take_record(void *self, struct pd_stream *stream, const struct pd_record *record)
{
	struct walk *walk = self;
	struct report *report = walk->report;
	struct pd_moment when = pd_record_moment(record);
	const struct pd_sample *sample;
	char unknown[PD_THREAD_NAME_BYTES];
	struct pd_profile_entry entry;
	struct pd_candidate candidate;
	enum pd_choice choice;
	struct pd_brief brief;

	(void)stream;
	/* What is damaged the profile has counted. */
	if (!in_table(walk->table, record->event) || !pd_record_brief(record, &brief) ||
	    !(sample = pd_as_sample(record)) || !sample->branch_stack)
		return true;
	entry = (struct pd_profile_entry){
		.event = record->event,
		.comm = pd_world_comm(pd_profile_world(report->profile), brief.tid, when, unknown),
		.pid = brief.pid,
		.tid = brief.tid,
		.cpu = brief.cpu,
		.cgroup = sample->cgroup,
		.samples = 1,
		.period = 1,
		.slice_ns = brief.time_ns == PD_NO_TIME ? 0 : brief.time_ns - brief.time_ns % report->slice_ns,
		.raw = sample->raw,
	};
	candidate = (struct pd_candidate){ record, record->event, &brief, entry.comm };
	choice = select_choose(&report->select, &candidate);
	walk->failed =
		choice != PD_CHOICE_LEAVE &&
		!take_stack(walk, sample, &entry, when, choice == PD_CHOICE_TAKE && is_shown(report, &brief, when));
	return !walk->failed;
}

bool branches_walk(struct report *report, struct table *table, branch_fn *each, void *self)
{
	struct walk walk = { .report = report, .table = table, .each = each, .self = self };

	table->totals = calloc(table->event_count, sizeof(*table->totals));
	table->samples = calloc(table->event_count, sizeof(*table->samples));
	if (!table->totals || !table->samples)
		return false;
	input_again(&report->input);
	/* The profile could be read, so this can; what is odd was told then. */
	input_walk(&report->input, take_record, &walk);
	return !walk.failed;
}
