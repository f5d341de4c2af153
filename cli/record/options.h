/* SPDX-License-Identifier: MIT */
/*
 * Options of the commands that record: record, top and stat have those of events and targets in common, record and
 * top those of samples. They are perf's, with perf's letters.
 */
#ifndef CLI_RECORD_OPTIONS_H
#define CLI_RECORD_OPTIONS_H

#include "front/cli.h"

#include <perfdata/recorder.h>

/* Events and targets. */
struct target_values {
	struct option_tags events; /* --event, --filter, --exclude-perf, --cgroup in their order */
	bool group;
	bool all;
	const char *pids, *tids, *user, *cpus;
	bool no_inherit;
};

#define RECORD_TARGET_OPTIONS(type, m)                                                                                 \
	OPTION("event", 'e', TAGGED, "EVENT", offsetof(type, m.events),                                                \
	       "event: a name from perfdata list, a group {a,b}, with modifiers a:u", GROUP_TARGET),                   \
		OPTION("filter", 0, TAGGED, "EXPRESSION", offsetof(type, m.events),                                    \
		       "filter for the tracepoints of the preceding --event: 'prev_pid == 1'", GROUP_TARGET),          \
		OPTION("exclude-perf", 0, TAGGED, NULL, offsetof(type, m.events),                                      \
		       "exclude tracepoints of the preceding --event that the recorder itself hits", GROUP_TARGET),    \
		OPTION("group", 0, FLAG, NULL, offsetof(type, m.group), "put all events into one group",               \
		       GROUP_TARGET),                                                                                  \
		OPTION("all-cpus", 'a', FLAG, NULL, offsetof(type, m.all), "system-wide, on all CPUs", GROUP_TARGET),  \
		OPTION("pid", 'p', STRING, "LIST", offsetof(type, m.pids), "attach to these running processes",        \
		       GROUP_TARGET),                                                                                  \
		OPTION("tid", 't', STRING, "LIST", offsetof(type, m.tids), "attach to these running threads",          \
		       GROUP_TARGET),                                                                                  \
		OPTION("uid", 'u', STRING, "USER", offsetof(type, m.user), "attach to all processes of this user",     \
		       GROUP_TARGET),                                                                                  \
		OPTION("cpu", 'C', STRING, "LIST", offsetof(type, m.cpus), "only on these CPUs: 0,2-3", GROUP_TARGET), \
		OPTION("cgroup", 'G', TAGGED, "LIST", offsetof(type, m.events),                                        \
		       "restrict the preceding events to these cgroups, one per event or one for all; needs -a",       \
		       GROUP_TARGET),                                                                                  \
		OPTION("no-inherit", 'i', FLAG, NULL, offsetof(type, m.no_inherit),                                    \
		       "do not follow child processes and new threads", GROUP_TARGET)

/* What samples hold. */
struct sample_values {
	const char *freq;
	struct option_number period;
	bool g;
	const char *call_graph;
	struct option_number max_stack;
	bool branch_any;
	const char *branches;
	bool data, phys_data, data_page_size, code_page_size, weight, transaction, raw;
	bool timestamp, period_field, sample_cpu, identifier;
	const char *user_regs, *intr_regs;
	bool all_user, all_kernel, user_callchains, kernel_callchains;
	const char *clock;
	const char *ring;
	bool namespaces, all_cgroups, switch_events, no_bpf_event, build_id_mmap, strict_freq;
};

