/* SPDX-License-Identifier: MIT */
// Threads that wait for a CPU, over time.
#include <inttypes.h>
#include <string.h>

#include "pairs/histogram.h"

enum {
	FIRST_SLICE_NS = 1024,
	CPUS_SHOWN = 16
};

static void double_slices(struct pd_run_queue *queue)
{
	for (size_t i = 0; i < queue->cpu_count; i++) {
		uint64_t *waited_ns = queue->cpus[i].waited_ns;

		for (size_t k = 0; k < PD_RUN_QUEUE_SLICES / 2; k++)
			waited_ns[k] = waited_ns[2 * k] + waited_ns[2 * k + 1];
		memset(waited_ns + PD_RUN_QUEUE_SLICES / 2, 0, PD_RUN_QUEUE_SLICES / 2 * sizeof(*waited_ns));
	}
	queue->slice_ns *= 2;
}

static bool reserve_cpu(struct pd_run_queue *queue, uint32_t cpu)
{
	size_t had = queue->cpu_count;

	if (cpu < had)
		return true;
	if (!PD_GROW(queue->cpus, queue->cpu_capacity, (size_t)cpu + 1))
		return false;
	memset(queue->cpus + had, 0, (cpu + 1 - had) * sizeof(*queue->cpus));
	queue->cpu_count = (size_t)cpu + 1;
	return true;
}

bool pd_run_queue_add(struct pd_run_queue *queue, uint32_t cpu, uint64_t begin_ns, uint64_t end_ns)
{
	begin_ns = begin_ns < queue->first_ns ? queue->first_ns : begin_ns;
	if (cpu >= PD_RUN_QUEUE_CPUS || end_ns <= begin_ns)
		return true;
	if (!reserve_cpu(queue, cpu))
		return false;
	queue->slice_ns = queue->slice_ns ? queue->slice_ns : FIRST_SLICE_NS;
	queue->last_ns = end_ns > queue->last_ns ? end_ns : queue->last_ns;
	while ((end_ns - 1 - queue->first_ns) / queue->slice_ns >= PD_RUN_QUEUE_SLICES)
		double_slices(queue);
	while (begin_ns < end_ns) {
		uint64_t slice = (begin_ns - queue->first_ns) / queue->slice_ns;
		uint64_t until_ns = queue->first_ns + (slice + 1) * queue->slice_ns;

		until_ns = until_ns > end_ns || until_ns < begin_ns ? end_ns : until_ns;
		queue->cpus[cpu].waited_ns[slice] += until_ns - begin_ns;
		begin_ns = until_ns;
	}
	return true;
}

// ---- how many at once ----

// Who waits since before the range counts as well, at times in it.
static void note_peak(const struct pd_run_queue *queue, struct pd_run_queue_peak *peak, uint64_t time_ns)
{
	if (peak->now <= peak->most || time_ns < queue->first_ns || (queue->until_ns && time_ns > queue->until_ns))
		return;
	peak->most = peak->now;
	peak->time_ns = time_ns;
}

void pd_run_queue_settle(struct pd_run_queue *queue)
{
	if (queue->unsettled && queue->entered_cpu < queue->cpu_count)
		note_peak(queue, &queue->cpus[queue->entered_cpu].peak, queue->entered_ns);
	queue->unsettled = false;
}

static bool add_one(struct pd_run_queue *queue, uint32_t cpu)
{
	if (cpu >= PD_RUN_QUEUE_CPUS)
		return true;
	if (!reserve_cpu(queue, cpu))
		return false;
	queue->cpus[cpu].peak.now++;
	return true;
}

bool pd_run_queue_enter(struct pd_run_queue *queue, uint32_t cpu, uint64_t time_ns)
{
	pd_run_queue_settle(queue);
	queue->all.now++;
	note_peak(queue, &queue->all, time_ns);
	queue->unsettled = true;
	queue->entered_cpu = cpu;
	queue->entered_ns = time_ns;
	return add_one(queue, cpu);
}

void pd_run_queue_leave(struct pd_run_queue *queue, uint32_t cpu)
{
	pd_run_queue_settle(queue);
	queue->all.now--;
	if (cpu < queue->cpu_count)
		queue->cpus[cpu].peak.now--;
}

bool pd_run_queue_move(struct pd_run_queue *queue, uint32_t from, uint32_t to, uint64_t time_ns)
{
	// the kernel chooses another CPU than that of the wakeup
	if (!queue->unsettled || queue->entered_cpu != from) {
		pd_run_queue_settle(queue);
		queue->entered_ns = time_ns;
	}
	queue->unsettled = true;
	queue->entered_cpu = to;
	if (from < queue->cpu_count)
		queue->cpus[from].peak.now--;
	return add_one(queue, to);
}

// ---- text ----

