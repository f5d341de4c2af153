/* SPDX-License-Identifier: MIT */
// The table of threads after the lines of timehist, in perf's order: that of its hash table.
#include "sched/sched.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text/text.h"

enum {
	BUCKETS = 256,
	RULE = 117
};

struct totals {
	uint64_t threads, switches, run_ns;
};

static int compare_threads(const void *a, const void *b)
{
	const struct pd_sched_thread *x = *(const struct pd_sched_thread *const *)a,
				     *y = *(const struct pd_sched_thread *const *)b;
	uint32_t p = (uint32_t)x->tid % BUCKETS, q = (uint32_t)y->tid % BUCKETS;

	if (p != q)
		return p < q ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

void pd_sched_sort_threads(struct pd_sched *sched)
{
	if (sched->thread_count)
		qsort(sched->threads, sched->thread_count, sizeof(*sched->threads), compare_threads);
}

static void print_runs(struct pd_text *text, const struct pd_sched_thread *thread)
{
	const struct pd_sched_stats *stats = &thread->stats;

	pd_sched_print_time(text, thread->total_run_ns, 8);
	pd_sched_print_time(text, stats->min, 6);
	pd_text_char(text, ' ');
	pd_sched_print_time(text, (uint64_t)stats->mean, 6);
	pd_text_char(text, ' ');
	pd_sched_print_time(text, stats->max, 6);
	PD_TEXT_LITERAL(text, "  ");
	pd_text_fixed(text, (double)(float)pd_sched_stats_error(stats), 5, 2);
	PD_TEXT_LITERAL(text, "   ");
	pd_text_number(text, thread->migrations, 5);
	pd_text_char(text, '\n');
}

static void print_waits(struct pd_text *text, const struct pd_sched_thread *thread)
{
	pd_sched_print_time(text, thread->total_run_ns, 8);
	pd_sched_print_time(text, thread->total_sleep_ns, 6);
	pd_text_char(text, ' ');
	pd_sched_print_time(text, thread->total_disk_ns, 6);
	pd_text_char(text, ' ');
	pd_sched_print_time(text, thread->total_preempt_ns, 6);
	pd_text_char(text, ' ');
	pd_sched_print_time(text, thread->total_delay_ns, 6);
	pd_text_char(text, '\n');
}

static void print_thread(struct pd_sched *sched, const struct pd_sched_thread *thread, struct totals *totals)
{
	char name[PD_SCHED_NAME];
	int width = sched->name_width;

	if (!thread->stats.count)
		return;
	totals->threads++;
	totals->switches += thread->stats.count;
	totals->run_ns += thread->total_run_ns;
	pd_sched_name(sched, thread, name);
	pd_text_right(sched->text, name, (size_t)width);
	PD_TEXT_LITERAL(sched->text, "   ");
	if (thread->ppid < 0)
		pd_text_printf(sched->text, "%5d", thread->ppid);
	else
		pd_text_number(sched->text, (uint64_t)thread->ppid, 5);
	PD_TEXT_LITERAL(sched->text, "  ");
	pd_text_number(sched->text, thread->stats.count, 9);
	pd_text_char(sched->text, ' ');
	if (sched->options->state)
		print_waits(sched->text, thread);
	else
		print_runs(sched->text, thread);
}

static bool print_threads(struct pd_sched *sched, bool exited, struct totals *totals)
{
	for (size_t i = 0; i < sched->thread_count; i++) {
		const struct pd_sched_thread *thread = sched->threads[i];

		if (thread->exited == exited && !thread->gone)
			print_thread(sched, thread, totals);
		if (!pd_text_flush_large(sched->text))
			return false;
	}
	return true;
}

static void print_heading(struct pd_sched *sched)
{
	const struct pd_timehist_options *options = sched->options;
	struct pd_text *text = sched->text;
	int width = sched->name_width;

	if (options->idle)
		pd_text_printf(
			text,
			"\nIdle-time summary\n%*s  parent  sched-out    idle-time   min-idle    avg-idle    max-idle  stddev  migrations\n",
			width, "comm");
	else if (options->state)
		pd_text_printf(
			text,
			"\nWait-time summary\n%*s  parent   sched-in     run-time      sleep      iowait     preempt       delay\n",
			width, "comm");
	else
		pd_text_printf(
			text,
			"\nRuntime summary\n%*s  parent   sched-in     run-time    min-run     avg-run     max-run  stddev  migrations\n",
			width, "comm");
	pd_text_printf(text, "%*s            (count)       (msec)     (msec)      (msec)      (msec)       %s\n", width,
		       "", options->state ? "(msec)" : "%");
	for (int i = 0; i < RULE; i++)
		pd_text_char(text, '-');
	pd_text_char(text, '\n');
}

static void print_idle(struct pd_sched *sched, uint64_t span_ns, struct totals *totals)
{
	pd_text_add(sched->text, "\nIdle stats:\n");
	for (size_t cpu = 0; cpu < sched->idle_count || cpu < sched->cpus_at_first; cpu++) {
		const struct pd_sched_thread *thread = cpu < sched->idle_count ? sched->idle[cpu] : NULL;

		if ((!thread && cpu >= sched->cpus_at_first) || !pd_sched_has_cpu(sched, (uint32_t)cpu))
			continue;
		if (!thread || !thread->stats.count) {
			pd_text_printf(sched->text, "    CPU %2zu idle entire time window\n", cpu);
			continue;
		}
		totals->switches += thread->stats.count;
		pd_text_printf(sched->text, "    CPU %2zu idle for ", cpu);
		pd_sched_print_time(sched->text, thread->total_run_ns, 6);
		pd_text_printf(sched->text, " msec  (%6.2f%%)\n",
			       100.0 * (double)thread->total_run_ns / (double)span_ns);
	}
}

// perf 6.1 sums nothing up by call chains: its tables are empty.
static void print_idle_chains(struct pd_sched *sched)
{
	pd_text_add(sched->text, "\nIdle stats by callchain:\n");
	for (size_t cpu = 0; cpu < sched->idle_count || cpu < sched->cpus_at_first; cpu++) {
		const struct pd_sched_thread *thread = cpu < sched->idle_count ? sched->idle[cpu] : NULL;

		if (!thread && cpu >= sched->cpus_at_first)
			continue;
		pd_text_printf(sched->text, "  CPU %2zu:", cpu);
		pd_sched_print_time(sched->text, thread ? thread->total_run_ns : 0, 6);
		pd_text_add(sched->text,
			    " msec\n  Idle time (msec)     Count  Callchains\n"
			    "  ----------------  --------  --------------------------------------------------\n\n");
	}
}

bool pd_sched_print_summary(struct pd_sched *sched)
{
	struct totals totals = { 0 };
	struct pd_text *text = sched->text;
	uint64_t span_ns = sched->end_ns - sched->start_ns, running;

	print_heading(sched);
	pd_sched_sort_threads(sched);
	if (!print_threads(sched, false, &totals))
		return false;
	if (!totals.threads)
		pd_text_add(text, "<no still running tasks>\n");
	running = totals.threads;
	pd_text_add(text, "\nTerminated tasks:\n");
	if (!print_threads(sched, true, &totals))
		return false;
	if (running == totals.threads)
		pd_text_add(text, "<no terminated tasks>\n");
	// sums of some threads say nothing of CPUs
	if (sched->skipped && !sched->options->idle)
		return true;
	print_idle(sched, span_ns, &totals);
	if (sched->options->idle && sched->shows_chains)
		print_idle_chains(sched);
	pd_text_printf(text,
		       "\n    Total number of unique tasks: %" PRIu64 "\nTotal number of context switches: %" PRIu64
		       "\n",
		       totals.threads, totals.switches);
	pd_text_add(text, "           Total run time (msec): ");
	pd_sched_print_time(text, totals.run_ns, 2);
	pd_text_add(text, "\n    Total scheduling time (msec): ");
	pd_sched_print_time(text, span_ns, 2);
	pd_text_printf(text, " (x %u)\n", sched->max_cpu);
	return true;
}
