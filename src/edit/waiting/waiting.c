/* SPDX-License-Identifier: MIT */
// Records in time order: their intervals end one after another, and each that is waiting becomes a sample.
#include "edit/waiting/waiting.h"

#include <stdio.h>
#include <string.h>

#include "stream/each.h"

enum {
	SWITCH,
	WAKES,
	ARENA_LIMIT = 1 << 30
};

static const struct pd_tracepoint points[] = {
	[SWITCH] = { "sched:sched_switch", { "prev_pid" } },
	[WAKES] = { "sched:sched_waking", { "pid" } },
	{ "sched:sched_wakeup", { "pid" } },
	{ "sched:sched_wakeup_new", { "pid" } },
};

// ---- intervals ----

static enum pd_status build_chain(struct pd_waiting *waiting, const struct pd_interval *interval,
				  const struct pd_sleeper *sleeper, struct pd_error *error)
{
	bool woken = interval->kind->of == PD_INTERVAL_BLOCKED && waiting->wakes;
	char name[64];
	const struct pd_waited waited = { .name = name,
					  .ended = woken ? "woken" : NULL,
					  .pid = sleeper->pid,
					  .end_ns = interval->end_ns,
					  .chain = { sleeper->chain, sleeper->count } };

	snprintf(name, sizeof(name), "[%s]", interval->kind->name);
	return pd_waited_chain(waiting, &waited, error);
}

static enum pd_status take_interval(void *self, const struct pd_interval *interval, struct pd_error *error)
{
	struct pd_waiting *waiting = self;
	struct pd_sleeper *sleeper;
	enum pd_status status;

	if (interval->kind->of == PD_INTERVAL_UNKNOWN)
		waiting->result.uncertain_ns += interval->end_ns - interval->begin_ns;
	if ((interval->kind->of != PD_INTERVAL_BLOCKED && interval->kind->of != PD_INTERVAL_RUNNABLE) ||
	    interval->end_ns == interval->begin_ns)
		return PD_OK;
	if (waiting->options.no_runnable && interval->kind->of == PD_INTERVAL_RUNNABLE) {
		waiting->result.left_out_count++;
		return PD_OK;
	}
	if (!pd_waiting_wants(waiting, interval->end_ns - interval->begin_ns))
		return PD_OK;
	sleeper = pd_sleeper_of(&waiting->sleepers, interval->tid);
	if (!sleeper)
		return pd_fail_memory(error);
	if (sleeper->pid == UINT32_MAX)
		sleeper->pid = interval->pid;
	if (interval->flags & PD_INTERVAL_BEGAN_BEFORE)
		sleeper->count = 0;
	waiting->result.unchained_count += !sleeper->count;
	status = build_chain(waiting, interval, sleeper, error);
	return status < 0 ? status : pd_waiting_add(waiting, interval, sleeper->pid, error);
}

// A switch whose tracepoint is missing has no call chain: what is there is that of another one.
static enum pd_status take_begin(void *self, const struct pd_interval *interval, struct pd_error *error)
{
	struct pd_waiting *waiting = self;
	struct pd_sleeper *sleeper;

	if (waiting->samples || !(waiting->points.found & 1 << SWITCH) || !interval->tid ||
	    interval->kind->of == PD_INTERVAL_ON_CPU)
		return PD_OK;
	sleeper = pd_sleeper_of(&waiting->sleepers, interval->tid);
	if (!sleeper)
		return pd_fail_memory(error);
	sleeper->count = 0;
	return PD_OK;
}

// ---- records ----

static bool is_switch_sample(const struct pd_event *event)
{
	return event && event->attr->type == PD_TYPE_SOFTWARE && event->attr->config == PD_SW_CONTEXT_SWITCHES;
}

// The call chain of a switch is that of the thread that is switched out.
static enum pd_status keep_chain(struct pd_waiting *waiting, uint32_t tid, const struct pd_raw_brief *brief,
				 struct pd_error *error)
{
	struct pd_sleeper *sleeper = tid ? pd_sleeper_of(&waiting->sleepers, tid) : NULL;

	if (!tid)
		return PD_OK;
	if (!sleeper || !pd_sleeper_keep_chain(sleeper, brief->callchain))
		return pd_fail_memory(error);
	if (brief->tid == tid && brief->pid != UINT32_MAX)
		sleeper->pid = brief->pid;
	return PD_OK;
}

static enum pd_status take_sample(struct pd_waiting *waiting, const struct pd_record *record, struct pd_error *error)
{
	struct pd_tracepoint_sample sample;
	struct pd_brief brief;
	enum pd_status status = pd_tracepoints_take(&waiting->points, record, &sample, error);
	bool known = status == PD_OK;

