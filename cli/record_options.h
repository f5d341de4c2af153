/* SPDX-License-Identifier: MIT */
/*
 * Options of the commands that record: record, top and stat have those of events and targets in common, record and
 * top those of samples. They are perf's, with perf's letters.
 */
#ifndef CLI_RECORD_OPTIONS_H
#define CLI_RECORD_OPTIONS_H

#include "cli.h"

#include <perfdata/recorder.h>

/* What is recorded, and whom. */
struct target_values {
	struct option_tags events; /* --event, --filter, --exclude-perf, --cgroup in their order */
	bool group;
	bool all;
	const char *pids, *tids, *user, *cpus;
	bool no_inherit;
};

#define RECORD_TARGET_OPTIONS(type, m)                                                             \
	{ "event", 'e', OPTION_TAGGED, "EVENT", offsetof(type, m.events),                          \
	  "what is recorded: a name of perfdata list, a group {a,b}, with modifiers a:u" },        \
	{ "filter", 0, OPTION_TAGGED, "EXPRESSION", offsetof(type, m.events),                      \
	  "only these of the tracepoints of the last --event: 'prev_pid == 1'" },                  \
	{ "exclude-perf", 0, OPTION_TAGGED, NULL, offsetof(type, m.events),                        \
	  "of the tracepoints of the last --event, not those of the recorder itself" },            \
	{ "group", 0, OPTION_FLAG, NULL, offsetof(type, m.group), "all events are one group" },    \
	{ "all-cpus", 'a', OPTION_FLAG, NULL, offsetof(type, m.all), "everything that runs" },     \
	{ "pid", 'p', OPTION_STRING, "LIST", offsetof(type, m.pids), "these processes" },          \
	{ "tid", 't', OPTION_STRING, "LIST", offsetof(type, m.tids), "these threads" },            \
	{ "uid", 'u', OPTION_STRING, "USER", offsetof(type, m.user), "what runs for this user" },  \
	{ "cpu", 'C', OPTION_STRING, "LIST", offsetof(type, m.cpus), "only on these CPUs: 0,2-3" }, \
	{ "cgroup", 'G', OPTION_TAGGED, "LIST", offsetof(type, m.events),                          \
	  "the events in front only in these cgroups, one for each or one for all; needs -a" },    \
	{ "no-inherit", 'i', OPTION_FLAG, NULL, offsetof(type, m.no_inherit),                      \
	  "do not follow what the process or command starts" }

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
	  "so many samples a second, or max; without -F and -c: 4000" },                           \
	{ "count", 'c', OPTION_NUMBER, "N", offsetof(type, m.period), "a sample of every N-th event" }, \
	{ "g", 'g', OPTION_FLAG, NULL, offsetof(type, m.g), "with call chains, as --call-graph fp" }, \
	{ "call-graph", 0, OPTION_STRING, "HOW", offsetof(type, m.call_graph),                     \
	  "with call chains: fp, dwarf, dwarf,BYTES or lbr" },                                     \
	{ "max-stack", 0, OPTION_NUMBER, "N", offsetof(type, m.max_stack), "most entries of a call chain" }, \
	{ "branch-any", 'b', OPTION_FLAG, NULL, offsetof(type, m.branch_any), "with the last branches" }, \
	{ "branch-filter", 'j', OPTION_STRING, "LIST", offsetof(type, m.branches),                 \
	  "with the last branches of these kinds: any_call,u" },                                   \
	{ "data", 'd', OPTION_FLAG, NULL, offsetof(type, m.data), "with addresses of data" },      \
	{ "phys-data", 0, OPTION_FLAG, NULL, offsetof(type, m.phys_data), "with physical addresses of data" }, \
	{ "data-page-size", 0, OPTION_FLAG, NULL, offsetof(type, m.data_page_size), "with sizes of pages of data" }, \
	{ "code-page-size", 0, OPTION_FLAG, NULL, offsetof(type, m.code_page_size), "with sizes of pages of code" }, \
	{ "weight", 'W', OPTION_FLAG, NULL, offsetof(type, m.weight), "with weights" },            \
	{ "transaction", 0, OPTION_FLAG, NULL, offsetof(type, m.transaction), "with flags of transactions" }, \
	{ "raw-samples", 'R', OPTION_FLAG, NULL, offsetof(type, m.raw), "with raw data of all events" }, \
	{ "timestamp", 'T', OPTION_FLAG, NULL, offsetof(type, m.timestamp), "with times" },        \
	{ "period", 'P', OPTION_FLAG, NULL, offsetof(type, m.period_field), "with periods" },      \
	{ "sample-cpu", 0, OPTION_FLAG, NULL, offsetof(type, m.sample_cpu), "with CPUs" },         \
	{ "sample-identifier", 0, OPTION_FLAG, NULL, offsetof(type, m.identifier), "with identifiers" }, \
	{ "user-regs", 0, OPTION_ATTACHED, "LIST", offsetof(type, m.user_regs),                    \
	  "with these registers of user space; ? lists them" },                                    \
	{ "intr-regs", 'I', OPTION_ATTACHED, "LIST", offsetof(type, m.intr_regs),                  \
	  "with these registers at the interrupt; ? lists them" },                                 \
	{ "all-user", 0, OPTION_FLAG, NULL, offsetof(type, m.all_user), "only in user space" },    \
	{ "all-kernel", 0, OPTION_FLAG, NULL, offsetof(type, m.all_kernel), "only in the kernel" }, \
	{ "user-callchains", 0, OPTION_FLAG, NULL, offsetof(type, m.user_callchains),              \
	  "call chains of user space only" },                                                      \
	{ "kernel-callchains", 0, OPTION_FLAG, NULL, offsetof(type, m.kernel_callchains),          \
	  "call chains of the kernel only" },                                                      \
	{ "clockid", 'k', OPTION_STRING, "CLOCK", offsetof(type, m.clock),                         \
	  "clock of the times: mono, raw, boot, real, tai" },                                      \
	{ "mmap-pages", 'm', OPTION_STRING, "PAGES", offsetof(type, m.ring),                       \
	  "memory of each CPU for what was not written yet: pages, or 512K, 16M" },                \
	{ "namespaces", 0, OPTION_FLAG, NULL, offsetof(type, m.namespaces), "with namespaces of processes" }, \
	{ "all-cgroups", 0, OPTION_FLAG, NULL, offsetof(type, m.all_cgroups), "with cgroups" },    \
	{ "switch-events", 0, OPTION_FLAG, NULL, offsetof(type, m.switch_events), "with context switches" }, \
	{ "no-bpf-event", 0, OPTION_FLAG, NULL, offsetof(type, m.no_bpf_event), "without loads of BPF programs" }, \
	{ "buildid-mmap", 0, OPTION_FLAG, NULL, offsetof(type, m.build_id_mmap), "build ids in MMAP2 records" }, \
	{ "strict-freq", 0, OPTION_FLAG, NULL, offsetof(type, m.strict_freq),                      \
	  "fail if the kernel does not allow the frequency" }

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
