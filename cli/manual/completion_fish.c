/* SPDX-License-Identifier: MIT */
/*
 * Completion for fish: a line for each command, option and kind of argument.
 */
#include "manual/completion.h"
#include "manual/manual.h"

#include <string.h>

static const char head[] =
	"# Completion of perfdata for fish: perfdata help --completion fish | source\n"
	"function __perfdata_list\n"
	"\tset -l front (string replace -r '[^,=]*$' '' -- (commandline -ct | string replace -r '^--[^=]*=' ''))\n"
	"\tfor word in $argv\n"
	"\t\techo $front$word\n"
	"\tend\n"
	"end\n"
	"function __perfdata_events\n"
	"\t__perfdata_list (perfdata list --raw-dump 2>/dev/null | string split -n ' ')\n"
	"end\n"
	"complete -c perfdata -e\n";

static void add_quoted(struct pd_text *text, const char *string)
{
	completion_quoted(text, string, "\\", "\\'");
}

/* -f: no files but those that -a names. */
static void add_value(struct pd_text *text, enum value_kind kind, struct pd_bytes words)
{
	int size = (int)words.size;
	const char *data = (const char *)words.data;

	switch (kind) {
	case VALUE_NONE:
		pd_text_add(text, " -f");
		break;
	case VALUE_FILE:
		pd_text_add(text, " -F");
		break;
	case VALUE_FOLDER:
		pd_text_add(text, " -f -a '(__fish_complete_directories)'");
		break;
	case VALUE_WORD:
		pd_text_printf(text, " -f -a '%.*s'", size, data);
		break;
	case VALUE_LIST:
		pd_text_printf(text, " -f -a '(__perfdata_list %.*s)'", size, data);
		break;
	case VALUE_EVENTS:
		pd_text_add(text, " -f -a '(__perfdata_events)'");
		break;
	case VALUE_PROGRAM:
		pd_text_add(text, " -f -a '(__fish_complete_subcommand)'");
		break;
	}
}

/* The name of a command, or "" for the words in front of it. */
static void begin_line(struct pd_text *text, const char *command)
{
	pd_text_add(text, "complete -c perfdata -n ");
	if (*command)
		pd_text_printf(text, "'__fish_seen_subcommand_from %s'", command);
	else
		pd_text_add(text, "__fish_use_subcommand");
}

static void add_option(struct pd_text *text, const struct command_line *line, const struct option *option)
{
	struct pd_text *words = pd_text_new();

	begin_line(text, line->name);
	if (option->short_name)
		pd_text_printf(text, " -s %c", option->short_name);
	pd_text_printf(text, " -l %s", option->name);
	if (option->argument && words) {
		enum value_kind kind = completion_value(line, option, words);

		if (option->kind != OPTION_MAYBE && option->kind != OPTION_ATTACHED)
			pd_text_add(text, " -r");
		add_value(text, kind, pd_text_bytes(words));
	}
	pd_text_add(text, " -d '");
	add_quoted(text, option->help);
	pd_text_add(text, "'\n");
	pd_text_free(words);
}

static void add_command(struct pd_text *text, const struct command_line *line)
{
	struct pd_text *words = pd_text_new();
	enum value_kind kind = words ? completion_value(line, NULL, words) : VALUE_NONE;

	for (struct option_walk walk = option_walk(line->command); option_next(&walk);)
		add_option(text, line, &walk.option);
	if (words && kind != VALUE_FILE) {
		begin_line(text, line->name);
		add_value(text, kind, pd_text_bytes(words));
		pd_text_add(text, "\n");
	}
	pd_text_free(words);
}

void completion_fish(struct pd_text *text)
{
	const struct command_line none = { .name = "", .command = &program };
	const struct command_line *line;

	pd_text_add(text, head);
	for (size_t i = 0; (line = command_at(i)) != NULL; i++) {
		begin_line(text, "");
		pd_text_printf(text, " -f -a %s -d '", line->name);
		add_quoted(text, line->doc);
		pd_text_add(text, "'\n");
	}
	for (struct option_walk walk = option_walk(&program); option_next(&walk);)
		add_option(text, &none, &walk.option);
	for (size_t i = 0; (line = command_at(i)) != NULL; i++)
		add_command(text, line);
}
