/* SPDX-License-Identifier: MIT */
/*
 * Parses the words of a command by its table of options, as GNU programs do: --name=value,
 * --name value, -lvalue, -l value, short options in a bundle, options after other words, -- ends them.
 */
#include "front/cli.h"
#include "options/absent.h"
#include "options/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
	const struct command *command;
	struct parsed *parsed;
	char **next; /* the words that were not read yet, ended by a NULL */
};

static bool is_flag(const struct option *option)
{
	return option->kind == OPTION_FLAG || option->kind == OPTION_SET || option->kind == OPTION_BITS;
}

static bool takes_value(const struct option *option)
{
	return !is_flag(option) && option->argument;
}

static bool set_value(struct parser *parser, const struct option *option, const char *value, bool flag)
{
	bool common = option->heading == HEADING_COMMON;
	char *values = common ? (char *)&parser->parsed->common : parser->parsed->values;

	return option_set(parser->command, option, value, flag, values + option->offset);
}

static bool unknown_option(const struct parser *parser, const char *name, size_t length)
{
	char word[65];
	struct pd_nearest nearest = { .word = word };

	snprintf(word, sizeof(word), "%.*s", (int)(length < 64 ? length : 64), name);
	for (struct option_walk walk = option_walk(parser->command); option_next(&walk);)
		pd_nearest_try(&nearest, walk.option.name);
	if (nearest.best)
		print_error("unknown option --%s; did you mean --%s?", word, nearest.best);
	else
		print_error("unknown option --%s; --help lists the options", word);
	return false;
}

/* Whether the argument after an option with an optional value is none of its own. */
static bool is_left_out(const struct option *option, const char *next)
{
	uint64_t number;

	if (option->kind == OPTION_MAYBE)
		return !next || *next == '-';
	return option->kind == OPTION_ATTACHED || option->kind == OPTION_TAGGED_ATTACHED ||
	       (option->kind == OPTION_LEVEL && (!next || !pd_number_parse(next, &number)));
}

/* The argument after an option, which was given by its short or long name. */
static bool next_value(struct parser *parser, const struct option *option, char short_name, const char **value_out)
{
	bool none = !*parser->next;

	if (is_left_out(option, *parser->next)) {
		*value_out = "";
		return true;
	}
	if (none && short_name)
		print_error("option -%c requires a value: %s", short_name, option->argument);
	else if (none)
		print_error("option --%s requires a value: %s", option->name, option->argument);
	if (none)
		return false;
	*value_out = *parser->next++;
	return true;
}

/* The flag that --no-NAME takes back, or --NAME if the flag is called no-NAME. */
static bool find_opposite(const struct command *command, const char *name, size_t length, struct option *option_out)
{
	char opposite[65];

	if (length > 3 && !memcmp(name, "no-", 3) && option_find(command, name + 3, length - 3, option_out))
		return is_flag(option_out);
	snprintf(opposite, sizeof(opposite), "no-%.*s", (int)(length < 61 ? length : 61), name);
	return length <= 61 && option_find(command, opposite, length + 3, option_out) && is_flag(option_out);
}

/* The only option that begins like this, as with perf. What two begin like is said to be ambiguous, else it is unknown. */
static bool find_beginning(const struct parser *parser, const char *name, size_t length, struct option *option_out)
{
	size_t count = 0;

	if (!length || absent_report(parser->command, name, length))
		return false;
	for (struct option_walk walk = option_walk(parser->command); option_next(&walk);) {
		if (strncmp(walk.option.name, name, length) != 0)
			continue;
		if (count++)
			return print_error("ambiguous option --%.*s; it could be --%s or --%s", (int)length, name,
					   option_out->name, walk.option.name);
		*option_out = walk.option;
	}
	return count || unknown_option(parser, name, length);
}

static bool parse_long(struct parser *parser, const char *name)
{
	const char *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	const char *value = equals ? equals + 1 : NULL;
	struct option option;
	bool flag = option_find(parser->command, name, length, &option);

	if (!flag && !find_opposite(parser->command, name, length, &option)) {
		flag = find_beginning(parser, name, length, &option);
		if (!flag)
			return false;
	}
	if (!takes_value(&option) && value)
		return print_error("option --%s takes no value", option.name);
	if (!value && takes_value(&option) && !next_value(parser, &option, 0, &value))
		return false;
	return set_value(parser, &option, value, flag);
}

