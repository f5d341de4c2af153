/* SPDX-License-Identifier: MIT */
/*
 * perfdata: finds the command, has its options parsed, runs it and ends with its exit code.
 */
#include "cli.h"
#include "target.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct command_line commands[] = {
#define COMMAND(name, object, doc) { #name, &object, doc },
#include "commands.def"
};

const struct command_line *command_at(size_t index)
{
	return index < sizeof(commands) / sizeof(commands[0]) ? &commands[index] : NULL;
}

const struct command_line *command_by_name(const char *name)
{
	const struct command_line *line;

	for (size_t i = 0; (line = command_at(i)) != NULL; i++) {
		if (strcmp(line->name, name) == 0)
			break;
	}
	return line;
}

/* A descriptor that is closed would be given to the file we open, and our output would go there. */
static void fill_closed_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			return;
	}
}

static int run_command(const struct command_line *line, int argc, char **argv, struct output *out)
{
	const struct command *command = line->command;
	struct config config;
	struct parsed parsed;
	int code = CODE_USAGE;

	config_load(&config);
	/* the name of the program and of the command were read */
	if (options_parse(command, argc - 2, argv + 2, &parsed)) {
		const struct call call = {
			.values = parsed.values,
			.words = parsed.words.items,
			.word_count = parsed.words.count,
			.line = (const char *const *)argv,
			.out = out,
			.config = &config,
		};

		if (parsed.help) {
			help_command(out->text, line);
			code = CODE_FINE;
		} else {
			code = command->run(&call);
		}
	}
	options_fini(command, &parsed);
	config_fini(&config);
	return code;
}

static int unknown_command(const char *word)
{
	struct pd_nearest nearest = { .word = word };
	const struct command_line *line;
	struct stat status;

	if (stat(word, &status) == 0) {
		complain("'%s' is a file, not a command; try: perfdata info %s", word, word);
		return CODE_USAGE;
	}
	for (size_t i = 0; (line = command_at(i)) != NULL; i++)
		pd_nearest_try(&nearest, line->name);
	if (nearest.best)
		complain("unknown command '%s'; did you mean '%s'?", word, nearest.best);
	else
		complain("unknown command '%s'; perfdata help lists the commands", word);
	return CODE_USAGE;
}

static int run_words(int argc, char **argv, struct output *out)
{
	const char *word = argv[1];

	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		word = "help";
	else if (strcmp(word, "--version") == 0)
		word = "version";
	if (!command_by_name(word))
		return unknown_command(word);
	return run_command(command_by_name(word), argc, argv, out);
}

int main(int argc, char **argv)
{
	struct output out;
	int code = CODE_USAGE;
	int finish;

	fill_closed_descriptors();
	if (!output_init(&out, argc > 1 ? STDOUT_FILENO : STDERR_FILENO)) {
		complain("out of memory");
		return CODE_OUTPUT;
	}
	if (argc > 1)
		code = run_words(argc, argv, &out);
	else
		help_program(out.text);
	finish = output_finish(&out);
	output_fini(&out);
	target_end_interrupted();
	return finish != CODE_FINE ? finish : code;
}
