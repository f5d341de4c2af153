/* SPDX-License-Identifier: MIT */
/**
 * recorder.h - records events into a perf.data file. Linux only.
 *
 * A recorder opens events (events.h) on targets, synthesizes records of running processes, and writes the records of
 * the kernel until it is stopped, the command exits or a limit is reached. The file is always complete, and readable
 * by perf.
 *
 *   pd_recorder_open    opens the events; falls back where possible, with notes
 *   pd_recorder_run     starts the command and records until the end
 *   pd_recorder_open_file  instead of pd_recorder_run: reading the file records, for live analysis
 *   pd_recorder_stop    ends it; can be called from a signal handler or another thread
 *   pd_recorder_close
 *
 * One thread at a time, except pd_recorder_stop, pd_recorder_switch and pd_recorder_enable.
 *
 * Sources of the facts: perf_event_open(2), include/uapi/linux/perf_event.h, perf-record(1).
 *
 * Example:
 *
 *	const struct pd_recorder_options options = {
 *		.size = sizeof(options), .targets = { .command = command }, .path = "perf.data", .fd = -1
 *	};
 *
 *	if (pd_recorder_open(&options, &recorder, &error) == PD_OK) {
 *		pd_recorder_run(recorder, &recorded, &error);
 *		printf("%u samples\n", (unsigned)recorded.samples);
 *		pd_recorder_close(recorder);
 *	}
 */
#ifndef PERFDATA_RECORDER_H
#define PERFDATA_RECORDER_H

#include <perfdata/events.h>
#include <perfdata/store.h>
#include <perfdata/symbol.h>
#include <perfdata/text.h>
#include <perfdata/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Target. Exactly one of: all, pids, tids, uid, command; command may be combined with all. */
struct pd_targets {
	bool all;            /* system-wide */
	const char *cpus;    /* "0,2-3"; NULL: all CPUs */
	struct pd_u32s pids; /* processes with all their threads */
	struct pd_u32s tids; /* threads */
	bool by_user;
	uint32_t uid;               /* processes of this user */
	const char *const *cgroups; /* one per event, or one for all events; "" none. Only with all */
	size_t cgroup_count;
	char *const *command; /* command to run, NULL-terminated, or NULL */
	bool per_thread;      /* ring buffers per thread, not per CPU */
};

/** Restricts events to cgroups, names with commas between: each is for the next event of those so far, "" for none, a single
 * one for all of them. has_events: events were added by name; without, names are kept for those that are to come. Errors:
 * PD_ERROR_MEMORY; PD_ERROR_ARGUMENT for more names than events. */
PD_API enum pd_status pd_events_cgroup(struct pd_events *events, const char *names, bool has_events,
				       struct pd_error *error);
/** Sets the cgroups of the targets by these names, which belong to the events. has_events: each event gets one, "" if there was
 * none for it. Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_events_cgroups(struct pd_events *events, bool has_events, struct pd_targets *targets,
					struct pd_error *error);

/** Sampling options; see the perf-record(1) options with the same names. */
struct pd_sampling {
	uint64_t freq;    /* samples per second; 0: see period. Both 0: 4000, as in perf */
	uint64_t period;  /* events per sample */
	bool freq_max;    /* the maximum that the kernel allows */
	bool strict_freq; /* fail if freq exceeds the maximum */
	enum pd_call_graph call_graph;
	uint32_t stack_size; /* for PD_CALL_GRAPH_DWARF, in bytes; 0: 8192 */
	uint32_t max_stack;
	uint64_t branch_filter;        /* PD_BRANCH_SAMPLE_TYPE_... bits; 0: no branches */
	uint64_t user_regs, intr_regs; /* masks */
	bool no_samples;
	bool addr, phys_addr, data_page_size, code_page_size, weight, transaction, raw;
	bool period_field, time, cpu, identifier; /* -P -T --sample-cpu --sample-identifier: even if not needed */
	bool no_time;
	bool stat; /* event counts of each thread at its exit */
	bool running_time;
	bool no_inherit;
	bool all_user, all_kernel;
	bool user_callchains, kernel_callchains; /* only user or kernel callers */
	bool switch_events, namespaces, all_cgroups, no_bpf_event, build_id_mmap;
	bool use_clock;
	int32_t clock;    /* CLOCK_... */
	bool off_cpu;     /* add the event offcpu-time: stacks and durations of blocked threads */
	bool data_mmap;   /* also mappings without code, as with addr */
	bool data_source; /* where data came from, as with addr */
};

