/* SPDX-License-Identifier: MIT */
/*
 * An output file of a command: it appears when it is complete, or not at all.
 *
 * Output is written to a temporary file in its folder, which is renamed at the end; a signal that ends the command removes it.
 * A perf.data file, or the input file, is never overwritten, so no typing error costs a recording. Pipes and devices
 * are written directly.
 */
#ifndef CLI_OUTFILE_H
#define CLI_OUTFILE_H

#include "front/output.h"

struct outfile {
	const char *path;              /* NULL: standard output, out is that of the call */
	char *temporary;               /* what is written, until it is whole; NULL: path itself */
	char *target;                  /* what gets it then: path, or where it leads */
	struct unfinished *unfinished; /* temporary */
	struct output *out;
	struct output own;
};

/* path NULL or "-" is the output of the call. input is the path of the file being read; NULL, or what is not a path,
 * stands for standard input. One file at a time. On failure, reports it on stderr and returns another code than
 * CODE_OK. */
int outfile_open(struct outfile *file, const char *path, struct output *standard, const char *input);
/* Renames the file if code is CODE_OK or CODE_DAMAGED, else removes it. Returns code, or CODE_OUTPUT if it cannot be
 * written. */
int outfile_close(struct outfile *file, int code);

#endif
