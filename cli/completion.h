/* SPDX-License-Identifier: MIT */
/*
 * What the completions of all shells have in common: what may stand behind an option, and as an argument.
 */
#ifndef CLI_COMPLETION_H
#define CLI_COMPLETION_H

#include "cli.h"

enum value_kind {
	VALUE_NONE, /* nothing can be proposed */
	VALUE_FILE,
	VALUE_FOLDER,
	VALUE_WORD,
	VALUE_LIST,   /* words with commas between them */
	VALUE_EVENTS, /* the same, of the events of this machine: perfdata list --raw-dump prints them */
	VALUE_PROGRAM /* a program and its arguments */
};

/* Adds the words that may be the value of an option, or (option NULL) an argument of the command, each with a blank
 * behind it. */
enum value_kind completion_value(const struct command_line *line, const struct option *option, struct pd_text *words);
/* A string without the characters that would end a string between ' and ', those of special written with \ in front. */
void completion_quoted(struct pd_text *text, const char *string, const char *special, const char *quote);

#endif
