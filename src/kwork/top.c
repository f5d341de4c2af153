/* SPDX-License-Identifier: MIT */
/*
 * What of the time of each CPU its threads had. A thread has what is between two switches, without the interrupts and
 * softirqs that came in between: these are known by the thread that they interrupted. A thread of several CPUs is one row.
 */
#include "kwork/kwork.h"

#include <stdlib.h>
#include <string.h>

enum {
	WHOLE = 10000
};

uint64_t pd_kwork_share(uint64_t a, uint64_t b)
{
	if (a >= b)
		return b ? WHOLE : 0;
	return a <= UINT64_MAX / WHOLE ? a * WHOLE / b : a / (b / WHOLE);
}

// ---- events ----

static enum pd_status begin_work(struct pd_kwork *kwork, struct pd_kwork_work *work, uint64_t time_ns,
				 struct pd_error *error)
{
	// what began before did not end
	pd_kwork_drop(kwork, work, PD_KWORK_ENTRY);
	return pd_kwork_push(kwork, work, PD_KWORK_ENTRY, (struct pd_kwork_open){ .time_ns = time_ns }, error);
}

static void end_work(struct pd_kwork *kwork, struct pd_kwork_work *work, uint64_t time_ns)
{
	struct pd_kwork_open open;

	if (pd_kwork_pop(kwork, work, PD_KWORK_ENTRY, &open))
		pd_kwork_add_time(work, open.time_ns, time_ns);
	else
		work->left[PD_KWORK_EXIT]++;
}

// A thread begins or ends; comm: the field of its name, or NULL.
static enum pd_status take_step(struct pd_kwork *kwork, const struct pd_tracepoint_sample *sample,
				enum pd_kwork_class of, uint64_t id, const char *comm, bool begins,
				struct pd_error *error)
{
	uint64_t time_ns = sample->brief.time_ns;
	struct pd_kwork_work *work = pd_kwork_find(kwork, of, id, sample->brief.cpu, error);

	if (!work)
		return error->status;
	if (comm && !work->name) {
		struct pd_bytes name = pd_tracepoint_string(&kwork->pairs.points, sample, comm);

		work->name = pd_pairs_name(&kwork->pairs, (const char *)name.data, name.size);
		if (!work->name)
			return pd_fail_memory(error);
	}
	if (!pd_kwork_is_chosen(kwork, work, time_ns))
		return PD_OK;
	if (begins)
		return begin_work(kwork, work, time_ns, error);
	end_work(kwork, work, time_ns);
	return PD_OK;
}

enum pd_status pd_kwork_take_top(struct pd_kwork *kwork, const struct pd_tracepoint_sample *sample,
				 struct pd_error *error)
{
	enum pd_kwork_class of = (enum pd_kwork_class)(sample->which / PD_KWORK_STEPS);
	enum pd_kwork_step step = (enum pd_kwork_step)(sample->which % PD_KWORK_STEPS);
	enum pd_status status;

	if (!kwork->order[of] || of == PD_KWORK_WORKQUEUE || step == PD_KWORK_RAISE)
		return PD_OK;
	if (of != PD_KWORK_SCHED)
		return take_step(kwork, sample, of, sample->values[PD_KWORK_COMMON_PID], NULL, step == PD_KWORK_ENTRY,
				 error);
	status = take_step(kwork, sample, of, sample->values[PD_KWORK_ID], "prev_comm", false, error);
	return status < 0 ? status :
			    take_step(kwork, sample, of, sample->values[PD_KWORK_OTHER], "next_comm", true, error);
}

// ---- sums ----

static struct pd_kwork_cpu *find_cpu(struct pd_kwork *kwork, uint32_t cpu)
{
	uint64_t place = pd_u64_map_find(&kwork->cpu_map, cpu);

	if (place)
		return &kwork->cpus[place - 1];
	if (!PD_GROW(kwork->cpus, kwork->cpu_capacity, kwork->cpu_count + 1) ||
	    !pd_u64_map_add(&kwork->cpu_map, cpu, kwork->cpu_count + 1))
		return NULL;
	kwork->cpus[kwork->cpu_count] = (struct pd_kwork_cpu){ .cpu = cpu };
	return &kwork->cpus[kwork->cpu_count++];
}

static bool add_totals(struct pd_kwork *kwork)
{
	for (size_t i = 0; i < kwork->count; i++) {
		const struct pd_kwork_work *work = kwork->works[i];
		struct pd_kwork_cpu *cpu;

		if (work->of != PD_KWORK_SCHED || !work->total_ns)
			continue;
		cpu = find_cpu(kwork, work->cpu);
		if (!cpu)
			return false;
		cpu->total_ns += work->total_ns;
	}
	return true;
}

// What interrupted a thread is not its own time.
static void take_off(const struct pd_kwork *kwork, struct pd_kwork_work *work, enum pd_kwork_class of, uint64_t *sum)
{
	const struct pd_kwork_work *other = pd_kwork_known(kwork, of, work->id, work->cpu);

	if (!other || work->total_ns <= other->total_ns)
		return;
	work->total_ns -= other->total_ns;
	*sum += other->total_ns;
}

static void add_usage(struct pd_kwork *kwork)
{
	const char *wanted = kwork->options.name;

	for (size_t i = 0; i < kwork->count; i++) {
		struct pd_kwork_work *work = kwork->works[i];
		struct pd_kwork_cpu *cpu;

		if (work->of != PD_KWORK_SCHED || !work->total_ns)
			continue;
		cpu = find_cpu(kwork, work->cpu);
		take_off(kwork, work, PD_KWORK_IRQ, &cpu->irq_ns);
		take_off(kwork, work, PD_KWORK_SOFTIRQ, &cpu->softirq_ns);
		work->usage = pd_kwork_share(work->total_ns, cpu->total_ns);
		if (!work->id)
			cpu->idle_ns += work->total_ns;
		if (wanted && work->name && strcmp(wanted, work->name) != 0)
			work->total_ns = 0;
		else if (work->id)
			cpu->load_ns += work->total_ns;
	}
}

// The row of a thread is that of its last CPU.
static bool merge(struct pd_kwork *kwork)
{
	struct pd_u64_map rows = { .seed = kwork->seed };
	bool done = true;

	for (size_t i = 0; done && i < kwork->count; i++) {
		struct pd_kwork_work *work = kwork->works[i], *row, *other;
		uint64_t place = pd_u64_map_find(&rows, work->id);

		if (work->of != PD_KWORK_SCHED || !work->id || !work->total_ns)
			continue;
		row = place ? kwork->works[place - 1] : work;
		if (row == work || work->cpu > row->cpu)
			done = pd_u64_map_set(&rows, work->id, i + 1);
		if (row == work)
			continue;
		other = work->cpu > row->cpu ? row : work;
		row = other == row ? work : row;
		row->total_ns += other->total_ns;
		row->usage += other->usage;
		other->total_ns = 0;
	}
	pd_u64_map_fini(&rows);
	return done;
}

static int compare_cpus(const void *a, const void *b)
{
	uint32_t x = ((const struct pd_kwork_cpu *)a)->cpu, y = ((const struct pd_kwork_cpu *)b)->cpu;

	return x < y ? -1 : x > y;
}

bool pd_kwork_sum_top(struct pd_kwork *kwork)
{
	kwork->cpu_map.seed = kwork->seed;
	if (!add_totals(kwork))
		return false;
	add_usage(kwork);
	if (kwork->cpu_count)
		qsort(kwork->cpus, kwork->cpu_count, sizeof(*kwork->cpus), compare_cpus);
	return merge(kwork) && pd_kwork_sort(kwork);
}
