/* SPDX-License-Identifier: MIT */
/* A recording that is made while it is looked at: a recorder of its own, and a view that is made again from what it has written. */
#ifndef CLI_SERVE_LIVE_H
#define CLI_SERVE_LIVE_H

#include <perfdata/viewer.h>

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

struct live {
	const char *path;   /* of the recording */
	struct stat before; /* what had its name; all zero: nothing, or it is empty */
	const struct pd_viewer_options *options;
	struct pd_file *file;
	struct pd_viewer *view; /* of what was written so far, or NULL */
	pid_t recorder;         /* 0: it has ended */
	int status;             /* how, as of waitpid */
	double pause;           /* seconds to the next view */
	struct timespec made;
};

/* Starts `perfdata record -o path` with further words. Says what is wrong and returns false. */
bool live_start(struct live *live, const char *const *words, size_t word_count);
/* Waits for the first samples. False if the recorder ended without any, or was interrupted. */
bool live_wait(struct live *live);
/* After that: the exit code, that of the recorder if it did not begin. Says what is wrong unless the recorder has. */
int live_failed(const struct live *live);
/* Makes the view anew if it is time: not more often than that costs. True if there is another one. */
bool live_refresh(struct live *live);
/* Stops the recorder, and waits until it has written everything. */
void live_stop(struct live *live);
void live_fini(struct live *live);

#endif
