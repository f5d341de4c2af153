/* SPDX-License-Identifier: MIT */
/*
 * Files and directories that a command has begun to write and that do not have their final name yet. A signal that ends
 * the program (SIGINT, SIGTERM, SIGHUP) removes them first, wherever the program is at that moment; signals that are
 * ignored, as under nohup, stay ignored. Every command that writes a temporary file and renames it uses this.
 */
#ifndef CLI_UNFINISHED_H
#define CLI_UNFINISHED_H

#include <perfdata/base.h>

enum unfinished_kind {
	UNFINISHED_TREE,    /* a file, or a directory with all that is in it */
	UNFINISHED_IF_EMPTY /* a directory, once nothing is left in it */
};

struct unfinished;

/* From begin to end no signal is handled, so that none comes between making a file and adding it. Main thread only, as all
 * of this file. */
void unfinished_begin(void);
void unfinished_end(void);
/* Adds a path, which is copied. NULL without memory: then a signal leaves the file behind. */
struct unfinished *unfinished_add(const char *path, enum unfinished_kind kind);
/* The path is finished or was removed. NULL is ignored. */
void unfinished_done(struct unfinished *one);
/* Does all this for what the library writes, one path after the other (pd_unfinished_fn); self is a struct unfinished **. */
void unfinished_note(void *self, enum pd_unfinished step, const char *path);

#endif
