/* SPDX-License-Identifier: MIT */
/* An output file of a command, see perfdata/outfile.h: it appears when it is complete; a signal that ends the command removes it. */
#ifndef CLI_OUTFILE_H
#define CLI_OUTFILE_H

#include "front/output.h"

#include <perfdata/outfile.h>

struct outfile {
	struct pd_outfile *file;       /* NULL: standard output, out is that of the call */
	struct unfinished *unfinished; /* what is written */
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
