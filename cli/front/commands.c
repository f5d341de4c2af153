/* SPDX-License-Identifier: MIT */
/*
 * The commands by name, for those who list or describe them, and the options before a command's name. main.c, which knows all
 * commands, hands their table over: so a command such as help can ask for others without being tied to all of them.
 */
#include "front/cli.h"

#include <string.h>

static const struct command_line *commands;
static size_t command_count;

void commands_set(const struct command_line *lines, size_t count)
{
	commands = lines;
	command_count = count;
}

const struct command_line *command_at(size_t index)
{
	return index < command_count ? &commands[index] : NULL;
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

#undef VALUES
#define VALUES struct program_values

static const struct option options[] = {
	FLAG("paginate", 'p', paginate, "send long output on a terminal through a pager, overriding the configuration"),
	STRING("buildid-dir", 0, "DIR", buildid_dir, "perf's build-id cache (default: PERF_BUILDID_DIR, or ~/.debug)"),
	FLAG("version", 'v', version, "print the version and exit"),
	{ 0 },
};

const struct command program = {
	.options = options,
	.values_size = sizeof(struct program_values),
	.max_words = SIZE_MAX,
	.ends_at_word = true,
};
