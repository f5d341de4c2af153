/* SPDX-License-Identifier: MIT */
/*
 * What the kernel is asked for: an attr for each event, by what was typed. Nothing is opened here.
 *
 * config.c knows which bits the options stand for; targets.c, whom to record; open.c asks.
 */
#ifndef PD_RECORD_CONFIG_H
#define PD_RECORD_CONFIG_H

#include "record/record.h"

// An event to be opened.
struct pd_rec_event {
	struct pd_attr attr;
	char *name;
	const struct pd_event_wanted *wanted; // NULL: made here (the default one, the one that tracks)
	size_t leader;                        // index; its own if it has none
	bool offcpu;                          // where threads wait, see offcpu.c
	bool tracking;                        // maps, names and forks come with it
	// by open.c
	int *fds;      // of each (thread, CPU), -1: none
	uint64_t *ids; // of each descriptor
	size_t fd_count;
	bool refused; // the kernel does not know it
	// by counter.c
	struct pd_counter_value *counts; // of each descriptor, NULL: none was read yet
};

struct pd_config {
	struct pd_rec_event *events;
	size_t event_count, event_capacity;
	bool uses_ids;      // samples carry ids
	bool command_execs; // events are enabled by the exec of the command
	uint64_t max_rate;  // kernel.perf_event_max_sample_rate, 0: not known
};

// Events as they are to be opened.
enum pd_status pd_config_make(struct pd_config *config, const struct pd_recorder_options *options,
			      struct pd_error *error);
void pd_config_fini(struct pd_config *config);
// Another word in the name of an event, where that begins with it. False if there is no memory.
bool pd_config_rename(struct pd_rec_event *event, const char *from, const char *to);
// One more modifier after the name. False if there is no memory.
bool pd_config_modify(struct pd_rec_event *event, const char *modifier);

// ---- offcpu.c: attrs ----

// Turns an attr into that of the event that sees threads wait; and that into what the file says of it.
void pd_offcpu_set_attr(struct pd_attr *attr, bool inherit);
void pd_offcpu_file_attr(struct pd_attr *attr);

// In machine/machine_cpu.c
bool pd_record_cpu_is_amd(void);

// A number from a file of /proc or /sys; fallback if there is none.
uint64_t pd_record_number(const char *path, uint64_t fallback);

// ---- targets.c ----

struct pd_threads {
	int32_t *items; // -1: all
	size_t count, capacity;
};

struct pd_cpus {
	int32_t *items; // -1: any
	size_t count, capacity;
};

// Threads of processes, of a user, or as given; with per_thread all that run. Without any: one that stands for all.
enum pd_status pd_threads_find(struct pd_threads *threads, const struct pd_targets *targets, const char *proc,
			       struct pd_error *error);
void pd_threads_fini(struct pd_threads *threads);
// "0,2-3" as numbers; PD_ERROR_ARGUMENT.
enum pd_status pd_cpus_parse(struct pd_cpus *cpus, const char *text, struct pd_error *error);
// Whether a list as sysfs has it ("0,8") has a CPU; one that cannot be read has all.
bool pd_cpus_text_has(const char *text, int32_t cpu);
// Those that are online, and in the list of the targets if they have one.
enum pd_status pd_cpus_find(struct pd_cpus *cpus, const struct pd_targets *targets, const char *sysfs,
			    struct pd_error *error);
void pd_cpus_fini(struct pd_cpus *cpus);

#endif
