/* SPDX-License-Identifier: MIT */
/*
 * Documents a program by a description of its commands and options: help as plain text, manual pages as roff, completion for
 * shells. How options are parsed is not known here. All functions append; without memory the text has failed.
 */
#ifndef MANUAL_MANUAL_H
#define MANUAL_MANUAL_H

#include <perfdata/text.h>

#include <stdbool.h>
#include <stddef.h>

enum manual_kind {
	MANUAL_NONE, /* nothing can be proposed */
	MANUAL_FILE,
	MANUAL_FOLDER,
	MANUAL_WORD,
	MANUAL_LIST,    /* words with commas between them */
	MANUAL_EVENTS,  /* the same, of the events of this machine: perfdata list --raw-dump prints them */
	MANUAL_PROGRAM, /* a program and its arguments */
	MANUAL_KINDS
};

/* The value of an option, or the arguments of a command. */
struct manual_value {
	const char *name; /* in the help: "FILE"; NULL: there is none */
	enum manual_kind kind;
	/* Adds the words of MANUAL_WORD and MANUAL_LIST, each followed by a blank. */
	void (*add_words)(const void *words, struct pd_text *text);
	const void *words;
	bool optional; /* shown as such */
	bool is_next;  /* if it is not attached to the option, it is the next argument, optional or not */
	bool attached; /* it is never the next argument */
};

struct manual_option {
	const char *name; /* long name without the dashes, or NULL for the end of the table */
	char short_name;  /* or 0 */
	bool repeated;
	const char *help;    /* a phrase, lower case, no full stop */
	const char *heading; /* one of the command's headings; NULL: only this command has it */
	struct manual_value value;
};

struct example {
	const char *line;  /* what to type, or NULL for the end */
	const char *about; /* what it does */
};

struct exit_code {
	const char *number; /* as it is shown, or NULL for the end */
	const char *text;
};

struct manual_command {
	const char *name, *doc;
	const char *group; /* title above it and others in the list of commands: one pointer for all of these */
	const char *usage; /* what stands after the name: "[OPTION]... [FILE]" */
	const char *text;  /* paragraphs, each one line, separated by an empty line; see pd_vocabulary_expand */
	const char *usual; /* long names of options that come first in the help, separated by blanks; NULL: none */
	const struct manual_option *options;
	const char *const *headings; /* of options, in the order of help and page; ends with NULL */
	const struct example *examples;
	const struct exit_code *exit_codes;
	struct manual_value arguments;
	bool ends_at_word; /* the first argument ends the options */
};

struct manual_program {
	struct manual_command own; /* options before the name of a command, which is "" */
	const struct manual_command *const *commands;
	size_t count;
	const char *version;
	const char *notes; /* at the end of the help */
};

typedef void manual_command_fn(struct pd_text *text, const struct manual_command *command);
typedef void manual_program_fn(struct pd_text *text, const struct manual_program *program);

/* The help of a command, and of the program. */
manual_command_fn manual_help;
manual_program_fn manual_help_program;
/* The page perfdata-NAME(1), and perfdata(1). */
manual_command_fn manual_page;
manual_program_fn manual_page_program;
/* What adds the script for bash, zsh or fish, to be read by its source command. NULL if the shell is unknown. */
manual_program_fn *manual_completion(const char *shell);

#endif
