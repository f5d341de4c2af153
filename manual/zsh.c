/* SPDX-License-Identifier: MIT */
/*
 * Completion for zsh, as a file _perfdata in a folder of fpath, or to be sourced.
 */
#include "manual/script.h"

static void add_quoted(struct pd_text *text, const char *string)
{
	script_add_quoted(text, string, "[]:\\", "'\\''");
}

/* What is after the last colon of a line for _arguments. */
static const struct script_form forms[MANUAL_KINDS] = {
	[MANUAL_NONE] = { " ", NULL },
	[MANUAL_FILE] = { "_files", NULL },
	[MANUAL_FOLDER] = { "_files -/", NULL },
	[MANUAL_WORD] = { "(", ")" },
	[MANUAL_LIST] = { " _perfdata_list ", "" },
	[MANUAL_EVENTS] = { " _perfdata_events", NULL },
	[MANUAL_PROGRAM] = { "_perfdata_program", NULL },
};

/* What shows that a value follows: it may be, or has to be, attached. */
static const char *attachment(const struct manual_value *value, bool is_short)
{
	if (!value->name)
		return "";
	if (value->attached)
		return is_short ? "-" : "=-";
	return is_short ? "+" : "=";
}

static void add_option(struct pd_text *text, const struct manual_option *option)
{
	const struct manual_value *value = &option->value;

	pd_text_add(text, "\t\t\t");
	if (option->repeated)
		pd_text_add(text, "'*'");
	else if (option->short_name)
		pd_text_printf(text, "'(-%c --%s)'", option->short_name, option->name);
	if (option->short_name)
		pd_text_printf(text, "{-%c%s,--%s%s}'[", option->short_name, attachment(value, true), option->name,
			       attachment(value, false));
	else
		pd_text_printf(text, "'--%s%s[", option->name, attachment(value, false));
	add_quoted(text, option->help);
	pd_text_add(text, "]");
	if (value->name) {
		pd_text_add(text, value->is_next ? ":" : "::");
		add_quoted(text, value->name);
		pd_text_add(text, ":");
		script_add_value(text, forms, value);
	}
	pd_text_add(text, "' \\\n");
}

static void add_options_of(struct pd_text *text, const struct manual_command *command)
{
	for (const struct manual_option *option = command->options; option->name; option++)
		add_option(text, option);
}

static void add_command(struct pd_text *text, const struct manual_command *command)
{
	pd_text_printf(text, "\t\t%s)\n\t\t\t_arguments -s -S \\\n", command->name);
	add_options_of(text, command);
	if (command->arguments.name) {
		pd_text_printf(text, "\t\t\t'%s: :", command->ends_at_word ? "*:" : "*");
		script_add_value(text, forms, &command->arguments);
		pd_text_add(text, "' \\\n");
	}
	pd_text_add(text, "\t\t\t&& return 0\n\t\t\t;;\n");
}

static void add_names(struct pd_text *text, const struct manual_program *program)
{
	for (size_t i = 0; i < program->count; i++) {
		pd_text_printf(text, "\t\t'%s:", program->commands[i]->name);
		script_add_quoted(text, program->commands[i]->doc, ":\\", "'\\''");
		pd_text_add(text, "'\n");
	}
}

static void add_options(struct pd_text *text, const struct manual_program *program)
{
	add_options_of(text, &program->own);
}

static void add_commands(struct pd_text *text, const struct manual_program *program)
{
	for (size_t i = 0; i < program->count; i++)
		add_command(text, program->commands[i]);
}

void script_add_zsh(struct pd_text *text, const struct manual_program *program)
{
	static const struct script_part parts[] = {
		{ "NAMES", add_names }, { "OPTIONS", add_options }, { "COMMANDS", add_commands }, { 0 }
	};

	script_add(text, manual_script_zsh, parts, program);
}
