/* SPDX-License-Identifier: MIT */
// Tables of work, and a line for each time.
#include "kwork/kwork.h"

#include <inttypes.h>
#include <stdio.h>

enum {
	NAME = 30,          // what perf has for a name, with its NUL
	SECONDS_WIDTH = 10, // before the point
	SECOND = 1000000000,
	BAR = 30 // characters of a CPU that never rests
};

static const char line[] =
	" ---------------------------------------------------------------------------------------------------------"
	"-----------------------\n";

static void print_seconds(struct pd_text *text, uint64_t ns)
{
	pd_text_printf(text, "%*" PRIu64 ".%06" PRIu64, SECONDS_WIDTH, ns / SECOND, ns % SECOND / 1000);
}

static void name_work(const struct pd_kwork_work *work, char name[NAME])
{
	if (work->of == PD_KWORK_WORKQUEUE && work->name)
		snprintf(name, NAME, "(w)%s", work->name);
	else if (work->of == PD_KWORK_WORKQUEUE)
		snprintf(name, NAME, "(w)0x%" PRIx64, work->id);
	else
		snprintf(name, NAME, "%s%s:%" PRIu64, work->of == PD_KWORK_SOFTIRQ ? "(s)" : "",
			 work->name ? work->name : "(null)", work->id);
}

void pd_kwork_print_head(struct pd_text *text)
{
	pd_text_add(
		text,
		" Runtime start      Runtime end        Cpu     Kwork name                      Runtime     Delaytime \n"
		"                                               (TYPE)NAME:NUM                  (msec)      (msec)    \n"
		" -----------------  -----------------  ------  ------------------------------  ----------  ----------\n");
}

void pd_kwork_print_time(struct pd_kwork *kwork, const struct pd_kwork_work *work, const struct pd_kwork_open *begin,
			 uint64_t end_ns)
{
	struct pd_text *text = kwork->pairs.sched.text;
	char name[NAME];

	name_work(work, name);
	pd_text_add(text, " ");
	print_seconds(text, begin->time_ns);
	pd_text_add(text, "  ");
	print_seconds(text, end_ns);
	pd_text_printf(text, "  [%04d]  %-30s  %10.3f ", (int)work->cpu, name, (double)(end_ns - begin->time_ns) / 1e6);
	if (begin->raised_ns)
		pd_text_printf(text, " %10.3f \n", (double)(begin->time_ns - begin->raised_ns) / 1e6);
	else
		pd_text_printf(text, " %10s \n", "");
}

static void print_work(struct pd_kwork *kwork, const struct pd_kwork_work *work)
{
	struct pd_text *text = kwork->pairs.sched.text;
	double total = (double)work->total_ns;
	char name[NAME];

	if (kwork->options.mode == PD_KWORK_LATENCY)
		total /= (double)work->count;
	name_work(work, name);
	pd_text_printf(text, "  %-30s | %04d | %10.3f ms | %9" PRIu64 " | %10.3f ms | ", name, (int)work->cpu,
		       total / 1e6, work->count, (double)work->max_ns / 1e6);
	print_seconds(text, work->max_begin_ns);
	pd_text_add(text, " s | ");
	print_seconds(text, work->max_end_ns);
	pd_text_add(text, " s |\n");
}

static void print_summary(struct pd_kwork *kwork, uint64_t count, uint64_t total_ns)
{
	uint64_t span_ns = kwork->last_ns - kwork->first_ns;

	pd_text_printf(kwork->pairs.sched.text,
		       "  Total count            : %9" PRIu64
		       "\n  Total runtime   (msec) : %9.3f (%.3f%% load average)\n  Total time span (msec) : %9.3f\n%s",
		       count, (double)total_ns / 1e6, span_ns ? (double)total_ns / (double)span_ns : 0,
		       (double)span_ns / 1e6, line);
}

// Events whose partner is missing.
struct pd_kwork_left pd_kwork_count_left(const struct pd_kwork *kwork)
{
	struct pd_kwork_left left = { 0 };

	for (size_t i = 0; i < kwork->count; i++)
		for (unsigned step = 0; step < PD_KWORK_STEPS; step++)
			left.of[step] += kwork->works[i]->left[step] +
					 (step < PD_KWORK_EXIT ? kwork->works[i]->open[step].count : 0);
	for (unsigned step = 0; step < PD_KWORK_STEPS; step++)
		left.all += left.of[step];
	return left;
}

