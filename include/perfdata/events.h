/* SPDX-License-Identifier: MIT */
/**
 * events.h - parses event names into attrs, and lists events.
 *
 * A list of events is parsed from the arguments of -e: hardware, software and cache events, raw numbers, PMU events
 * with terms, tracepoints, breakpoints, groups and modifiers. Events are not opened here, but by recorder.h. The
 * meaning of a name depends on the machine: /sys/bus/event_source, and tracefs for tracepoints.
 *
 * A list may be used by one thread at a time.
 *
 * Sources of the facts: perf-list(1), include/uapi/linux/perf_event.h, Documentation/ABI/testing/
 * sysfs-bus-event_source-devices-* of Linux.
 *
 * Example:
 *
 *	struct pd_events *list;
 *
 *	if (pd_events_new(NULL, &list, &error) == PD_OK) {
 *		if (pd_events_add(list, "{cpu-clock,page-faults}:u", &error) == PD_OK)
 *			printf("%u events, the first is %s\n", (unsigned)pd_events_count(list), pd_events_at(list, 0)->name);
 *		pd_events_free(list);
 *	}
 */
#ifndef PERFDATA_EVENTS_H
#define PERFDATA_EVENTS_H

#include <perfdata/format.h>
#include <perfdata/text.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Call chain mode. */
enum pd_call_graph {
	PD_CALL_GRAPH_UNSET,
	PD_CALL_GRAPH_NONE,
	PD_CALL_GRAPH_FP,
	PD_CALL_GRAPH_DWARF, /* copies of stack_size bytes of the user stack */
	PD_CALL_GRAPH_LBR
};

/** A boolean that may be unset. */
enum pd_choice_of {
	PD_UNSET,
	PD_NO,
	PD_YES
};

/** Terms of an event that override global options: cpu-clock/freq=99,call-graph=fp/. 0: not given. */
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

/** Times of the whole run, as in perf stat. */
enum pd_tool_event {
	PD_TOOL_NONE,
	PD_TOOL_DURATION_TIME, /* since the start */
	PD_TOOL_USER_TIME,     /* of the command and its waited-for children, after its exit */
	PD_TOOL_SYSTEM_TIME
};

/** A requested event. */
struct pd_event_wanted {
	/* Set by the name: type, config..., bp_..., exclude_..., precise_ip, pinned, exclusive. Everything else is 0
	 * and set by the recorder; attr.size is 0. */
	struct pd_attr attr;
	const char *name; /* as in perf: "cpu-clock", "sched:sched_switch", "cpu/event=0x3c/u" */
	const char *pmu;  /* its PMU in sysfs, or NULL */
	size_t leader;    /* index of its group leader; its own index for a leader or without a group */
	bool in_group;
	bool sample_read;     /* modifier S: samples of the leader contain the counts of the group */
	bool weak;            /* modifier W: the group may be split if it does not fit the PMU */
	bool precise_max;     /* modifier P: maximum precision of the PMU */
	bool has_user_kernel; /* a modifier u, k or h was given */
	const char *unit;     /* "Joules", or NULL */
	double scale;         /* of counts; 1 */
	bool per_package;     /* counts per package, not per CPU */
	bool snapshot;        /* counts are current values, not sums */
	const char *cpus;     /* CPUs to open it on, "0,8", or NULL */
	const char *system;   /* of a tracepoint, or NULL */
	const char *tracepoint;
	const char *filter; /* kernel filter expression, set by pd_events_filter, or NULL */
	struct pd_event_terms terms;
	enum pd_tool_event tool; /* measured by the counter (counter.h) itself; the attr is a dummy */
};

struct pd_events;

/** Zero is the default for each member; NULL means all defaults. */
struct pd_events_options {
	size_t size;         /* sizeof(struct pd_events_options) */
	const char *sysfs;   /* NULL: "/sys" */
	const char *tracefs; /* NULL: its mount point, /sys/kernel/tracing or below debugfs */
	const char *pmu;     /* for lists of names: only events of PMUs that match, with *, ? and []; NULL: all */
};

/** An empty list. Errors: PD_ERROR_MEMORY. */
PD_API enum pd_status pd_events_new(const struct pd_events_options *options, struct pd_events **events_out,
				    struct pd_error *error);
PD_API void pd_events_free(struct pd_events *events);
/** Adds the events of one -e argument: "cycles:u,{a,b}:S,sched:*". On failure nothing is added, and the message has
 * the column, the reason, and a similar name if any.
 * Errors: PD_ERROR_ARGUMENT, PD_ERROR_SYSTEM (tracefs cannot be read; the message has advice), PD_ERROR_MEMORY. */
