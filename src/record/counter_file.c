/* SPDX-License-Identifier: MIT */
/* The perf.data of a counter: what is counted and where, then counts and the end of each round. */
#include <perfdata/counter.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "record/inside.h"
#include "record/machine/procfile.h"
#include "write/write.h"

enum {
	ANY_CPU = 0xffff,
	PER_RECORD = 2000, // threads
	COMM_CAPACITY = 16
};

static enum pd_status put_made(void *self, struct pd_bytes records, struct pd_error *error)
{
	struct pd_recorder *recorder = self;

	return pd_writer_put_outside(recorder->writer, 0, records.data, records.size, error);
}

// ---- what is counted ----

static uint64_t first_id(const struct pd_rec_event *event)
{
	for (size_t at = 0; at < event->fd_count; at++)
		if (event->fds[at] >= 0)
			return event->ids[at];
	return 0;
}

static enum pd_status add_unit(struct pd_made *made, const struct pd_rec_event *event, struct pd_error *error)
{
	const char *unit = event->wanted->unit;
	struct pd_event_update update = { .type = PD_EVENT_UPDATE_UNIT, .id = first_id(event) };

	if (!unit || !*unit)
		return PD_OK;
	update.unit = (struct pd_str){ unit, (uint32_t)strlen(unit), 0 };
	return pd_made_add(made, PD_RECORD_EVENT_UPDATE, 0, &update, error);
}

static enum pd_status add_scale(struct pd_made *made, const struct pd_rec_event *event, struct pd_error *error)
{
	struct pd_event_update update = { .type = PD_EVENT_UPDATE_SCALE,
					  .id = first_id(event),
					  .scale = event->wanted->scale };

	if (event->wanted->scale == 1)
		return PD_OK;
	return pd_made_add(made, PD_RECORD_EVENT_UPDATE, 0, &update, error);
}

static enum pd_status add_cpu_list(struct pd_made *made, const struct pd_rec_event *event, const struct pd_cpus *cpus,
				   struct pd_error *error)
{
	struct pd_cpu_map_data data = { .kind = PD_CPU_MAP_CPUS };
	struct pd_event_update update = { .type = PD_EVENT_UPDATE_CPUS, .id = first_id(event), .cpus = &data };
	uint16_t *numbers = pd_alloc(cpus->count * sizeof(*numbers));
	enum pd_status status;

	for (size_t i = 0; numbers && i < cpus->count; i++)
		numbers[i] = (uint16_t)cpus->items[i];
	data.cpus = (struct pd_u16s){ numbers, cpus->count };
	update.rest = pd_made_padding(28 + cpus->count * sizeof(*numbers));
	status = numbers ? pd_made_add(made, PD_RECORD_EVENT_UPDATE, 0, &update, error) : pd_fail_memory(error);
	pd_free(numbers);
	return status;
}

// Of what is not on all CPUs that are counted.
static enum pd_status add_own_cpus(const struct pd_recorder *recorder, struct pd_made *made,
				   const struct pd_rec_event *event, struct pd_error *error)
{
	const struct pd_cpus first = { .items = recorder->cpus.items, .count = 1 };
	struct pd_cpus cpus;
	enum pd_status status;

	if (event->wanted->tool)
		return first.items[0] < 0 ? PD_OK : add_cpu_list(made, event, &first, error);
	if (!event->wanted->cpus || pd_cpus_parse(&cpus, event->wanted->cpus, NULL) < 0)
		return PD_OK;
	status = add_cpu_list(made, event, &cpus, error);
	pd_cpus_fini(&cpus);
	return status;
}

static enum pd_status add_updates(struct pd_recorder *recorder, struct pd_made *made, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t i = 0; i < recorder->config.event_count && status >= 0; i++) {
		const struct pd_rec_event *event = &recorder->config.events[i];

		if (event->refused || !event->wanted)
			continue;
		status = add_unit(made, event, error);
		if (status >= 0)
			status = add_scale(made, event, error);
		if (status >= 0)
			status = add_own_cpus(recorder, made, event, error);
	}
	return status;
}

// ---- where ----

static void read_comm(int32_t tid, char comm[COMM_CAPACITY])
{
	struct pd_procfile file = { 0 };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", (int)tid);
	if (tid >= 0 && pd_procfile_read(&file, path))
		snprintf(comm, COMM_CAPACITY, "%.*s", (int)strcspn(file.data, "\n"), file.data);
	pd_procfile_fini(&file);
}

static enum pd_status add_threads(struct pd_recorder *recorder, struct pd_made *made, struct pd_error *error)
{
	size_t count = recorder->threads.count < PER_RECORD ? recorder->threads.count : PER_RECORD;
	struct pd_thread_map_entry *entries = pd_alloc(count * sizeof(*entries));
	char(*comms)[COMM_CAPACITY] = pd_alloc(count * sizeof(*comms));
	struct pd_thread_map map = { .entries = { entries, count, sizeof(*entries) } };
	enum pd_status status = entries && comms ? PD_OK : pd_fail_memory(error);

