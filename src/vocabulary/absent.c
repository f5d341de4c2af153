/* SPDX-License-Identifier: MIT */
/* What of perf is not here, and what to use instead. */
#include <perfdata/vocabulary.h>

#include <string.h>

static const struct absent {
	const char *commands;
	const char *names; // parted by blanks, each with its short name behind a slash, if it has one
	const char *instead;
} absents[] = {
#define ABSENT(commands, names, instead) { #commands, names, instead },
#include "vocabulary/absent.def"
};

// Whether an option is among them: by its long name, or (length 0) by its short one.
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

// Whether a command is one of them, or begins as one with a '-' after it.
static bool has_command(const char *commands, const char *command)
{
	for (; *commands; commands += strspn(commands, " ")) {
		size_t size = strcspn(commands, " ");

		if (!strncmp(commands, command, size) && (!command[size] || command[size] == '-'))
			return true;
		commands += size;
	}
	return false;
}

const char *pd_vocabulary_absent(const char *command, const char *name, size_t length, char short_name)
{
	for (size_t i = 0; i < sizeof(absents) / sizeof(absents[0]); i++)
		if (has_command(absents[i].commands, command ? command : "perf") &&
		    has_name(absents[i].names, name, length, short_name))
			return absents[i].instead;
	return NULL;
}
