/* SPDX-License-Identifier: MIT */
/* A recording that is made while it is looked at: a recorder of its own, and a view that is made again from what it has written. */
#ifndef SERVER_FOLLOW_H
#define SERVER_FOLLOW_H

#include <perfdata/viewer.h>

#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

/* The first three are the caller's, all else is zero at first. */
struct follow {
	const char *path; /* of the recording */
	const struct pd_viewer_options *options;
	const char *recorder; /* the program perfdata */
	struct pd_file *file;
	struct pd_viewer *view; /* of what was written so far, or NULL */
	struct stat before;     /* what had its name; all zero: nothing, or it is empty */
	pid_t process;          /* of the recorder; 0: it has ended */
	int status;             /* how, as of waitpid */
	double pause;           /* seconds to the next view */
	struct timespec made;
};

/* Fills in an error that the system explains, which may be NULL; returns its status. */
enum pd_status server_fail(struct pd_error *error, enum pd_status status, const char *what);
/* Starts `perfdata record -o path` with further words. Errors: PD_ERROR_MEMORY; PD_ERROR_SYSTEM. */
enum pd_status follow_start(struct follow *follow, const char *const *words, size_t word_count, struct pd_error *error);
/* Waits for the first samples. False if the recorder ended without any, or was interrupted. */
bool follow_wait(struct follow *follow);
/* Whether the recorder has begun a recording. */
bool follow_has_begun(const struct follow *follow);
/* Makes the view again if it is time: not more often than that costs. True if there is another one. */
bool follow_refresh(struct follow *follow);
/* Stops the recorder, and waits until it has written everything. */
void follow_stop(struct follow *follow);
void follow_fini(struct follow *follow);

#endif
