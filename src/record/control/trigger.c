/* SPDX-License-Identifier: MIT */
/*
 * Events that are not recorded: each of them begins the next file of a recording. A recorder of their own, without an output and on a
 * thread of its own, waits for them on the same targets.
 */
#include "record/inside.h"

#include "base/error.h"
#include "base/threads.h"

struct pd_trigger {
	struct pd_recorder *switched; // the recording
	struct pd_recorder *recorder; // of the events
	uint64_t samples;             // that came so far
	uint32_t command; // process of the recording's command; the recorder of the events has a pointer to it
	struct pd_worker worker;
};

// An event without a period would be sampled so many times a second, whatever happens.
static enum pd_status check_periods(const struct pd_events *events, struct pd_error *error)
{
	const struct pd_event_wanted *wanted;

	for (size_t i = 0; (wanted = pd_events_at(events, i)) != NULL; i++)
		if (!wanted->tracepoint && !wanted->terms.period)
			return pd_fail(
				error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				"--switch-output-event %s: not a tracepoint, and no period is given: %s/period=N/",
				wanted->name, wanted->name);
	return PD_OK;
}

// Called whenever the rings were drained.
static enum pd_status switch_if_sampled(void *self, const void *data, size_t size, struct pd_error *error)
{
	struct pd_trigger *trigger = self;
	uint64_t samples = trigger->recorder ? trigger->recorder->counts.samples : 0;

	(void)data, (void)size, (void)error;
	if (samples != trigger->samples)
		pd_recorder_switch(trigger->switched);
	trigger->samples = samples;
	return PD_OK;
}

// A command is a process by now, which has not begun.
static struct pd_recorder_options options_of(struct pd_trigger *trigger, const struct pd_events *events)
{
	const struct pd_recorder_options *options = &trigger->switched->options;
	struct pd_recorder_options own = {
		.size = sizeof(own),
		.events = events,
		.targets = options->targets,
		.session = { .no_synth = true, .no_buffering = true, .build_ids = PD_BUILD_IDS_NONE },
		.fd = -1,
		.live = switch_if_sampled,
		.live_self = trigger,
	};

	own.targets.command = NULL;
	own.targets.cgroups = NULL;
	own.targets.cgroup_count = 0;
	if (!pd_targets_are_given(&own.targets))
		own.targets.pids = (struct pd_u32s){ .items = &trigger->command, .count = 1 };
	return own;
}

static void wait_for_events(void *self)
{
	const struct pd_trigger *trigger = self;
	struct pd_recorded recorded;
	struct pd_error error;

	if (pd_recorder_run(trigger->recorder, &recorded, &error) < 0)
		pd_recorder_report(trigger->switched, PD_DAMAGE, "switch", NULL, "--switch-output-event: %s",
				   error.message);
}

static enum pd_status start(struct pd_trigger *trigger, struct pd_error *error)
{
	int failure;

	// before the command begins
	pd_recorder_enable_all(trigger->recorder, true, NULL);
	failure = pd_worker_start(&trigger->worker, wait_for_events, trigger);
	return failure ? pd_fail_system(error, failure, "--switch-output-event: no thread") : PD_OK;
}

enum pd_status pd_trigger_open(struct pd_recorder *recorder, const struct pd_events *events,
			       struct pd_trigger **trigger_out, struct pd_error *error)
{
	struct pd_recorder_options options;
	struct pd_trigger *trigger;
	enum pd_status status = check_periods(events, error);

	if (status < 0)
		return status;
	trigger = pd_alloc(sizeof(*trigger));
	if (!trigger)
		return pd_fail_memory(error);
	trigger->switched = recorder;
	trigger->command = (uint32_t)recorder->command.pid;
	options = options_of(trigger, events);
	status = pd_recorder_open(&options, &trigger->recorder, error);
	if (status >= 0)
		status = start(trigger, error);
	if (status < 0)
		pd_trigger_close(trigger);
	else
		*trigger_out = trigger;
	return status;
}

void pd_trigger_close(struct pd_trigger *trigger)
{
	if (!trigger)
		return;
	if (trigger->worker.started)
		pd_recorder_stop(trigger->recorder);
	pd_worker_join(&trigger->worker);
	pd_recorder_close(trigger->recorder);
	pd_free(trigger);
}
