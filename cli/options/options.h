/* SPDX-License-Identifier: MIT */
/*
 * Options of a command as a table. The parser, the help, the manual pages and the shell completion
 * all come from the same lines.
 *
 * A line gives the place of its value: an offset into a struct of values that belongs to the command and
 * is zeroed before parsing. Options that several commands have are a group: a table with a struct of values of its own,
 * which the tables of these commands name in a line. Arguments that are not options are collected in order.
 */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "front/terminal.h"
#include "manual/manual.h"

enum {
	OPTION_DEPTH = 4 /* of groups in groups, and the table of the command */
};

enum option_kind {
	OPTION_FLAG,         /* bool; --no-NAME takes it back, --NAME one that is called no-NAME */
	OPTION_NUMBER,       /* struct option_number; decimal, or hexadecimal with 0x */
	OPTION_INTEGER,      /* the same as an unsigned integer of any size, 0 if it is not given */
	OPTION_SECONDS,      /* uint64_t, in nanoseconds; 1.5 */
	OPTION_MILLISECONDS, /* the same */
	OPTION_RECORDER, /* struct pd_recorder_options, of which it sets what pd_recorder_options_set sets by its name */
	OPTION_PERCENT,  /* double, 0 to 100 */
	OPTION_CHOICE,   /* an enum or bool: the position of the value in the words of the option */
	OPTION_SET,      /* an enum: the value of the option. Options that set one member exclude each other */
	OPTION_BITS,     /* uint32_t or uint64_t: the bits of the value */
	OPTION_STRING,   /* const char *; the last one counts */
	OPTION_MAYBE,    /* the same, "" if no value follows: the next word is an option or there is none */
	OPTION_ATTACHED, /* the same, but a value is only what is attached: -tN, --name=N; "" without, as with perf */
	OPTION_LEVEL, /* the same, but a next argument that is a number is the value, too: no command has such a name */
	OPTION_LIST,  /* struct option_list; may be given many times */
	OPTION_TAGGED,          /* struct option_tags, which several options share: their order counts */
	OPTION_TAGGED_ATTACHED, /* the same, with a value as of ATTACHED */
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

/* Headings of the help, in its order. */
enum option_heading {
	HEADING_OWN, /* options that only this command has */
	HEADING_TARGET,
	HEADING_SAMPLES,
	HEADING_OUTPUT,
	HEADING_FILTER,
	HEADING_SYMBOLS,
	HEADING_INPUT,
	HEADING_COMMON,
	OPTION_HEADINGS
};

struct option {
	const char *name; /* long name without the dashes, or NULL for the end of the table */
	char short_name;  /* or 0 */
	enum option_kind kind;
	const char *argument;             /* what the value is called in the help, or NULL for a flag */
	size_t offset;                    /* of the value in the struct of values */
	size_t size;                      /* of the value; in a group, 0 is that of the member it is put in */
	const char *help;                 /* a phrase, lower case, no full stop */
	const struct option_group *group; /* or NULL: the line stands for its options, whose values begin at the offset */
	const char *words;                /* of CHOICE: "one|two|three", in the order of the enum; NULL: the argument */
	uint64_t value;                   /* of SET and BITS */
	enum option_heading heading;      /* not in tables: option_next has it */
};

struct option_group {
	enum option_heading heading; /* HEADING_OWN: that of the table that names the group */
	const struct option *options;
};

/* Lines of a table, whose values are struct values; a file with another struct defines VALUES again. */
#define VALUES struct values
#define MEMBER_SIZE(member) sizeof(((VALUES *)NULL)->member)
#define OPTION(name, short_name, kind, argument, member, help)                                                  \
	{                                                                                                       \
		name, short_name, OPTION_##kind, argument, offsetof(VALUES, member), MEMBER_SIZE(member), help, \
	}
#define FLAG(name, short_name, member, help) OPTION(name, short_name, FLAG, NULL, member, help)
#define STRING(name, short_name, argument, member, help) OPTION(name, short_name, STRING, argument, member, help)
#define NUMBER(name, short_name, argument, member, help) OPTION(name, short_name, NUMBER, argument, member, help)
#define INTEGER(name, short_name, argument, member, help) OPTION(name, short_name, INTEGER, argument, member, help)
#define RECORDER(name, short_name, argument, member, help) OPTION(name, short_name, RECORDER, argument, member, help)
#define PERCENT(name, short_name, argument, member, help) OPTION(name, short_name, PERCENT, argument, member, help)
#define CHOICE(name, short_name, argument, member, choices, help)                                               \
	{                                                                                                       \
		name, short_name, OPTION_CHOICE, argument, offsetof(VALUES, member), MEMBER_SIZE(member), help, \
			.words = (choices),                                                                     \
	}
#define VALUED(name, short_name, kind, member, number, help)                                                \
	{                                                                                                   \
		name, short_name, OPTION_##kind, NULL, offsetof(VALUES, member), MEMBER_SIZE(member), help, \
			.value = (number),                                                                  \
	}
#define SET(name, short_name, member, number, help) VALUED(name, short_name, SET, member, number, help)
#define BITS(name, short_name, member, number, help) VALUED(name, short_name, BITS, member, number, help)
/* The options of a group, with their values in the member, or in the same struct. */
#define GROUP(options, member)                                                                        \
	{                                                                                             \
		.group = &(options), .offset = offsetof(VALUES, member), .size = MEMBER_SIZE(member), \
	}
#define GROUP_HERE(options)         \
	{                           \
		.group = &(options) \
	}

#define SHARED(name, heading, long_name, short_name, kind, argument, help) \
	extern const struct option_group name##_option;
#include "options/shared.def"

/* Whether the value may be left out. */
bool option_is_optional(const struct option *option);
struct command;

/* Values of the options common to all commands, which are not in their tables. */
struct common_options {
#define COMMON(member, type, kind, name, short_name, argument, help) type member;
#include "options/common.def"
};

/* A parsed command line. values is the struct of the command, words are the arguments, which belong to argv. */
struct parsed {
	void *values;
	struct option_list words;
	size_t before_count; /* of the words, those before a -- */
	struct common_options common;
};

/* A walk over the options of a command: those of its table and of the groups in it, then those common to all commands. */
struct option_walk {
	/* with its heading, and with its offset in the values of the command, or in struct common_options */
	struct option option;
	struct {
		const struct option *next;
		size_t offset, size;
		enum option_heading heading;
	} tables[OPTION_DEPTH];
	size_t depth;
};

struct option_walk option_walk(const struct command *command);
/* False at the end. */
bool option_next(struct option_walk *walk);
/* The option of this name, which need not end with a NUL; false if there is none. */
bool option_find(const struct command *command, const char *name, size_t length, struct option *option_out);

/* Takes the words after the name of a command. Says on stderr what is wrong and returns false then. before: common options
 * that were given before that name, which those after it override, or NULL. *parsed must be given back with options_fini
 * either way. */
bool options_parse(const struct command *command, int argc, char **argv, const struct common_options *before,
		   struct parsed *parsed);
void options_fini(const struct command *command, struct parsed *parsed);

/* The value of an option as a number from 0 to 100. False if it is none, which is said on stderr. */
bool percent_parse(const char *option, const char *text, double *percent_out);

#endif
