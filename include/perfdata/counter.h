/* SPDX-License-Identifier: MIT */
/**
 * counter.h - counts events of this machine, as perf stat does. Linux only.
 *
 * A counter is a recorder (recorder.h) whose options say `counts`: it takes no samples, has no rings and reads what the
 * kernel counted when it is asked to. What is of recorders holds: how events and targets are given, notes, stop,
 * enable, close. It differs in one thing: an event that this machine does not have is no error, unless it leads a group.
 * The counts may go into a perf.data, as those of perf stat record.
 *
 *   pd_recorder_open      with options.counts; targets.per_thread unless whole CPUs are counted
 *   pd_counter_open_file       if the counts are to be written
 *   pd_counter_start      lets the command begin
 *   pd_counter_wait       until a time, or the end
 *   pd_counter_read       the counts so far; as often as one likes
 *   pd_counter_round      writes them
 *   pd_counter_end        ends what still runs
 *   pd_counter_close_file
 *   pd_recorder_close
 */
#ifndef PERFDATA_COUNTER_H
#define PERFDATA_COUNTER_H

#include <perfdata/recorder.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A count of one event, thread and CPU. */
struct pd_counter_value {
	uint64_t value;
	uint64_t enabled_ns; /* how long it was to be counted */
	uint64_t running_ns; /* how long it was: less, if there were more events than counters */
	bool there;          /* it is counted here; else all is 0 */
};

/** An event of a counter. What it points to lives as long as the recorder. */
struct pd_counted {
	const char *name;
	const struct pd_event_wanted *wanted;
	const struct pd_attr *attr;
	bool supported;                /* by this machine */
	const struct pd_counter_value *counts; /* of each thread, and in that of each CPU; NULL before pd_counter_read */
};

/** Where is counted. A thread -1 is all, a CPU -1 any. */
struct pd_counter_places {
	const int32_t *threads;
	size_t thread_count;
	const int32_t *cpus;
	size_t cpu_count;
};

/** How it is written. */
struct pd_counter_settings {
	uint64_t aggregation; /* as STAT_CONFIG has it */
	uint64_t interval_ms;
	bool scale;
};

enum pd_counter_state {
	PD_COUNTER_RUNS,   /* it is the time that was waited for */
	PD_COUNTER_ENDED,  /* the command, or all processes that were counted, ended */
	PD_COUNTER_STOPPED /* by pd_recorder_stop */
};

/** False past the end. */
PD_API bool pd_counter_event(const struct pd_recorder *recorder, size_t index, struct pd_counted *event_out);
PD_API void pd_counter_places(const struct pd_recorder *recorder, struct pd_counter_places *places_out);
/** Begins the file of options.path or options.fd. Errors: those of pd_recorder_run. */
PD_API enum pd_status pd_counter_open_file(struct pd_recorder *recorder, const struct pd_counter_settings *settings,
				      struct pd_error *error);
/** Lets the command begin; events are enabled, unless there is a delay. recorded_out says whether it could be run. */
PD_API enum pd_status pd_counter_start(struct pd_recorder *recorder, struct pd_recorded *recorded_out,
				       struct pd_error *error);
/** Waits until a time of CLOCK_MONOTONIC, UINT64_MAX for ever. */
PD_API enum pd_status pd_counter_wait(struct pd_recorder *recorder, uint64_t until_ns,
				      enum pd_counter_state *state_out, struct pd_error *error);
PD_API enum pd_status pd_counter_read(struct pd_recorder *recorder, struct pd_error *error);
/** From the start to the last pd_counter_read. */
PD_API uint64_t pd_counter_elapsed_ns(const struct pd_recorder *recorder);
/** Writes what was read last, as a round at a time since the start; is_last: there is no other. Without pd_counter_open_file
 * nothing happens. */
PD_API enum pd_status pd_counter_round(struct pd_recorder *recorder, bool is_last, uint64_t time_ns,
				       struct pd_error *error);
/** Asks the command to end if it still runs, and waits for it. */
PD_API void pd_counter_end(struct pd_recorder *recorder, struct pd_recorded *recorded_out);
/** Ends the file. Without pd_counter_open_file nothing happens. */
PD_API enum pd_status pd_counter_close_file(struct pd_recorder *recorder, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