enum pd_synth {
	PD_SYNTH_TASK = 1,
	PD_SYNTH_MMAP = 2,
	PD_SYNTH_CGROUP = 4,
	PD_SYNTH_ALL = 7
};

enum pd_build_id_choice {
	PD_BUILD_IDS_HIT, /* of objects that samples hit */
	PD_BUILD_IDS_ALL, /* of all mapped objects */
	PD_BUILD_IDS_NONE
};

/** Start, end and splitting of a recording. */
struct pd_session {
	int64_t delay_ms;          /* start sampling after N ms; -1: with pd_recorder_enable */
	uint64_t max_size;         /* stop after N bytes of output; 0: no limit */
	uint64_t max_ns;           /* stop after N ns; 0: no limit */
	bool overwrite;            /* ring buffers keep the newest records, written at the end or when files are
				   * switched */
	bool tail_synthesize;      /* synthesize records of running processes at the end */
	uint64_t switch_size;      /* start a new file after N bytes ... */
	uint64_t switch_ns;        /* ... or N ns; 0: never */
	bool switch_on_call;       /* ... or on pd_recorder_switch */
	uint32_t switch_max_files; /* delete older files; 0: keep all */
	bool timestamp_filename;
	unsigned synth; /* enum pd_synth; 0: all */
	bool no_synth;
	enum pd_build_id_choice build_ids;
	uint64_t ring_bytes;  /* ring buffer size, 2^n pages; 0: automatic */
	bool no_buffering;    /* wake up for each sample */
	uint64_t flush_bytes; /* minimum bytes to drain from a ring buffer at once, at most 1/4 of its size; 0:
				   * any */
	const char *threads;  /* write a directory, with several threads: one for each "cpu", "core", "package"
				   * or "numa" node, or "0-1/0:2-3/2" (ring buffers of CPUs/affinity);
				   * NULL: one file, one thread */
	int priority; /* SCHED_FIFO priority of the calling thread, not reset; of pd_recorder_run_unwound, of the thread
			  * that drains ring buffers alone; 0: none */
};

/** A note to the user: a fallback, its reason, and advice. */
struct pd_recorder_note {
	enum pd_severity severity;
	const char *code; /* stable name: "paranoid", "no-hardware", "kptr-restrict", "mlock", "lost", "rate", "store" */
	const char *message; /* one line */
	const char *advice;  /* what to do, or NULL */
};

/** Zero is the default for each member. */
struct pd_recorder_options {
	size_t size;                    /* sizeof(struct pd_recorder_options) */
	const struct pd_events *events; /* NULL or empty: cycles, or cpu-clock without a PMU */
	struct pd_targets targets;
	struct pd_sampling sampling;
	struct pd_session session;
	/* The output; path NULL: fd. An existing file is renamed to NAME.old. */
	const char *path;
	int fd;                          /* -1: none */
	struct pd_writer_options output; /* compressed with level 0: as fast as possible, in frames of zstd */
	const char *const *command_line; /* for the feature CMDLINE, NULL-terminated */
	/* Called for each note, on the calling thread. */
	void (*note)(void *self, const struct pd_recorder_note *note);
	/* Called for each perf_event_open with its result; for -vv. May be NULL. */
	void (*attr)(void *self, const struct pd_attr *attr, int32_t pid, int32_t cpu, int os_errno);
	void *self;
	/* Called with the recording in pipe format while it is made, with or without an output; on the calling
	 * thread. NULL: none. */
	pd_put_fn *live;
	void *live_self;
	/* Count events instead of sampling: see counter.h. */
	bool counts;
};

/** Result of a recording. */
struct pd_recorded {
	uint64_t samples;      /* as counted by the kernel if known, else from the records */
	uint64_t bytes;        /* of all output files */
	uint64_t lost;         /* records lost by the kernel */
	uint64_t lost_samples; /* of these, samples, if the kernel reports them */
	uint64_t wakeups;
	unsigned files; /* more than 1 after switching */
	bool command_ran;
	bool command_ended;  /* exited by itself; else SIGTERM was sent at the end of the recording */
	int command_status;  /* wait(2) status, if it exited by itself */
	int command_errno;   /* errno of a failed exec; 0: it was run */
	unsigned not_stored; /* files that could not be added to the store */
};

