/* SPDX-License-Identifier: MIT */
// From events to lanes, twice: which there are and when, then what they did in each pixel.
#include "timechart/timechart.h"

#include <string.h>

#include "base/text/units.h"
#include "stream/each.h"

enum {
	USUAL_WIDTH = 1000,
	WIDEST = 100000,
	SWITCH = 0, // lines of the table below
	IDLE,
	FREQUENCY,
	CALLS,
	AWAKE = -1, // the state of a CPU that is not idle
	EAGAIN_OF_LINUX = 11
};

static const struct pd_tracepoint points[] = {
	[SWITCH] = { "sched:sched_switch", { "prev_pid", "next_pid" } },
	[IDLE] = { "power:cpu_idle", { "state", "cpu_id" } },
	[FREQUENCY] = { "power:cpu_frequency", { "state", "cpu_id" } },
#define CALL(name, CLASS) { "syscalls:sys_enter_" name, { 0 } }, { "syscalls:sys_exit_" name, { "?ret" } },
#include "timechart/calls.def"
};

static const enum pd_lane_class calls[] = {
#define CALL(name, CLASS) PD_LANE_##CLASS,
#include "timechart/calls.def"
};

// ---- intervals ----

static bool is_highlighted(const struct pd_timechart *chart, const struct pd_interval *interval,
			   const struct pd_lane *thread)
{
	const char *name = chart->options.highlight;

	if (chart->highlight_ns)
		return interval->end_ns - interval->begin_ns >= chart->highlight_ns;
	return name && !strcmp(name, thread->name);
}

static enum pd_status add_run(struct pd_timechart *chart, const struct pd_interval *interval, struct pd_lane *thread,
			      struct pd_error *error)
{
	bool lit = is_highlighted(chart, interval, thread);
	struct pd_lane *cpu;

	pd_lane_add(chart, thread, lit ? PD_LANE_LIT : PD_LANE_RUNS, interval->begin_ns, interval->end_ns, 0);
	if (interval->cpu == UINT32_MAX)
		return PD_OK;
	cpu = pd_lane_of(chart, PD_LANE_CPU, interval->cpu, error);
	if (!cpu)
		return error->status;
	pd_lane_add(chart, cpu, lit ? PD_LANE_CPU_LIT : PD_LANE_CPU_RUNS, interval->begin_ns, interval->end_ns, 0);
	return PD_OK;
}

static enum pd_status take_interval(void *self, const struct pd_interval *interval, struct pd_error *error)
{
	struct pd_timechart *chart = self;
	bool ready = interval->kind->of == PD_INTERVAL_RUNNABLE;
	struct pd_lane *thread;

	if (chart->ignores)
		return PD_OK;
	if (!interval->tid)
		return PD_OK;
	thread = pd_lane_of(chart, PD_LANE_THREAD, interval->tid, error);
	if (!thread)
		return error->status;
	if (interval->pid != UINT32_MAX)
		thread->pid = interval->pid;
	if (interval->kind->of == PD_INTERVAL_ON_CPU)
		return add_run(chart, interval, thread, error);
	if (ready || interval->kind->state == 'D')
		pd_lane_add(chart, thread, ready ? PD_LANE_READY : PD_LANE_BLOCKED, interval->begin_ns,
			    interval->end_ns, 0);
	return PD_OK;
}

// ---- events ----

// What was open ends, and something else may begin. Errors: NULL lanes.
static enum pd_status change(struct pd_timechart *chart, struct pd_lane *lane, uint64_t time_ns, bool opens,
			     enum pd_lane_class class, uint64_t weight, const struct pd_error *error)
{
	if (!lane)
		return error->status;
	pd_timechart_span(chart, time_ns);
	if (lane->open)
		pd_lane_add(chart, lane, lane->since, lane->since_ns, time_ns, lane->weight);
	lane->open = opens;
	lane->since = class;
	lane->since_ns = time_ns;
	lane->weight = weight;
	return PD_OK;
}

static enum pd_status take_idle(struct pd_timechart *chart, const struct pd_tracepoint_sample *sample,
				struct pd_error *error)
{
	struct pd_lane *lane = pd_lane_of(chart, PD_LANE_IDLE, (uint32_t)sample->values[1], error);
	int32_t state = (int32_t)sample->values[0];
	int deep = state > PD_LANE_C6 - PD_LANE_C1 ? PD_LANE_C6 : PD_LANE_C1 + state - 1;

	// state 0 waits for work without any rest
	return change(chart, lane, sample->brief.time_ns, state != AWAKE && state > 0, (enum pd_lane_class)deep, 0,
		      error);
}

