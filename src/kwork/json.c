/* SPDX-License-Identifier: MIT */
// Work of the kernel as JSON.
#include "kwork/kwork.h"

#include <perfdata/json.h>

#include "base/text/text.h"

static void begin_list(struct pd_kwork *kwork)
{
	if (kwork->json_begun)
		return;
	kwork->json_begun = true;
	pd_json_open(&kwork->json, NULL, '{');
	pd_json_open(&kwork->json,
		     kwork->options.mode == PD_KWORK_TIMEHIST ? "times" :
		     kwork->options.mode == PD_KWORK_TOP      ? "threads" :
								"works",
		     '[');
}

static void add_work(struct pd_json *json, const struct pd_kwork_work *work)
{
	pd_json_string(json, "kind", pd_kwork_class_name(work->of));
	pd_json_string(json, "name", work->name);
	pd_json_number(json, "id", work->id);
	pd_json_number(json, "cpu", work->cpu);
}

void pd_kwork_json_time(struct pd_kwork *kwork, const struct pd_kwork_work *work, const struct pd_kwork_open *begin,
			uint64_t end_ns)
{
	struct pd_json *json = &kwork->json;

	begin_list(kwork);
	pd_json_open(json, NULL, '{');
	add_work(json, work);
	pd_json_number(json, "begin_ns", begin->time_ns);
	pd_json_number(json, "end_ns", end_ns);
	if (begin->raised_ns)
		pd_json_number(json, "delay_ns", begin->time_ns - begin->raised_ns);
	pd_json_close(json, '}');
}

static void add_sums(struct pd_json *json, const struct pd_kwork_work *work)
{
	pd_json_open(json, NULL, '{');
	add_work(json, work);
	pd_json_number(json, "count", work->count);
	pd_json_number(json, "total_ns", work->total_ns);
	pd_json_number(json, "max_ns", work->max_ns);
	pd_json_number(json, "max_begin_ns", work->max_begin_ns);
	pd_json_number(json, "max_end_ns", work->max_end_ns);
	pd_json_close(json, '}');
}

static void add_thread(struct pd_json *json, const struct pd_kwork_work *work)
{
	pd_json_open(json, NULL, '{');
	pd_json_number(json, "tid", work->id);
	pd_json_string(json, "name", work->name);
	if (!work->id)
		pd_json_number(json, "cpu", work->cpu);
	pd_json_number(json, "runtime_ns", work->total_ns);
	pd_json_double(json, "percent", (double)work->usage / 100);
	pd_json_close(json, '}');
}

static void add_cpus(struct pd_kwork *kwork)
{
	struct pd_json *json = &kwork->json;

	pd_json_open(json, "cpus", '[');
	for (size_t i = 0; i < kwork->cpu_count && pd_text_flush_large(json->text); i++) {
		const struct pd_kwork_cpu *cpu = &kwork->cpus[i];

		pd_json_open(json, NULL, '{');
		pd_json_number(json, "cpu", cpu->cpu);
		pd_json_number(json, "total_ns", cpu->total_ns);
		pd_json_number(json, "idle_ns", cpu->idle_ns);
		pd_json_number(json, "irq_ns", cpu->irq_ns);
		pd_json_number(json, "softirq_ns", cpu->softirq_ns);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
}

static void add_skipped(struct pd_kwork *kwork)
{
	static const char *const names[PD_KWORK_STEPS] = { "raise", "entry", "exit" };
	const struct pd_kwork_left left = pd_kwork_count_left(kwork);

	pd_json_open(&kwork->json, "skipped", '{');
	for (unsigned step = 0; step < PD_KWORK_STEPS; step++)
		pd_json_number(&kwork->json, names[step], left.of[step]);
	pd_json_close(&kwork->json, '}');
}

void pd_kwork_json(struct pd_kwork *kwork)
{
	struct pd_json *json = &kwork->json;
	bool top = kwork->options.mode == PD_KWORK_TOP;

	begin_list(kwork);
	for (size_t i = 0;
	     i < kwork->count && kwork->options.mode != PD_KWORK_TIMEHIST && pd_text_flush_large(json->text); i++)
		if (top && kwork->works[i]->of == PD_KWORK_SCHED && kwork->works[i]->total_ns)
			add_thread(json, kwork->works[i]);
		else if (!top && kwork->works[i]->count)
			add_sums(json, kwork->works[i]);
	pd_json_close(json, ']');
	if (top)
		add_cpus(kwork);
	pd_json_number(json, "span_ns", kwork->last_ns - kwork->first_ns);
	add_skipped(kwork);
	pd_json_number(json, "lost", kwork->pairs.lost);
	pd_json_close(json, '}');
	pd_text_char(json->text, '\n');
}
