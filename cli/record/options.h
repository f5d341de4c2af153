/* SPDX-License-Identifier: MIT */
/*
 * Options of the commands that record: record, top and stat have those of events and targets in common, record and
 * top those of samples. They are perf's, with perf's short options.
 */
#ifndef CLI_RECORD_OPTIONS_H
#define CLI_RECORD_OPTIONS_H

#include "front/cli.h"
#include "options/value.h"

#include <perfdata/recorder.h>

/* What the options of both groups set. */
struct record_values {
	struct pd_recorder_options wanted; /* what is said by one option */
	struct option_tags events;         /* --event, --filter, --exclude-perf, --cgroup in their order */
	bool group;
	const char *pids, *tids, *user;
	bool chains, branches;
	const char *user_regs, *intr_regs;
};
extern const struct option_group record_target_group, record_sample_group;

/* What the values are turned into. */
struct record_setup {
	struct pd_recorder_options options;
	struct pd_events *events; /* of the options */
	char **command;
};

/* Makes a setup of values, except their samples; it must be given back with record_fini either way. Words of the call are the command,
 * or none. All say on stderr what is wrong and return false then. */
bool record_take(struct record_setup *setup, const struct record_values *values, const struct call *call);
bool record_take_samples(struct record_setup *setup, const struct record_values *values);
void record_fini(struct record_setup *setup);
/* Words of the call, if there are any, become the command, with a NULL at the end, as exec wants it. */
bool record_copy_command(struct record_setup *setup, const struct call *call);
/* Whether events are named. */
bool record_has_events(const struct record_values *values);
/* Adds the events of --event once more. */
bool record_add_events(struct record_setup *setup, const struct record_values *values);
/* The value of --control, or NULL. */
bool record_open_control(const char *where, struct pd_recorder *recorder, struct pd_control **control_out);

/* A note with its advice, on stderr. */
void record_print_note(const struct pd_recorder_note *note);
/* The exit code of a finished recording of a command: its own, and as shells tell signals; says on stderr that it cannot be run. */
int record_code(const struct pd_recorded *recorded, const char *command);

/* Adds the objects of a finished recording to perf's build-id cache, if the user named one; all: also those without samples. */
void record_cache_objects(const char *path, bool all, const struct pd_config *config);

#endif
