/* SPDX-License-Identifier: MIT */
/*
 * Manual pages of section 1.
 */
#include "manual/manual.h"

#include <perfdata/roff.h>
#include <perfdata/vocabulary.h>

#include <stdio.h>

static void add_option(struct pd_text *text, const struct manual_option *option)
{
	const struct manual_value *value = &option->value;
	char name[64];

	pd_roff_item(text);
	if (option->short_name) {
		snprintf(name, sizeof(name), "-%c", option->short_name);
		pd_roff_bold(text, name);
		pd_text_add(text, ", ");
	}
	snprintf(name, sizeof(name), "--%s", option->name);
	pd_roff_bold(text, name);
	if (value->name) {
		pd_text_add(text, value->optional ? "[=" : "=");
		pd_roff_italic(text, value->name);
		pd_text_add(text, value->optional ? "]" : "");
	}
	pd_text_add(text, "\n");
	pd_roff_add(text, option->help);
	pd_text_add(text, ".\n");
}

static void add_below(struct pd_text *text, const struct manual_command *command, const char *heading)
{
	for (const struct manual_option *option = command->options; option->name; option++)
		if (option->heading == heading)
			add_option(text, option);
}

static void add_options(struct pd_text *text, const struct manual_command *command)
{
	pd_roff_section(text, "OPTIONS");
	add_below(text, command, NULL);
	for (const char *const *heading = command->headings; *heading; heading++)
		add_below(text, command, *heading);
}

static void add_exit_codes(struct pd_text *text, const struct exit_code *code)
{
	pd_roff_section(text, "EXIT STATUS");
	for (; code->number; code++) {
		pd_roff_item(text);
		pd_roff_bold(text, code->number);
		pd_text_printf(text, "\n%s.\n", code->text);
	}
}

static void add_example(struct pd_text *text, const struct example *example)
{
	pd_roff_item(text);
	pd_roff_bold(text, example->line);
	pd_text_add(text, "\n");
	pd_roff_add(text, example->about);
	pd_text_add(text, ".\n");
}

static void add_examples(struct pd_text *text, const struct example *example)
{
	if (example->line)
		pd_roff_section(text, "EXAMPLES");
	for (; example->line; example++)
		add_example(text, example);
}

static void add_title(struct pd_text *text, const char *name)
{
	char title[64];

	snprintf(title, sizeof(title), "PERFDATA-%s", name);
	for (char *at = title; *at; at++)
		*at = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
	pd_roff_title(text, title, 1);
}

void manual_page(struct pd_text *text, const struct manual_command *command)
{
	struct pd_text *about = pd_vocabulary_expand(command->text);

	add_title(text, command->name);
	pd_roff_section(text, "NAME");
	pd_text_printf(text, "perfdata\\-%s \\- ", command->name);
	pd_roff_add(text, command->doc);
	pd_text_add(text, "\n");
	pd_roff_section(text, "SYNOPSIS");
	pd_text_printf(text, "\\fBperfdata %s\\fR ", command->name);
	pd_roff_add(text, command->usage);
	pd_text_add(text, "\n");
	pd_roff_section(text, "DESCRIPTION");
	if (about)
		pd_roff_paragraphs(text, (const char *)pd_text_bytes(about).data);
	pd_text_free(about);
	add_options(text, command);
	add_exit_codes(text, command->exit_codes);
	add_examples(text, command->examples);
	pd_roff_section(text, "SEE ALSO");
	pd_text_add(text, "\\fBperfdata\\fR(1), \\fBperf.data\\fR(5)\n");
}

static void add_commands(struct pd_text *text, const struct manual_program *program)
{
	const char *last = NULL;

	pd_roff_section(text, "COMMANDS");
	for (size_t i = 0; i < program->count; i++) {
		const struct manual_command *command = program->commands[i];

		if (command->group != last)
			pd_roff_subsection(text, command->group);
		last = command->group;
		pd_roff_item(text);
		pd_text_add(text, "\\fBperfdata\\-");
		pd_roff_add(text, command->name);
		pd_text_add(text, "\\fR(1)\n");
		pd_roff_add(text, command->doc);
		pd_text_add(text, ".\n");
	}
}

void manual_page_program(struct pd_text *text, const struct manual_program *program)
{
	pd_roff_title(text, "PERFDATA", 1);
	pd_roff_section(text, "NAME");
	pd_text_printf(text, "perfdata \\- %s\n", program->own.doc);
	pd_roff_section(text, "SYNOPSIS");
	pd_text_add(text, "\\fBperfdata\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIFILE\\fR]\n");
	pd_roff_section(text, "DESCRIPTION");
	pd_roff_paragraphs(text, program->own.text);
	add_commands(text, program);
	add_options(text, &program->own);
	add_exit_codes(text, program->own.exit_codes);
	pd_roff_section(text, "EXAMPLES");
	for (size_t i = 0; i < program->count; i++)
		if (program->commands[i]->examples->line)
			add_example(text, program->commands[i]->examples);
	pd_roff_section(text, "SEE ALSO");
	pd_text_add(text, "\\fBperf.data\\fR(5), \\fBperf\\fR(1)\n");
}
