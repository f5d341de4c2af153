/* SPDX-License-Identifier: MIT */
// The lines of timehist, with the columns and spaces of perf.
#include "sched/sched.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"

static const char dots[] =
	"----------------------------------------------------------------------------------------------------------"
	"------------------------------------------------------------------------------------------------------";

enum {
	DOTS = sizeof(dots) - 1
};

static int at_most_dots(uint32_t width)
{
	return (int)(width < DOTS ? width : DOTS);
}

void pd_sched_print_time(struct pd_text *text, uint64_t time_ns, int width)
{
	uint64_t us = time_ns / 1000;

	pd_text_number(text, us / 1000, (unsigned)width);
	pd_text_char(text, '.');
	pd_text_digits(text, us % 1000, 3);
	pd_text_char(text, ' ');
}

static void print_when(struct pd_sched *sched, uint64_t time_ns, uint32_t cpu)
{
	pd_text_number(sched->text, time_ns / 1000000000, 8);
	pd_text_char(sched->text, '.');
	pd_text_digits(sched->text, time_ns % 1000000000 / 1000, 6);
	PD_TEXT_LITERAL(sched->text, " [");
	pd_text_digits(sched->text, cpu, 4);
	PD_TEXT_LITERAL(sched->text, "] ");
}

// A column for each CPU, with a character in that of one.
static void print_cpus(struct pd_sched *sched, uint32_t cpu, char mark)
{
	for (uint32_t i = 0; i <= sched->max_cpu; i++)
		pd_text_char(sched->text, i == cpu ? mark : ' ');
}

// A line of the header: what stands above the columns of a switch.
static void print_headings(struct pd_sched *sched, const char *name, const char *prio, const char *const times[4],
			   const char *state)
{
	const struct pd_timehist_options *options = sched->options;
	struct pd_text *text = sched->text;

	pd_text_printf(text, " %-*s", sched->name_width, name);
	if (options->show_prio)
		pd_text_printf(text, "  %-8s", prio);
	for (size_t i = 0; i < 3U + options->pre_migrations; i++)
		pd_text_printf(text, "  %9s", times[i]);
	pd_text_printf(text, "%s\n", options->state ? state : "");
}

static void print_header(struct pd_sched *sched)
{
	static const char *const above[4] = { "wait time", "sch delay", "run time", "pre-mig time" },
				 *const below[4] = { "(msec)", "(msec)", "(msec)", "(msec)" },
				 *const rules[4] = { "---------", "---------", "---------", "---------" };
	const struct pd_timehist_options *options = sched->options;
	struct pd_text *text = sched->text;
	uint32_t cpus = sched->max_cpu + 1;
	char rule[DOTS + 1];

	pd_text_printf(text, "%15s %6s ", "time", "cpu");
	if (options->cpu_visual) {
		pd_text_char(text, ' ');
		for (uint32_t i = 0; i < cpus; i++)
			pd_text_printf(text, "%x", i % 16);
		pd_text_char(text, ' ');
	}
	print_headings(sched, "task name", "prio", above, "  state");
	pd_text_printf(text, "%15s %-6s ", "", "");
	if (options->cpu_visual)
		pd_text_printf(text, " %*s ", (int)cpus, "");
	print_headings(sched, "[tid/pid]", "", below, "       ");
	pd_text_printf(text, "%.15s %.6s ", dots, dots);
	if (options->cpu_visual)
		pd_text_printf(text, " %.*s ", at_most_dots(cpus), dots);
	snprintf(rule, sizeof(rule), "%.*s", at_most_dots((uint32_t)sched->name_width), dots);
	print_headings(sched, rule, "--------", rules, "  -----");
}

// The character of the lowest bit; perf's are those of kernels before 4.14.
char pd_sched_state(const struct pd_sched_thread *thread, int64_t state)
{
	static const char codes[] = "RSDTtZXxKWP";
	int bit = __builtin_ffs((int)state);

	if (!thread->tid)
		return 'I';
	return bit < (int)sizeof(codes) - 1 ? codes[bit] : '?';
}

void pd_sched_next_name(const struct pd_sched_event *event, const struct pd_sched_sample *sample,
			char name[PD_SCHED_NAME])
{
	const struct pd_raw_number *comm = &event->next_comm;
	const char *recorded;
	size_t left;

	name[0] = 0;
	if (!comm->size || comm->offset >= sample->raw.size)
		return;
	left = sample->raw.size - comm->offset;
	recorded = (const char *)sample->raw.data + comm->offset;
	pd_sched_escape(name, PD_SCHED_NAME, recorded, strnlen(recorded, left < comm->size ? left : comm->size));
}