	if (status < 0)
		return status;
	waiting->wakes = known && sample.which != SWITCH;
	if (waiting->wakes) {
		waiting->waker = sample.brief.tid;
		waiting->waker_chain = sample.brief.callchain;
	}
	waiting->samples = true;
	status = pd_intervals_take(waiting->intervals, record, error);
	waiting->wakes = waiting->samples = false;
	if (status < 0)
		return status;
	if (known && sample.which == SWITCH)
		return keep_chain(waiting, (uint32_t)sample.values[0], &sample.brief, error);
	if (is_switch_sample(record->event) && pd_record_brief(record, &brief))
		return keep_chain(
			waiting, brief.tid,
			&(struct pd_raw_brief){ .pid = brief.pid, .tid = brief.tid, .callchain = brief.callchain },
			error);
	return PD_OK;
}

static enum pd_status take_record(void *self, struct pd_stream *stream, const struct pd_record *record,
				  struct pd_error *error)
{
	struct pd_waiting *waiting = self;
	enum pd_status status;

	if (record->type == PD_RECORD_SAMPLE)
		return waiting->pair.text ? pd_waiting_pair(waiting, record, error) :
					    take_sample(waiting, record, error);
	if (!pd_sleepers_take(&waiting->sleepers, record))
		return pd_fail_memory(error);
	status = waiting->pair.text ? pd_pairing_take(&waiting->pairing, record, error) :
				      pd_intervals_take(waiting->intervals, record, error);
	return status < 0 ? status : pd_waiting_pass(waiting, stream, record, error);
}

// ---- from the begin to the end ----

static enum pd_status open_parts(struct pd_waiting *waiting, struct pd_error *error)
{
	const struct pd_intervals_options how = { .size = sizeof(how),
						  .interval = take_interval,
						  .self = waiting,
						  .thread_limit = waiting->options.thread_limit,
						  .began = take_begin };
	enum pd_status status;

	waiting->sleepers.map.seed = waiting->labels.map.seed = pd_hash_secret();
	waiting->sleepers.arena.limit = waiting->labels.arena.limit = ARENA_LIMIT;
	if (waiting->options.pair)
		return pd_waiting_open_pair(waiting, error);
	status =
		pd_tracepoints_init(&waiting->points, waiting->file, points, sizeof(points) / sizeof(points[0]), error);
	return status < 0 ? status : pd_intervals_new(waiting->file, &how, &waiting->intervals, error);
}

static enum pd_status write_all(struct pd_waiting *waiting, struct pd_error *error)
{
	const struct pd_each file_order = { .trusts = true }, time_order = { .order = PD_ORDER_TIME };
	enum pd_status status = open_parts(waiting, error);

	// events and features of a pipe are records
	if (status >= 0 && pd_file_header(waiting->file)->mode == PD_MODE_PIPE)
		status = pd_each_record(waiting->file, &file_order, NULL, NULL, error);
	if (status >= 0)
		status = pd_waiting_begin(waiting, error);
	if (status >= 0)
		status = pd_each_record(waiting->file, &time_order, take_record, waiting, error);
	if (status >= 0)
		status = waiting->pair.text ? pd_pairing_finish(&waiting->pairing, error) :
					      pd_intervals_finish(waiting->intervals, error);
	if (status < 0)
		return status;
	if (waiting->pair.text) {
		waiting->result.what = waiting->pairing.counts;
		return PD_OK;
	}
	pd_intervals_counts(waiting->intervals, &waiting->result.what);
	if (!waiting->result.what.switches)
		return pd_fail(error, PD_ERROR_NO_SAMPLES, PD_NO_OFFSET,
			       "no context switches: record with perfdata waiting record, or --switch-events");
	return PD_OK;
}

static void free_parts(struct pd_waiting *waiting)
{
	pd_intervals_free(waiting->intervals);
	pd_tracepoints_fini(&waiting->points);
	pd_pairing_fini(&waiting->pairing);
	pd_pair_fini(&waiting->pair);
	pd_sleepers_fini(&waiting->sleepers);
	pd_labels_fini(&waiting->labels);
	pd_free((void *)waiting->join.ids); // NOLINT: it is ours
	pd_free(waiting->events);
	pd_free(waiting->chain);
}

enum pd_status pd_waiting_write(struct pd_file *file, struct pd_writer *writer,
				const struct pd_waiting_options *options, struct pd_waiting_result *result_out,
				struct pd_error *error)
{
	struct pd_waiting waiting = { .file = file, .writer = writer };
	struct pd_error own;
	enum pd_status status;

	if (!error)
		error = &own;
	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_waiting_options.size is 0");
	if (options)
		memcpy(&waiting.options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	status = write_all(&waiting, error);
	if (status >= 0 && result_out)
		*result_out = waiting.result;
	free_parts(&waiting);
	return status < 0 ? status : PD_OK;
}