static size_t slice_count(const struct pd_run_queue *queue)
{
	return queue->slice_ns ? (size_t)((queue->last_ns - 1 - queue->first_ns) / queue->slice_ns) + 1 : 0;
}

// How long a slice is; the last one may end before.
static double length_ns(const struct pd_run_queue *queue, size_t slice)
{
	uint64_t begin_ns = queue->first_ns + slice * queue->slice_ns, left_ns = queue->last_ns - begin_ns;

	return (double)(left_ns < queue->slice_ns ? left_ns : queue->slice_ns);
}

static double depth_of(const struct pd_run_queue *queue, size_t cpu, size_t slice)
{
	return (double)queue->cpus[cpu].waited_ns[slice] / length_ns(queue, slice);
}

static void print_slice(const struct pd_run_queue *queue, size_t slice, struct pd_text *text)
{
	uint64_t time_ns = queue->first_ns + slice * queue->slice_ns;
	double all = 0;

	for (size_t cpu = 0; cpu < queue->cpu_count; cpu++)
		all += depth_of(queue, cpu, slice);
	pd_text_printf(text, "  %10u.%06u %8.2f", (unsigned)(time_ns / 1000000000),
		       (unsigned)(time_ns % 1000000000 / 1000), all);
	for (size_t cpu = 0; cpu < queue->cpu_count && queue->cpu_count <= CPUS_SHOWN; cpu++)
		pd_text_printf(text, " %7.2f", depth_of(queue, cpu, slice));
	pd_text_printf(text, "\n");
}

static void print_peak(const struct pd_run_queue_peak *peak, struct pd_text *text)
{
	pd_text_printf(text, "%" PRIu64 " at %" PRIu64 ".%06u", peak->most, peak->time_ns / 1000000000,
		       (unsigned)(peak->time_ns % 1000000000 / 1000));
}

// Of CPUs the one where most waited.
static void print_peaks(const struct pd_run_queue *queue, struct pd_text *text)
{
	size_t most = 0;

	for (size_t cpu = 1; cpu < queue->cpu_count; cpu++)
		if (queue->cpus[cpu].peak.most > queue->cpus[most].peak.most)
			most = cpu;
	if (!queue->all.most)
		return;
	pd_text_add(text, "\nMost threads that waited at once: ");
	print_peak(&queue->all, text);
	if (queue->cpus[most].peak.most) {
		pd_text_printf(text, "; for one CPU, CPU %zu: ", most);
		print_peak(&queue->cpus[most].peak, text);
	}
	pd_text_add(text, "\n");
}

void pd_run_queue_text(const struct pd_run_queue *queue, struct pd_text *text)
{
	size_t count = slice_count(queue);

	if (!count)
		return;
	pd_text_add(
		text,
		"\nThreads that waited for a CPU, on average from a time to the next:\n\n               Time      All");
	for (size_t cpu = 0; cpu < queue->cpu_count && queue->cpu_count <= CPUS_SHOWN; cpu++)
		pd_text_printf(text, "  CPU %2zu", cpu);
	pd_text_add(text, "\n");
	for (size_t slice = 0; slice < count; slice++)
		print_slice(queue, slice, text);
	print_peaks(queue, text);
}

static void json_peak(const struct pd_run_queue_peak *peak, const char *name, struct pd_json *json)
{
	pd_json_open(json, name, '{');
	pd_json_number(json, "threads", peak->most);
	pd_json_offset(json, "time_ns", peak->most ? peak->time_ns : PD_NO_TIME);
	pd_json_close(json, '}');
}

void pd_run_queue_json(const struct pd_run_queue *queue, const char *name, struct pd_json *json)
{
	size_t count = slice_count(queue);

	pd_json_open(json, name, '{');
	pd_json_number(json, "from_ns", queue->first_ns);
	pd_json_number(json, "to_ns", queue->last_ns);
	pd_json_number(json, "slice_ns", queue->slice_ns);
	pd_json_open(json, "cpus", '[');
	for (size_t cpu = 0; cpu < queue->cpu_count; cpu++) {
		pd_json_open(json, NULL, '[');
		for (size_t slice = 0; slice < count; slice++)
			pd_json_double(json, NULL, depth_of(queue, cpu, slice));
		pd_json_close(json, ']');
	}
	pd_json_close(json, ']');
	json_peak(&queue->all, "most", json);
	pd_json_open(json, "most_by_cpu", '[');
	for (size_t cpu = 0; cpu < queue->cpu_count; cpu++)
		json_peak(&queue->cpus[cpu].peak, NULL, json);
	pd_json_close(json, ']');
	pd_json_close(json, '}');
}

void pd_run_queue_fini(struct pd_run_queue *queue)
{
	pd_free(queue->cpus);
	*queue = (struct pd_run_queue){ 0 };
}
