/* SPDX-License-Identifier: MIT */
#include "options/absent.h"

#include "front/cli.h"

#include <perfdata/vocabulary.h>

static const char *find_instead(const struct command *command, const char *name, size_t length, char short_name)
{
	const struct command_line *line = NULL;

	for (size_t i = 0; command && (line = command_at(i)) != NULL && line->command != command; i++)
		;
	return pd_vocabulary_absent(line ? line->name : NULL, name, length, short_name);
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