struct pd_recorder;

/** Opens the events. If the kernel refuses, falls back (see notes); if that fails, the error message has reason and
 * advice.
 * Errors: PD_ERROR_SYSTEM, PD_ERROR_ARGUMENT, PD_ERROR_MEMORY, PD_ERROR_UNSUPPORTED on other systems than Linux. */
PD_API enum pd_status pd_recorder_open(const struct pd_recorder_options *options, struct pd_recorder **recorder_out,
				       struct pd_error *error);
/** Records until the end. The file is complete even after an error. */
PD_API enum pd_status pd_recorder_run(struct pd_recorder *recorder, struct pd_recorded *recorded_out,
				      struct pd_error *error);
/** Each file that is complete is added to a store (pd_store_add_file) from now on, on another thread, and remains: notes "store" say which
 * ones cannot be added, and session.switch_max_files removes others only. pd_recorder_run waits for them. Both must remain valid, and fit
 * (pd_store_prepare). NULL: there is no store, or nothing is said of the files. */
PD_API void pd_recorder_set_store(struct pd_recorder *recorder, const char *store,
				  const struct pd_store_profile *profile);
/** Opens the recording as a file that is read while it is made, instead of pd_recorder_run: the stream of the file
 * drains the ring buffers, and pd_stream_next waits for records. There are at least ten FINISHED_ROUND records per
 * second. options.live must be NULL; there may be an output, too.
 * The stream ends with the recording, or after pd_recorder_switch: then close the file and open another one. It
 * continues where the last one ended and starts with records of the processes running then, so that memory does not
 * grow. PD_END: the recording has ended. The file must be closed before the recorder. Errors: those of
 * pd_recorder_run. */
PD_API enum pd_status pd_recorder_open_file(struct pd_recorder *recorder, const struct pd_open_options *options,
					    struct pd_file **file_out, struct pd_error *error);
/** Result so far. */
PD_API void pd_recorder_state(const struct pd_recorder *recorder, struct pd_recorded *recorded_out);
/** Ends the recording soon. Can be called from signal handlers and any thread, repeatedly. */
PD_API void pd_recorder_stop(struct pd_recorder *recorder);
/** Continues in a new file soon. Can be called likewise. */
PD_API void pd_recorder_switch(struct pd_recorder *recorder);
/** Enables or disables the event of that name, or all events if name is NULL, soon. Can be called from any thread. */
PD_API void pd_recorder_enable(struct pd_recorder *recorder, bool enable, const char *name);
/** Name of the index-th opened event; NULL past the end. Valid until pd_recorder_close. */
PD_API const char *pd_recorder_event_name(const struct pd_recorder *recorder, size_t index);
PD_API void pd_recorder_close(struct pd_recorder *recorder);

/** Where call chains go, and what they are made with. Zero is the default for each member but fd. */
struct pd_unwound_options {
	size_t size;      /* sizeof(struct pd_unwound_options) */
	const char *path; /* NULL: fd. What has this name is kept as NAME.old */
	int fd;
	struct pd_writer_options output;
	bool no_build_ids;
	/* Symbols for this state, which are freed when the recording is over. NULL: those of pd_symbols_new without options. */
	struct pd_symbols *(*symbols)(void *self, struct pd_file *file, const struct pd_state *state);
	void *self;
	struct pd_text *incomplete; /* gets a line about stacks that are incomplete, if there are any; may be NULL */
};
/** As pd_recorder_run, of a recorder without an output that records with PD_CALL_GRAPH_DWARF: copied stacks are unwound as they come,
 * and call chains are written in their place. Errors: those of pd_recorder_open_file, pd_inject_write and pd_writer_open_at. */
PD_API enum pd_status pd_recorder_run_unwound(struct pd_recorder *recorder, const struct pd_unwound_options *options,
					      struct pd_recorded *recorded_out, struct pd_error *error);

enum {
	PD_RECORD_RUNS_MOST = 999
};

