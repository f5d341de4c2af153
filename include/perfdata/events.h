/* SPDX-License-Identifier: MIT */
/**
 * events.h - names of events, and what the kernel is asked for by them.
 *
 * A list of events is made from what is typed behind -e: hardware, software and cache events, raw numbers, events of a
 * PMU with terms, tracepoints, breakpoints, groups and modifiers. Nothing is opened here; recorder.h does that.
 * What a name means depends on the machine: /sys/bus/event_source, and tracefs for tracepoints.
 *
 * A list may be used by one thread at a time.
 *
 * Sources of the facts: perf-list(1), include/uapi/linux/perf_event.h, Documentation/ABI/testing/
 * sysfs-bus-event_source-devices-* of Linux.
 */
#ifndef PERFDATA_EVENTS_H
#define PERFDATA_EVENTS_H

#include <perfdata/format.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How call chains are made. */
enum pd_call_graph {
	PD_CALL_GRAPH_UNSET,
	PD_CALL_GRAPH_NONE,
	PD_CALL_GRAPH_FP,
	PD_CALL_GRAPH_DWARF, /* a copy of the stack, of stack_size bytes */
	PD_CALL_GRAPH_LBR
};

/** A yes or no that may be left open. */
enum pd_choice_of {
	PD_UNSET,
	PD_NO,
	PD_YES
};

/** Terms that an event gives for itself, in place of the options for all: cpu-clock/freq=99,call-graph=fp/. 0: not given. */
struct pd_event_terms {
	uint64_t period;
	uint64_t freq;
	enum pd_call_graph call_graph;
	uint32_t stack_size; /* bytes */
	uint32_t max_stack;  /* entries */
	uint32_t max_events;
	enum pd_choice_of time;
	enum pd_choice_of inherit;
	enum pd_choice_of overwrite;
	enum pd_choice_of percore;
	enum pd_choice_of aux_output;
	uint32_t aux_sample_size; /* bytes */
};

/** Times of the whole run, as perf stat has them. */
enum pd_tool_event {
	PD_TOOL_NONE,
	PD_TOOL_DURATION_TIME, /* since the start */
	PD_TOOL_USER_TIME,     /* of the command and what it waited for, once it ended */
	PD_TOOL_SYSTEM_TIME
};

/** An event that was asked for. */
struct pd_event_wanted {
	/* What the name says: type, config..., bp_..., exclude_..., precise_ip, pinned, exclusive. All else is 0 and the
	 * recorder's to set; attr.size is 0. */
	struct pd_attr attr;
	const char *name;      /* as perf names it: "cpu-clock", "sched:sched_switch", "cpu/event=0x3c/u" */
	const char *pmu;       /* its PMU in sysfs, or NULL */
	size_t leader;         /* index of the event that leads its group; its own index if it leads or is alone */
	bool in_group;
	bool sample_read;      /* modifier S: samples of the leader carry the counts of the group */
	bool weak;             /* modifier W: the group may be broken up if it does not fit */
	bool precise_max;      /* modifier P: the most that the PMU can do */
	bool has_user_kernel;  /* a modifier u, k or h was given */
	const char *unit;      /* "Joules", or NULL */
	double scale;          /* of counts; 1 */
	bool per_package;      /* counts are of a package, not of a CPU */
	bool snapshot;         /* counts are values, not sums */
	const char *cpus;      /* the only CPUs that have it, "0,8", or NULL */
	const char *system;    /* of a tracepoint, or NULL */
	const char *tracepoint;
	const char *filter;    /* expression for the kernel, by pd_events_filter, or NULL */
	struct pd_event_terms terms;
	enum pd_tool_event tool; /* what a counter (counter.h) measures itself: the kernel is asked for nothing, by a dummy */
};

struct pd_events;

/** Zero is the default for each member; NULL means all defaults. */
struct pd_events_options {
	size_t size;         /* sizeof(struct pd_events_options) */
	const char *sysfs;   /* NULL: "/sys" */
	const char *tracefs; /* NULL: where it is mounted, /sys/kernel/tracing or below debugfs */
};

/** An empty list. Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_events_new(const struct pd_events_options *options, struct pd_events **events_out,
				    struct pd_error *error);
PD_API void pd_events_free(struct pd_events *events);
/** Adds what one -e says; may be many events: "cycles:u,{a,b}:S,sched:*". On failure nothing is added, and the message
 * names the column, what is wrong there, and the nearest name.
 * Errors: PD_ERROR_ARGUMENT, PD_ERROR_SYSTEM (tracefs cannot be read: message says how to), PD_ERROR_MEMORY. */
PD_API enum pd_status pd_events_add(struct pd_events *events, const char *text, struct pd_error *error);
/** Gives the tracepoints (and events with address filters) that the last pd_events_add added a filter; a second one is
 * joined to the first by &&. Errors: PD_ERROR_ARGUMENT if they are no tracepoints. */
PD_API enum pd_status pd_events_filter(struct pd_events *events, const char *filter, struct pd_error *error);
/** The same with an expression that leaves the calling process out. */
PD_API enum pd_status pd_events_exclude_self(struct pd_events *events, struct pd_error *error);
/** Makes all events so far, that are in no group, one group. */
PD_API enum pd_status pd_events_group(struct pd_events *events, struct pd_error *error);
PD_API size_t pd_events_count(const struct pd_events *events);
/** The index-th event; valid until the list is changed or freed. NULL past the end. */
PD_API const struct pd_event_wanted *pd_events_at(const struct pd_events *events, size_t index);

/** Kinds of names, as perf list tells them apart. */
enum pd_event_kind {
	PD_EVENT_HARDWARE,
	PD_EVENT_SOFTWARE,
	PD_EVENT_CACHE,
	PD_EVENT_PMU,
	PD_EVENT_RAW,        /* forms rather than names: rNNN, cpu/t1=v1/ */
	PD_EVENT_BREAKPOINT,
	PD_EVENT_TRACEPOINT,
	PD_EVENT_TOOL        /* a time of the whole run, for counters; behind the software events */
};

/** A name that can be typed. Valid during the call. */
struct pd_event_name {
	enum pd_event_kind kind;
	const char *name;
	const char *alias;    /* another name, or NULL */
	const char *about;    /* one line, or NULL */
	const char *encoding; /* "cpu/event=0x3c/", or NULL */
	const char *unit;     /* or NULL */
};

/** Calls `each` for every name that this machine knows, by kind, then by name; false from it ends the list. */
PD_API enum pd_status pd_events_list(const struct pd_events_options *options,
				     bool (*each)(void *self, const struct pd_event_name *name), void *self,
				     struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
