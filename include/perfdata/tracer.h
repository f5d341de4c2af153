/* SPDX-License-Identifier: MIT */
/**
 * tracer.h - system calls and other events as text while they happen, as perf trace prints them. Linux only, as recorder.h.
 *
 * A tracer opens raw_syscalls:sys_enter and sys_exit, and other events that are named, records them (recorder.h) and prints what
 * pd_print_syscalls prints, round by round: so lines are in the order of time, and memory grows with threads and what they do, not
 * with events.
 *
 * Threads: one at a time, except pd_tracer_stop.
 *
 * Example:
 *
 *	struct pd_tracer_options options = { .size = sizeof(options), .calls = { .size = sizeof(options.calls) } };
 *	struct pd_recorded recorded;
 *	struct pd_tracer *tracer;
 *
 *	options.recording.size = sizeof(options.recording);
 *	options.recording.targets.command = command;
 *	if (pd_tracer_new(&tracer, &error) == PD_OK) {
 *		pd_tracer_set(tracer, "event", "openat,close", &error);
 *		if (pd_tracer_run(tracer, &options, text, &recorded, &error) == PD_OK) // or as it comes: pd_text_set_sink
 *			fwrite(pd_text_bytes(text).data, 1, pd_text_bytes(text).size, stdout);
 *		pd_tracer_free(tracer);
 *	}
 */
#ifndef PERFDATA_TRACER_H
#define PERFDATA_TRACER_H

#include <perfdata/pairs.h>
#include <perfdata/recorder.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Zero is the default for each member but size. */
struct pd_tracer_options {
	size_t size; /* sizeof(struct pd_tracer_options); 0 is PD_ERROR_ARGUMENT */
	/* Targets, session, note; without a target everything is traced but the calling process, and sshd if that shows what is printed.
	 * Events, sampling of time and raw data, and what is synthesized are the tracer's. */
	struct pd_recorder_options recording;
	/* What is printed. calls, live and kernel_types are the tracer's, and threads are left out if there can be only one. */
	struct pd_syscalls_options calls;
	bool with_calls; /* system calls also if only other events or page faults are asked for */
	bool follow; /* of processes and threads that are targets, new threads and child processes are traced, too; perf does not */
};

struct pd_tracer;

/** Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_tracer_new(struct pd_tracer **tracer_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_tracer_free(struct pd_tracer *tracer);
/** Sets an option by the name that perf trace has for it, before pd_tracer_run; several may be set, and their order counts.
 * event: system calls and events with commas between, such as "open*,close,sched:sched_switch"; after a '!' system calls that are not
 * wanted. Without any all system calls are. expr is the same. pf: page faults, all, maj or min. call-graph: fp or lbr, as of pd_call_graph_parse:
 * call chains, of system calls where they end. filter: of the tracepoints of the last event. cgroup: of the last event, or
 * of all. pid, tid, uid: targets, see pd_recorder_options_set. Errors: PD_ERROR_NO_MATCH if there is no such option; those of
 * pd_events_add, pd_events_set and pd_recorder_options_set. */
PD_API enum pd_status pd_tracer_set(struct pd_tracer *tracer, const char *name, const char *value,
				    struct pd_error *error);
/** Traces until the end of the command, the last of calls.max_lines, or pd_tracer_stop, and prints the tables then; once. Errors: those of
 * pd_recorder_open, pd_recorder_open_file and pd_print_syscalls. */
PD_API enum pd_status pd_tracer_run(struct pd_tracer *tracer, const struct pd_tracer_options *options,
				    struct pd_text *text, struct pd_recorded *recorded_out, struct pd_error *error);
/** Opens a file for text; one of this name that is not empty is kept as NAME.old, as by perf. To be closed; -1 with errno: it cannot be
 * opened, or what was there not be kept. */
PD_API int pd_tracer_output(const char *path);
/** Ends pd_tracer_run soon. Can be called from signal handlers and any thread. */
PD_API void pd_tracer_stop(struct pd_tracer *tracer);

#ifdef __cplusplus
}
#endif
#endif
