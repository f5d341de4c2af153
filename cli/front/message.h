/* SPDX-License-Identifier: MIT */
/*
 * What a command prints to standard error: messages, and the progress of a long job, which is shown only on a terminal.
 */
#ifndef CLI_MESSAGE_H
#define CLI_MESSAGE_H

#include <perfdata/perfdata.h>

#include <time.h>

/* "perfdata: ..." with a line end on stderr; bytes that a terminal would obey are escaped. Returns false. */
bool print_error(const char *format, ...) PD_PRINTF(1, 2);
/* The same for functions that return an exit code: returns it. */
int print_failure(int code, const char *format, ...) PD_PRINTF(2, 3);
/* A pd_warn_fn. */
void print_warning(void *self, const char *sentence);
/* Each line of a text. */
void print_error_lines(const struct pd_text *text);

/* The same, and frees it; NULL is ignored. */
void print_and_free(struct pd_text *text);

/* A line on stderr that shows the progress of a long job. All zero is ready for use. */
struct progress {
	struct timespec started;
	struct timespec shown;
	bool asked;   /* whether stderr is a terminal is known */
	bool on;      /* it is one */
	bool visible; /* the line is on the screen */
};

/* Shows the position of the stream. Cheap enough to call every few thousand records. */
void progress_step(struct progress *progress, const struct pd_stream *stream);
/* The same with bytes done and in all, 0 if they are not known. */
void progress_show(struct progress *progress, uint64_t done, uint64_t total);
/* Erases the line, before anything else is written to the screen. */
void progress_clear(struct progress *progress);

#endif
