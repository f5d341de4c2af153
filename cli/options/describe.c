/* SPDX-License-Identifier: MIT */
#include "options/describe.h"

#include <stdlib.h>

/* In the order of help and pages. Options that only one command has, which come first, have none. */
static const char *const headings[OPTION_HEADINGS + 1] = { [HEADING_TARGET] = "events and targets",
							   [HEADING_SAMPLES] = "sampling",
							   [HEADING_OUTPUT] = "output",
							   [HEADING_FILTER] = "filters",
							   [HEADING_SYMBOLS] = "symbols",
							   [HEADING_INPUT] = "input",
							   [HEADING_COMMON] = "all commands" };

/* A command with what its members point to. */
struct description {
	struct manual_command command;
	struct exit_code codes[EXIT_CODE_COUNT + 1];
	struct manual_option options[];
};

static struct manual_option describe_option(const struct command_line *line, const struct option *option)
{
	const enum option_kind kind = option->kind;
	const bool attached = kind == OPTION_ATTACHED || kind == OPTION_TAGGED_ATTACHED;
	struct manual_option described = {
		.name = option->name,
		.short_name = option->short_name,
		.repeated = kind == OPTION_LIST || kind == OPTION_TAGGED || kind == OPTION_TAGGED_ATTACHED,
		.help = option->help,
		.heading = headings[option->heading],
		.value = { .name = option->argument,
			   .optional = option_is_optional(option),
			   .is_next = kind != OPTION_MAYBE && !attached,
			   .attached = attached },
	};

	if (option->argument)
		describe_value(line, option, &described.value);
	return described;
}

/* NULL without memory. To be freed. */
static struct manual_command *describe(const struct command_line *line)
{
	static const struct example no_examples[] = { { 0 } };
	const struct command *command = line->command;
	struct description *description;
	size_t count = 0;

	for (struct option_walk walk = option_walk(command); option_next(&walk);)
		count++;
	description = calloc(1, sizeof(*description) + (count + 1) * sizeof(*description->options));
	if (!description)
		return NULL;
	count = 0;
	for (struct option_walk walk = option_walk(command); option_next(&walk);)
		description->options[count++] = describe_option(line, &walk.option);
	exit_codes_of(*line->name ? line->name : NULL, description->codes);
	description->command = (struct manual_command){
		.name = line->name,
		.doc = line->doc,
		.usage = command->usage,
		.text = command->text,
		.usual = command->usual,
		.options = description->options,
		.headings = headings + 1,
		.examples = command->examples ? command->examples : no_examples,
		.exit_codes = description->codes,
		.arguments = { .name = command->max_words ? "" : NULL },
		.ends_at_word = command->ends_at_word,
	};
	describe_value(line, NULL, &description->command.arguments);
	return &description->command;
}

int describe_command(struct pd_text *text, const struct command_line *line, manual_command_fn *print)
{
	struct manual_command *command = describe(line);

	if (!command)
		return print_failure(CODE_OUTPUT, "out of memory");
	print(text, command);
	free(command);
	return CODE_OK;
}

/* ---- the program ---- */

enum {
	COMMANDS_COUNT = 0
#define COMMAND(name, object, doc) +1
#include "front/commands.def"
};

static void group_commands(struct manual_command **commands)
{
	const char *group = NULL;

#define COMMANDS(title) group = title;
#define COMMAND(name, object, doc) (*commands++)->group = group;
#include "front/commands.def"
}

static bool describe_commands(struct manual_command **commands)
{
	for (size_t i = 0; i < COMMANDS_COUNT; i++) {
		commands[i] = describe(command_at(i));
		if (!commands[i])
			return false;
	}
	group_commands(commands);
	return true;
}

int describe_program(struct pd_text *text, manual_program_fn *print)
{
	const struct command_line line = { "", &program, "record, read, convert and repair perf.data files" };
	struct manual_command *commands[COMMANDS_COUNT] = { 0 }, *own = describe(&line);
	bool described = own && describe_commands(commands);

	if (described) {
		const struct manual_program whole = {
			.own = *own,
			.commands = (const struct manual_command *const *)commands,
			.count = COMMANDS_COUNT,
			.version = pd_version(),
			.notes =
				"perfdata COMMAND --help lists the options of a command. Commands read perf.data in the current\n"
				"folder, or standard input if it is a pipe, unless a FILE is given; - is standard input.",
		};

		print(text, &whole);
	}
	for (size_t i = 0; i < COMMANDS_COUNT; i++)
		free(commands[i]);
	free(own);
	return described ? CODE_OK : print_failure(CODE_OUTPUT, "out of memory");
}
