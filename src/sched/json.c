/* SPDX-License-Identifier: MIT */
// What timehist prints as JSON: whatever columns were asked for, each event has all that is known of it.
#include "sched/sched.h"

#include "base/text/text.h"

static void add_signed(struct pd_json *json, const char *name, int64_t value)
{
	pd_json_name(json, name);
	pd_text_s64(json->text, value);
}

void pd_sched_json_thread(struct pd_json *json, const char *name, const struct pd_sched_thread *thread)
{
	pd_json_open(json, name, '{');
	if (thread->pid != -1)
		add_signed(json, "pid", thread->pid);
	add_signed(json, "tid", thread->tid);
	pd_json_string(json, "comm", thread->comm);
	pd_json_close(json, '}');
}

static void begin_events(struct pd_sched *sched)
{
	pd_json_open(&sched->json, NULL, '{');
	pd_json_open(&sched->json, "events", '[');
}

static struct pd_json *begin_event(struct pd_sched *sched, const char *what, const struct pd_sched_sample *sample)
{
	struct pd_json *json = &sched->json;

	pd_json_open(json, NULL, '{');
	pd_json_string(json, "event", what);
	pd_json_number(json, "time_ns", sample->time_ns);
	pd_json_number(json, "cpu", sample->cpu);
	return json;
}

// A function that is not known is null.
static void add_chain(struct pd_sched *sched, struct pd_json *json, const struct pd_sched_sample *sample)
{
	struct pd_chain_walk walk = pd_sched_walk(sched, sample);
	struct pd_place place;

	pd_json_open(json, "call_chain", '[');
	while (pd_sched_next_frame(sched, sample, &walk, &place))
		pd_json_string(json, NULL, place.function ? place.function->name : NULL);
	pd_json_close(json, ']');
}

static void add_switch(struct pd_sched *sched, const struct pd_sched_event *event, const struct pd_sched_sample *sample,
		       const struct pd_sched_thread *thread, int64_t state)
{
	struct pd_json *json = begin_event(sched, "switch", sample);
	char name[PD_SCHED_NAME], code[] = { pd_sched_state(thread, state), 0 };
	uint64_t next = 0, prio = 0;

	pd_sched_json_thread(json, "thread", thread);
	pd_json_number(json, "wait_ns", thread->sleep_ns + thread->disk_ns + thread->preempt_ns);
	pd_json_number(json, "delay_ns", thread->delay_ns);
	pd_json_number(json, "run_ns", thread->run_ns);
	if (sched->options->pre_migrations)
		pd_json_number(json, "pre_migration_ns", thread->pre_migration_ns);
	if (sched->options->show_prio && pd_raw_number_read(sample->raw, &event->prev_prio, &prio))
		add_signed(json, "prio", (int32_t)prio);
	pd_json_string(json, "state", code);
	pd_raw_number_read(sample->raw, &event->next_pid, &next);
	pd_sched_next_name(event, sample, name);
	pd_json_open(json, "next", '{');
	add_signed(json, "tid", (int32_t)next);
	pd_json_string(json, "comm", name);
	pd_json_close(json, '}');
	if (sched->shows_chains && thread->tid)
		add_chain(sched, json, sample);
	pd_json_close(json, '}');
}

static void add_wakeup(struct pd_sched *sched, const struct pd_sched_sample *sample,
		       const struct pd_sched_thread *waker, const struct pd_sched_thread *woken)
{
	struct pd_json *json = begin_event(sched, "wakeup", sample);

	pd_sched_json_thread(json, "thread", woken);
	pd_sched_json_thread(json, "by", waker);
	pd_json_close(json, '}');
}

