/* SPDX-License-Identifier: MIT */
/*
 * Options of the commands that record: record, top and stat have those of events and targets in common, record and
 * top those of samples. They are perf's, with perf's letters.
 */
#ifndef CLI_RECORD_OPTIONS_H
#define CLI_RECORD_OPTIONS_H

#include "cli.h"

#include <perfdata/recorder.h>

/* Events and targets. */
struct target_values {
	struct option_tags events; /* --event, --filter, --exclude-perf, --cgroup in their order */
	bool group;
	bool all;
	const char *pids, *tids, *user, *cpus;
	bool no_inherit;
};

#define RECORD_TARGET_OPTIONS(type, m)                                                             \
	{ "event", 'e', OPTION_TAGGED, "EVENT", offsetof(type, m.events),                          \
	  "event to record: a name from perfdata list, a group {a,b}, with modifiers a:u" },        \
	{ "filter", 0, OPTION_TAGGED, "EXPRESSION", offsetof(type, m.events),                      \
	  "filter for the tracepoints of the preceding --event: 'prev_pid == 1'" },                  \
	{ "exclude-perf", 0, OPTION_TAGGED, NULL, offsetof(type, m.events),                        \
	  "exclude tracepoints of the preceding --event that the recorder itself hits" },            \
	{ "group", 0, OPTION_FLAG, NULL, offsetof(type, m.group), "put all events into one group" },    \
	{ "all-cpus", 'a', OPTION_FLAG, NULL, offsetof(type, m.all), "system-wide, on all CPUs" },     \
	{ "pid", 'p', OPTION_STRING, "LIST", offsetof(type, m.pids), "record these running processes" },          \
	{ "tid", 't', OPTION_STRING, "LIST", offsetof(type, m.tids), "record these running threads" },            \
	{ "uid", 'u', OPTION_STRING, "USER", offsetof(type, m.user), "record all processes of this user" },  \
	{ "cpu", 'C', OPTION_STRING, "LIST", offsetof(type, m.cpus), "record only on these CPUs: 0,2-3" }, \
	{ "cgroup", 'G', OPTION_TAGGED, "LIST", offsetof(type, m.events),                          \
	  "restrict the preceding events to these cgroups, one per event or one for all; needs -a" },    \
	{ "no-inherit", 'i', OPTION_FLAG, NULL, offsetof(type, m.no_inherit),                      \
	  "do not record child processes and new threads" }

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

#define RECORD_SAMPLE_OPTIONS(type, m)                                                             \
	{ "freq", 'F', OPTION_STRING, "N", offsetof(type, m.freq),                                 \
	  "sampling frequency in Hz, or max (default: 4000)" },                           \
	{ "count", 'c', OPTION_NUMBER, "N", offsetof(type, m.period), "sample every N-th event (sampling period)" }, \
	{ "g", 'g', OPTION_FLAG, NULL, offsetof(type, m.g), "record call chains, like --call-graph fp" }, \
	{ "call-graph", 0, OPTION_STRING, "HOW", offsetof(type, m.call_graph),                     \
	  "record call chains: fp, dwarf, dwarf,BYTES (of stack to copy) or lbr" },                                     \
	{ "max-stack", 0, OPTION_NUMBER, "N", offsetof(type, m.max_stack), "maximum depth of call chains" }, \
	{ "branch-any", 'b', OPTION_FLAG, NULL, offsetof(type, m.branch_any), "record branch stacks" }, \
	{ "branch-filter", 'j', OPTION_STRING, "LIST", offsetof(type, m.branches),                 \
	  "record branch stacks of these branch types: any_call,u" },                                   \
	{ "data", 'd', OPTION_FLAG, NULL, offsetof(type, m.data), "record data addresses" },      \
	{ "phys-data", 0, OPTION_FLAG, NULL, offsetof(type, m.phys_data), "record physical data addresses" }, \
	{ "data-page-size", 0, OPTION_FLAG, NULL, offsetof(type, m.data_page_size), "record page sizes of data addresses" }, \
	{ "code-page-size", 0, OPTION_FLAG, NULL, offsetof(type, m.code_page_size), "record page sizes of code addresses" }, \
	{ "weight", 'W', OPTION_FLAG, NULL, offsetof(type, m.weight), "record sample weights" },            \
	{ "transaction", 0, OPTION_FLAG, NULL, offsetof(type, m.transaction), "record transaction flags" }, \
	{ "raw-samples", 'R', OPTION_FLAG, NULL, offsetof(type, m.raw), "record raw data of all events" }, \
	{ "timestamp", 'T', OPTION_FLAG, NULL, offsetof(type, m.timestamp), "record timestamps" },        \
	{ "period", 'P', OPTION_FLAG, NULL, offsetof(type, m.period_field), "record periods" },      \
	{ "sample-cpu", 0, OPTION_FLAG, NULL, offsetof(type, m.sample_cpu), "record CPU numbers" },         \
	{ "sample-identifier", 0, OPTION_FLAG, NULL, offsetof(type, m.identifier), "record sample identifiers" }, \
	{ "user-regs", 0, OPTION_ATTACHED, "LIST", offsetof(type, m.user_regs),                    \
	  "record these user-space registers; ? lists them" },                                    \
	{ "intr-regs", 'I', OPTION_ATTACHED, "LIST", offsetof(type, m.intr_regs),                  \
	  "record these registers at the interrupt; ? lists them" },                                 \
	{ "all-user", 0, OPTION_FLAG, NULL, offsetof(type, m.all_user), "count events only in user space" },    \
	{ "all-kernel", 0, OPTION_FLAG, NULL, offsetof(type, m.all_kernel), "count events only in the kernel" }, \
	{ "user-callchains", 0, OPTION_FLAG, NULL, offsetof(type, m.user_callchains),              \
	  "record only user-space call chains" },                                                      \
	{ "kernel-callchains", 0, OPTION_FLAG, NULL, offsetof(type, m.kernel_callchains),          \
	  "record only kernel call chains" },                                                      \
	{ "clockid", 'k', OPTION_STRING, "CLOCK", offsetof(type, m.clock),                         \
	  "clock for timestamps: mono, raw, boot, real, tai" },                                      \
	{ "mmap-pages", 'm', OPTION_STRING, "PAGES", offsetof(type, m.ring),                       \
	  "ring buffer size per CPU: pages, or 512K, 16M" },                \
	{ "namespaces", 0, OPTION_FLAG, NULL, offsetof(type, m.namespaces), "record namespaces of processes" }, \
	{ "all-cgroups", 0, OPTION_FLAG, NULL, offsetof(type, m.all_cgroups), "record cgroups" },    \
	{ "switch-events", 0, OPTION_FLAG, NULL, offsetof(type, m.switch_events), "record context switches" }, \
	{ "no-bpf-event", 0, OPTION_FLAG, NULL, offsetof(type, m.no_bpf_event), "do not record loading of BPF programs" }, \
	{ "buildid-mmap", 0, OPTION_FLAG, NULL, offsetof(type, m.build_id_mmap), "record build ids in MMAP2 records" }, \
	{ "strict-freq", 0, OPTION_FLAG, NULL, offsetof(type, m.strict_freq),                      \
	  "fail if the kernel does not allow the requested frequency" }

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
