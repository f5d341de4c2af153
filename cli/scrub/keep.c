/* SPDX-License-Identifier: MIT */
/* Names that perfdata scrub keeps: patterns of the command line and of files. */
#include "scrub/scrub.h"

#include <stdlib.h>
#include <string.h>

static bool add_pattern(struct scrub_keep *keep, const char *pattern)
{
	const char **more = realloc(keep->patterns, (keep->count + 1) * sizeof(*more));

	if (!more)
		return print_error("out of memory");
	keep->patterns = more;
	if (!pd_scrub_knows_class(pattern))
		return print_error(
			"option --keep: '%.*s' is not one of dso, comm, symbol, host, argument, event, release, pmu, word, name",
			(int)strcspn(pattern, "="), pattern);
	keep->patterns[keep->count++] = pattern;
	return true;
}

static bool add_patterns_of(struct scrub_keep *keep, const char *path)
{
	size_t size;
	char *text;

	if (keep->text_count == sizeof(keep->texts) / sizeof(keep->texts[0]))
		return print_error("option --keep-names: too many files");
	text = scrub_file_read(path, &size);
	if (!text)
		return false;
	keep->texts[keep->text_count++] = text;
	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = 0;
		if (*line && *line != '#' && !add_pattern(keep, line))
			return false;
	}
	return true;
}

bool scrub_keep_read(struct scrub_keep *keep, const struct option_list *patterns, const struct option_list *files)
{
	for (size_t i = 0; i < patterns->count; i++) {
		if (!add_pattern(keep, patterns->items[i]))
			return false;
	}
	for (size_t i = 0; i < files->count; i++) {
		if (!add_patterns_of(keep, files->items[i]))
			return false;
	}
	return true;
}

void scrub_keep_free(struct scrub_keep *keep)
{
	for (size_t i = 0; i < keep->text_count; i++)
		free(keep->texts[i]);
	free(keep->patterns);
}
