/* SPDX-License-Identifier: MIT */
/*
 * A file that a command writes: it is there when it is whole, or not at all.
 *
 * What is written goes into a new file beside it, which takes its name at the end; a signal that ends the command
 * takes it away. A file that holds perf data, or that is read, is never replaced, so no typing error costs a
 * recording. Pipes and devices are written as they are.
 */
#ifndef CLI_OUTFILE_H
#define CLI_OUTFILE_H

#include "output.h"

struct outfile {
	const char *path;    /* NULL: standard output, out is that of the call */
	char *beside;        /* what is written, until it is whole; NULL: path itself */
	char *target;        /* what gets it then: path, or where it leads */
	struct unfinished *unfinished; /* beside */
	struct output *out;
	struct output own;
};

/* path NULL or "-" is the output of the call. input is the path of what is read meanwhile; NULL or what is no path
 * stands for standard input. One file at a time. Says on stderr what is wrong and returns another code than CODE_FINE
 * then. */
int outfile_open(struct outfile *file, const char *path, struct output *standard, const char *input);
/* Gives the file its name if code is CODE_FINE or CODE_DAMAGED, else takes it away. Returns code, or
 * CODE_OUTPUT if it could not be written. */
int outfile_close(struct outfile *file, int code);

#endif
