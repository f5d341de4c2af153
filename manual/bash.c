/* SPDX-License-Identifier: MIT */
/*
 * Completion for bash: commands, then the options of the command, then their values, files or names.
 */
#include "manual/script.h"

/* As variables of the function. */
static const struct script_form forms[MANUAL_KINDS] = {
	[MANUAL_NONE] = { "kind=none", NULL },          [MANUAL_FILE] = { "kind=file", NULL },
	[MANUAL_FOLDER] = { "kind=folder", NULL },      [MANUAL_WORD] = { "kind=word words=\"", "\"" },
	[MANUAL_LIST] = { "kind=list words=\"", "\"" }, [MANUAL_EVENTS] = { "kind=events", NULL },
	[MANUAL_PROGRAM] = { "kind=program", NULL },
};

static void add_names(struct pd_text *text, const struct manual_command *command)
{
	pd_text_printf(text, "\t%s) options=\"", *command->name ? command->name : "\"\"");
	for (const struct manual_option *option = command->options; option->name; option++)
		pd_text_printf(text, "--%s%s ", option->name, option->value.name ? "=" : "");
	pd_text_add(text, "\" ;;\n");
}

static void add_options(struct pd_text *text, const struct manual_program *program)
{
	add_names(text, &program->own);
	for (size_t i = 0; i < program->count; i++)
		add_names(text, program->commands[i]);
}

static void add_value(struct pd_text *text, const struct manual_value *value)
{
	script_add_value(text, forms, value);
	pd_text_add(text, " ;;\n");
}

static void add_values_of(struct pd_text *text, const struct manual_command *command)
{
	for (const struct manual_option *option = command->options; option->name; option++) {
		if (!option->value.name)
			continue;
		pd_text_printf(text, "\t\"%s --%s\"", command->name, option->name);
		if (option->short_name)
			pd_text_printf(text, " | \"%s -%c\"", command->name, option->short_name);
		pd_text_add(text, ") ");
		add_value(text, &option->value);
	}
}

static void add_values(struct pd_text *text, const struct manual_program *program)
{
	add_values_of(text, &program->own);
	for (size_t i = 0; i < program->count; i++)
		add_values_of(text, program->commands[i]);
}

static void add_command_names(struct pd_text *text, const struct manual_program *program)
{
	for (size_t i = 0; i < program->count; i++)
		pd_text_printf(text, "%s ", program->commands[i]->name);
}

static void add_arguments(struct pd_text *text, const struct manual_program *program)
{
	for (size_t i = 0; i < program->count; i++) {
		pd_text_printf(text, "\t\t%s) ", program->commands[i]->name);
		add_value(text, &program->commands[i]->arguments);
	}
}

void script_add_bash(struct pd_text *text, const struct manual_program *program)
{
	static const struct script_part parts[] = { { "OPTIONS", add_options },
						    { "VALUES", add_values },
						    { "NAMES", add_command_names },
						    { "ARGUMENTS", add_arguments },
						    { 0 } };

	script_add(text, manual_script_bash, parts, program);
}
