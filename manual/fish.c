/* SPDX-License-Identifier: MIT */
/*
 * Completion for fish: a line for each command, option and kind of argument.
 */
#include "manual/script.h"

static void add_quoted(struct pd_text *text, const char *string)
{
	script_add_quoted(text, string, "\\", "\\'");
}

/* -f: no files but those that -a names. */
static const struct script_form forms[MANUAL_KINDS] = {
	[MANUAL_NONE] = { " -f", NULL },
	[MANUAL_FILE] = { " -F", NULL },
	[MANUAL_FOLDER] = { " -f -a '(__fish_complete_directories)'", NULL },
	[MANUAL_WORD] = { " -f -a '", "'" },
	[MANUAL_LIST] = { " -f -a '(__perfdata_list ", ")'" },
	[MANUAL_EVENTS] = { " -f -a '(__perfdata_events)'", NULL },
	[MANUAL_PROGRAM] = { " -f -a '(__fish_complete_subcommand)'", NULL },
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

static void add_option(struct pd_text *text, const char *command, const struct manual_option *option)
{
	begin_line(text, command);
	if (option->short_name)
		pd_text_printf(text, " -s %c", option->short_name);
	pd_text_printf(text, " -l %s", option->name);
	if (option->value.name && option->value.is_next)
		pd_text_add(text, " -r");
	if (option->value.name)
		script_add_value(text, forms, &option->value);
	pd_text_add(text, " -d '");
	add_quoted(text, option->help);
	pd_text_add(text, "'\n");
}

static void add_options_of(struct pd_text *text, const struct manual_command *command)
{
	for (const struct manual_option *option = command->options; option->name; option++)
		add_option(text, command->name, option);
}

static void add_names(struct pd_text *text, const struct manual_program *program)
{
	for (size_t i = 0; i < program->count; i++) {
		begin_line(text, "");
		pd_text_printf(text, " -f -a %s -d '", program->commands[i]->name);
		add_quoted(text, program->commands[i]->doc);
		pd_text_add(text, "'\n");
	}
}

static void add_options(struct pd_text *text, const struct manual_program *program)
{
	add_options_of(text, &program->own);
}

static void add_commands(struct pd_text *text, const struct manual_program *program)
{
	for (size_t i = 0; i < program->count; i++) {
		const struct manual_command *command = program->commands[i];

		add_options_of(text, command);
		if (command->arguments.kind == MANUAL_FILE)
			continue;
		begin_line(text, command->name);
		script_add_value(text, forms, &command->arguments);
		pd_text_add(text, "\n");
	}
}

void script_add_fish(struct pd_text *text, const struct manual_program *program)
{
	static const struct script_part parts[] = {
		{ "NAMES", add_names }, { "OPTIONS", add_options }, { "COMMANDS", add_commands }, { 0 }
	};

	script_add(text, manual_script_fish, parts, program);
}
