/* SPDX-License-Identifier: MIT */
/**
 * recorder.h - records events of this machine into a perf.data. Linux only.
 *
 * A recorder is told what to record (events.h) and whom, opens the events, describes what already runs, and then
 * writes what the kernel hands over until it is told to stop, the command ends or a limit is reached. All ends lead to
 * a whole file. What it writes is read by perf in full.
 *
 *   pd_recorder_open    asks the kernel for the events; degrades where it may, and tells
 *   pd_recorder_run     starts the command, records until the end
 *   pd_recorder_open_file  in its place: whoever reads the file records, so that records are looked at as they come
 *   pd_recorder_stop    ends it, from a signal handler or another thread
 *   pd_recorder_close
 *
 * A recorder may be used by one thread at a time, but for pd_recorder_stop and pd_recorder_switch.
 *
 * Sources of the facts: perf_event_open(2), include/uapi/linux/perf_event.h, perf-record(1).
 */
#ifndef PERFDATA_RECORDER_H
#define PERFDATA_RECORDER_H

#include <perfdata/events.h>
#include <perfdata/writer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Whom to record. Exactly one of: all, processes, threads, user, command - command may come with all. */
struct pd_targets {
	bool all;                 /* everything that runs */
	const char *cpus;         /* "0,2-3": only there; NULL: everywhere */
	struct pd_u32s pids;      /* processes with all their threads */
	struct pd_u32s tids;      /* threads */
	bool by_user;
	uint32_t uid;             /* what runs for this user */
	const char *const *cgroups; /* by event, or one for all events; "" none. Only with all */
	size_t cgroup_count;
	char *const *command;     /* to be run, NULL-terminated, or NULL */
	bool per_thread;          /* rings of threads, not of CPUs */
};

/** What samples hold, and what the kernel is asked for; options of perf-record(1) with the same names. */
struct pd_sampling {
	uint64_t freq;            /* samples a second; 0: see period. With both 0: 4000, as perf has it */
	uint64_t period;          /* events between two samples */
	bool freq_max;            /* the most that the kernel allows */
	bool strict_freq;         /* fail rather than take less */
	enum pd_call_graph call_graph;
	uint32_t stack_size;      /* of dwarf, in bytes; 0: 8192 */
	uint32_t max_stack;
	uint64_t branch_filter;   /* PD_BRANCH_SAMPLE_TYPE_... bits; 0: no branches */
	uint64_t user_regs, intr_regs; /* masks */
	bool no_samples;
	bool addr, phys_addr, data_page_size, code_page_size, weight, transaction, raw;
	bool period_field, time, cpu, identifier; /* -P -T --sample-cpu --sample-identifier: also where not needed */
	bool no_time;
	bool stat;                /* counts of each thread at its end */
	bool running_time;
	bool no_inherit;
	bool all_user, all_kernel;
	bool user_callchains, kernel_callchains; /* only these */
	bool switch_events, namespaces, all_cgroups, no_bpf_event, build_id_mmap;
	bool use_clock;
	int32_t clock;            /* CLOCK_... */
	bool off_cpu;             /* samples of the event offcpu-time: where threads wait, and how long */
};

enum pd_synth {
	PD_SYNTH_TASK = 1,
	PD_SYNTH_MMAP = 2,
	PD_SYNTH_CGROUP = 4,
	PD_SYNTH_ALL = 7
};

enum pd_build_id_choice {
	PD_BUILD_IDS_HIT, /* of objects that samples hit */
	PD_BUILD_IDS_ALL, /* of all that was mapped */
	PD_BUILD_IDS_NONE
};

/** How a recording starts, is cut up and ends. */
struct pd_session {
	int64_t delay_ms;         /* events are enabled so long after the start; -1: by pd_recorder_enable */
	uint64_t max_size;        /* bytes of the output, then it ends; 0: no limit */
	uint64_t max_ns;          /* time after which it ends; 0: no limit */
	bool overwrite;           /* rings keep the newest; they are written when it ends or switches */
	bool tail_synthesize;     /* what already ran is described at the end */
	uint64_t switch_size;     /* a new file after so many bytes ... */
	uint64_t switch_ns;       /* ... or so long; 0: never */
	bool switch_on_call;      /* ... or by pd_recorder_switch */
	uint32_t switch_max_files; /* older ones are taken away; 0: keep all */
	bool timestamp_filename;
	unsigned synth;           /* enum pd_synth; 0: all */
	bool no_synth;
	enum pd_build_id_choice build_ids;
	uint64_t ring_bytes;      /* of each CPU or thread, a power of 2 of pages; 0: chosen */
	uint64_t flush_bytes;     /* rings are left alone until one holds so many, or a quarter of its size; 0: any */
	const char *threads;      /* a directory with a file for each ring, and several threads that read them: one for each
				   * "cpu", "core", "package" or "numa" node, or as in "0-1/0:2-3/2" (rings of CPUs/where it
				   * runs); NULL: a file, and one thread */
	int priority;             /* SCHED_FIFO, of the thread that runs the recorder, also afterwards; 0: none */
};

