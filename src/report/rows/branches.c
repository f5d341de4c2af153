/* SPDX-License-Identifier: MIT */
/*
 * The view of branches: what is added up are the entries of branch stacks in place of samples, each with a period of 1.
 * The profile says who ran and what was mapped; the stacks are read here, in a pass of their own.
 */
#include "report/report.h"

struct branch_pass {
	struct pd_report *report;
	struct table *table;
	branch_fn *each;
	void *self;
	size_t running_hint;
	bool failed;
};

bool pd_branches_recorded(struct pd_file *file)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		if (pd_file_event(file, i)->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_BRANCH_STACK))
			return true;
	return false;
}

/* As perf: branches that were asked for, not those that the recorder makes call chains of. */
bool pd_branches_are_default(struct pd_file *file)
{
	for (size_t i = 0; i < pd_file_event_count(file); i++)
		if (pd_file_event(file, i)->attr->sample_type & PD_MASK(PD_SAMPLE_TYPE_STACK_USER))
			return false;
	return pd_branches_recorded(file) && pd_file_branch_stack(file);
}

/* perf has the letter of a hypervisor where nothing is mapped. */
static struct pd_frame end_at(const struct branch_pass *pass, uint32_t pid, struct pd_moment when, uint64_t addr)
{
	struct pd_frame end = { .cpumode = PD_CPUMODE_HYPERVISOR, .pid = pid, .when = when };

	end.place = pd_symbols_place(pass->report->symbols, pid, PD_CPUMODE_UNKNOWN, when, addr);
	if (end.place.dso)
		end.cpumode = end.place.dso->kernel ? PD_CPUMODE_KERNEL : PD_CPUMODE_USER;
	return end;
}

static bool take_branch(struct branch_pass *pass, struct pd_profile_entry *entry, const struct taken_branch *branch,
			bool is_shown)
{
	struct pd_report *report = pass->report;
	size_t event = entry->event->index - pass->table->head.first_event;
	struct key_context context = { .entry = entry, .cpumode = branch->to.cpumode, .branch = branch };

	if (report->options.hide_unresolved && !(branch->from.place.function && branch->to.place.function))
		return true;
	if (is_shown || !report->options.relative) {
		pass->table->totals[event]++;
		pass->table->samples[event]++;
		pass->table->latencies[event] += entry_latency(entry);
	}
	return !is_shown || pass->each(pass->self, &context);
}

static bool is_shown(const struct pd_report *report, const struct pd_brief *brief, struct pd_moment when)
{
	struct pd_place place;

	if (brief->cpumode == PD_CPUMODE_GUEST_KERNEL || brief->cpumode == PD_CPUMODE_GUEST_USER)
		return false;
	if (!report->options.hide_unresolved && !report->options.has_place)
		return true;
	place = pd_symbols_place(report->symbols, brief->pid, brief->cpumode, when, brief->ip);
	return (!report->options.hide_unresolved || place.function) &&
	       (!report->options.has_place || report->options.has_place(report->options.filter, &place));
}

static bool take_stack(struct branch_pass *pass, const struct pd_sample *sample, struct pd_profile_entry *entry,
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
			.from = end_at(pass, entry->pid, when, from->from),
			.to = end_at(pass, entry->pid, when, from->to),
			.flags = from->flags,
		};

		if (!take_branch(pass, entry, &branch, shown))
			return false;
	}
	return true;
}

static bool in_table(const struct table *table, const struct pd_event *event)
{
	return event && event->index >= table->head.first_event &&
	       event->index < table->head.first_event + table->head.event_count;
}

static bool take_record(struct branch_pass *pass, const struct pd_record *record)
{
	struct pd_report *report = pass->report;
	struct pd_moment when = pd_record_moment(record);
	const struct pd_sample *sample;
	char unknown[PD_THREAD_NAME_BYTES];
	struct pd_profile_entry entry;
	struct pd_candidate candidate;
	enum pd_choice choice;
	struct pd_brief brief;

	/* What is damaged the profile has counted. */
	if (!in_table(pass->table, record->event) || !pd_record_brief(record, &brief) ||
	    !(sample = pd_as_sample(record)) || !sample->branch_stack)
		return true;
	entry = (struct pd_profile_entry){
		.event = record->event,
		.comm = pd_state_comm(pd_profile_state(report->profile), brief.tid, when, unknown),
		.pid = brief.pid,
		.tid = brief.tid,
		.cpu = brief.cpu,
		.cgroup = sample->cgroup,
		.samples = 1,
		.period = 1,
		.slice_ns = brief.time_ns == PD_NO_TIME ? 0 : brief.time_ns - brief.time_ns % report->options.slice_ns,
		.raw = sample->raw,
		.parallelism = pd_profile_parallelism(report->profile, record, &pass->running_hint),
	};
	candidate = (struct pd_candidate){ record, record->event, &brief, entry.comm, entry.parallelism };
	choice = report->options.choose ? report->options.choose(report->options.filter, &candidate) : PD_CHOICE_TAKE;
	pass->failed =
		choice != PD_CHOICE_LEAVE &&
		!take_stack(pass, sample, &entry, when, choice == PD_CHOICE_TAKE && is_shown(report, &brief, when));
	return !pass->failed;
}

/* The profile could be read, so this can; what is odd was reported then. */
static enum pd_status read_records(struct branch_pass *pass, struct pd_error *error)
{
	enum {
		RECORDS_PER_STEP = 16384
	};
	const struct pd_report_options *options = &pass->report->options;
	struct pd_stream_options how = { .size = sizeof(how) };
	const struct pd_record *record;
	struct pd_stream *stream = NULL;
	enum pd_status status = pd_stream_open(pass->report->file, &how, &stream, error);
	uint64_t done, total;

	for (uint64_t count = 1; status == PD_OK; count++) {
		status = pd_stream_next(stream, &record, error);
		if (status != PD_OK || !take_record(pass, record))
			break;
		if (options->progress && count % RECORDS_PER_STEP == 0) {
			pd_stream_progress(stream, &done, &total);
			options->progress(options->self, done, total);
		}
	}
	pd_stream_close(stream);
	return status;
}

bool pd_branches_read(struct pd_report *report, struct table *table, branch_fn *each, void *self)
{
	struct branch_pass pass = { .report = report, .table = table, .each = each, .self = self };
	struct pd_error error;

	if (!pd_table_begin_totals(table))
		return false;
	if (read_records(&pass, &error) < 0 && report->options.warn)
		report->options.warn(report->options.self, error.message);
	return !pass.failed;
}
