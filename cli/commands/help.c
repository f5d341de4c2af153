/* SPDX-License-Identifier: MIT */
/* perfdata help: help for the program, a command or the exit codes; manual pages; completion. */
#include "front/cli.h"
#include "options/describe.h"

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
	struct exit_code codes[EXIT_CODE_COUNT + 1];

	exit_codes_of(NULL, codes);
	for (const struct exit_code *code = codes; code->number; code++)
		pd_text_printf(text, "%-5s  %s\n", code->number, code->text);
	pd_text_add(text,
		    "\nperfdata help COMMAND lists those of a command; its manual page describes them.\n"
		    "If record or stat run a COMMAND, they return its exit code.\n\n"
		    "If the reader of a pipe closes it (perfdata script | head), perfdata exits silently by\n"
		    "SIGPIPE, which shells show as 141.\n"
		    "SIGINT, SIGTERM and SIGHUP end a command that writes files by that signal (130, 143 and 129\n"
		    "in a shell) after it has removed unfinished files; earlier outputs are kept. Output made from\n"
		    "a pipe, which cannot be read again, is left in OUTPUT.new-...\n");
}

static int print_completion(struct pd_text *text, const char *shell)
{
	manual_program_fn *print = manual_completion(shell);

	if (!print)
		return print_failure(CODE_USAGE, "option --completion: unknown shell '%s' (bash, zsh or fish)", shell);
	return describe_program(text, print);
}

/* What is no command. */
static int print_topic(struct pd_text *text, const char *topic, bool man)
{
	if (strcmp(topic, "exit-codes") != 0)
		return command_unknown(topic, "exit-codes");
	if (man)
		return print_failure(CODE_USAGE, "exit-codes has no manual page; see those of the commands");
	print_exit_codes(text);
	return CODE_OK;
}

static int run_help(const struct call *call)
{
	const struct values *values = call->values;
	struct pd_text *text = call->out->text;
	const char *topic = call->word_count ? call->words[0] : NULL;
	const struct command_line *line = topic ? command_by_name(topic) : NULL;

	if (values->completion)
		return print_completion(text, values->completion);
	if (line)
		return describe_command(text, line, values->man ? manual_page : manual_help);
	if (topic)
		return print_topic(text, topic, values->man);
	return describe_program(text, values->man ? manual_page_program : manual_help_program);
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
