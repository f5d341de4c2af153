/* SPDX-License-Identifier: MIT */
/* Several threads that read rings, each ring into a file of its own in a directory. */
#ifndef PD_RECORD_WORKERS_H
#define PD_RECORD_WORKERS_H

#include "record/inside.h"

// Starts the threads that options.session.threads names. PD_ERROR_ARGUMENT if it does not name any, or they cannot be.
enum pd_status pd_workers_start(struct pd_recorder *recorder, struct pd_error *error);
// Makes the directory recorder->path, and a writer to it with a part for each ring after the main one.
enum pd_status pd_workers_open_output(struct pd_recorder *recorder, const struct pd_writer_options *options,
				      struct pd_error *error);
// Whether a path is a directory with a recording.
bool pd_workers_made(const char *path);
// Gives a file or directory another name; a recording that has it goes. errno says why it cannot.
enum pd_status pd_workers_move_away(const char *path, const char *old);
// Lets all empty their rings, and waits.
enum pd_status pd_workers_drain(struct pd_recorder *recorder, bool newest, struct pd_error *error);
// Adds the paths that were seen to those of the recorder.
enum pd_status pd_workers_paths(struct pd_recorder *recorder, struct pd_error *error);
void pd_workers_end(struct pd_recorder *recorder);

#endif
