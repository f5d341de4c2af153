/* SPDX-License-Identifier: MIT */
/*
 * The number of threads that run, as steps of time. SWITCH records of single threads say only that it went up or down: as perf, the
 * recorded program begins with one thread, and one that exits is not switched out. Of whole CPUs it is the number of those that are not idle, so nothing that was lost
 * counts for longer than until the next switch of its CPU.
 */
#include "interval/running.h"

#include <perfdata/stream.h>

#include "base/error.h"
#include "base/lookup/search.h"
#include "base/memory.h"
#include "interval/tracepoints.h"
#include "stream/each.h"

enum {
	CPUS_MOST = 1 << 16 // more are no numbers of CPUs
};

struct step {
	uint64_t time_ns, place;
	int64_t change; // in sum, since the beginning
};

struct cpu {
	bool known, busy;
	uint32_t tid; // that runs, by sched_switch
};

struct pd_running {
	struct step *steps;
	size_t count, capacity;
	int64_t first; // that ran at the beginning
	uint32_t most;
};

struct reading {
	struct pd_running *running;
	struct pd_tracepoints tracepoints; // if there are no SWITCH records
	bool by_tracepoint;
	bool by_cpu; // SWITCH records of CPUs
	struct cpu *cpus;
	size_t cpu_count, cpu_capacity;
	int64_t change;
	uint64_t switches, strange; // of sched_switch: whose thread is not the one that ran
};

// Records come in the order of time; what comes late counts from then on.
static enum pd_status add_step(struct reading *reading, const struct pd_record *record, int64_t change,
			       struct pd_error *error)
{
	struct pd_running *running = reading->running;
	struct step step = { record->time_ns, record->place, reading->change += change };
	const struct step *last = running->count ? &running->steps[running->count - 1] : NULL;

	if (!change)
		return PD_OK;
	if (last && (step.time_ns < last->time_ns || (step.time_ns == last->time_ns && step.place < last->place))) {
		step.time_ns = last->time_ns;
		step.place = last->place;
	}
	if (!PD_GROW(running->steps, running->capacity, running->count + 1))
		return pd_fail_memory(error);
	running->steps[running->count++] = step;
	return PD_OK;
}

// NULL if there is no memory, or no such CPU.
static struct cpu *cpu_at(struct reading *reading, uint32_t cpu)
{
	if (cpu >= CPUS_MOST || !PD_GROW(reading->cpus, reading->cpu_capacity, (size_t)cpu + 1))
		return NULL;
	for (; reading->cpu_count <= cpu; reading->cpu_count++)
		reading->cpus[reading->cpu_count] = (struct cpu){ 0 };
	return &reading->cpus[cpu];
}

static enum pd_status fail_cpu(uint32_t cpu, struct pd_error *error)
{
	return cpu >= CPUS_MOST ? PD_OK : pd_fail_memory(error);
}

// From a thread of a CPU to the next one, where 0 is idle: what ran before the first switch ran from the beginning.
static enum pd_status change_cpu(struct reading *reading, const struct pd_record *record, struct cpu *cpu, bool was,
				 bool is, struct pd_error *error)
{
	if (!cpu->known) {
		cpu->known = true;
		cpu->busy = was;
		reading->running->first += was;
	}
	was = cpu->busy;
	cpu->busy = is;
	return add_step(reading, record, (int64_t)is - (int64_t)was, error);
}

static enum pd_status take_tracepoint(struct reading *reading, const struct pd_record *record, struct pd_error *error)
{
	struct pd_tracepoint_sample sample;
	enum pd_status status = pd_tracepoints_take(&reading->tracepoints, record, &sample, error);
	struct cpu *cpu;

	if (status != PD_OK)
		return status < 0 ? status : PD_OK;
	cpu = cpu_at(reading, sample.brief.cpu);
	if (!cpu)
		return fail_cpu(sample.brief.cpu, error);
	reading->switches++;
	reading->strange += cpu->known && cpu->tid != (uint32_t)sample.values[0];
	cpu->tid = (uint32_t)sample.values[1];
	return change_cpu(reading, record, cpu, sample.values[0], sample.values[1], error);
}

static enum pd_status take_switch(struct reading *reading, const struct pd_record *record, struct pd_error *error)
{
	const bool out = record->misc & PD_MASK(PD_MISC_SWITCH_OUT);
	struct pd_thread_id id;
	struct cpu *cpu;

