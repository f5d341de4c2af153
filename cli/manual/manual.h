/* SPDX-License-Identifier: MIT */
/*
 * Manual pages and shell completion, made from the tables of commands and options.
 */
#ifndef CLI_MANUAL_H
#define CLI_MANUAL_H

#include "front/cli.h"

/* The page perfdata(1). */
void manual_program(struct pd_text *text);
/* The page perfdata-NAME(1). */
void manual_command(struct pd_text *text, const struct command_line *line);
/* Scripts for the shells, to be read by their source command. */
void completion_bash(struct pd_text *text);
void completion_zsh(struct pd_text *text);
void completion_fish(struct pd_text *text);

#endif
