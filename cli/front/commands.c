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

int command_unknown(const char *word, const char *topic)
{
	struct pd_nearest nearest = { .word = word };
	const struct command_line *line;

	for (size_t i = 0; (line = command_at(i)) != NULL; i++)
		pd_nearest_try(&nearest, line->name);
	if (topic)
		pd_nearest_try(&nearest, topic);
	if (nearest.best)
		return print_failure(CODE_USAGE, "unknown command '%s'; did you mean '%s'?", word, nearest.best);
	return print_failure(CODE_USAGE, "unknown command '%s'; perfdata help lists the commands", word);
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
	.text = "Reads the files of perf record and perf stat record of Linux, and those of simpleperf, on any machine and without "
		"perf: files, pipes and directories, compressed or not, of both endiannesses, complete, truncated or corrupt. It also "
		"records, converts and repairs them.\n\n"
		"FILE defaults to perf.data, or to standard input if that is a pipe; - is standard input. Results go to standard output, "
		"everything else to standard error.\n\n"
		"On a terminal, output that does not fit on the screen goes through a pager: that of PERF_PAGER, of pager.COMMAND in the "
		"configuration, of PAGER, or less. An empty value or cat: no pager. Colours follow --color, color.ui in the "
		"configuration, and NO_COLOR.\n\n"
		"The configuration is read from /etc/perfconfig and ~/.perfconfig, or from the file named by PERF_CONFIG, in the format "
		"of perf-config(1).",
	.options = options,
	.values_size = sizeof(struct program_values),
	.max_words = SIZE_MAX,
	.ends_at_word = true,
};
