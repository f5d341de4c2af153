/* SPDX-License-Identifier: MIT */
/*
 * Help as plain text.
 */
#include "manual/manual.h"

#include <perfdata/vocabulary.h>

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum {
	WIDTH = 80,
	MARGIN = 26 /* where the help of an option begins */
};

static void add_option(struct pd_text *text, const struct manual_option *option)
{
	const struct manual_value *value = &option->value;
	char names[80], short_name[8] = "    ";
	size_t length;

	if (option->short_name)
		snprintf(short_name, sizeof(short_name), "-%c, ", option->short_name);
	snprintf(names, sizeof(names), "  %s--%s%s%s%s", short_name, option->name,
		 !value->name    ? "" :
		 value->optional ? "[=" :
				   "=",
		 value->name ? value->name : "", value->name && value->optional ? "]" : "");
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

/* In the order of the list, which contains only names of options. */
static void add_usual(struct pd_text *text, const struct manual_command *command)
{
	if (command->usual)
		pd_text_add(text, "\nmost used options:\n");
	for (const char *name = command->usual; name && *name; name += strspn(name, " ")) {
		const struct manual_option *option = command->options;
		size_t length = strcspn(name, " ");

		while (option->name && (strlen(option->name) != length || memcmp(option->name, name, length) != 0))
			option++;
		assert(option->name);
		if (option->name)
			add_option(text, option);
		name += length;
	}
}

/* The options below a heading that were not shown yet. */
static void add_below(struct pd_text *text, const struct manual_command *command, const char *heading,
		      const char *title)
{
	bool first = true;

	for (const struct manual_option *option = command->options; option->name; option++) {
		if (option->heading != heading || is_among(command->usual, option->name))
			continue;
		if (first)
			pd_text_printf(text, "\n%s:\n", title);
		first = false;
		add_option(text, option);
	}
}

static void add_options(struct pd_text *text, const struct manual_command *command)
{
	add_usual(text, command);
	add_below(text, command, NULL, command->usual ? "more options" : "options");
	for (const char *const *heading = command->headings; *heading; heading++)
		add_below(text, command, *heading, *heading);
}

static void add_examples(struct pd_text *text, const struct example *example)
{
	if (!example->line)
		return;
	pd_text_add(text, "\nexamples:\n");
	for (; example->line; example++)
		pd_text_printf(text, "  %s\n      %s\n", example->line, example->about);
}

static void add_exit_codes(struct pd_text *text, const struct exit_code *code)
{
	pd_text_add(text, "\nexit codes:");
	for (const char *before = " "; code->number; before = ", ", code++)
		pd_text_printf(text, "%s%s", before, code->number);
	pd_text_add(text, " (perfdata help exit-codes)\n");
}

void manual_help(struct pd_text *text, const struct manual_command *command)
{
	struct pd_text *about = pd_vocabulary_expand(command->text);

	pd_text_printf(text, "perfdata %s - %s\n\nusage: perfdata %s%s%s\n\n", command->name, command->doc,
		       command->name, *command->usage ? " " : "", command->usage);
	if (about)
		pd_text_wrapped(text, (const char *)pd_text_bytes(about).data, WIDTH, 0, 0);
	pd_text_free(about);
	add_options(text, command);
	add_examples(text, command->examples);
	add_exit_codes(text, command->exit_codes);
}

void manual_help_program(struct pd_text *text, const struct manual_program *program)
{
	const char *last = NULL;

	pd_text_printf(text, "perfdata %s - %s\n\nusage: perfdata [OPTION]... COMMAND [ARGUMENT]...\n",
		       program->version, program->own.doc);
	for (size_t i = 0; i < program->count; i++) {
		const struct manual_command *command = program->commands[i];

		if (command->group != last)
			pd_text_printf(text, "\n%s:\n", command->group);
		last = command->group;
		pd_text_printf(text, "  %-15s %s\n", command->name, command->doc);
	}
	add_options(text, &program->own);
	pd_text_printf(text, "\n%s\n", program->notes);
}
