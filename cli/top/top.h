/* SPDX-License-Identifier: MIT */
/*
 * What the files of perfdata top share. commands/top.c records and draws; screen.c is the terminal: what is on it, and which keys
 * were pressed; keys.c, what these do.
 */
#ifndef CLI_TOP_H
#define CLI_TOP_H

#include "options/select_options.h"
#include "files/input.h"
#include "options/symbol_options.h"
#include "record/options.h"

#include <perfdata/top.h>

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
	struct record_values recording;
	struct symbol_options symbols;
	struct pd_select_options select;
	struct pd_top_settings settings;
	const char *input;
	const char *delay;
	struct option_number iterations;
	bool batch, json, stdio, force;
	bool children, no_children, stitch_lbr;
	bool verbose;
};

struct top {
	const struct top_values *values;
	struct output *out;
	struct pd_top_session *session;
	struct pd_top_settings *settings; /* of the session */
	struct record_setup setup;
	struct pd_recorder *recorder; /* NULL: a file is read */
	struct input input;
	uint64_t tables;
	int code; /* of what was reported */
	/* the terminal */
	struct screen screen;
	struct output frame;
	char notice[2 * PROMPT_MOST]; /* below the head */
	bool help, drawn;
	bool over;            /* by a key, or what failed */
	const char *question; /* that is being answered, or NULL */
	char answer[PROMPT_MOST];
	size_t answer_length;
	int question_key;
};

/* ---- keys.c ---- */

/* A line below the head. */
void top_notice(struct top *top, const char *format, ...) PD_PRINTF(2, 3);
bool top_parse_delay(const char *text, uint64_t *ns_out);
/* Does what the pressed keys say. True if the screen has to be drawn again. */
bool top_take_keys(struct top *top);

#endif
