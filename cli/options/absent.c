/* SPDX-License-Identifier: MIT */
#include "options/absent.h"

#include "front/cli.h"

#include <string.h>

static const struct absent {
	const char *command;
	const char *names; /* parted by blanks, each with its short name behind a slash, if it has one */
	const char *instead;
} absents[] = {
#define ABSENT(command, names, instead) { #command, names, instead },
#include "options/absent.def"
};

/* Whether an option is among them: by its long name, or (length 0) by its short one. */
static bool has_name(const char *names, const char *name, size_t length, char short_name)
{
	for (; *names; names += strspn(names, " ")) {
		size_t size = strcspn(names, "/ ");

		if (length ? size == length && !memcmp(names, name, length) :
			     names[size] == '/' && names[size + 1] == short_name)
			return true;
		names += strcspn(names, " ");
	}
	return false;
}

static const char *find_instead(const struct command *command, const char *name, size_t length, char short_name)
{
	for (size_t i = 0; i < sizeof(absents) / sizeof(absents[0]); i++) {
		const struct command_line *line = command_by_name(absents[i].command);

		if (command == (line ? line->command : NULL) && has_name(absents[i].names, name, length, short_name))
			return absents[i].instead;
	}
	return NULL;
}

bool absent_report(const struct command *command, const char *name, size_t length)
{
	const char *instead = find_instead(command, name, length, 0);

	if (instead)
		print_error(command ? "option --%.*s of perf is not here: %s" : "perf %.*s is not here: %s",
			    (int)length, name, instead);
	return instead != NULL;
}

bool absent_report_short(const struct command *command, char short_name)
{
	const char *instead = find_instead(command, NULL, 0, short_name);

	if (instead)
		print_error("option -%c of perf is not here: %s", short_name, instead);
	return instead != NULL;
}