static enum pd_status take_call(struct pd_timechart *chart, const struct pd_tracepoint_sample *sample,
				struct pd_error *error)
{
	size_t call = (sample->which - CALLS) / 2;
	bool begins = (sample->which - CALLS) % 2 == 0;
	struct pd_lane *lane = pd_lane_of(chart, PD_LANE_CALLS, sample->brief.tid, error);

	if (!lane)
		return error->status;
	lane->pid = sample->brief.pid;
	if (lane->open && (begins || lane->call != call)) {
		// when it ended was not recorded
		lane->open = false;
		chart->unknown += !chart->draws;
	}
	if (chart->options.skip_eagain && !begins && (int64_t)sample->values[0] == -EAGAIN_OF_LINUX)
		lane->open = false;
	lane->call = call;
	return change(chart, lane, sample->brief.time_ns, begins, calls[call], 0, error);
}

// A thread can end in a call.
static enum pd_status take_exit(struct pd_timechart *chart, const struct pd_record *record, const struct pd_task *exit,
				struct pd_error *error)
{
	struct pd_lane *lane = pd_lane_of(chart, PD_LANE_CALLS, exit->tid, error);

	if (!lane)
		return error->status;
	return lane->open ? change(chart, lane, record->time_ns, false, lane->since, 0, error) : PD_OK;
}

// Threads without a COMM record have the name of the switch.
static enum pd_status take_switch(struct pd_timechart *chart, const struct pd_tracepoint_sample *sample,
				  struct pd_error *error)
{
	static const char *const fields[] = { "prev_comm", "next_comm" };

	for (unsigned i = 0; i < 2; i++) {
		struct pd_lane *lane;
		struct pd_bytes name;

		if (!sample->values[i])
			continue;
		lane = pd_lane_of(chart, PD_LANE_THREAD, (uint32_t)sample->values[i], error);
		if (!lane)
			return error->status;
		if (*lane->name)
			continue;
		name = pd_tracepoint_string(&chart->points, sample, fields[i]);
		pd_lane_set_name(lane, (const char *)name.data, name.size);
	}
	return PD_OK;
}

static enum pd_status take_sample(struct pd_timechart *chart, const struct pd_tracepoint_sample *sample,
				  struct pd_error *error)
{
	struct pd_lane *lane;

	if (sample->which == SWITCH)
		return take_switch(chart, sample, error);
	if (sample->which == IDLE)
		return take_idle(chart, sample, error);
	if (sample->which >= CALLS)
		return take_call(chart, sample, error);
	lane = pd_lane_of(chart, PD_LANE_FREQUENCY, (uint32_t)sample->values[1], error);
	return change(chart, lane, sample->brief.time_ns, true, PD_LANE_KHZ, sample->values[0] ? sample->values[0] : 1,
		      error);
}

static enum pd_status take_name(struct pd_timechart *chart, const struct pd_comm *comm, struct pd_error *error)
{
	for (enum pd_lane_kind kind = PD_LANE_THREAD; kind <= PD_LANE_CALLS; kind++) {
		struct pd_lane *lane = pd_lane_of(chart, kind, comm->tid, error);

		if (!lane)
			return error->status;
		lane->pid = comm->pid;
		pd_lane_set_name(lane, comm->comm.data, comm->comm.length);
	}
	return PD_OK;
}

// Has the name of its parent, until it has its own.
static enum pd_status take_fork(struct pd_timechart *chart, const struct pd_task *fork, struct pd_error *error)
{
	for (enum pd_lane_kind kind = PD_LANE_THREAD; kind <= PD_LANE_CALLS; kind++) {
		struct pd_lane *parent = pd_lane_of(chart, kind, fork->ptid, error);
		struct pd_lane *lane = parent ? pd_lane_of(chart, kind, fork->tid, error) : NULL;

		if (!lane)
			return error->status;
		lane->pid = fork->pid;
		memcpy(lane->name, parent->name, sizeof(lane->name));
	}
	return PD_OK;
}

static enum pd_status take_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct pd_timechart *chart = self;
	const struct pd_comm *comm = record->type == PD_RECORD_COMM ? pd_as_comm(record) : NULL;
	const struct pd_task *fork = record->type == PD_RECORD_FORK ? pd_as_fork(record) : NULL;
	const struct pd_task *exit = record->type == PD_RECORD_EXIT ? pd_as_exit(record) : NULL;
	struct pd_tracepoint_sample sample;
	enum pd_status status = comm ? take_name(chart, comm, error) :
				fork ? take_fork(chart, fork, error) :
				exit ? take_exit(chart, record, exit, error) :
				       PD_OK;

	(void)stream;
	if (status >= 0)
		status = pd_tracepoints_take(&chart->points, record, &sample, error);
	if (status == PD_OK)
		status = take_sample(chart, &sample, error);
	return status < 0 ? status : pd_intervals_take(chart->intervals, record, error);
}

