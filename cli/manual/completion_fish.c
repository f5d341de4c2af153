/* SPDX-License-Identifier: MIT */
/*
 * Completion for fish: a line for each command, option and kind of argument.
 */
#include "manual/completion.h"
#include "manual/manual.h"

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
static const struct completion_form forms[VALUE_KINDS] = {
	[VALUE_NONE] = { " -f", NULL },
	[VALUE_FILE] = { " -F", NULL },
	[VALUE_FOLDER] = { " -f -a '(__fish_complete_directories)'", NULL },
	[VALUE_WORD] = { " -f -a '", "'" },
	[VALUE_LIST] = { " -f -a '(__perfdata_list ", ")'" },
	[VALUE_EVENTS] = { " -f -a '(__perfdata_events)'", NULL },
	[VALUE_PROGRAM] = { " -f -a '(__fish_complete_subcommand)'", NULL },
};

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
	begin_line(text, line->name);
	if (option->short_name)
		pd_text_printf(text, " -s %c", option->short_name);
	pd_text_printf(text, " -l %s", option->name);
	if (option->argument && option->kind != OPTION_MAYBE && option->kind != OPTION_ATTACHED)
		pd_text_add(text, " -r");
	if (option->argument)
		completion_add(text, forms, line, option);
	pd_text_add(text, " -d '");
	add_quoted(text, option->help);
	pd_text_add(text, "'\n");
}

static void add_command(struct pd_text *text, const struct command_line *line)
{
	for (struct option_walk walk = option_walk(line->command); option_next(&walk);)
		add_option(text, line, &walk.option);
	if (completion_kind(line, NULL) == VALUE_FILE)
		return;
	begin_line(text, line->name);
	completion_add(text, forms, line, NULL);
	pd_text_add(text, "\n");
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