#define RECORD_SAMPLE_OPTIONS(type, m)                                                                                 \
	OPTION("freq", 'F', STRING, "N", offsetof(type, m.freq), "sampling frequency in Hz, or max (default: 4000)",   \
	       GROUP_SAMPLES),                                                                                         \
		OPTION("count", 'c', NUMBER, "N", offsetof(type, m.period),                                            \
		       "sample every N-th event (sampling period)", GROUP_SAMPLES),                                    \
		OPTION("g", 'g', FLAG, NULL, offsetof(type, m.g), "record call chains, like --call-graph fp",          \
		       GROUP_SAMPLES),                                                                                 \
		OPTION("call-graph", 0, STRING, "HOW", offsetof(type, m.call_graph),                                   \
		       "record call chains: fp, dwarf, dwarf,BYTES (of stack to copy) or lbr", GROUP_SAMPLES),         \
		OPTION("max-stack", 0, NUMBER, "N", offsetof(type, m.max_stack), "maximum depth of call chains",       \
		       GROUP_SAMPLES),                                                                                 \
		OPTION("branch-any", 'b', FLAG, NULL, offsetof(type, m.branch_any), "record branch stacks",            \
		       GROUP_SAMPLES),                                                                                 \
		OPTION("branch-filter", 'j', STRING, "LIST", offsetof(type, m.branches),                               \
		       "record branch stacks of these branch types: any_call,u", GROUP_SAMPLES),                       \
		OPTION("data", 'd', FLAG, NULL, offsetof(type, m.data), "record data addresses", GROUP_SAMPLES),       \
		OPTION("phys-data", 0, FLAG, NULL, offsetof(type, m.phys_data), "record physical data addresses",      \
		       GROUP_SAMPLES),                                                                                 \
		OPTION("data-page-size", 0, FLAG, NULL, offsetof(type, m.data_page_size),                              \
		       "record page sizes of data addresses", GROUP_SAMPLES),                                          \
		OPTION("code-page-size", 0, FLAG, NULL, offsetof(type, m.code_page_size),                              \
		       "record page sizes of code addresses", GROUP_SAMPLES),                                          \
		OPTION("weight", 'W', FLAG, NULL, offsetof(type, m.weight), "record sample weights", GROUP_SAMPLES),   \
		OPTION("transaction", 0, FLAG, NULL, offsetof(type, m.transaction), "record transaction flags",        \
		       GROUP_SAMPLES),                                                                                 \
		OPTION("raw-samples", 'R', FLAG, NULL, offsetof(type, m.raw), "record raw data of all events",         \
		       GROUP_SAMPLES),                                                                                 \
		OPTION("timestamp", 'T', FLAG, NULL, offsetof(type, m.timestamp), "record timestamps", GROUP_SAMPLES), \
		OPTION("period", 'P', FLAG, NULL, offsetof(type, m.period_field), "record periods", GROUP_SAMPLES),    \
		OPTION("sample-cpu", 0, FLAG, NULL, offsetof(type, m.sample_cpu), "record CPU numbers",                \
		       GROUP_SAMPLES),                                                                                 \
		OPTION("sample-identifier", 0, FLAG, NULL, offsetof(type, m.identifier), "record sample identifiers",  \
		       GROUP_SAMPLES),                                                                                 \
		OPTION("user-regs", 0, ATTACHED, "LIST", offsetof(type, m.user_regs),                                  \
		       "record these user-space registers; ? lists them", GROUP_SAMPLES),                              \
		OPTION("intr-regs", 'I', ATTACHED, "LIST", offsetof(type, m.intr_regs),                                \
		       "record these registers at the interrupt; ? lists them", GROUP_SAMPLES),                        \
		OPTION("all-user", 0, FLAG, NULL, offsetof(type, m.all_user), "count events only in user space",       \
		       GROUP_SAMPLES),                                                                                 \
		OPTION("all-kernel", 0, FLAG, NULL, offsetof(type, m.all_kernel), "count events only in the kernel",   \
		       GROUP_SAMPLES),                                                                                 \
		OPTION("user-callchains", 0, FLAG, NULL, offsetof(type, m.user_callchains),                            \
		       "record only user-space call chains", GROUP_SAMPLES),                                           \
		OPTION("kernel-callchains", 0, FLAG, NULL, offsetof(type, m.kernel_callchains),                        \
		       "record only kernel call chains", GROUP_SAMPLES),                                               \
		OPTION("clockid", 'k', STRING, "CLOCK", offsetof(type, m.clock),                                       \
		       "clock for timestamps: mono, raw, boot, real, tai", GROUP_SAMPLES),                             \
		OPTION("mmap-pages", 'm', STRING, "PAGES", offsetof(type, m.ring),                                     \
		       "ring buffer size per CPU: pages, or 512K, 16M", GROUP_SAMPLES),                                \
		OPTION("namespaces", 0, FLAG, NULL, offsetof(type, m.namespaces), "record namespaces of processes",    \
		       GROUP_SAMPLES),                                                                                 \
		OPTION("all-cgroups", 0, FLAG, NULL, offsetof(type, m.all_cgroups), "record cgroups", GROUP_SAMPLES),  \
		OPTION("switch-events", 0, FLAG, NULL, offsetof(type, m.switch_events), "record context switches",     \
		       GROUP_SAMPLES),                                                                                 \
		OPTION("no-bpf-event", 0, FLAG, NULL, offsetof(type, m.no_bpf_event),                                  \
		       "do not record loading of BPF programs", GROUP_SAMPLES),                                        \
		OPTION("buildid-mmap", 0, FLAG, NULL, offsetof(type, m.build_id_mmap),                                 \
		       "record build ids in MMAP2 records", GROUP_SAMPLES),                                            \
		OPTION("strict-freq", 0, FLAG, NULL, offsetof(type, m.strict_freq),                                    \
		       "fail if the kernel does not allow the requested frequency", GROUP_SAMPLES)

/* What the values are turned into. */
struct record_setup {
	struct pd_events *events;
	uint32_t *pids, *tids;
	char **cgroups; /* by event; "": none */
	size_t cgroup_count;
	size_t cgroup_names; /* that --cgroup gave so far */
	char **command;
};

/* Fill the options; setup must be given back with record_fini either way. Say on stderr what is wrong and return false
 * then. words are the command, or none. */
bool record_has_events(const struct target_values *values);
/* Adds the events of --event once more. */
bool record_add_events(struct record_setup *setup, const struct target_values *values);
bool record_take_targets(struct record_setup *setup, const struct target_values *values, const struct call *call,
			 struct pd_recorder_options *options);
bool record_take_samples(const struct sample_values *values, struct pd_recorder_options *options);
void record_fini(struct record_setup *setup);

#endif
