/* SPDX-License-Identifier: MIT */
/*
 * Manual pages of section 1.
 */
#include "manual/manual.h"

#include <perfdata/vocabulary.h>

#include <perfdata/roff.h>

#include <stdio.h>

static void add_option(struct pd_text *text, const struct option *option)
{
	struct option_value value = option_value(option);
	char name[64];

	pd_roff_item(text);
	if (option->short_name) {
		snprintf(name, sizeof(name), "-%c", option->short_name);
		pd_roff_bold(text, name);
		pd_text_add(text, ", ");
	}
	snprintf(name, sizeof(name), "--%s", option->name);
	pd_roff_bold(text, name);
	if (option->argument) {
		pd_text_add(text, value.before);
		pd_roff_italic(text, value.name);
		pd_text_add(text, value.after);
	}
	pd_text_add(text, "\n");
	pd_roff_add(text, option->help);
	pd_text_add(text, ".\n");
}

static void add_options(struct pd_text *text, const struct command *command)
{
	pd_roff_section(text, "OPTIONS");
	for (unsigned heading = 0; heading < OPTION_HEADINGS; heading++)
		for (struct option_walk walk = option_walk(command); option_next(&walk);)
			if (walk.option.heading == heading)
				add_option(text, &walk.option);
}

static void add_exit_codes(struct pd_text *text, const char *command)
{
	struct exit_code code;
	size_t at = 0;

	pd_roff_section(text, "EXIT STATUS");
	while (exit_code_next(command, &at, &code)) {
		pd_roff_item(text);
		pd_roff_bold(text, code.number);
		pd_text_printf(text, "\n%s.\n", code.text);
	}
}

static void add_examples(struct pd_text *text, const struct example *example)
{
	if (!example->line)
		return;
	pd_roff_section(text, "EXAMPLES");
	for (; example->line; example++) {
		pd_roff_item(text);
		pd_roff_bold(text, example->line);
		pd_text_add(text, "\n");
		pd_roff_add(text, example->about);
		pd_text_add(text, ".\n");
	}
}

void manual_command(struct pd_text *text, const struct command_line *line)
{
	struct pd_text *about = pd_vocabulary_expand(line->command->text);
	char title[64];

	snprintf(title, sizeof(title), "PERFDATA-%s", line->name);
	for (char *at = title; *at; at++)
		*at = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
	pd_roff_title(text, title, 1);
	pd_roff_section(text, "NAME");
	pd_text_printf(text, "perfdata\\-%s \\- ", line->name);
	pd_roff_add(text, line->doc);
	pd_text_add(text, "\n");
	pd_roff_section(text, "SYNOPSIS");
	pd_text_printf(text, "\\fBperfdata %s\\fR ", line->name);
	pd_roff_add(text, line->command->usage);
	pd_text_add(text, "\n");
	pd_roff_section(text, "DESCRIPTION");
	if (about)
		pd_roff_paragraphs(text, (const char *)pd_text_bytes(about).data);
	pd_text_free(about);
	add_options(text, line->command);
	add_exit_codes(text, line->name);
	add_examples(text, line->command->examples);
	pd_roff_section(text, "SEE ALSO");
	pd_text_add(text, "\\fBperfdata\\fR(1), \\fBperf.data\\fR(5)\n");
}

static void add_command(struct pd_text *text, const char *name, const char *doc)
{
	pd_roff_item(text);
	pd_text_add(text, "\\fBperfdata\\-");
	pd_roff_add(text, name);
	pd_text_add(text, "\\fR(1)\n");
	pd_roff_add(text, doc);
	pd_text_add(text, ".\n");
}

static void add_commands(struct pd_text *text)
{
	pd_roff_section(text, "COMMANDS");
#define COMMANDS(title) pd_roff_subsection(text, title);
#define COMMAND(name, object, doc) add_command(text, #name, doc);
#include "front/commands.def"
}

static void add_command_examples(struct pd_text *text)
{
	const struct command_line *line;

	pd_roff_section(text, "EXAMPLES");
	for (size_t i = 0; (line = command_at(i)) != NULL; i++) {
		const struct example *example = line->command->examples;

		if (!example->line)
			continue;
		pd_roff_item(text);
		pd_roff_bold(text, example->line);
		pd_text_add(text, "\n");
		pd_roff_add(text, example->about);
		pd_text_add(text, ".\n");
	}
}

void manual_program(struct pd_text *text)
{
	pd_roff_title(text, "PERFDATA", 1);
	pd_roff_section(text, "NAME");
	pd_text_add(text, "perfdata \\- record, read, convert and repair perf.data files\n");
	pd_roff_section(text, "SYNOPSIS");
	pd_text_add(text, "\\fBperfdata\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIFILE\\fR]\n");
	pd_roff_section(text, "DESCRIPTION");
	pd_roff_paragraphs(text, "Reads the files of perf record and perf stat record of Linux, and those of "
				 "simpleperf, on any machine and without perf: files, pipes and directories, "
				 "compressed or not, of both endiannesses, complete, truncated or corrupt. It "
				 "also records, converts and repairs them.\n\n"
				 "FILE defaults to perf.data, or to standard input if that is a pipe; - is "
				 "standard input. Results go to standard output, everything else to standard "
				 "error.\n\n"
				 "On a terminal, output that does not fit on the screen goes through a pager: "
				 "that of PERF_PAGER, of pager.COMMAND in the configuration, of PAGER, or less. "
				 "An empty value or cat: no pager. Colours follow --color, color.ui in the "
				 "configuration, and NO_COLOR.\n\n"
				 "The configuration is read from /etc/perfconfig and ~/.perfconfig, or from the "
				 "file named by PERF_CONFIG, in the format of perf-config(1).");
	add_commands(text);
	add_options(text, &program);
	add_exit_codes(text, NULL);
	add_command_examples(text);
	pd_roff_section(text, "SEE ALSO");
	pd_text_add(text, "\\fBperf.data\\fR(5), \\fBperf\\fR(1)\n");
}