static void print_left(struct pd_kwork *kwork)
{
	const struct pd_kwork_left left = pd_kwork_count_left(kwork);

	if (left.all && kwork->pairs.records)
		pd_text_printf(kwork->pairs.sched.text,
			       "  INFO: %.3f%% skipped events (%" PRIu64 " including %" PRIu64 " raise, %" PRIu64
			       " entry, %" PRIu64 " exit)\n",
			       (double)left.all / (double)kwork->pairs.records * 100.0, left.all, left.of[0],
			       left.of[1], left.of[2]);
}

static void print_lost(struct pd_kwork *kwork)
{
	const struct pd_pairs *pairs = &kwork->pairs;

	if (pairs->lost && pairs->records)
		pd_text_printf(kwork->pairs.sched.text,
			       "  INFO: %.3f%% lost events (%" PRIu64 " out of %" PRIu64 ", in %" PRIu64 " chunks)\n",
			       (double)pairs->lost / (double)pairs->records * 100.0, pairs->lost, pairs->records,
			       pairs->lost_chunks);
}

void pd_kwork_print(struct pd_kwork *kwork)
{
	struct pd_text *text = kwork->pairs.sched.text;
	bool latency = kwork->options.mode == PD_KWORK_LATENCY;
	uint64_t count = 0, total_ns = 0;

	pd_text_printf(text, "\n  %-30s | %-4s | %-13s | %-9s | %-13s | %-19s | %-19s |\n%s", "Kwork Name", "Cpu",
		       latency ? "Avg delay" : "Total Runtime", "Count", latency ? "Max delay" : "Max runtime",
		       latency ? "Max delay start" : "Max runtime start", latency ? "Max delay end" : "Max runtime end",
		       line);
	for (size_t i = 0; i < kwork->count && pd_text_flush_large(text); i++) {
		const struct pd_kwork_work *work = kwork->works[i];

		count += work->count;
		total_ns += work->total_ns;
		if (work->count)
			print_work(kwork, work);
	}
	pd_text_add(text, line);
	if (kwork->options.summary && !latency)
		print_summary(kwork, count, total_ns);
	print_left(kwork);
	print_lost(kwork);
	pd_text_add(text, "\n");
}

// ---- time of CPUs ----

static double percent_of(uint64_t ns, uint64_t total_ns)
{
	return total_ns ? (double)ns / (double)total_ns * 100 : 0;
}

static void print_cpus(struct pd_kwork *kwork)
{
	static const char full[BAR + 1] = "||||||||||||||||||||||||||||||";
	struct pd_text *text = kwork->pairs.sched.text;
	struct pd_kwork_cpu all = { 0 };

	for (size_t i = 0; i < kwork->cpu_count; i++) {
		all.total_ns += kwork->cpus[i].total_ns;
		all.idle_ns += kwork->cpus[i].idle_ns;
		all.irq_ns += kwork->cpus[i].irq_ns;
		all.softirq_ns += kwork->cpus[i].softirq_ns;
	}
	pd_text_printf(text, "\nTotal  : %10.3f ms, %zu cpus\n%%Cpu(s): %6.2f%% id, %6.2f%% hi, %6.2f%% si\n",
		       (double)all.total_ns / 1e6, kwork->cpu_count, percent_of(all.idle_ns, all.total_ns),
		       percent_of(all.irq_ns, all.total_ns), percent_of(all.softirq_ns, all.total_ns));
	for (size_t i = 0; i < kwork->cpu_count && pd_text_flush_large(text); i++) {
		const struct pd_kwork_cpu *cpu = &kwork->cpus[i];
		uint64_t share = pd_kwork_share(cpu->load_ns, cpu->total_ns);
		int width = (int)(share * BAR / 10000);

		pd_text_printf(text, "%%Cpu%-4d[%.*s%*s %6.2f%%]\n", (int)cpu->cpu, width, full, BAR - width, "",
			       (double)share / 100);
	}
}

void pd_kwork_print_top(struct pd_kwork *kwork)
{
	struct pd_text *text = kwork->pairs.sched.text;

	print_cpus(kwork);
	pd_text_printf(text, "\n  %7s %7s %17s  %-16s\n  %.52s\n", "PID", "%CPU", "RUNTIME", "COMMAND", line + 1);
	for (size_t i = 0; i < kwork->count && pd_text_flush_large(text); i++) {
		const struct pd_kwork_work *work = kwork->works[i];

		if (work->of == PD_KWORK_SCHED && work->total_ns)
			pd_text_printf(text, "  %7" PRId64 " %7.2f %14.3f ms  %-16s\n", (int64_t)work->id,
				       (double)work->usage / 100, (double)work->total_ns / 1e6, work->name);
	}
	print_lost(kwork);
	pd_text_add(text, "\n");
}
