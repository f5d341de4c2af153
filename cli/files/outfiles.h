/* SPDX-License-Identifier: MIT */
/*
 * Paths of several output files of a command: in a directory, which is created, or by a name with %s in it. None of them may
 * exist before.
 */
#ifndef CLI_OUTFILES_H
#define CLI_OUTFILES_H

#include "front/output.h"

/* All zero but output is ready for use. */
struct outfiles {
	const char *output; /* of the command: a directory, or a path with %s */
	char **paths;
	size_t count;
	bool made_directory;
	struct unfinished *directory;
};

/* Adds the path for a name that is harmless in paths. False if there is no memory, which is reported. */
bool outfiles_add(struct outfiles *files, const char *name);
/* Creates the directory if it is needed. Reports what exists already on stderr and returns another code than CODE_OK
 * then. */
int outfiles_begin(struct outfiles *files);
/* Removes the directory that was created if it is empty and code is not CODE_OK. */
void outfiles_end(struct outfiles *files, int code);
void outfiles_free(struct outfiles *files);

#endif