static void print_next(struct pd_sched *sched, const struct pd_sched_event *event, const struct pd_sched_sample *sample)
{
	enum {
		NEXT_MOST = 29 // as perf, which has room for so many
	};
	char next[PD_SCHED_NAME + 24], name[PD_SCHED_NAME];
	uint64_t pid = 0;

	pd_sched_next_name(event, sample, name);
	pd_raw_number_read(sample->raw, &event->next_pid, &pid);
	snprintf(next, sizeof(next), "next: %s[%d]", name, (int32_t)pid);
	pd_text_printf(sched->text, " %-*.*s", sched->name_width, NEXT_MOST, next);
}

// What it was switched in and out with.
static void print_prio(struct pd_text *text, const struct pd_sched_event *event, const struct pd_sched_sample *sample,
		       const struct pd_sched_thread *thread)
{
	uint64_t recorded = 0;
	char prio[32];

	pd_raw_number_read(sample->raw, &event->prev_prio, &recorded);
	if (thread->has_prio && thread->prio != (int32_t)recorded)
		snprintf(prio, sizeof(prio), "%d->%d", thread->prio, (int32_t)recorded);
	else
		snprintf(prio, sizeof(prio), "%d", (int32_t)recorded);
	pd_text_printf(text, " %-8s ", prio);
}

static void print_switch(struct pd_sched *sched, const struct pd_sched_event *event,
			 const struct pd_sched_sample *sample, const struct pd_sched_thread *thread, int64_t state)
{
	const struct pd_timehist_options *options = sched->options;
	struct pd_text *text = sched->text;
	char name[PD_SCHED_NAME];

	print_when(sched, sample->time_ns, sample->cpu);
	if (options->cpu_visual) {
		pd_text_char(text, ' ');
		print_cpus(sched, sample->cpu, thread->tid ? 's' : 'i');
		pd_text_char(text, ' ');
	}
	pd_sched_name(sched, thread, name);
	pd_text_char(text, ' ');
	pd_text_left(text, name, (size_t)sched->name_width);
	pd_text_char(text, ' ');
	if (options->show_prio)
		print_prio(text, event, sample, thread);
	pd_sched_print_time(text, thread->sleep_ns + thread->disk_ns + thread->preempt_ns, 6);
	pd_sched_print_time(text, thread->delay_ns, 6);
	pd_sched_print_time(text, thread->run_ns, 6);
	if (options->pre_migrations)
		pd_sched_print_time(text, thread->pre_migration_ns, 6);
	if (options->state)
		pd_text_printf(text, " %5c ", pd_sched_state(thread, state));
	if (options->next)
		print_next(sched, event, sample);
	else if (options->wakeups)
		pd_text_printf(text, "  %-*s", sched->name_width, "");
	if (thread->tid)
		pd_sched_print_chain(sched, sample);
	pd_text_char(text, '\n');
}

static void print_wakeup(struct pd_sched *sched, const struct pd_sched_sample *sample,
			 const struct pd_sched_thread *waker, const struct pd_sched_thread *woken)
{
	char name[PD_SCHED_NAME];

	print_when(sched, sample->time_ns, sample->cpu);
	if (sched->options->cpu_visual)
		pd_text_printf(sched->text, " %*s ", (int)sched->max_cpu + 1, "");
	pd_sched_name(sched, waker, name);
	pd_text_printf(sched->text, " %-*s   %9s  %9s  %9s ", sched->name_width, name, "", "", "");
	pd_sched_name(sched, woken, name);
	pd_text_printf(sched->text, "awakened: %s\n", name);
}

static void print_migration(struct pd_sched *sched, const struct pd_sched_event *event,
			    const struct pd_sched_sample *sample, const struct pd_sched_thread *by,
			    const struct pd_sched_thread *moved)
{
	uint64_t from = 0, to = 0;
	char name[PD_SCHED_NAME];

	pd_raw_number_read(sample->raw, &event->from_cpu, &from);
	pd_raw_number_read(sample->raw, &event->to_cpu, &to);
	print_when(sched, sample->time_ns, sample->cpu);
	if (sched->options->cpu_visual) {
		pd_text_add(sched->text, "  ");
		print_cpus(sched, sample->cpu, 'm');
		pd_text_add(sched->text, "  ");
	}
	pd_sched_name(sched, by, name);
	pd_text_printf(sched->text, " %-*s   %9s  %9s  %9s ", sched->name_width, name, "", "", "");
	pd_sched_name(sched, moved, name);
	pd_text_printf(sched->text, "migrated: %s cpu %d => %d\n", name, (int)from, (int)to);
}

const struct pd_sched_form pd_sched_as_text = {
	.begin = print_header,
	.add_switch = print_switch,
	.add_wakeup = print_wakeup,
	.add_migration = print_migration,
};