struct pd_record_runs;
/** Plans a number of recordings of a command, each into a file of its own: perf-1.data, perf-2.data for perf.data. Two commands with --vs
 * between them change places from one round to the next, so that a machine that becomes slower is so for both; their files are
 * perf-a-1.data and perf-b-1.data. command, which ends with NULL, must remain valid. Errors: PD_ERROR_ARGUMENT: more than
 * PD_RECORD_RUNS_MOST, or --vs is not between two commands; PD_ERROR_MEMORY. */
PD_API enum pd_status pd_record_runs_new(uint64_t count, const char *path, char *const *command,
					 struct pd_record_runs **runs_out, struct pd_error *error);
/** NULL is ignored. */
PD_API void pd_record_runs_free(struct pd_record_runs *runs);
/** The path of the index-th recording, in their order, and its command, which ends with NULL; NULL past the end. Owned by runs. */
PD_API const char *pd_record_runs_at(const struct pd_record_runs *runs, size_t index, char *const **command_out);
/** Adds the files as arguments of perfdata diff, each after a blank; for files that are still to come if there is one command. */
PD_API void pd_record_runs_text(const struct pd_record_runs *runs, struct pd_text *text);

/* ---- what is reported ---- */

/** Lines about a recording by these options: what was lost, and what to do about it; unless quiet also the number of samples, the files and
 * their size, and who cannot read them. */
PD_API void pd_recorded_text(const struct pd_recorded *recorded, const struct pd_recorder_options *options, bool quiet,
			     struct pd_text *text);
/** Lines about an event that was opened, or why it was not: for pd_recorder_options.attr. */
PD_API void pd_print_opened_attr(struct pd_text *text, const struct pd_attr *attr, int32_t pid, int32_t cpu,
				 int os_errno);

struct pd_control;
/** Obeys commands to a recorder that others write while it runs, on a thread of its own: a word on each line, enable [EVENT],
 * disable [EVENT], evlist, snapshot, ping or stop, answered by "ack". where: "fd:IN[,OUT]" or "fifo:PATH[,PATH]", as perf
 * record --control; descriptors remain the caller's. warn (may be NULL) is called on that thread, for commands that are
 * none. Errors: PD_ERROR_ARGUMENT, PD_ERROR_SYSTEM, PD_ERROR_MEMORY. */
PD_API enum pd_status pd_control_open(struct pd_recorder *recorder, const char *where, pd_warn_fn *warn, void *self,
				      struct pd_control **control_out, struct pd_error *error);
/** Ends the thread, before pd_recorder_close. NULL is ignored. */
PD_API void pd_control_close(struct pd_control *control);

struct pd_trigger;
/** Calls pd_recorder_switch whenever one of these events happens on the targets of a recorder, on a thread of its own; they are not
 * recorded. Events that are no tracepoints need a period. From now on they count. Errors: those of pd_recorder_open, and
 * PD_ERROR_ARGUMENT for an event without a period. */
PD_API enum pd_status pd_trigger_open(struct pd_recorder *recorder, const struct pd_events *events,
				      struct pd_trigger **trigger_out, struct pd_error *error);
/** Ends the thread, before pd_recorder_close. NULL is ignored. */
PD_API void pd_trigger_close(struct pd_trigger *trigger);

/* ---- what users write ---- */
/* Texts as perf's options take them, without regard to case. Errors: PD_ERROR_ARGUMENT, with a message that says what can be
 * written. Any thread. */

/** 100, 64K, 2M, 1GB: bytes. */
PD_API enum pd_status pd_size_parse(const char *text, uint64_t *bytes_out, struct pd_error *error);
/** 500ms, 10s, 2m, 1h, 1d: nanoseconds; seconds without a unit. */
PD_API enum pd_status pd_duration_parse(const char *text, uint64_t *ns_out, struct pd_error *error);
/** Ring buffer size: pages, or a size with a unit, rounded up to 2^n pages; in bytes. What follows a comma is for AUX data. */
PD_API enum pd_status pd_ring_parse(const char *text, uint64_t *bytes_out, struct pd_error *error);
/** mono, CLOCK_MONOTONIC, 1: a CLOCK_... of time.h that the kernel takes for events. */
PD_API enum pd_status pd_clock_parse(const char *text, int32_t *clock_out, struct pd_error *error);
/** fp, dwarf, dwarf,SIZE, lbr, none. *stack_size_out is only written where a size is given. */
PD_API enum pd_status pd_call_graph_parse(const char *text, enum pd_call_graph *how_out, uint32_t *stack_size_out,
					  struct pd_error *error);
