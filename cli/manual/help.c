/* SPDX-License-Identifier: MIT */
/*
 * Help as plain text, from the tables of commands and options.
 */
#include "front/cli.h"

#include <perfdata/vocabulary.h>

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum {
	WIDTH = 80,
	MARGIN = 26 /* where the help of an option begins */
};

static void print_option(struct pd_text *text, const struct option *option)
{
	char names[80];
	struct option_value value = option_value(option);
	size_t length;

	if (option->short_name)
		snprintf(names, sizeof(names), "  -%c, --%s%s%s%s", option->short_name, option->name, value.before,
			 value.name, value.after);
	else
		snprintf(names, sizeof(names), "      --%s%s%s%s", option->name, value.before, value.name, value.after);
	length = strlen(names);
	pd_text_add(text, names);
	if (length + 2 > MARGIN) {
		pd_text_add(text, "\n");
		length = 0;
	}
	pd_text_printf(text, "%*s", (int)(MARGIN - length), "");
	pd_text_wrapped(text, option->help, WIDTH, MARGIN, MARGIN);
}

/* Whether a name is in a blank-separated list. */
static bool is_among(const char *words, const char *name)
{
	size_t length = strlen(name);

	for (; words && *words; words += strspn(words, " ")) {
		size_t word = strcspn(words, " ");

		if (word == length && !memcmp(words, name, length))
			return true;
		words += word;
	}
	return false;
}

static void print_heading(struct pd_text *text, const struct command *command, enum option_heading heading,
			  const char *title)
{
	bool first = true;

	for (struct option_walk walk = option_walk(command); option_next(&walk);) {
		if (walk.option.heading != heading || is_among(command->usual, walk.option.name))
			continue;
		if (first)
			pd_text_printf(text, "\n%s:\n", title);
		first = false;
		print_option(text, &walk.option);
	}
}

/* In the order of the list, which contains only names of options. */
static void print_usual(struct pd_text *text, const struct command *command)
{
	if (command->usual)
		pd_text_add(text, "\nmost used options:\n");
	for (const char *name = command->usual; name && *name; name += strspn(name, " ")) {
		size_t length = strcspn(name, " ");
		struct option option;
		bool found = option_find(command, name, length, &option);

		assert(found);
		if (found)
			print_option(text, &option);
		name += length;
	}
}

static void print_options(struct pd_text *text, const struct command *command)
{
	static const char *const titles[OPTION_HEADINGS] = { [HEADING_TARGET] = "events and targets",
							     [HEADING_SAMPLES] = "sampling",
							     [HEADING_OUTPUT] = "output",
							     [HEADING_FILTER] = "filters",
							     [HEADING_SYMBOLS] = "symbols",
							     [HEADING_INPUT] = "input",
							     [HEADING_COMMON] = "all commands" };

	print_usual(text, command);
	print_heading(text, command, HEADING_OWN, command->usual ? "more options" : "options");
	for (unsigned heading = HEADING_OWN + 1; heading < OPTION_HEADINGS; heading++)
		print_heading(text, command, (enum option_heading)heading, titles[heading]);
}

static void print_examples(struct pd_text *text, const struct example *example)
{
	if (!example->line)
		return;
	pd_text_add(text, "\nexamples:\n");
	for (; example->line; example++)
		pd_text_printf(text, "  %s\n      %s\n", example->line, example->about);
}

static void print_exit_codes(struct pd_text *text, const char *command)
{
	struct exit_code code;
	size_t at = 0;

	pd_text_add(text, "\nexit codes:");
	for (const char *before = " "; exit_code_next(command, &at, &code); before = ", ")
		pd_text_printf(text, "%s%s", before, code.number);
	pd_text_add(text, " (perfdata help exit-codes)\n");
}

void help_command(struct pd_text *text, const struct command_line *line)
{
	struct pd_text *about = pd_vocabulary_expand(line->command->text);

	pd_text_printf(text, "perfdata %s - %s\n\nusage: perfdata %s%s%s\n\n", line->name, line->doc, line->name,
		       *line->command->usage ? " " : "", line->command->usage);
	if (about)
		pd_text_wrapped(text, (const char *)pd_text_bytes(about).data, WIDTH, 0, 0);
	pd_text_free(about);
	print_options(text, line->command);
	print_examples(text, line->command->examples);
	print_exit_codes(text, line->name);
}

void help_program(struct pd_text *text)
{
	pd_text_printf(text,
		       "perfdata %s - record, read, convert and repair perf.data files\n\n"
		       "usage: perfdata [OPTION]... COMMAND [ARGUMENT]...\n",
		       pd_version());
#define COMMANDS(title) pd_text_add(text, "\n" title ":\n");
#define COMMAND(name, object, doc) pd_text_printf(text, "  %-15s %s\n", #name, doc);
#include "front/commands.def"
	print_options(text, &program);
	pd_text_add(text,
		    "\nperfdata COMMAND --help lists the options of a command. Commands read perf.data in the current\n"
		    "folder, or standard input if it is a pipe, unless a FILE is given; - is standard input.\n");
}