// ---- passes ----

static void end_open(struct pd_timechart *chart)
{
	for (size_t i = 0; i < chart->count; i++) {
		struct pd_lane *lane = chart->lanes[i];

		if (lane->open)
			pd_lane_add(chart, lane, lane->since, lane->since_ns, chart->last_ns, lane->weight);
	}
}

static enum pd_status pass(struct pd_timechart *chart, struct pd_interval_counts *counts_out, struct pd_error *error)
{
	const struct pd_each each = { .order = PD_ORDER_TIME, .trusts = chart->draws };
	const struct pd_intervals_options options = {
		.size = sizeof(options), .interval = take_interval, .self = chart, .thread_limit = chart->options.limit
	};
	enum pd_status status = pd_intervals_new(chart->file, &options, &chart->intervals, error);

	if (status >= 0)
		status = pd_tracepoints_init(&chart->points, chart->file, points, sizeof(points) / sizeof(points[0]),
					     error);
	if (status >= 0)
		status = pd_each_record(chart->file, &each, take_record, chart, error);
	if (status >= 0)
		status = pd_intervals_finish(chart->intervals, error);
	if (status >= 0)
		pd_intervals_counts(chart->intervals, counts_out);
	end_open(chart);
	pd_tracepoints_fini(&chart->points);
	pd_intervals_free(chart->intervals);
	chart->intervals = NULL;
	return status < 0 ? status : PD_OK;
}

static enum pd_status read_options(struct pd_timechart *chart, struct pd_error *error)
{
	struct pd_timechart_options *options = &chart->options;

	options->width = options->width ? options->width : USUAL_WIDTH;
	if (options->width > WIDEST)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "a picture is at most %d pixels wide", WIDEST);
	if (options->power_only && options->tasks_only)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "only power and only threads leave nothing to show");
	if (options->highlight && !pd_number_parse(options->highlight, &chart->highlight_ns) &&
	    !pd_duration_read(options->highlight, &chart->highlight_ns))
		chart->highlight_ns = 0;
	return PD_OK;
}

// Which lanes there are.
static enum pd_status survey(struct pd_timechart *chart, struct pd_error *error)
{
	struct pd_interval_counts counts = { 0 };
	enum pd_status status;

	chart->first_ns = UINT64_MAX;
	status = pass(chart, &counts, error);
	chart->lost_records = counts.lost_records;
	if (status < 0 || counts.switches) {
		chart->unknown += counts.mismatched;
		return status;
	}
	chart->ignores = true;
	chart->unknown = 0;
	chart->first_ns = UINT64_MAX;
	chart->last_ns = 0;
	pd_lanes_restart(chart);
	return pass(chart, &counts, error);
}

static enum pd_status draw(struct pd_timechart *chart, struct pd_error *error)
{
	struct pd_interval_counts counts = { 0 };
	enum pd_status status = read_options(chart, error);

	if (status >= 0)
		status = survey(chart, error);
	if (status >= 0 && chart->last_ns <= chart->first_ns)
		status = pd_fail(
			error, PD_ERROR_NO_SAMPLES, PD_NO_OFFSET, "%s",
			!chart->ignores || chart->first_ns != UINT64_MAX ?
				"all events have the same time" :
				"no context switches, states of CPUs or system calls of files (perfdata timechart record)");
	if (status >= 0)
		status = pd_lanes_choose(chart, error);
	if (status < 0)
		return status;
	pd_lanes_restart(chart);
	chart->draws = true;
	status = pass(chart, &counts, error);
	if (status < 0)
		return status;
	pd_timechart_print(chart);
	return pd_text_flush_or_fail(chart->text, error);
}

enum pd_status pd_print_timechart(struct pd_text *text, struct pd_file *file,
				  const struct pd_timechart_options *options, struct pd_error *error)
{
	struct pd_timechart chart = { .file = file, .text = text, .map.seed = pd_hash_secret() };
	struct pd_error own;
	enum pd_status status;

	if (!error)
		error = &own;
	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_timechart_options.size is 0");
	if (options)
		memcpy(&chart.options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	status = draw(&chart, error);
	pd_lanes_fini(&chart);
	return status;
}
