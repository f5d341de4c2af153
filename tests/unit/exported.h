/* SPDX-License-Identifier: MIT */
/* A file that is exported into one text, without files of the machine: the same allocations each time. */
#ifndef PD_TESTS_UNIT_EXPORTED_H
#define PD_TESTS_UNIT_EXPORTED_H

#include <perfdata/export.h>

struct exported {
	struct pd_file *file;
	struct pd_symbols *symbols;
	struct pd_text *text;
};

// Formats in a folder: all of their files are one text here.
static struct pd_text *open_part(void *self, const char *name)
{
	const struct exported *exported = self;

	(void)name;
	return exported->text;
}

static struct pd_symbols *open_symbols(void *self, const struct pd_state *state)
{
	const struct pd_symbols_options options = { .size = sizeof(options), .flags = PD_SYMBOLS_NO_FILES };
	struct exported *exported = self;

	if (pd_symbols_new(exported->file, state, &options, &exported->symbols, NULL) < 0)
		exported->symbols = NULL;
	return exported->symbols;
}

static struct pd_export_options exported_options(struct exported *exported, const char *format)
{
	return (struct pd_export_options){ .size = sizeof(struct pd_export_options),
					   .format = format,
					   .symbols = open_symbols,
					   .file = open_part,
					   .tasks_and_maps = true,
					   .self = exported };
}

#endif
