/* SPDX-License-Identifier: MIT */
/*
 * Completion for bash: commands, then the options of the command, then their values, files or names.
 */
#include "manual/completion.h"
#include "manual/manual.h"

static const char before_commands[] =
	"# Completion of perfdata for bash: source <(perfdata help --completion bash)\n"
	"_perfdata()\n"
	"{\n"
	"\tlocal current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} command= options= words= kind= i\n"
	"\tCOMPREPLY=()\n"
	"\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
	"\t\tcase ${COMP_WORDS[i]} in\n"
	"\t\t=) ((i++)) ;;\n"
	"\t\t-*) ;;\n"
	"\t\t*) command=${COMP_WORDS[i]} && break ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\t# --name=value comes as three words\n"
	"\tif [ \"$previous\" = = ]; then\n"
	"\t\tprevious=${COMP_WORDS[COMP_CWORD-2]}\n"
	"\telif [ \"$current\" = = ]; then\n"
	"\t\tcurrent=\n"
	"\tfi\n"
	"\tcase $command in\n";

static const char before_values[] = "\tesac\n"
				    "\tcase \"$command $previous\" in\n";

static const char after_values[] = "\tesac\n"
				   "\tif [ -z \"$kind\" ] && [[ $current == -* ]]; then\n"
				   "\t\tCOMPREPLY=($(compgen -W \"$options\" -- \"$current\"))\n"
				   "\t\t[[ ${COMPREPLY[0]} != *= ]] || compopt -o nospace\n"
				   "\t\treturn\n"
				   "\tfi\n"
				   "\tif [ -z \"$kind\" ]; then\n"
				   "\t\tcase $command in\n";

static const char after_arguments[] =
	"\t\tesac\n"
	"\tfi\n"
	"\tcase $kind in\n"
	"\tword) COMPREPLY=($(compgen -W \"$words\" -- \"$current\")) ;;\n"
	"\tfolder) COMPREPLY=($(compgen -d -- \"$current\")) ;;\n"
	"\tprogram) COMPREPLY=($(compgen -c -- \"$current\")) ;;\n"
	"\tevents | list)\n"
	"\t\t[ $kind = list ] || words=$(perfdata list --raw-dump 2>/dev/null)\n"
	"\t\tCOMPREPLY=($(compgen -P \"${current%\"${current##*,}\"}\" -W \"$words\" -- \"${current##*,}\"))\n"
	"\t\tcompopt -o nospace\n"
	"\t\t;;\n"
	"\tesac\n"
	"}\n"
	"complete -o default -F _perfdata perfdata\n";

/* As variables of the function. */
static const struct completion_form forms[VALUE_KINDS] = {
	[VALUE_NONE] = { "kind=none", NULL },          [VALUE_FILE] = { "kind=file", NULL },
	[VALUE_FOLDER] = { "kind=folder", NULL },      [VALUE_WORD] = { "kind=word words=\"", "\"" },
	[VALUE_LIST] = { "kind=list words=\"", "\"" }, [VALUE_EVENTS] = { "kind=events", NULL },
	[VALUE_PROGRAM] = { "kind=program", NULL },
};

static void add_options(struct pd_text *text, const struct command_line *line)
{
	pd_text_printf(text, "\t%s) options=\"", *line->name ? line->name : "\"\"");
	for (struct option_walk walk = option_walk(line->command); option_next(&walk);)
		pd_text_printf(text, "--%s%s ", walk.option.name, walk.option.argument ? "=" : "");
	pd_text_add(text, "\" ;;\n");
}

static void add_kind(struct pd_text *text, const struct command_line *line, const struct option *option)
{
	completion_add(text, forms, line, option);
	pd_text_add(text, " ;;\n");
}

static void add_values(struct pd_text *text, const struct command_line *line)
{
	for (struct option_walk walk = option_walk(line->command); option_next(&walk);) {
		const struct option *option = &walk.option;

		if (!option->argument)
			continue;
		pd_text_printf(text, "\t\"%s --%s\"", line->name, option->name);
		if (option->short_name)
			pd_text_printf(text, " | \"%s -%c\"", line->name, option->short_name);
		pd_text_add(text, ") ");
		add_kind(text, line, option);
	}
}

void completion_bash(struct pd_text *text)
{
	const struct command_line none = { .name = "", .command = &program };
	const struct command_line *line;

	pd_text_add(text, before_commands);
	add_options(text, &none);
	for (size_t i = 0; (line = command_at(i)) != NULL; i++)
		add_options(text, line);
	pd_text_add(text, before_values);
	add_values(text, &none);
	for (size_t i = 0; (line = command_at(i)) != NULL; i++)
		add_values(text, line);
	pd_text_add(text, after_values);
	pd_text_add(text, "\t\t\"\") kind=word words=\"");
	for (size_t i = 0; (line = command_at(i)) != NULL; i++)
		pd_text_printf(text, "%s ", line->name);
	pd_text_add(text, "\" ;;\n");
	for (size_t i = 0; (line = command_at(i)) != NULL; i++) {
		pd_text_printf(text, "\t\t%s) ", line->name);
		add_kind(text, line, NULL);
	}
	pd_text_add(text, after_arguments);
}
