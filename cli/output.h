/* SPDX-License-Identifier: MIT */
/*
 * Where a command's words go: results to standard output through one large buffer, talk to standard
 * error, and a progress line that is there only while somebody waits at a terminal.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <perfdata/perfdata.h>

#include <time.h>

/* A line on stderr that says how far a long job is. All zero is ready for use. */
struct progress {
	struct timespec started;
	struct timespec shown;
	bool asked;   /* whether stderr is a terminal is known */
	bool on;      /* it is one */
	bool visible; /* the line is on the screen */
};

/* Tells where the stream is. Cheap enough for every few thousand records. */
void progress_step(struct progress *progress, const struct pd_stream *stream);
/* The same with bytes done and in all, 0 if they are not known. */
void progress_show(struct progress *progress, uint64_t done, uint64_t total);
/* Takes the line off the screen, before anything else is written there. */
void progress_clear(struct progress *progress);

struct output {
	struct pd_text *text; /* print into this, then call output_spill */
	struct progress *progress; /* or NULL */
	const char *name; /* for messages; NULL: standard output */
	int fd;
	bool terminal; /* fd is one, so the progress line may be in the way */
	unsigned columns, lines; /* of the terminal; 0: there is none */
	bool color; /* shares are to be coloured */
	const char *pager; /* to be started with the first text that does not fit on the screen; or NULL */
	bool last; /* nothing is printed behind the text */
	bool clip; /* see output_clip */
	size_t clip_from; /* bytes of the text before it are as they are */
	unsigned column; /* of the line that was not ended yet, if they do */
	int failure; /* errno of the write that failed; nothing is written after it */
};

/* False if there is no memory. */
bool output_init(struct output *output, int fd);
void output_fini(struct output *output);
/* On a terminal, lines that are printed from now on end at its right edge. */
void output_clip(struct output *output);
/* Writes what was printed when it is much. False when output is of no use any more: stop then. */
bool output_spill(struct output *output);
/* Writes what was printed, for somebody who waits for it. The same result. */
bool output_flush(struct output *output);
/* Writes a large piece at once, behind what was printed. */
void output_put(struct output *output, const char *data, size_t size);
/* Writes what is left. Says on stderr if something could not be written, but not that a reader
 * closed its pipe. Returns CODE_FINE or CODE_OUTPUT. */
int output_finish(struct output *output);

/* What the terminal is told before a share and behind it: as in perf, red is what matters and green what counts. NULL:
 * nothing. */
const char *share_color(double percent);
#define SHARE_COLOR_END "\033[m"

/* "1,234,567" */
void grouped(uint64_t number, char text[32]);
/* "512 bytes", "9.8 KiB", "1.2 GiB": all sizes that people read. */
void size_text(uint64_t bytes, char text[32]);
/* What stands behind a noun, and the verb: "1 record was", "2 records were". */
const char *plural(uint64_t count);
const char *was_or_were(uint64_t count);
/* "perfdata: ..." with a line end on stderr; bytes that a terminal would obey are escaped. */
void complain(const char *format, ...) PD_PRINTF(1, 2);

#endif
