/* SPDX-License-Identifier: MIT */
/*
 * Completion for bash: commands, then the options of the command, then files or names.
 */
#include "manual.h"

#include <string.h>

static void add_command_names(struct pd_text *text)
{
	const struct command_line *line;

	for (size_t i = 0; (line = command_at(i)) != NULL; i++)
		pd_text_printf(text, "%s ", line->name);
}

static void add_options(struct pd_text *text, const struct command_line *line)
{
	pd_text_printf(text, "\t%s) options=\"", line->name);
	for (const struct option *option = NULL; (option = option_next(line->command, option)) != NULL;)
		pd_text_printf(text, "--%s%s ", option->name, option->argument && !option_is_optional(option) ? "=" : "");
	pd_text_add(text, "\" ;;\n");
}

static void add_record_names(struct pd_text *text)
{
	uint32_t type;

	for (size_t i = 0; pd_record_type_at(i, &type); i++)
		pd_text_printf(text, "%s ", pd_record_name(type));
}

static void add_explained_names(struct pd_text *text)
{
	const struct pd_names *names;
	const char *problem, *doc, *advice;
	enum pd_severity severity;

	add_record_names(text);
	for (unsigned feature = 0; feature < PD_FEATURE_LIMIT; feature++) {
		if (pd_feature_name(feature))
			pd_text_printf(text, "%s ", pd_feature_name(feature));
	}
	for (size_t i = 0; (names = pd_names_at(i)) != NULL; i++)
		pd_text_printf(text, "%s ", pd_names_name(names));
	for (size_t i = 0; (problem = pd_problem_at(i, &severity, &doc, &advice)) != NULL; i++)
		pd_text_printf(text, "%s ", problem);
}

static const char before_commands[] =
	"# Completion of perfdata for bash: source <(perfdata help --completion bash)\n"
	"_perfdata()\n"
	"{\n"
	"\tlocal current=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} options= words=\n"
	"\tCOMPREPLY=()\n"
	"\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	"\t\tCOMPREPLY=($(compgen -W \"";

static const char before_options[] = "--help --version\" -- \"$current\"))\n"
				     "\t\treturn\n"
				     "\tfi\n"
				     "\tcase $command in\n";

static const char before_words[] = "\tesac\n"
				   "\tif [[ $current == -* ]]; then\n"
				   "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
				   "\t\t[[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace\n"
				   "\t\treturn\n"
				   "\tfi\n"
				   "\tcase $command:${COMP_WORDS[COMP_CWORD-1]} in\n";

static const char behind_words[] = "\tesac\n"
				   "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
				   "}\n"
				   "complete -o default -F _perfdata perfdata\n";

void completion_bash(struct pd_text *text)
{
	const struct command_line *line;

	pd_text_add(text, before_commands);
	add_command_names(text);
	pd_text_add(text, before_options);
	for (size_t i = 0; (line = command_at(i)) != NULL; i++)
		add_options(text, line);
	pd_text_add(text, before_words);
	pd_text_add(text, "\tdump:--type | dump:-t) words=\"");
	add_record_names(text);
	pd_text_add(text, "\" ;;\n\texplain:*) words=\"");
	add_explained_names(text);
	pd_text_add(text, "\" ;;\n\thelp:--completion) words=bash ;;\n\thelp:*) words=\"");
	add_command_names(text);
	pd_text_add(text, "exit-codes\" ;;\n");
	pd_text_add(text, behind_words);
}
