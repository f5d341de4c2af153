/* SPDX-License-Identifier: MIT */
/* Values of options: from an argument to the member of a struct, by the kind of the option. */
#include "options/value.h"

#include "front/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool percent_parse(const char *option, const char *text, double *percent_out)
{
	char *end;

	*percent_out = strtod(text, &end);
	if (end != text && !*end && *percent_out >= 0 && *percent_out <= 100)
		return true;
	return print_error("option --%s: '%s' is not a percentage", option, text);
}

bool option_list_add(struct option_list *list, const char *item)
{
	const char **items = realloc(list->items, (list->count + 1) * sizeof(*items));

	if (!items)
		return print_error("out of memory");
	items[list->count++] = item;
	list->items = items;
	return true;
}

static bool tags_add(struct option_tags *tags, const char *name, const char *value)
{
	struct option_tag *items = realloc(tags->items, (tags->count + 1) * sizeof(*items));

	if (!items)
		return print_error("out of memory");
	items[tags->count++] = (struct option_tag){ name, value };
	tags->items = items;
	return true;
}

static bool set_number(const struct option *option, const char *value, struct option_number *number)
{
	number->given = true;
	return pd_number_parse(value, &number->value) ||
	       print_error("option --%s: '%s' is not a number", option->name, value);
}

static bool set_integer(const struct option *option, const char *value, void *place)
{
	struct option_number number;

	if (!set_number(option, value, &number))
		return false;
	if (option->size == sizeof(uint64_t))
		*(uint64_t *)place = number.value;
	else if (number.value <= UINT32_MAX)
		*(uint32_t *)place = (uint32_t)number.value;
	else
		return print_error("option --%s: %s is too large", option->name, value);
	return true;
}

static bool set_seconds(const struct option *option, const char *value, double unit_ns, uint64_t *ns)
{
	char *end;
	double seconds = strtod(value, &end);

	if (end == value || *end || !(seconds >= 0 && seconds < 1e10))
		return print_error("option --%s: '%s' is not a time in %sseconds", option->name, value,
				   unit_ns < 1e9 ? "milli" : "");
	*ns = (uint64_t)(seconds * unit_ns);
	return true;
}

bool option_set_recorder(struct pd_recorder_options *options, const char *name, const char *value)
{
	struct pd_error error;

	return !value || pd_recorder_options_set(options, name, value, &error) >= 0 ||
	       print_error("option --%s: %s", name, error.message);
}

static bool wrong_choice(const struct option *option, const char *words, const char *value)
{
	const char *first = words + (*words == '|'), *bar = strchr(first, '|');
	bool two = bar && !strchr(bar + 1, '|');
	char list[128];
	size_t at = 0, length;

	for (const char *word = first; *word && at < sizeof(list); word += length + (word[length] == '|')) {
		length = strcspn(word, "|");
		at += (size_t)snprintf(list + at, sizeof(list) - at, "%s%.*s",
				       word == first ? "" :
				       two           ? " nor " :
						       ", ",
				       (int)length, word);
	}
	return print_error("option --%s: '%s' is %s %s", option->name, value, two ? "neither" : "not one of", list);
}

static bool set_choice(const struct option *option, const char *value, void *place)
{
	const char *words = option->words ? option->words : option->argument, *word = words;
	size_t length = strcspn(word, "|");
	int index = 0;

	for (; *word && (!length || length != strlen(value) || memcmp(word, value, length) != 0); index++) {
		word += length + (word[length] == '|');
		length = strcspn(word, "|");
	}
	if (!*word)
		return wrong_choice(option, words, value);
	if (option->size == sizeof(bool))
		*(bool *)place = index;
	else
		*(int *)place = index;
	return true;
}

/* "--one, --two and --three cannot be combined", of the options that set a member. */
static bool cannot_combine(const struct command *command, size_t offset)
{
	const char *before = NULL;
	char names[256];
	size_t at = 0;

	for (struct option_walk walk = option_walk(command); option_next(&walk);) {
		if (walk.option.kind != OPTION_SET || walk.option.offset != offset)
			continue;
		if (before && at < sizeof(names))
			at += (size_t)snprintf(names + at, sizeof(names) - at, "%s--%s", at ? ", " : "", before);
		before = walk.option.name;
	}
	return print_error("%s and --%s cannot be combined", names, before);
}

static bool set_member(const struct command *command, const struct option *option, bool on, int *place)
{
	if (on && *place && *place != (int)option->value)
		return cannot_combine(command, option->offset);
	*place = on ? (int)option->value : 0;
	return true;
}

static void set_bits(const struct option *option, bool on, void *place)
{
	uint64_t *bits = place;
	uint32_t *few = place;

	if (option->size == sizeof(*bits))
		*bits = (*bits & ~option->value) | (on ? option->value : 0);
	else
		*few = (uint32_t)((*few & ~option->value) | (on ? option->value : 0));
}

bool option_set(const struct command *command, const struct option *option, const char *value, bool flag, void *place)
{
	switch (option->kind) {
	case OPTION_FLAG:
		*(bool *)place = flag;
		return true;
	case OPTION_NUMBER:
		return set_number(option, value, place);
	case OPTION_INTEGER:
		return set_integer(option, value, place);
	case OPTION_SECONDS:
		return set_seconds(option, value, 1e9, place);
	case OPTION_MILLISECONDS:
		return set_seconds(option, value, 1e6, place);
	case OPTION_PERCENT:
		return percent_parse(option->name, value, place);
	case OPTION_RECORDER:
		return option_set_recorder(place, option->name, value);
	case OPTION_CHOICE:
		return set_choice(option, value, place);
	case OPTION_SET:
		return set_member(command, option, flag, place);
	case OPTION_BITS:
		set_bits(option, flag, place);
		return true;
	case OPTION_STRING:
	case OPTION_MAYBE:
	case OPTION_ATTACHED:
	case OPTION_LEVEL:
		*(const char **)place = value;
		return true;
	case OPTION_LIST:
		return option_list_add(place, value);
	case OPTION_TAGGED:
	case OPTION_TAGGED_ATTACHED:
		return tags_add(place, option->name, value);
	}
	return false;
}
