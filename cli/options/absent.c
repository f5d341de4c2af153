/* SPDX-License-Identifier: MIT */
#include "options/absent.h"

#include "front/cli.h"

#include <string.h>

struct absent {
	const char *command, *name;
	char short_name; /* or 0 */
	const char *instead;
};

static const struct absent absents[] = {
#define ABSENT(command, name, short_name, instead) { #command, name, short_name, instead },
#include "options/absent.def"
};

enum {
	ABSENT_COUNT = sizeof(absents) / sizeof(absents[0])
};

static bool is_of(const struct absent *absent, const struct command *command)
{
	const struct command_line *line = command_by_name(absent->command);

	return line && line->command == command;
}

bool absent_report(const struct command *command, const char *name, size_t length)
{
	for (size_t i = 0; i < ABSENT_COUNT; i++) {
		const struct absent *absent = &absents[i];

		if (strlen(absent->name) != length || memcmp(absent->name, name, length) != 0 ||
		    !is_of(absent, command))
			continue;
		print_error("option --%s of perf is not here: %s", absent->name, absent->instead);
		return true;
	}
	return false;
}

bool absent_report_short(const struct command *command, char short_name)
{
	for (size_t i = 0; i < ABSENT_COUNT; i++) {
		const struct absent *absent = &absents[i];

		if (absent->short_name != short_name || !is_of(absent, command))
			continue;
		print_error("option -%c of perf is not here: %s", short_name, absent->instead);
		return true;
	}
	return false;
}