	for (size_t i = 0; i < count && status >= 0; i++) {
		if (!recorder->command.pid || recorder->options.targets.pids.count ||
		    recorder->options.targets.tids.count)
			read_comm(recorder->threads.items[i], comms[i]);
		entries[i] = (struct pd_thread_map_entry){ .pid = (uint64_t)(int64_t)recorder->threads.items[i],
							   .comm = { comms[i], (uint32_t)strlen(comms[i]),
								     (uint32_t)(COMM_CAPACITY - strlen(comms[i])) } };
	}
	if (status >= 0)
		status = pd_made_add(made, PD_RECORD_THREAD_MAP, 0, &map, error);
	pd_free(entries);
	pd_free(comms);
	return status;
}

static enum pd_status add_settings(struct pd_made *made, const struct pd_counter_settings *settings,
				   struct pd_error *error)
{
	struct pd_stat_config_entry entries[] = { { .tag = PD_STAT_CONFIG_AGGR_MODE, .value = settings->aggregation },
						  { .tag = PD_STAT_CONFIG_INTERVAL, .value = settings->interval_ms },
						  { .tag = PD_STAT_CONFIG_SCALE, .value = settings->scale },
						  { .tag = PD_STAT_CONFIG_AGGR_LEVEL, .value = settings->level } };
	struct pd_stat_config config = { .entries = { entries, settings->level ? 4 : 3, sizeof(entries[0]) } };

	return pd_made_add(made, PD_RECORD_STAT_CONFIG, 0, &config, error);
}

enum pd_status pd_counter_open_file(struct pd_recorder *recorder, const struct pd_counter_settings *settings,
				    struct pd_error *error)
{
	static const struct pd_empty nothing;
	struct pd_made made = { .take = put_made, .self = recorder };
	enum pd_status status;

	if (!recorder->config.event_count)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "no event to write");
	status = pd_session_open_output(recorder, error);
	if (status >= 0 && pd_writer_mode(recorder->writer) != PD_MODE_PIPE)
		status = pd_writer_set_feature(recorder->writer, PD_FEATURE_STAT, &nothing, error);
	if (status >= 0)
		status = add_updates(recorder, &made, error);
	if (status >= 0)
		status = add_threads(recorder, &made, error);
	if (status >= 0)
		status = pd_recorder_add_cpus(recorder, &made, error);
	if (status >= 0)
		status = add_settings(&made, settings, error);
	if (status >= 0)
		status = pd_made_flush(&made, error);
	pd_made_fini(&made);
	return status;
}

// ---- counts ----

static enum pd_status add_counts(struct pd_recorder *recorder, const struct pd_rec_event *event, struct pd_made *made,
				 struct pd_error *error)
{
	enum pd_status status = PD_OK;

	for (size_t at = 0; event->counts && at < event->fd_count && status >= 0; at++) {
		const struct pd_counter_value *count = &event->counts[at];
		struct pd_stat stat = { .id = event->ids[at],
					.cpu = (uint32_t)recorder->cpus.items[at % recorder->cpus.count],
					.thread = (uint32_t)(at / recorder->cpus.count),
					.value = count->value,
					.time_enabled_ns = count->enabled_ns,
					.time_running_ns = count->running_ns };

		if (count->there)
			status = pd_made_add(made, PD_RECORD_STAT, 0, &stat, error);
	}
	return status;
}

enum pd_status pd_counter_round(struct pd_recorder *recorder, bool is_last, uint64_t time_ns, struct pd_error *error)
{
	struct pd_stat_round round = { .type = is_last ? PD_STAT_ROUND_FINAL : PD_STAT_ROUND_INTERVAL,
				       .time_ns = time_ns };
	struct pd_made made = { .take = put_made, .self = recorder };
	enum pd_status status = PD_OK;

	if (!recorder->writer)
		return PD_OK;
	for (size_t i = 0; i < recorder->config.event_count && status >= 0; i++)
		status = add_counts(recorder, &recorder->config.events[i], &made, error);
	if (status >= 0)
		status = pd_made_add(&made, PD_RECORD_STAT_ROUND, 0, &round, error);
	if (status >= 0)
		status = pd_made_flush(&made, error);
	pd_made_fini(&made);
	return status < 0 ? status : pd_session_save(recorder, error);
}

enum pd_status pd_counter_close_file(struct pd_recorder *recorder, struct pd_error *error)
{
	return recorder->writer ? pd_session_end(recorder, error) : PD_OK;
}
