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
	VALUE_LIST,    /* words with commas between them */
	VALUE_EVENTS,  /* the same, of the events of this machine: perfdata list --raw-dump prints them */
	VALUE_PROGRAM, /* a program and its arguments */
	VALUE_KINDS
};

/* How a shell is told of values: what stands before and after the words of VALUE_WORD and VALUE_LIST, each followed by a blank; for
 * other kinds, before is all of it. */
struct completion_form {
	const char *before, *after;
};

/* What the value of an option is, or (option NULL) an argument of the command. */
enum value_kind completion_kind(const struct command_line *line, const struct option *option);
/* Adds its possible values. */
void completion_add(struct pd_text *text, const struct completion_form forms[VALUE_KINDS],
		    const struct command_line *line, const struct option *option);
/* A string to be put between single quotes: quote replaces ', and characters in special get a backslash. */
void completion_quoted(struct pd_text *text, const char *string, const char *special, const char *quote);

#endif