/** any,u,k ...: PD_BRANCH_SAMPLE_TYPE_... bits. */
PD_API enum pd_status pd_branches_parse(const char *text, uint64_t *bits_out, struct pd_error *error);
/** ax,bx ...: a mask of registers of this machine; all that programs have if text is empty. See pd_register_name. */
PD_API enum pd_status pd_registers_parse(const char *text, uint64_t *mask_out, struct pd_error *error);
/** Adds the names of these registers to a text, each after a blank. */
PD_API void pd_print_registers(struct pd_text *text);
/** 1234,5678: numbers of processes or threads, for pd_targets; to be given back with pd_ids_free. Errors also:
 * PD_ERROR_MEMORY. */
PD_API enum pd_status pd_ids_parse(const char *text, struct pd_u32s *ids_out, struct pd_error *error);
PD_API void pd_ids_free(struct pd_u32s *ids);
/** A user by name or number. */
PD_API enum pd_status pd_user_parse(const char *text, uint32_t *uid_out, struct pd_error *error);
/** A number of samples per second, or "max": freq and freq_max of sampling. */
PD_API enum pd_status pd_freq_parse(const char *text, struct pd_sampling *sampling, struct pd_error *error);
/** all, task, mmap, cgroup or no, several with commas: synth and no_synth of session. */
PD_API enum pd_status pd_synth_parse(const char *text, struct pd_session *session, struct pd_error *error);
/** signal, a size (100M) or a time (30s), or nothing: when session starts a new file. */
PD_API enum pd_status pd_switch_parse(const char *text, struct pd_session *session, struct pd_error *error);
/** A level of zstd, 1 to 22, 0 for none; or nothing, or true, for the fastest: packing and level of output. */
PD_API enum pd_status pd_compression_parse(const char *text, struct pd_writer_options *output, struct pd_error *error);
/** Milliseconds, or -1: see pd_session.delay_ms. */
PD_API enum pd_status pd_delay_parse(const char *text, int64_t *ms_out, struct pd_error *error);

/** Sets an option by the long name that perf record has for it, without dashes: pid, tid, cpu, uid, freq, count, call-graph, max-stack,
 * branch-filter, user-regs, intr-regs, clockid, mmap-pages, delay, max-size, duration, mmap-flush, switch-output, switch-max-files,
 * synth, realtime, threads, compression-level. What pid and tid set is owned by the options, see pd_recorder_options_fini; the values of
 * cpu and threads must remain valid. Errors: PD_ERROR_ARGUMENT; PD_ERROR_NO_MATCH if there is no such option; PD_ERROR_MEMORY. */
PD_API enum pd_status pd_recorder_options_set(struct pd_recorder_options *options, const char *name, const char *value,
					      struct pd_error *error);
/** The same for options that are about events, in their order: event, filter and exclude-perf, for those before it, and cgroup. named:
 * whether there is an event among them, see pd_events_cgroup. Errors: those of pd_events_add, pd_events_filter and pd_events_cgroup;
 * PD_ERROR_NO_MATCH if there is no such option. */
PD_API enum pd_status pd_events_set(struct pd_events *events, const char *name, const char *value, bool named,
				    struct pd_error *error);
/** Adds the events of a preset, see events.h, and what is recorded with them: everything if there is no target, call chains. After other
 * options, and before options->events is used. Errors: those of pd_events_add_preset; PD_ERROR_NO_MATCH if there is no such preset. */
PD_API enum pd_status pd_recorder_options_preset(struct pd_recorder_options *options, struct pd_events *events,
						 const char *name, struct pd_error *error);
/** Frees what pd_recorder_options_set has allocated. */
PD_API void pd_recorder_options_fini(struct pd_recorder_options *options);
/** Whether anything but a command is to be recorded. */
PD_API bool pd_targets_are_given(const struct pd_targets *targets);

#ifdef __cplusplus
}
#endif
#endif
