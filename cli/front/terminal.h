/* SPDX-License-Identifier: MIT */
/*
 * Output on a terminal: its size, colours and the pager. The options are common to all commands and accepted before the
 * command's name, too.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include "front/output.h"

#include <stdbool.h>

struct pd_config;

struct terminal_options {
	const char *color; /* always, never or auto */
	bool paginate, no_pager;
};

/* Fills the terminal members of output. usual: output of the command is paged by default. False after an error, which is
 * reported on stderr. */
bool terminal_prepare(struct output *output, const struct terminal_options *options, const struct pd_config *config,
		      const char *command, bool usual);

/* The text with its lines cut at the right edge of the screen; NULL without memory. */
struct pd_text *terminal_clipped(struct output *output, struct pd_bytes bytes);
/* To be called before the first write: starts the pager, unless the text is complete and fits on the screen together
 * with the shell's prompt. */
void terminal_page(struct output *output, struct pd_bytes bytes);

#endif
