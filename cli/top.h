/* SPDX-License-Identifier: MIT */
/*
 * What the files of perfdata top share. commands/top.c records and keeps the sum; top_table.c prints it; top_screen.c is the
 * terminal: what is on it, and which keys were pressed.
 */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include "select.h"
#include "front/input.h"
#include "front/symbol_options.h"

#include <perfdata/report.h>

/* ---- top_screen.c ---- */

enum {
	PROMPT_MOST = 128
};

struct screen {
	bool on; /* there is one: keys are read, and a table takes the place of the last one */
	unsigned lines, columns;
};

/* Takes the terminal, if standard input and output are one, and gives it back at the end, at any signal that ends the
 * program, and while the program is stopped. */
void screen_open(struct screen *screen);
void screen_close(struct screen *screen);
/* For signal handlers: gives the terminal back and dies of the signal. */
void screen_die(int number);
/* True if the size changed, or somebody else wrote on the terminal, since the last call. */
bool screen_changed(struct screen *screen);
/* The next key that was pressed, or 0; does not wait. */
int screen_key(const struct screen *screen);
/* Shows a text: lines that do not fit are cut, and nothing else stays. */
void screen_show(const struct screen *screen, struct pd_bytes text, struct output *out);

/* ---- top_table.c ---- */

/* What a table is to look like. */
struct look {
	const char *sort;     /* keys as -s has them */
	const char *filter;   /* text that a cell of a row must have; "" shows all */
	size_t entries;       /* most rows; 0: no limit */
	bool samples, period; /* columns */
	bool children;
	struct pd_report_graph graph;
	double least; /* percent */
	size_t max_stack;
	const struct select *select;
	size_t event; /* the one that is shown; ALL_EVENTS */
};

#define ALL_EVENTS SIZE_MAX

/* What the head says. */
struct state {
	double seconds;                   /* that the table is newer by */
	uint64_t samples, kernel_samples; /* of that time */
	uint64_t lost, all_samples;       /* since the beginning */
	size_t cpus, threads;
	const char *whom;   /* "all", "pid 12" */
	const char *rate;   /* "4000 Hz", "period 1000" */
	const char *notice; /* a line below the head, or NULL */
};

/* What is in a sum, as it is to look. */
struct shown {
	struct pd_file *file;
	const struct pd_profile *profile;
	struct pd_symbols *symbols;
};

/* Keys that tell what is needed of samples: PD_BY_... False, and a message, for a key that is none. */
bool table_by(const struct look *look, uint32_t *by_out);
/* Prints head and table; lines: about so many, 0: all. False if there is no memory. */
bool table_text(const struct look *look, const struct state *state, const struct shown *shown, size_t lines,
		struct output *out);
/* The same as an object in a line. */
bool table_json(const struct look *look, const struct state *state, const struct shown *shown, struct output *out);

#endif