/** Something that the user should know: what was degraded, and what to type. */
struct pd_recorder_note {
	enum pd_severity severity;
	const char *code;    /* stable name: "paranoid", "no-hardware", "kptr-restrict", "mlock", "lost", "rate" */
	const char *message; /* one line */
	const char *advice;  /* what to type, or NULL */
};

/** Zero is the default for each member. */
struct pd_recorder_options {
	size_t size; /* sizeof(struct pd_recorder_options) */
	const struct pd_events *events; /* NULL or empty: cycles, or cpu-clock where there is none */
	struct pd_targets targets;
	struct pd_sampling sampling;
	struct pd_session session;
	/* The output; path NULL: fd. A name that is there already is kept as NAME.old. */
	const char *path;
	int fd; /* -1: none */
	struct pd_writer_options output;
	const char *const *command_line; /* for the feature CMDLINE, NULL-terminated */
	/* Called for each note, on the thread that runs the recorder. */
	void (*note)(void *self, const struct pd_recorder_note *note);
	/* Called for each attr that is tried, before it is, with what came of it; for -vv. May be NULL. */
	void (*attr)(void *self, const struct pd_attr *attr, int32_t pid, int32_t cpu, int os_errno);
	void *self;
	/* Takes the recording while it is made, in the form of a pipe, beside the output or without one; on the thread that
	 * runs the recorder. NULL: nobody does. */
	pd_put_fn *live;
	void *live_self;
	/* Events are counted and nothing is recorded of them: see counter.h. */
	bool counts;
};

/** What was recorded. */
struct pd_recorded {
	uint64_t samples;      /* as the kernel counted, where that is known, else by a look at the records */
	uint64_t bytes;        /* of the output, all files */
	uint64_t lost;         /* records that the kernel could not hand over */
	uint64_t lost_samples; /* of these, samples, where the kernel tells */
	uint64_t wakeups;
	unsigned files;        /* more than 1 by switching */
	bool command_ran;
	bool command_ended;    /* by itself; else it was sent SIGTERM at the end of the recording */
	int command_status;    /* as wait(2) has it, if it ended by itself */
	int command_errno;     /* why it could not be run; 0: it was */
};

struct pd_recorder;

/** Opens the events. Where the kernel refuses, less is asked for (see notes); what cannot be had is an error whose
 * message says why and what to type.
 * Errors: PD_ERROR_SYSTEM, PD_ERROR_ARGUMENT, PD_ERROR_MEMORY, PD_ERROR_UNSUPPORTED where there is no Linux. */
PD_API enum pd_status pd_recorder_open(const struct pd_recorder_options *options, struct pd_recorder **recorder_out,
				       struct pd_error *error);
/** Records until the end. What was written by then is whole also after an error. */
PD_API enum pd_status pd_recorder_run(struct pd_recorder *recorder, struct pd_recorded *recorded_out,
				      struct pd_error *error);
/** The recording as a file that is read while it is made, in place of pd_recorder_run: records are taken from the kernel
 * when the stream of the file has no more, and pd_stream_next waits for them. A FINISHED_ROUND comes ten times a second at
 * least, also if nothing happens. options.live must be NULL; an output may be made beside.
 * The stream ends with the recording, or by pd_recorder_switch: then the file may be closed and another one be opened. It
 * goes on where that one ended and begins with what runs by then, so that what came and went need not be remembered.
 * PD_END: the recording is over. The file must be closed before the recorder. Errors: those of pd_recorder_run. */
PD_API enum pd_status pd_recorder_open_file(struct pd_recorder *recorder, const struct pd_open_options *options,
					    struct pd_file **file_out, struct pd_error *error);
/** What was recorded so far. */
PD_API void pd_recorder_state(const struct pd_recorder *recorder, struct pd_recorded *recorded_out);
/** Ends the recording soon. Safe in a signal handler and from any thread, as often as one likes. */
PD_API void pd_recorder_stop(struct pd_recorder *recorder);
/** Goes on in a new file soon. Likewise. */
PD_API void pd_recorder_switch(struct pd_recorder *recorder);
/** Enables or disables the events soon; name: only of that event, or NULL: of all. From any thread. */
PD_API void pd_recorder_enable(struct pd_recorder *recorder, bool enable, const char *name);
/** Name of the index-th event as it was opened; NULL past the end. Valid until pd_recorder_close. */
PD_API const char *pd_recorder_event_name(const struct pd_recorder *recorder, size_t index);
PD_API void pd_recorder_close(struct pd_recorder *recorder);

#ifdef __cplusplus
}
#endif
#endif
