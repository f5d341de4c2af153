/* SPDX-License-Identifier: MIT */
/*
 * perfdata help: help for the program, a command or the exit codes; manual pages; completion.
 */
#include "front/cli.h"
#include "manual/manual.h"

#include <string.h>

struct values {
	bool man;
	const char *completion;
};

static const struct option options[] = {
	FLAG("man", 0, man, "print the manual page perfdata(1), or perfdata-COMMAND(1), as roff"),
	STRING("completion", 0, "SHELL", completion, "print the completion script for bash, zsh or fish"),
	{ 0 },
};

static void print_exit_codes(struct pd_text *text)
{
	struct exit_code code;
	size_t at = 0;

	while (exit_code_next(NULL, &at, &code))
		pd_text_printf(text, "%-5s  %s\n", code.number, code.text);
	pd_text_add(text,
		    "\nperfdata help COMMAND lists those of a command; its manual page describes them.\n"
		    "If record or stat run a COMMAND, they return its exit code.\n\n"
		    "If the reader of a pipe closes it (perfdata script | head), perfdata exits silently by\n"
		    "SIGPIPE, which shells show as 141.\n"
		    "SIGINT, SIGTERM and SIGHUP end a command that writes files by that signal (130, 143 and 129\n"
		    "in a shell) after it has removed unfinished files; earlier outputs are kept. Output made from\n"
		    "a pipe, which cannot be read again, is left in OUTPUT.new-...\n");
}

static int unknown_topic(const char *topic)
{
	struct pd_nearest nearest = { .word = topic };
	const struct command_line *line;

	for (size_t i = 0; (line = command_at(i)) != NULL; i++)
		pd_nearest_try(&nearest, line->name);
	pd_nearest_try(&nearest, "exit-codes");
	if (nearest.best)
		print_error("unknown command '%s'; did you mean '%s'?", topic, nearest.best);
	else
		print_error("unknown command '%s'; perfdata help lists the commands", topic);
	return CODE_USAGE;
}

static int print_completion(struct pd_text *text, const char *shell)
{
	static const struct {
		const char *name;
		void (*print)(struct pd_text *text);
	} shells[] = { { "bash", completion_bash }, { "zsh", completion_zsh }, { "fish", completion_fish } };

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (strcmp(shells[i].name, shell) == 0) {
			shells[i].print(text);
			return CODE_OK;
		}
	return print_failure(CODE_USAGE, "option --completion: unknown shell '%s' (bash, zsh or fish)", shell);
}

static int run_help(const struct call *call)
{
	const struct values *values = call->values;
	struct pd_text *text = call->out->text;
	const char *topic = call->word_count ? call->words[0] : NULL;
	const struct command_line *line = topic ? command_by_name(topic) : NULL;

	if (values->completion) {
		return print_completion(text, values->completion);
	} else if (topic && !line) {
		if (strcmp(topic, "exit-codes") != 0)
			return unknown_topic(topic);
		if (values->man)
			return print_failure(CODE_USAGE, "exit-codes has no manual page; see those of the commands");
		print_exit_codes(text);
	} else if (values->man) {
		if (line)
			manual_command(text, line);
		else
			manual_program(text);
	} else if (line) {
		help_command(text, line);
	} else {
		help_program(text);
	}
	return CODE_OK;
}

const struct command cmd_help = {
	.usage = "[OPTION]... [COMMAND | exit-codes]",
	.text = "Show the help of COMMAND; without COMMAND, list the commands.",
	OPTIONS(options),
	EXAMPLES({ "perfdata help dump", "list the options of dump" },
		 { "perfdata help --man dump | man -l -", "read the manual page of dump" },
		 { "source <(perfdata help --completion bash)", "enable completion in bash; likewise in zsh" },
		 { "perfdata help --completion fish | source", "enable completion in fish" }),
	.max_words = 1,
	.run = run_help,
};