	if (record->type == PD_RECORD_SWITCH)
		return add_step(reading, record, out ? -1 : 1, error);
	reading->by_cpu = true;
	pd_record_thread(record, &id);
	if (!id.known)
		return PD_OK;
	cpu = cpu_at(reading, id.cpu);
	// one thread goes and one comes: where both are recorded, the second one says what runs
	return cpu ? change_cpu(reading, record, cpu, id.tid, !out && id.tid, error) : fail_cpu(id.cpu, error);
}

static enum pd_status take_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct reading *reading = self;

	(void)stream;
	if (reading->by_tracepoint)
		return take_tracepoint(reading, record, error);
	if (record->time_ns == PD_NO_TIME)
		return PD_OK;
	if (record->type == PD_RECORD_SWITCH || record->type == PD_RECORD_SWITCH_CPU_WIDE)
		return take_switch(reading, record, error);
	if (record->type == PD_RECORD_EXIT && !reading->by_cpu)
		return add_step(reading, record, -1, error);
	return PD_OK;
}

static bool has_switches(struct pd_file *file)
{
	const struct pd_event *event;

	for (size_t i = 0; (event = pd_file_event(file, i)) != NULL; i++)
		if (PD_BITS(event->attr->flags, PD_ATTR_CONTEXT_SWITCH))
			return true;
	return false;
}

bool pd_running_is_recorded(struct pd_file *file)
{
	return has_switches(file) || pd_file_has_tracepoint(file, "sched:sched_switch");
}

// Switches of single threads do not say what else runs.
static enum pd_status check(const struct reading *reading, struct pd_error *error)
{
	// where SWITCH records are recorded, a single thread may have had none
	if (reading->by_tracepoint && !reading->switches)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
			       "how many threads ran is not known: no context switches (perfdata record --latency)");
	if (reading->strange > reading->switches / 2)
		return pd_fail(
			error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
			"how many threads ran is not known: sched:sched_switch is not of all CPUs (perfdata record -a)");
	return PD_OK;
}

static enum pd_status read_all(struct reading *reading, struct pd_file *file, struct pd_error *error)
{
	static const struct pd_tracepoint table[] = { { "sched:sched_switch", { "prev_pid", "next_pid" } } };
	const struct pd_each each = { .order = PD_ORDER_TIME, .trusts = true };
	const struct pd_nrcpus *cpus = pd_file_nrcpus(file);
	enum pd_status status = PD_OK;

	reading->running->most = cpus && cpus->available ? cpus->available : UINT32_MAX;
	reading->by_tracepoint = !has_switches(file);
	if (reading->by_tracepoint)
		status = pd_tracepoints_init(&reading->tracepoints, file, table, 1, error);
	if (status >= 0)
		status = pd_each_record(file, &each, take_record, reading, error);
	pd_tracepoints_fini(&reading->tracepoints);
	pd_free(reading->cpus);
	reading->running->first += !reading->by_tracepoint && !reading->by_cpu;
	return status < 0 ? status : check(reading, error);
}

enum pd_status pd_running_read(struct pd_file *file, struct pd_running **running_out, struct pd_error *error)
{
	struct reading reading = { .running = pd_alloc(sizeof(*reading.running)) };
	enum pd_status status = reading.running ? read_all(&reading, file, error) : pd_fail_memory(error);

	if (status < 0)
		pd_running_free(reading.running);
	else
		*running_out = reading.running;
	return status;
}

void pd_running_free(struct pd_running *running)
{
	if (!running)
		return;
	pd_free(running->steps);
	pd_free(running);
}

static bool is_until(const struct step *step, uint64_t time_ns, uint64_t place)
{
	return step->time_ns < time_ns || (step->time_ns == time_ns && step->place <= place);
}

// Whether so many steps came before.
static bool fits(const struct pd_running *running, size_t count, uint64_t time_ns, uint64_t place)
{
	return count <= running->count && (!count || is_until(&running->steps[count - 1], time_ns, place)) &&
	       (count == running->count || !is_until(&running->steps[count], time_ns, place));
}

uint32_t pd_running_at(const struct pd_running *running, uint64_t time_ns, uint64_t place, size_t *hint)
{
	int64_t level;
	size_t count = *hint;

	if (!fits(running, count, time_ns, place))
		PD_SEARCH(count, 0, running->count, i, is_until(&running->steps[i], time_ns, place));
	*hint = count;
	level = running->first + (count ? running->steps[count - 1].change : 0);
	if (level > (int64_t)running->most)
		level = running->most;
	return level > 1 ? (uint32_t)level : 1;
}
