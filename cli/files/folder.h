/* SPDX-License-Identifier: MIT */
/*
 * An output of a command that is a folder with files: it appears when all of them are complete, or not at all. The folder may be there
 * before only if it is empty.
 */
#ifndef CLI_FOLDER_H
#define CLI_FOLDER_H

#include "front/output.h"

/* All zero but path is ready for use. */
struct folder {
	const char *path;
	char *temporary; /* NULL: it was not made */
	struct unfinished *unfinished;
	struct folder_file **files;
	size_t count;
	bool failed; /* a file could not be made */
};

/* Makes it under a temporary name. On failure, reports it on stderr and returns another code than CODE_OK. */
int folder_open(struct folder *folder);
/* The text of a new file in it. NULL, and reported, if that is not possible. */
struct pd_text *folder_file(struct folder *folder, const char *name);
/* Writes what is left, and renames the folder if code is CODE_OK or CODE_DAMAGED, else removes it. Returns code, or CODE_OUTPUT if it
 * cannot be written. */
int folder_close(struct folder *folder, int code);

#endif
