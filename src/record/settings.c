/* SPDX-License-Identifier: MIT */
/*
 * Options of a recording by the long names that perf record has for them, for every program that takes them from a user: what a
 * value means is in values.c and users.c.
 */
#include <perfdata/recorder.h>

#include <stdio.h>
#include <string.h>

#include "base/error.h"

static enum pd_status set_pids(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	pd_ids_free(&options->targets.pids);
	return pd_ids_parse(value, &options->targets.pids, error);
}

static enum pd_status set_tids(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	pd_ids_free(&options->targets.tids);
	return pd_ids_parse(value, &options->targets.tids, error);
}

static enum pd_status set_cpus(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	(void)error;
	options->targets.cpus = value;
	return PD_OK;
}

static enum pd_status set_user(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	enum pd_status status = pd_user_parse(value, &options->targets.uid, error);

	options->targets.by_user = status >= 0;
	return status;
}

static enum pd_status parse_number(const char *value, uint64_t most, uint64_t *number_out, struct pd_error *error)
{
	uint64_t number;

	if (!pd_number_parse(value, &number))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%s' is not a number", value);
	if (number > most)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s is too large", value);
	*number_out = number;
	return PD_OK;
}

static enum pd_status parse_u32(const char *value, uint32_t *number_out, struct pd_error *error)
{
	uint64_t number = 0;
	enum pd_status status = parse_number(value, UINT32_MAX, &number, error);

	if (status >= 0)
		*number_out = (uint32_t)number;
	return status;
}

static enum pd_status set_freq(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	return pd_freq_parse(value, &options->sampling, error);
}

static enum pd_status set_period(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	uint64_t period = 0;
	enum pd_status status = parse_number(value, UINT64_MAX, &period, error);

	if (status >= 0 && !period)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the period must be greater than 0");
	if (status >= 0)
		options->sampling.period = period;
	return status;
}

static enum pd_status set_call_graph(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	return pd_call_graph_parse(value, &options->sampling.call_graph, &options->sampling.stack_size, error);
}

static enum pd_status set_max_stack(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	return parse_u32(value, &options->sampling.max_stack, error);
}

static enum pd_status set_branches(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	return pd_branches_parse(value, &options->sampling.branch_filter, error);
}

static enum pd_status set_user_regs(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	return pd_registers_parse(value, &options->sampling.user_regs, error);
}

static enum pd_status set_intr_regs(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	return pd_registers_parse(value, &options->sampling.intr_regs, error);
}

static enum pd_status set_clock(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	enum pd_status status = pd_clock_parse(value, &options->sampling.clock, error);

	options->sampling.use_clock = status >= 0;
	return status;
}

static enum pd_status set_ring(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	return pd_ring_parse(value, &options->session.ring_bytes, error);
}

static enum pd_status set_delay(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	return pd_delay_parse(value, &options->session.delay_ms, error);
}

static enum pd_status set_max_size(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	return pd_size_parse(value, &options->session.max_size, error);
}

static enum pd_status set_duration(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	return pd_duration_parse(value, &options->session.max_ns, error);
}

static enum pd_status set_flush(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	return pd_size_parse(value, &options->session.flush_bytes, error);
}

static enum pd_status set_switch(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	return pd_switch_parse(value, &options->session, error);
}

static enum pd_status set_switch_files(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	return parse_u32(value, &options->session.switch_max_files, error);
}

static enum pd_status set_synth(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	return pd_synth_parse(value, &options->session, error);
}

static enum pd_status set_priority(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	uint64_t priority = 0;
	enum pd_status status = parse_number(value, UINT64_MAX, &priority, error);

	if (status >= 0 && (!priority || priority > 99))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the priority must be between 1 and 99");
	if (status >= 0)
		options->session.priority = (int)priority;
	return status;
}

static enum pd_status set_threads(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	(void)error;
	options->session.threads = *value ? value : "cpu";
	return PD_OK;
}

static enum pd_status set_compression(struct pd_recorder_options *options, const char *value, struct pd_error *error)
{
	return pd_compression_parse(value, &options->output, error);
}

enum pd_status pd_recorder_options_set(struct pd_recorder_options *options, const char *name, const char *value,
				       struct pd_error *error)
{
	static const struct {
		const char *name;
		enum pd_status (*set)(struct pd_recorder_options *options, const char *value, struct pd_error *error);
	} settings[] = {
		{ "pid", set_pids },
		{ "tid", set_tids },
		{ "cpu", set_cpus },
		{ "uid", set_user },
		{ "freq", set_freq },
		{ "count", set_period },
		{ "call-graph", set_call_graph },
		{ "max-stack", set_max_stack },
		{ "branch-filter", set_branches },
		{ "user-regs", set_user_regs },
		{ "intr-regs", set_intr_regs },
		{ "clockid", set_clock },
		{ "mmap-pages", set_ring },
		{ "delay", set_delay },
		{ "max-size", set_max_size },
		{ "duration", set_duration },
		{ "mmap-flush", set_flush },
		{ "switch-output", set_switch },
		{ "switch-max-files", set_switch_files },
		{ "synth", set_synth },
		{ "realtime", set_priority },
		{ "threads", set_threads },
		{ "compression-level", set_compression },
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (!strcmp(settings[i].name, name))
			return settings[i].set(options, value, error);
	return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "a recording has no option '%s'", name);
}

enum pd_status pd_events_set(struct pd_events *events, const char *name, const char *value, bool named,
			     struct pd_error *error)
{
	if (!strcmp(name, "event"))
		return pd_events_add(events, value, error);
	if (!strcmp(name, "filter"))
		return pd_events_filter(events, value, error);
	if (!strcmp(name, "exclude-perf"))
		return pd_events_exclude_self(events, error);
	if (!strcmp(name, "cgroup"))
		return pd_events_cgroup(events, value, named, error);
	return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "events have no option '%s'", name);
}

void pd_recorder_options_fini(struct pd_recorder_options *options)
{
	pd_ids_free(&options->targets.pids);
	pd_ids_free(&options->targets.tids);
}

bool pd_targets_are_given(const struct pd_targets *targets)
{
	return targets->all || targets->cpus || targets->pids.count || targets->tids.count || targets->by_user;
}

// ---- presets ----

static enum pd_status fail_unknown_preset(const char *name, struct pd_error *error)
{
	const struct pd_event_preset *preset;
	char names[256] = "";
	size_t at = 0;

	for (size_t i = 0; (preset = pd_event_preset_at(i)) != NULL && at < sizeof(names); i++)
		at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "", preset->name);
	return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "'%s' is none of %s", name, names);
}

enum pd_status pd_recorder_options_preset(struct pd_recorder_options *options, struct pd_events *events,
					  const char *name, struct pd_error *error)
{
	const struct pd_event_preset *preset = pd_event_preset_find(name);
	const struct pd_targets *targets = &options->targets;
	enum pd_status status;

	if (!preset)
		return fail_unknown_preset(name, error);
	status = pd_events_add_preset(events, preset, error);
	if (status < 0)
		return status;
	if (!pd_targets_are_given(targets))
		options->targets.all = preset->all || !targets->command;
	if (preset->chains && options->sampling.call_graph == PD_CALL_GRAPH_UNSET)
		options->sampling.call_graph = PD_CALL_GRAPH_FP;
	options->sampling.addr |= preset->data;
	options->sampling.weight |= preset->data;
	return PD_OK;
}
