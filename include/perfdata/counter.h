/* SPDX-License-Identifier: MIT */
/**
 * counter.h - counts events, like perf stat. Linux only.
 *
 * A counter is a recorder (recorder.h) with the option `counts`: no samples, no ring buffers; it reads the counts of
 * the kernel. Events, targets, notes, stop, enable and close are as with recorders. One difference: an unsupported
 * event is not an error, unless it leads a group. The counts can be written to a perf.data file, as by perf stat
 * record.
 *
 *   pd_recorder_open      with options.counts; targets.per_thread unless whole CPUs are counted
 *   pd_counter_open_file       to write the counts to a file
 *   pd_counter_start      starts the command
 *   pd_counter_wait       waits for a time, or the end
 *   pd_counter_read       reads the counts so far; can be repeated
 *   pd_counter_round      writes them
 *   pd_counter_end        ends the command
 *   pd_counter_close_file
 *   pd_recorder_close
 *
 * Example:
 *
 *	const struct pd_recorder_options options = {
 *		.size = sizeof(options), .events = events, .targets = { .command = command, .per_thread = true }, .fd = -1, .counts = true
 *	};
 *	enum pd_counter_state state;
 *
 *	if (pd_recorder_open(&options, &recorder, &error) == PD_OK) {
 *		pd_counter_start(recorder, &recorded, &error);
 *		pd_counter_wait(recorder, UINT64_MAX, &state, &error);
 *		if (pd_counter_read(recorder, &error) == PD_OK && pd_counter_event(recorder, 0, &counted))
 *			printf("%s\n", counted.name);
 *		pd_counter_end(recorder, &recorded);
 *		pd_recorder_close(recorder);
 *	}
 */
#ifndef PERFDATA_COUNTER_H
#define PERFDATA_COUNTER_H

#include <perfdata/recorder.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A count of one event, thread and CPU. */
struct pd_counter_value {
	uint64_t value;
	uint64_t enabled_ns; /* how long it was enabled */
	uint64_t running_ns; /* how long it was counted: less with multiplexing */
	bool there;          /* counted here; else all members are 0 */
};

/** An event of a counter. Pointers are valid as long as the recorder. */
struct pd_counted {
	const char *name;
	const struct pd_event_wanted *wanted;
	const struct pd_attr *attr;
	bool supported;                        /* by this machine */
	const struct pd_counter_value *counts; /* [thread][CPU]; NULL before pd_counter_read */
};

/** Threads and CPUs that are counted. Thread -1 is all threads, CPU -1 any CPU. */
struct pd_counter_places {
	const int32_t *threads;
	size_t thread_count;
	const int32_t *cpus;
	size_t cpu_count;
};

/** Settings stored in the file. */
struct pd_counter_settings {
	uint64_t aggregation; /* as in STAT_CONFIG; with a level, the number of perf 6.9 and later */
	uint64_t interval_ms;
	bool scale;
	uint64_t level; /* of the cache; 0: none is written */
};

enum pd_counter_state {
	PD_COUNTER_RUNS,   /* the time was reached */
	PD_COUNTER_ENDED,  /* the command, or all counted processes, exited */
	PD_COUNTER_STOPPED /* by pd_recorder_stop */
};

/** The index-th event; false past the end. */
PD_API bool pd_counter_event(const struct pd_recorder *recorder, size_t index, struct pd_counted *event_out);
/** What is counted, without regard to events. Valid as long as the recorder. */
PD_API void pd_counter_places(const struct pd_recorder *recorder, struct pd_counter_places *places_out);
/** Adds a line for each count that was read: event, value, and the times enabled and running, in ns. */
PD_API void pd_counter_text(const struct pd_recorder *recorder, struct pd_text *text);
/** Creates the file of options.path or options.fd. Errors: those of pd_recorder_run. */
PD_API enum pd_status pd_counter_open_file(struct pd_recorder *recorder, const struct pd_counter_settings *settings,
					   struct pd_error *error);
/** Starts the command; events are enabled, unless there is a delay. *recorded_out tells whether it could be run. */
PD_API enum pd_status pd_counter_start(struct pd_recorder *recorder, struct pd_recorded *recorded_out,
				       struct pd_error *error);
/** Waits until a time of CLOCK_MONOTONIC; UINT64_MAX: no timeout. */
PD_API enum pd_status pd_counter_wait(struct pd_recorder *recorder, uint64_t until_ns, enum pd_counter_state *state_out,
				      struct pd_error *error);
/** Reads the counts so far into the events. Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_counter_read(struct pd_recorder *recorder, struct pd_error *error);
/** Time from the start to the last pd_counter_read. */
PD_API uint64_t pd_counter_elapsed_ns(const struct pd_recorder *recorder);
/** Time counts from now on, as when events are enabled after a delay. */
PD_API void pd_counter_restart_time(struct pd_recorder *recorder);
/** Writes the counts read last, as a round with a time since the start; is_last: the last round. Without
 * pd_counter_open_file it does nothing. */
PD_API enum pd_status pd_counter_round(struct pd_recorder *recorder, bool is_last, uint64_t time_ns,
				       struct pd_error *error);
/** Terminates the command if it still runs, and waits for it. */
PD_API void pd_counter_end(struct pd_recorder *recorder, struct pd_recorded *recorded_out);
/** Finishes the file. Without pd_counter_open_file it does nothing. */
PD_API enum pd_status pd_counter_close_file(struct pd_recorder *recorder, struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
