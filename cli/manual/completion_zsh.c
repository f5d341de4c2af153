/* SPDX-License-Identifier: MIT */
/*
 * Completion for zsh, as a file _perfdata in a folder of fpath, or to be sourced.
 */
#include "manual/completion.h"
#include "manual/manual.h"

static const char head[] = "#compdef perfdata\n"
			   "# Completion of perfdata for zsh: source <(perfdata help --completion zsh)\n"
			   "\n"
			   "_perfdata_list() { compset -P '*,'; compadd -S '' -- \"$@\" }\n"
			   "_perfdata_events() { _perfdata_list ${(f)\"$(perfdata list --raw-dump 2>/dev/null)\"} }\n"
			   "_perfdata_program() { _arguments '(-)1:program: _command_names -e' '*:: :_normal' }\n"
			   "\n";

static const char tail[] = "if [[ $funcstack[1] == _perfdata ]]; then\n"
			   "\t_perfdata \"$@\"\n"
			   "else\n"
			   "\tcompdef _perfdata perfdata\n"
			   "fi\n";

static void add_quoted(struct pd_text *text, const char *string)
{
	completion_quoted(text, string, "[]:\\", "'\\''");
}

/* What is after the last colon of a line for _arguments. */
static const struct completion_form forms[VALUE_KINDS] = {
	[VALUE_NONE] = { " ", NULL },
	[VALUE_FILE] = { "_files", NULL },
	[VALUE_FOLDER] = { "_files -/", NULL },
	[VALUE_WORD] = { "(", ")" },
	[VALUE_LIST] = { " _perfdata_list ", "" },
	[VALUE_EVENTS] = { " _perfdata_events", NULL },
	[VALUE_PROGRAM] = { "_perfdata_program", NULL },
};

/* What shows that a value follows: it may be, or has to be, attached. */
static const char *attachment(const struct option *option, bool is_short)
{
	if (!option->argument)
		return "";
	if (option->kind == OPTION_ATTACHED)
		return is_short ? "-" : "=-";
	return is_short ? "+" : "=";
}

static void add_option(struct pd_text *text, const struct command_line *line, const struct option *option)
{
	bool repeated = option->kind == OPTION_LIST || option->kind == OPTION_TAGGED;
	bool spare = option->kind == OPTION_MAYBE || option->kind == OPTION_ATTACHED;

	pd_text_add(text, "\t\t\t");
	if (repeated)
		pd_text_add(text, "'*'");
	else if (option->short_name)
		pd_text_printf(text, "'(-%c --%s)'", option->short_name, option->name);
	if (option->short_name)
		pd_text_printf(text, "{-%c%s,--%s%s}'[", option->short_name, attachment(option, true), option->name,
			       attachment(option, false));
	else
		pd_text_printf(text, "'--%s%s[", option->name, attachment(option, false));
	add_quoted(text, option->help);
	pd_text_add(text, "]");
	if (option->argument) {
		pd_text_add(text, spare ? "::" : ":");
		add_quoted(text, option->argument);
		pd_text_add(text, ":");
		completion_add(text, forms, line, option);
	}
	pd_text_add(text, "' \\\n");
}

static void add_options(struct pd_text *text, const struct command_line *line)
{
	for (struct option_walk walk = option_walk(line->command); option_next(&walk);)
		add_option(text, line, &walk.option);
}

static void add_command(struct pd_text *text, const struct command_line *line)
{
	pd_text_printf(text, "\t\t%s)\n\t\t\t_arguments -s -S \\\n", line->name);
	add_options(text, line);
	if (line->command->max_words) {
		pd_text_printf(text, "\t\t\t'%s: :", line->command->ends_at_word ? "*:" : "*");
		completion_add(text, forms, line, NULL);
		pd_text_add(text, "' \\\n");
	}
	pd_text_add(text, "\t\t\t&& return 0\n\t\t\t;;\n");
}

void completion_zsh(struct pd_text *text)
{
	const struct command_line none = { .name = "", .command = &program };
	const struct command_line *line;

	pd_text_add(text, head);
	pd_text_add(text,
		    "_perfdata()\n{\n\tlocal state line ret=1\n\tlocal -a commands\n\tlocal curcontext=$curcontext\n"
		    "\tcommands=(\n");
	for (size_t i = 0; (line = command_at(i)) != NULL; i++) {
		pd_text_printf(text, "\t\t'%s:", line->name);
		completion_quoted(text, line->doc, ":\\", "'\\''");
		pd_text_add(text, "'\n");
	}
	pd_text_add(text, "\t)\n\t_arguments -C -S \\\n");
	add_options(text, &none);
	pd_text_add(text, "\t\t\t'1: :->command' '*:: :->arguments' && ret=0\n"
			  "\tcase $state in\n"
			  "\tcommand) _describe -t commands command commands && ret=0 ;;\n"
			  "\targuments)\n"
			  "\t\tcurcontext=${curcontext%:*}:perfdata-$line[1]:\n"
			  "\t\tcase $line[1] in\n");
	for (size_t i = 0; (line = command_at(i)) != NULL; i++)
		add_command(text, line);
	pd_text_add(text, "\t\tesac\n\t\t;;\n\tesac\n\treturn ret\n}\n\n");
	pd_text_add(text, tail);
}