static bool find_short_name(const struct command *command, char short_name, struct option *option_out)
{
	for (struct option_walk walk = option_walk(command); option_next(&walk);) {
		if (walk.option.short_name == short_name) {
			*option_out = walk.option;
			return true;
		}
	}
	return false;
}

static bool unknown_short_name(const struct parser *parser, char short_name)
{
	if (!absent_report_short(parser->command, short_name))
		print_error("unknown option -%c; --help lists the options", short_name);
	return false;
}

static bool parse_short_names(struct parser *parser, const char *names)
{
	while (*names) {
		char short_name = *names++;
		struct option option;
		const char *value = NULL;

		if (!find_short_name(parser->command, short_name, &option))
			return unknown_short_name(parser, short_name);
		if (takes_value(&option) && *names) {
			value = names;
			names = "";
		} else if (takes_value(&option) && !next_value(parser, &option, short_name, &value)) {
			return false;
		}
		if (!set_value(parser, &option, value, true))
			return false;
	}
	return true;
}

/* The last [FILE] of the usage or, where the argument is required, what follows [OPTION]. */
static const char *argument_name(const char *usage)
{
	static const char options[] = "[OPTION]... ";
	const char *name = strrchr(usage, '[');

	if (name && !strncmp(name, options, sizeof(options) - 1))
		return name + sizeof(options) - 1;
	return name ? name + 1 : "";
}

static void print_error_of_word(const struct command *command, const char *word)
{
	const char *name = argument_name(command->usage);
	size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	if (command->max_words == 1 && length)
		print_error("unexpected argument '%s' (only one %.*s is accepted)", word, (int)length, name);
	else if (!command->max_words)
		print_error("unexpected argument '%s' (the command takes options only)", word);
	else
		print_error("unexpected argument '%s'; --help shows the usage", word);
}

static bool parse_word(struct parser *parser, const char *word)
{
	struct option_list *words = &parser->parsed->words;

	if (words->count < parser->command->max_words)
		return option_list_add(words, word);
	print_error_of_word(parser->command, word);
	return false;
}

bool options_parse(const struct command *command, int argc, char **argv, const struct common_options *before,
		   struct parsed *parsed)
{
	struct parser parser = { .command = command, .parsed = parsed, .next = argv };
	bool only_words = false;

	memset(parsed, 0, sizeof(*parsed));
	if (before)
		parsed->common = *before;
	parsed->values = calloc(1, command->values_size + 1);
	if (!parsed->values)
		return print_error("out of memory");
	if (command->defaults)
		memcpy(parsed->values, command->defaults, command->values_size);
	if (command->how_size)
		*(size_t *)(void *)((char *)parsed->values + command->how) = command->how_size;
	while (parser.next < argv + argc) {
		const char *word = *parser.next++;
		bool ok;

		if (only_words || word[0] != '-' || !word[1])
			ok = parse_word(&parser, word);
		else if (word[1] != '-')
			ok = parse_short_names(&parser, word + 1);
		else if (word[2])
			ok = parse_long(&parser, word + 2);
		else {
			parsed->before_count = parsed->words.count;
			ok = only_words = true;
		}
		only_words |= parsed->words.count &&
			      (command->ends_at_word || (command->ends_at && command->ends_at(word)));
		if (!ok)
			return false;
	}
	return true;
}

void options_fini(const struct command *command, struct parsed *parsed)
{
	for (struct option_walk walk = option_walk(command); parsed->values && option_next(&walk);) {
		struct option_list *list = (void *)((char *)parsed->values + walk.option.offset);

		if (walk.option.kind == OPTION_LIST)
			free(list->items);
		if (walk.option.kind == OPTION_TAGGED || walk.option.kind == OPTION_TAGGED_ATTACHED) {
			struct option_tags *tags = (void *)list;

			/* several options have the same place */
			free(tags->items);
			tags->items = NULL;
		}
	}
	free(parsed->values);
	free(parsed->words.items);
	memset(parsed, 0, sizeof(*parsed));
}
