/* SPDX-License-Identifier: MIT */
/*
 * Shared by the completion scripts of all shells: possible values of options and arguments.
 */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "front/cli.h"

enum value_kind {
	VALUE_NONE, /* nothing can be proposed */
	VALUE_FILE,
	VALUE_FOLDER,
	VALUE_WORD,
	VALUE_LIST,   /* words with commas between them */
	VALUE_EVENTS, /* the same, of the events of this machine: perfdata list --raw-dump prints them */
	VALUE_PROGRAM /* a program and its arguments */
};

/* Adds the possible values of an option, or (option NULL) of an argument of the command, each followed by a blank. */
enum value_kind completion_value(const struct command_line *line, const struct option *option, struct pd_text *words);
/* A string to be put between single quotes: quote replaces ', and characters in special get a backslash. */
void completion_quoted(struct pd_text *text, const char *string, const char *special, const char *quote);

#endif
