/* SPDX-License-Identifier: MIT */
/*
 * What the commands share: exit codes, what a command is, and the table of them.
 *
 * A command is a const struct command in its own file and a line in commands.def. Its run function
 * gets values and words that are parsed already, prints into call->out and returns an exit code.
 */
#ifndef CLI_H
#define CLI_H

#include <perfdata/perfdata.h>

#include "options/options.h"
#include "front/output.h"

enum code {
#define CODE(NAME, number, shown, text) CODE_##NAME = (number),
#include "front/exit_code.def"
};

enum {
#define CODE(NAME, number, shown, text) EXIT_CODE_##NAME,
#include "front/exit_code.def"
	EXIT_CODE_COUNT
};

/* The exit codes that a command (NULL: any) has, ended by one without a number. */
void exit_codes_of(const char *command, struct exit_code codes[EXIT_CODE_COUNT + 1]);

/* One run of a command. */
struct call {
	const struct command *command;
	const void *values; /* the command's own struct */
	const char *const *words;
	size_t word_count;
	size_t before_count;          /* words that stand before a -- */
	const char *const *line;      /* all words of the command line, the program first; ends with NULL */
	const char *const *arguments; /* those after the name of the command; ends with NULL */
	struct output *out;
	const struct pd_config *config;
};

struct input;
/* Prints one thing about a file by the options of the library that the values have. */
typedef enum pd_status print_fn(struct input *input, const void *how, struct pd_error *error);

struct command {
	const char *usage;              /* what stands after the name: "[OPTION]... [FILE]" */
	const char *text;               /* paragraphs, each one line, parted by an empty line */
	const struct option *options;   /* ends with an entry without a name */
	const struct example *examples; /* ends with an entry without a line */
	size_t values_size;             /* of the struct that the options point into */
	const void *defaults;           /* values without options; NULL: all is zero */
	size_t max_words;               /* words that are no options; more are an error */
	bool ends_at_word; /* after the first such word there are no options: it is a program with its own */
	bool (*ends_at)(const char *word); /* or NULL: after such a word there are no options either */
	size_t how, how_size; /* a struct of options of the library in the values, whose member size is set; see HOW */
	bool (*check)(const struct call *call); /* or NULL; false, said on stderr, for options that make no sense */
	int (*run)(const struct call *call);
	/* Instead of run, if the library has one function for all: see input_print. The values begin with struct input_options. */
	print_fn *print;
	bool once; /* print reads the file once: what comes through a pipe is not kept */
	const char *
		usual; /* long names of the options that matter first in the help, parted by blanks; NULL: as in the table */
	bool live; /* what it prints is to be seen when it happens: no pager, unless the user says so */
};

/* Members of a command: its table of options, which point into struct values (VALUES), and its examples. */
#define OPTIONS(table) .options = (table), .values_size = sizeof(VALUES)
#define EXAMPLES(...)                        \
	.examples = (const struct example[]) \
	{                                    \
		__VA_ARGS__,                 \
		{                            \
			0                    \
		}                            \
	}
#define DEFAULTS(...)               \
	.defaults = &(const VALUES) \
	{                           \
		__VA_ARGS__         \
	}
/* The member of the values that is the library's struct of options. */
#define HOW(member) .how = offsetof(VALUES, member), .how_size = MEMBER_SIZE(member)
/* Where the examples are a table of their own. */
#define TABLES(option_table, example_table, type) \
	.options = (option_table), .examples = (example_table), .values_size = sizeof(type)
#define OWN_TABLES TABLES(options, examples, struct values)

#define COMMAND(name, function, doc) extern const struct command function;
#include "front/commands.def"

/* The options in front of a command's name. */
extern const struct command program;
struct program_values {
	bool version, paginate;
	const char *buildid_dir;
};

/* A line of commands.def. */
struct command_line {
	const char *name;
	const struct command *command;
	const char *doc;
};

/* To be called before the next two. The lines stay the caller's. */
void commands_set(const struct command_line *lines, size_t count);
/* The index-th command, or NULL past the end. */
const struct command_line *command_at(size_t index);
const struct command_line *command_by_name(const char *name);
/* Says that there is no such command, and what may be meant, of the commands or the topic (or NULL). Returns CODE_USAGE. */
int command_unknown(const char *word, const char *topic);

#endif