PD_API enum pd_status pd_events_add(struct pd_events *events, const char *text, struct pd_error *error);
/** Events for the commands that read them. Constant. */
struct pd_event_preset {
	const char *name;   /* "sched" */
	const char *events; /* separated by blanks; '?': only where the kernel has it; "a|b": the first that it has */
	bool all;           /* of the whole system, if nothing else is said */
	bool chains;        /* with call chains */
	bool data;          /* with addresses of data, where it was, and what it cost */
};
/** The index-th preset; NULL past the end. */
PD_API const struct pd_event_preset *pd_event_preset_at(size_t index);
/** The preset of that name, or NULL. */
PD_API const struct pd_event_preset *pd_event_preset_find(const char *name);
/** Adds the events of a preset. Errors: those of pd_events_add; PD_ERROR_ARGUMENT if the kernel has none of them. */
PD_API enum pd_status pd_events_add_preset(struct pd_events *events, const struct pd_event_preset *preset,
					   struct pd_error *error);
/** Sets a filter on the tracepoints (and events with address filters) of the last pd_events_add; a second filter is
 * combined with the first by &&. Errors: PD_ERROR_ARGUMENT if they are not tracepoints. */
PD_API enum pd_status pd_events_filter(struct pd_events *events, const char *filter, struct pd_error *error);
/** Sets a filter that excludes the calling process. */
PD_API enum pd_status pd_events_exclude_self(struct pd_events *events, struct pd_error *error);
/** Puts all events without a group into one group. */
PD_API enum pd_status pd_events_group(struct pd_events *events, struct pd_error *error);
/** Number of events. */
PD_API size_t pd_events_count(const struct pd_events *events);
/** The index-th event; valid until the list is changed or freed. NULL past the end. */
PD_API const struct pd_event_wanted *pd_events_at(const struct pd_events *events, size_t index);

/** Kinds of event names, as in perf list. */
enum pd_event_kind {
	PD_EVENT_HARDWARE,
	PD_EVENT_SOFTWARE,
	PD_EVENT_CACHE,
	PD_EVENT_PMU,
	PD_EVENT_RAW, /* syntax rather than names: rNNN, cpu/t1=v1/ */
	PD_EVENT_BREAKPOINT,
	PD_EVENT_TRACEPOINT,
	PD_EVENT_TOOL /* a time of the whole run, for counters; listed after software events */
};

/** An event name. Valid during the call. */
struct pd_event_name {
	enum pd_event_kind kind;
	const char *name;
	const char *alias;    /* another name, or NULL */
	const char *about;    /* one line, or NULL */
	const char *encoding; /* "cpu/event=0x3c/", or NULL */
	const char *unit;     /* or NULL */
	const char *pmu;      /* what counts it: "msr", "software", "tracepoint" */
};

/** Calls `each` for every event of this machine, sorted by kind, then by name, until it returns false. */
PD_API enum pd_status pd_events_list(const struct pd_events_options *options,
				     bool (*each)(void *self, const struct pd_event_name *name), void *self,
				     struct pd_error *error);
/** Whether a name is asked for by one of the words: a kind (hw, sw, cache, pmu, raw, breakpoint, tracepoint), a pattern with *, ?
 * and [], or a part of the name. Without words all are. */
PD_API bool pd_event_name_fits(const struct pd_event_name *name, const char *const *words, size_t count);
/** Prints a name as perf list does, on a line, or as a JSON object with the members of perf list -j, version 7.2. */
PD_API void pd_print_event_name(struct pd_text *text, const struct pd_event_name *name);
PD_API void pd_json_event_name(struct pd_text *text, const struct pd_event_name *name);

enum pd_event_list_as {
	PD_EVENT_LIST_TEXT,   /* as perf list */
	PD_EVENT_LIST_JSON,   /* an array with an object for each event, on lines */
	PD_EVENT_LIST_NAMES,  /* a name on each line */
	PD_EVENT_LIST_DETAILS /* as perf list --details, version 7.2: below each how it is encoded */
};
/** Prints the events of this machine that the words ask for (pd_event_name_fits), and writes the text out where it is long. Errors: those
 * of pd_events_list; PD_ERROR_NO_MATCH if there is none; PD_ERROR_OUTPUT. */
PD_API enum pd_status pd_print_event_list(struct pd_text *text, const struct pd_events_options *options,
					  const char *const *words, size_t count, enum pd_event_list_as as,
					  struct pd_error *error);

#ifdef __cplusplus
}
#endif
#endif
