/* SPDX-License-Identifier: MIT */
/* record --runs: a command several times, or two in turn, each run into a file of its own. */
#ifndef CLI_RECORD_RUNS_H
#define CLI_RECORD_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_runs {
	size_t count;
	const char *path;      /* that the names of the files are made of */
	char *const *sides[2]; /* commands, each ends with NULL */
	size_t side_count;
	char *name; /* of the file that is being written */
};

/* Splits a command, which ends with NULL, at --vs. False, with a message, if that cannot be. */
bool record_runs_take(struct record_runs *runs, uint64_t count, const char *path, char **command);
/* Calls once for each run, until it returns another code than CODE_OK, which is returned. */
int record_runs_do(struct record_runs *runs, int (*once)(void *self, const char *path, char *const *command),
		   void *self);
/* The command that compares the files, on stderr. */
void record_runs_report(struct record_runs *runs);

#endif
