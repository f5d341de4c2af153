/* SPDX-License-Identifier: MIT */
// A pair of events as somebody wrote it.
#include "interval/pair.h"

#include <string.h>

#include "base/error.h"

enum item {
	BEGIN,
	END,
	KEY,
	OWNER,
	NAME,
	ITEMS
};

static const char *const item_names[ITEMS] = { "begin", "end", "key", "owner", "name" };

// One that is being read: from NAME to the end of its value, which is a string by then.
struct part {
	const char *text; // as it was written
	size_t at;        // in it
	char *value;
};

static enum pd_status refuse(const struct part *part, const char *why, struct pd_error *error)
{
	int length = (int)strcspn(part->text + part->at, ",");

	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pair: character %zu: '%.*s': %s", part->at + 1, length,
		       part->text + part->at, why);
}

static enum pd_status read_key(struct pd_pair *pair, const struct part *part, struct pd_error *error)
{
	for (char *at = part->value, *next; at; at = next) {
		char *other;

		next = strchr(at, '+');
		if (next)
			*next++ = 0;
		other = strchr(at, ':');
		if (other)
			*other++ = 0;
		if (!*at || (other && !*other))
			return refuse(part, "a field has no name", error);
		if (pair->key_count == PD_PAIR_FIELDS)
			return refuse(part, "more than 4 fields", error);
		pair->keys[PD_PAIR_BEGINS][pair->key_count] = at;
		pair->keys[PD_PAIR_ENDS][pair->key_count++] = other ? other : at;
	}
	return PD_OK;
}

static void read_owner(struct pd_pair *pair, const char *value)
{
	pair->owner = !strcmp(value, "begin") ? PD_PAIR_BEGIN : !strcmp(value, "end") ? PD_PAIR_END : PD_PAIR_FIELD;
	if (pair->owner == PD_PAIR_FIELD)
		pair->owner_field = value;
}

static enum pd_status read_item(struct pd_pair *pair, enum item item, const struct part *part, struct pd_error *error)
{
	if (!*part->value)
		return refuse(part, "nothing follows the '='", error);
	if (item == KEY)
		return read_key(pair, part, error);
	if (item == OWNER)
		read_owner(pair, part->value);
	else if (item == NAME)
		pair->name = part->value;
	else
		pair->events[item == END] = part->value;
	return PD_OK;
}

// Reads a part, and remembers which were there.
static enum pd_status read_part(struct pd_pair *pair, struct part *part, char *text, unsigned *given,
				struct pd_error *error)
{
	size_t length = strcspn(text, "=");

	for (unsigned i = 0; i < ITEMS && text[length]; i++) {
		if (strlen(item_names[i]) != length || memcmp(item_names[i], text, length) != 0)
			continue;
		if (*given & 1U << i)
			return refuse(part, "is there twice", error);
		*given |= 1U << i;
		part->value = text + length + 1;
		return read_item(pair, (enum item)i, part, error);
	}
	return refuse(part, "write begin=EVENT, end=EVENT, key=FIELD, owner=begin|end|FIELD or name=TEXT", error);
}

enum pd_status pd_pair_parse(struct pd_pair *pair, const char *text, struct pd_error *error)
{
	const unsigned needed = 1U << BEGIN | 1U << END | 1U << KEY;
	size_t length = strlen(text);
	unsigned given = 0;

	*pair = (struct pd_pair){ .text = pd_alloc(length + 1) };
	if (!pair->text)
		return pd_fail_memory(error);
	memcpy(pair->text, text, length + 1);
	for (size_t at = 0; at <= length;) {
		struct part part = { .text = text, .at = at };
		char *here = pair->text + at;
		enum pd_status status;

		at += strcspn(here, ",") + 1;
		pair->text[at - 1] = 0;
		status = read_part(pair, &part, here, &given, error);
		if (status < 0)
			return status;
	}
	for (unsigned i = 0; i < ITEMS; i++)
		if (needed & ~given & 1U << i)
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pair: '%s': %s= is missing", text,
				       item_names[i]);
	return PD_OK;
}

void pd_pair_fini(struct pd_pair *pair)
{
	pd_free(pair->text);
	*pair = (struct pd_pair){ 0 };
}
