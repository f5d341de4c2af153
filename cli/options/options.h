/* SPDX-License-Identifier: MIT */
/*
 * Options of a command as a table. The parser, the help, the manual pages and the shell completion
 * all come from the same lines.
 *
 * A line gives the place of its value: an offset into a struct of values that belongs to the command and
 * is zeroed before parsing. Arguments that are not options are collected in order.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "front/terminal.h"

enum option_kind {
	OPTION_FLAG,     /* bool; --no-NAME takes it back, --NAME one that is called no-NAME */
	OPTION_NUMBER,   /* struct option_number; decimal, or hexadecimal with 0x */
	OPTION_STRING,   /* const char *; the last one counts */
	OPTION_MAYBE,    /* the same, "" if no value follows: the next word is an option or there is none */
	OPTION_ATTACHED, /* the same, but a value is only what is attached: -tN, --name=N; "" without, as with perf */
	OPTION_LEVEL, /* the same, but a next argument that is a number is the value, too: no command has such a name */
	OPTION_LIST,  /* struct option_list; may be given many times */
	OPTION_TAGGED, /* struct option_tags, which several options share: their order counts */
};

struct option_number {
	bool given;
	uint64_t value;
};

struct option_list {
	const char **items; /* the texts belong to argv */
	size_t count;
};

/* Values of several options, in the order given. */
struct option_tags {
	struct option_tag {
		const char *name;  /* long name of the option */
		const char *value; /* belongs to argv; NULL for an option without a value */
	} * items;
	size_t count;
};

/* Groups of options in the help, in its order. */
enum option_group {
	GROUP_OWN,
	GROUP_TARGET,
	GROUP_SAMPLES,
	GROUP_OUTPUT,
	GROUP_FILTER,
	GROUP_SYMBOLS,
	GROUP_INPUT,
	GROUP_COMMON,
	OPTION_GROUPS
};

struct option {
	const char *name; /* long name without the dashes, or NULL for the end of the table */
	char letter;      /* or 0 */
	enum option_kind kind;
	const char *argument; /* what the value is called in the help, or NULL for a flag */
	size_t offset;        /* of the value in the struct of values */
	const char *help;     /* a phrase, lower case, no full stop */
	enum option_group group;
};

/* A line of the table, for macros that several commands expand. */
#define OPTION(name, letter, kind, argument, offset, help, group)          \
	{                                                                  \
		name, letter, OPTION_##kind, argument, offset, help, group \
	}

/* Whether the value may be left out. */
bool option_is_optional(const struct option *option);
/* "=N", "[=N]" or "" for a flag, for help and manual. */
struct option_value {
	const char *before, *name, *behind;
};
struct option_value option_value(const struct option *option);

struct example {
	const char *line;  /* what to type, or NULL for the end */
	const char *about; /* what it does */
};

struct command;

/* Values of the options common to all commands, which are not in their tables. */
struct common_options {
	struct terminal_options terminal;
	bool help;
};

/* A parsed command line. values is the struct of the command, words are the arguments, which belong to argv. */
struct parsed {
	void *values;
	struct option_list words;
	struct common_options common;
};

/* The option after one (NULL: the first one): those of the command's table, then those common to all commands. NULL at
 * the end. */
const struct option *option_next(const struct command *command, const struct option *option);

/* Takes the words behind the name of a command. Says on stderr what is wrong and returns false then.
 * *parsed must be given back with options_fini either way. */
bool options_parse(const struct command *command, int argc, char **argv, struct parsed *parsed);
void options_fini(const struct command *command, struct parsed *parsed);

/* A word that the value of an option may be; NULL as name ends a list. */
struct option_word {
	const char *name;
	int value;
};

/* Sets *value, which stays as it is if text is NULL. False if text is none of the words, which is said on stderr. */
bool option_word_find(const char *option, const struct option_word *words, const char *text, int *value);

/* A whole text as a number; false if it is none. */
bool number_parse(const char *text, uint64_t *value_out);

#endif
