/* SPDX-License-Identifier: MIT */
/*
 * What is different where standard output is a terminal: its size, colours, the pager. The options are those of all
 * commands, and stand in front of the command's name too.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "output.h"

#include <stdbool.h>

struct config;

struct terminal_options {
	const char *color; /* always, never or auto */
	bool paginate, no_pager;
};

/* Fills what output knows of the terminal. usual: what the command prints belongs into the pager, unless the user says
 * otherwise. Says on stderr what is wrong and returns false then. */
bool terminal_prepare(struct output *output, const struct terminal_options *options, const struct config *config,
		      const char *command, bool usual);

/* The text with lines that end at the edge of the screen; NULL if there is no memory. */
struct pd_text *terminal_clipped(struct output *output, struct pd_bytes bytes);
/* To be called before the first text is written: starts the pager, unless this is all and fits on the screen with the
 * shell's prompt behind it. */
void terminal_page(struct output *output, struct pd_bytes bytes);

#endif
