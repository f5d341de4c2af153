/* SPDX-License-Identifier: MIT */
/*
 * Options of the commands that record: record, top and stat have those of events and targets in common, record and
 * top those of samples. They are perf's, with perf's short options.
 */
#ifndef CLI_RECORD_OPTIONS_H
#define CLI_RECORD_OPTIONS_H

#include "front/cli.h"

#include <perfdata/recorder.h>

/* Whether the library could read the value of an option, see "what users write" in perfdata/recorder.h; else says what is
 * wrong on stderr, with the name of the option. */
bool value_is(const char *option, enum pd_status status, const struct pd_error *error);

/* Reads a value with such a function; no text leaves it as it is. */
bool value_take(const char *option, const char *text,
		enum pd_status (*parse)(const char *text, uint64_t *value_out, struct pd_error *error),
		uint64_t *value);

/* Events and targets. */
struct target_values {
	struct option_tags events; /* --event, --filter, --exclude-perf, --cgroup in their order */
	bool group;
	bool all;
	const char *pids, *tids, *user, *cpus;
	bool no_inherit;
};
extern const struct option_group record_target_group;

/* What samples hold. */
struct sample_values {
	const char *freq;
	struct option_number period;
	bool g;
	const char *call_graph;
	struct option_number max_stack;
	bool branch_any;
	const char *branches;
	struct pd_sampling sampling; /* what flags set of it */
	const char *user_regs, *intr_regs;
	const char *clock;
	const char *ring;
};
extern const struct option_group record_sample_group;

/* What the values are turned into. */
struct record_setup {
	struct pd_events *events;
	struct pd_u32s pids, tids;
	char **command;
};

/* Fill the options; setup must be given back with record_fini either way. Say on stderr what is wrong and return false
 * then. words are the command, or none. */
bool record_has_events(const struct target_values *values);
/* Adds the events of --event once more. */
bool record_add_events(struct record_setup *setup, const struct target_values *values);
bool record_take_targets(struct record_setup *setup, const struct target_values *values, const struct call *call,
			 struct pd_recorder_options *options);
/* Events of the preset that is named, if any, and what follows from it; after the other two. */
bool record_take_preset(struct record_setup *setup, const char *name, const struct call *call,
			struct pd_recorder_options *options);
bool record_take_samples(const struct sample_values *values, struct pd_recorder_options *options);
/* The value of --control, or NULL. */
bool record_open_control(const char *where, struct pd_recorder *recorder, struct pd_control **control_out);
void record_fini(struct record_setup *setup);

/* A note with its advice, on stderr. */
void record_print_note(const struct pd_recorder_note *note);
/* The exit code of a finished recording of a command: its own, and as shells tell signals; says on stderr that it cannot be run. */
int record_code(const struct pd_recorded *recorded, const char *command);

/* Adds the objects of a finished recording to perf's build-id cache, if the user named one; all: also those without samples. */
void record_cache_objects(const char *path, bool all, const struct pd_config *config);

#endif
