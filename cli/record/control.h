/* SPDX-License-Identifier: MIT */
/*
 * Commands to a recorder while it runs, through a descriptor or a FIFO: a word on each line, answered by "ack".
 */
#ifndef CLI_RECORD_CONTROL_H
#define CLI_RECORD_CONTROL_H

#include <perfdata/recorder.h>

#include <pthread.h>
#include <stdbool.h>

struct record_control {
	struct pd_recorder *recorder;
	int in, out; /* -1: none */
	bool owns;   /* both are closed at the end */
	int end[2];  /* pipe that ends the thread */
	pthread_t thread;
	bool runs;
};

/* where: "fd:3", "fd:3,4", "fifo:PATH", "fifo:PATH,PATH", or NULL. Says on stderr what is wrong and returns false then. */
bool record_control_start(struct record_control *control, const char *where, struct pd_recorder *recorder);
void record_control_stop(struct record_control *control);

#endif
