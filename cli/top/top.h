/* SPDX-License-Identifier: MIT */
/*
 * What the files of perfdata top share. commands/top.c records and keeps the sum; session.c reads;
 * screen.c is the terminal: what is on it, and which keys were pressed; keys.c, what these do.
 */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include "options/select_options.h"
#include "files/input.h"
#include "options/symbol_options.h"
#include "record/options.h"

#include <perfdata/report.h>

/* ---- screen.c ---- */

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

/* ---- the command ---- */

struct top_values {
	struct target_values targets;
	struct sample_values samples;
	struct symbol_options symbols;
	struct pd_select_options select;
	const char *input;
	const char *delay;
	struct option_number entries, iterations, priority;
	const char *sort;
	double percent_limit; /* below 0: not given */
	bool batch, json, stdio;
	bool zero, show_samples, show_period;
	bool hide_kernel, hide_user;
	bool children, no_children;
	bool verbose;
};

struct top {
	const struct top_values *values;
	struct output *out;
	const struct call *call;
	struct record_setup setup;
	struct pd_recorder_options wanted;
	struct pd_recorder *recorder; /* NULL: a file is read */
	/* from one beginning to the next */
	struct input input;
	struct pd_live *live;
	struct pd_symbols *symbols;
	uint32_t by; /* of live */
	/* what is shown */
	struct pd_sum *sum;
	struct pd_select *select;
	struct pd_top_form form;
	struct pd_top_totals totals;
	char sort[PROMPT_MOST], filter[PROMPT_MOST], whom[PROMPT_MOST], rate[PD_TOP_RATE_BYTES],
		notice[2 * PROMPT_MOST];
	bool hide_kernel, hide_user;
	double delay, last; /* seconds */
	uint64_t tables;
	/* the terminal */
	struct screen screen;
	struct output frame;
	bool paused, help, drawn;
	const char *question; /* that is being answered, or NULL */
	char answer[PROMPT_MOST];
	size_t answer_length;
	int question_key;
	bool begins_anew; /* the stream will end, another one begins */
	bool over;
	int code;
};

/* ---- session.c ---- */

/* Seconds of the monotonic clock. */
double top_seconds(void);
/* What the keys need of samples: PD_BY_... False, and a message, for a key that is none. */
bool top_by(const struct top *top, uint32_t *by_out);
/* Opens what is read, with its symbols. PD_END: it said why not, and top->code says the rest. */
enum pd_status top_begin(struct top *top, struct pd_error *error);
void top_end(struct top *top);
/* The recorder starts again: it describes what runs by then. */
void top_begin_anew(struct top *top);
/* Adds what came since the last time to the sum. False, and top->over, after an error, which is reported. */
bool top_take(struct top *top);
/* The rate of the shown event, for the head. */
void top_describe_rate(struct top *top);

/* ---- keys.c ---- */

/* A line below the head. */
void top_notice(struct top *top, const char *format, ...) PD_PRINTF(2, 3);
bool top_parse_seconds(const char *text, double *seconds_out);
/* Does what the pressed keys say. True if the screen has to be drawn again. */
bool top_take_keys(struct top *top);

#endif
