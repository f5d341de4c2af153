/* SPDX-License-Identifier: MIT */
/* Tables of options: groups in them, the options that all commands have, and going through them. */
#include "front/cli.h"

#include <assert.h>
#include <string.h>

#undef VALUES
#define VALUES struct common_options

static const struct option common_options[] = {
#define COMMON(member, type, kind, name, short_name, argument, help) \
	OPTION(name, short_name, kind, argument, member, help),
#include "options/common.def"
	{ 0 },
};

#define SHARED(name, heading, long_name, short_name, kind, argument, help)      \
	static const struct option name##_lines[] = {                           \
		{ long_name, short_name, OPTION_##kind, argument, 0, 0, help }, \
		{ 0 },                                                          \
	};                                                                      \
	const struct option_group name##_option = { HEADING_##heading, name##_lines };
#include "options/shared.def"

struct option_walk option_walk(const struct command *command)
{
	return (struct option_walk){ .tables = { { .next = command->options } } };
}

static void enter_group(struct option_walk *walk, const struct option *line)
{
	enum option_heading heading = line->group->heading;

	assert(walk->depth + 1 < OPTION_DEPTH);
	walk->tables[walk->depth + 1].next = line->group->options;
	walk->tables[walk->depth + 1].offset = walk->tables[walk->depth].offset + line->offset;
	walk->tables[walk->depth + 1].size = line->size;
	walk->tables[walk->depth + 1].heading = heading ? heading : walk->tables[walk->depth].heading;
	walk->depth++;
}

bool option_next(struct option_walk *walk)
{
	for (;;) {
		const struct option *line = walk->tables[walk->depth].next++;

		if (line->group) {
			enter_group(walk, line);
		} else if (line->name) {
			walk->option = *line;
			walk->option.offset += walk->tables[walk->depth].offset;
			walk->option.size = line->size ? line->size : walk->tables[walk->depth].size;
			walk->option.heading = walk->tables[walk->depth].heading;
			return true;
		} else if (walk->depth) {
			walk->depth--;
		} else if (walk->tables[0].heading != HEADING_COMMON) {
			walk->tables[0].next = common_options;
			walk->tables[0].heading = HEADING_COMMON;
		} else {
			return false;
		}
	}
}

bool option_find(const struct command *command, const char *name, size_t length, struct option *option_out)
{
	for (struct option_walk walk = option_walk(command); option_next(&walk);) {
		if (strlen(walk.option.name) == length && !memcmp(walk.option.name, name, length)) {
			*option_out = walk.option;
			return true;
		}
	}
	return false;
}

bool option_is_optional(const struct option *option)
{
	return option->kind == OPTION_MAYBE || option->kind == OPTION_ATTACHED || option->kind == OPTION_LEVEL ||
	       option->kind == OPTION_TAGGED_ATTACHED;
}