static void add_migration(struct pd_sched *sched, const struct pd_sched_event *event,
			  const struct pd_sched_sample *sample, const struct pd_sched_thread *by,
			  const struct pd_sched_thread *moved)
{
	struct pd_json *json = begin_event(sched, "migration", sample);
	uint64_t from = 0, to = 0;

	pd_raw_number_read(sample->raw, &event->from_cpu, &from);
	pd_raw_number_read(sample->raw, &event->to_cpu, &to);
	pd_sched_json_thread(json, "thread", moved);
	pd_sched_json_thread(json, "by", by);
	add_signed(json, "from_cpu", (int32_t)from);
	add_signed(json, "to_cpu", (int32_t)to);
	pd_json_close(json, '}');
}

// ---- the table ----

static void add_thread(struct pd_json *json, const struct pd_sched_thread *thread)
{
	const struct pd_sched_stats *stats = &thread->stats;

	pd_json_open(json, NULL, '{');
	pd_sched_json_thread(json, "thread", thread);
	add_signed(json, "parent", thread->ppid);
	pd_json_bool(json, "exited", thread->exited);
	pd_json_number(json, "switches", stats->count);
	pd_json_number(json, "run_ns", thread->total_run_ns);
	pd_json_number(json, "min_ns", stats->min);
	pd_json_number(json, "mean_ns", (uint64_t)stats->mean);
	pd_json_number(json, "max_ns", stats->max);
	pd_json_double(json, "error_percent", pd_sched_stats_error(stats));
	pd_json_number(json, "migrations", thread->migrations);
	pd_json_number(json, "sleep_ns", thread->total_sleep_ns);
	pd_json_number(json, "iowait_ns", thread->total_disk_ns);
	pd_json_number(json, "preempt_ns", thread->total_preempt_ns);
	pd_json_number(json, "delay_ns", thread->total_delay_ns);
	pd_json_close(json, '}');
}

static bool add_threads(struct pd_sched *sched)
{
	bool done = true;

	pd_sched_sort_threads(sched);
	pd_json_open(&sched->json, "threads", '[');
	for (size_t i = 0; done && i < sched->thread_count; i++) {
		if (!sched->threads[i]->gone && sched->threads[i]->stats.count)
			add_thread(&sched->json, sched->threads[i]);
		done = pd_text_flush_large(sched->text);
	}
	pd_json_close(&sched->json, ']');
	return done;
}

static void add_idle(struct pd_sched *sched)
{
	struct pd_json *json = &sched->json;
	uint64_t span_ns = sched->end_ns - sched->start_ns;

	pd_json_open(json, "idle", '[');
	for (size_t cpu = 0; cpu < sched->idle_count || cpu < sched->cpus_at_first; cpu++) {
		const struct pd_sched_thread *thread = cpu < sched->idle_count ? sched->idle[cpu] : NULL;

		if ((!thread && cpu >= sched->cpus_at_first) || !pd_sched_has_cpu(sched, (uint32_t)cpu))
			continue;
		pd_json_open(json, NULL, '{');
		pd_json_number(json, "cpu", cpu);
		// one that never switched was idle all the time
		pd_json_number(json, "idle_ns", thread && thread->stats.count ? thread->total_run_ns : span_ns);
		pd_json_number(json, "switches", thread ? thread->stats.count : 0);
		pd_json_close(json, '}');
	}
	pd_json_close(json, ']');
}

static bool end_events(struct pd_sched *sched)
{
	struct pd_json *json = &sched->json;
	bool done = true;

	if (sched->options->summary_only)
		pd_json_open(json, NULL, '{');
	else
		pd_json_close(json, ']');
	if (sched->options->summary || sched->options->summary_only) {
		done = add_threads(sched);
		add_idle(sched);
		pd_json_number(json, "span_ns", sched->end_ns - sched->start_ns);
		pd_json_number(json, "cpus", sched->max_cpu);
	}
	pd_json_close(json, '}');
	pd_text_char(sched->text, '\n');
	return done;
}

const struct pd_sched_form pd_sched_as_json = {
	.begin = begin_events,
	.add_switch = add_switch,
	.add_wakeup = add_wakeup,
	.add_migration = add_migration,
	.end = end_events,
};
