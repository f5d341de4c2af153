/* SPDX-License-Identifier: MIT */
/* Output of a command: results to standard output through one large buffer. */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <perfdata/perfdata.h>

#include "front/message.h"

#include <signal.h>

struct output {
	struct pd_text *text;      /* print into this, then call output_flush_large */
	struct progress *progress; /* or NULL */
	const char *name;          /* for messages; NULL: standard output */
	int fd;
	bool terminal;           /* fd is one, so the progress line may be in the way */
	unsigned columns, lines; /* of the terminal; 0: there is none */
	bool color;              /* shares are to be coloured */
	const char *pager;       /* to be started with the first text that does not fit on the screen; or NULL */
	bool last;               /* nothing is printed after the text */
	bool clip;               /* see output_clip */
	size_t clip_from;        /* bytes of the text before it are as they are */
	unsigned column;         /* of the line that was not ended yet, if they do */
	int failure;             /* errno of the write that failed; nothing is written after it */
	/* Or NULL: once it is set, a reader that takes nothing is waited for no more. */
	const volatile sig_atomic_t *ended;
};

/* False if there is no memory. */
bool output_init(struct output *output, int fd);
void output_fini(struct output *output);
/* On a terminal, lines that are printed from now on end at its right edge. */
void output_clip(struct output *output);
/* Writes the buffer when it is large. False after a failed write: the command should stop. */
bool output_flush_large(struct output *output);
/* Writes the buffer now, for live output. Returns as output_flush_large. */
bool output_flush(struct output *output);
/* Writes the rest. Reports failed writes on stderr, except for closed pipes. Returns CODE_OK or
 * CODE_OUTPUT. */
int output_finish(struct output *output);

/* The exit code of a status of the library. */
int code_of(enum pd_status status);
/* Whether there is a result: damage is told at the end, and what could be read is used. */
bool code_is_usable(int code);
/* The exit code of a status, and prints the error if there is one. */
int code_with_error(enum pd_status status, const struct pd_error *error);
/* The same for what is printed: that it cannot be written is reported when the output is finished. */
int code_of_print(enum pd_status status, const struct pd_error *error);

/* What stands after a noun: "1 record", "2 records". */
const char *plural(uint64_t count);

#endif
