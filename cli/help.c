/* SPDX-License-Identifier: MIT */
/*
 * Help as plain text, from the tables of commands and options.
 */
#include "cli.h"

#include <stdio.h>
#include <string.h>

enum {
	WIDTH = 80,
	MARGIN = 26 /* where the help of an option begins */
};

/* Adds words so that lines end before the right margin. column is where the first one starts. */
static void wrap(struct pd_text *text, const char *words, size_t column, size_t indent)
{
	while (*words) {
		size_t length = strcspn(words, " \n");
		size_t behind = strspn(words + length, " \n");
		bool paragraph = words[length] == '\n';

		pd_text_printf(text, "%.*s", (int)length, words);
		column += length;
		words += length + behind;
		if (!*words)
			break;
		if (paragraph || column + 1 + strcspn(words, " \n") > WIDTH) {
			pd_text_printf(text, "%s%*s", paragraph ? "\n\n" : "\n", (int)indent, "");
			column = indent;
		} else {
			pd_text_add(text, " ");
			column++;
		}
	}
	pd_text_add(text, "\n");
}

static void print_option(struct pd_text *text, const struct option *option)
{
	char names[80];
	const char *equals = option->argument ? "=" : "";
	const char *argument = option->argument ? option->argument : "";
	size_t length;

	if (option->letter)
		snprintf(names, sizeof(names), "  -%c, --%s%s%s", option->letter, option->name,
			 equals, argument);
	else
		snprintf(names, sizeof(names), "      --%s%s%s", option->name, equals, argument);
	length = strlen(names);
	pd_text_add(text, names);
	if (length + 2 > MARGIN) {
		pd_text_add(text, "\n");
		length = 0;
	}
	pd_text_printf(text, "%*s", (int)(MARGIN - length), "");
	wrap(text, option->help, MARGIN, MARGIN);
}

static void print_options(struct pd_text *text, const struct command *command)
{
	pd_text_add(text, "\noptions:\n");
	for (const struct option *option = command->options; option->name; option++)
		print_option(text, option);
	print_option(text, &help_option);
}

static void print_examples(struct pd_text *text, const struct example *example)
{
	if (!example->line)
		return;
	pd_text_add(text, "\nexamples:\n");
	for (; example->line; example++)
		pd_text_printf(text, "  %s\n      %s\n", example->line, example->about);
}

void help_command(struct pd_text *text, const struct command_line *line)
{
	pd_text_printf(text, "perfdata %s - %s\n\nusage: perfdata %s%s%s\n\n", line->name,
		       line->doc, line->name, *line->command->usage ? " " : "",
		       line->command->usage);
	wrap(text, line->command->text, 0, 0);
	print_options(text, line->command);
	print_examples(text, line->command->examples);
	pd_text_add(text, "\nexit codes: perfdata help exit-codes\n");
}

void help_program(struct pd_text *text)
{
	const struct command_line *line;

	pd_text_printf(text,
		       "perfdata %s - reads perf.data files\n\n"
		       "usage: perfdata COMMAND [OPTION]... [FILE]\n\n"
		       "commands:\n",
		       pd_version());
	for (size_t i = 0; (line = command_at(i)) != NULL; i++)
		pd_text_printf(text, "  %-10s  %s\n", line->name, line->doc);
	pd_text_add(text, "\nFILE is perf.data if none is named, or what is piped in; - is standard input.\n"
			  "perfdata COMMAND --help tells the options of a command.\n");
}
