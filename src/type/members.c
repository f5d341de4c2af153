/* SPDX-License-Identifier: MIT */
/* A type as the list of its members, and of those in them. */
#include "type/inside.h"

#include <inttypes.h>
#include <string.h>

enum {
	DEPTH = 32,             // of members in each other
	MOST = 1 << 16,         // members of a type
	ENTRIES_MOST = 1 << 22, // of debug information that are read for them
	TEXT_MOST = 4096        // bytes of a name
};

/** A type whose members are being listed. */
struct level {
	struct pd_die_walk walk;
	uint64_t offset;
};

struct listing {
	struct level levels[DEPTH];
	unsigned depth; // levels that are open
	size_t left;    // members that may yet be listed
	struct pd_text text;
	pd_type_member_fn *each;
	void *self;
};

// Ends a string in the text; what is longer is cut.
static void end_string(struct pd_text *text, size_t begin)
{
	if (!text->failed && text->size - begin > TEXT_MOST)
		text->size = begin + TEXT_MOST;
	pd_text_char(text, 0);
}

// What is left out is said.
static bool give_rest(struct listing *l)
{
	const struct pd_type_member rest = { .type = "(more members than are listed)", .name = "", .depth = l->depth };

	return l->each(l->self, &rest, false);
}

// Gives a member; its members are the next level, if it has any. False ends all.
static bool give_member(struct listing *l, const struct pd_type_part *part, uint64_t offset, bool opens)
{
	const char *name = l->depth ? pd_die_name(&part->die) : NULL;
	struct pd_type_member member = { .offset = offset, .size = part->size, .depth = l->depth };
	size_t name_at;

	pd_text_clear(&l->text);
	pd_type_put_name(&l->text, &part->type);
	end_string(&l->text, 0);
	name_at = l->text.size;
	if (name)
		pd_text_add(&l->text, name);
	if (name && part->bits)
		pd_text_printf(&l->text, ":%" PRIu64, part->bits);
	end_string(&l->text, name_at);
	if (l->text.failed)
		return false;
	member.type = l->text.data;
	member.name = l->text.data + name_at;
	member.has_members = opens;
	return l->each(l->self, &member, false);
}

static bool has_parts(const struct pd_die *type)
{
	struct pd_die_walk walk = { .die = *type };

	while (pd_die_next(&walk, false))
		if (pd_die_tag(&walk.die) == PD_TAG_MEMBER)
			return true;
	return false;
}

static bool add_part(struct listing *l, const struct pd_type_part *part, uint64_t base)
{
	uint64_t offset = base + part->at;
	struct pd_die plain;
	// as perf: classes are listed if they are the type itself
	bool opens = pd_type_plain(&part->type, &plain) && l->depth < DEPTH &&
		     (pd_type_is_compound(&plain) || (!l->depth && pd_die_tag(&plain) == PD_TAG_CLASS)) &&
		     has_parts(&plain);

	if (!--l->left)
		return give_rest(l);
	if (!give_member(l, part, offset, opens))
		return false;
	if (opens)
		l->levels[l->depth++] = (struct level){ .walk = { .die = plain }, .offset = offset };
	return true;
}

static bool end_level(struct listing *l)
{
	const struct pd_type_member member = { .type = "", .name = "", .depth = --l->depth, .has_members = true };

	return l->each(l->self, &member, true);
}

// What follows if no more may be read.
static bool give_unread(struct listing *l, const struct pd_die *type)
{
	if (!l->left || type->dwarf->entry_work)
		return true;
	l->left = 0;
	return give_rest(l);
}

bool pd_types_each_member(struct pd_types *types, const struct pd_type_access *access, pd_type_member_fn *each,
			  void *self)
{
	struct listing l = { .left = MOST, .each = each, .self = self };
	struct pd_type_part part = { .die = *access->die, .type = *access->die };
	bool goes_on;

	access->die->dwarf->entry_work = pd_types_lend(&types->entries, 0, ENTRIES_MOST);
	pd_type_size(access->die, &part.size);
	goes_on = add_part(&l, &part, 0) && give_unread(&l, access->die);
	while (goes_on && l.depth) {
		struct level *level = &l.levels[l.depth - 1];

		if (!l.left || !pd_die_next(&level->walk, false))
			goes_on = give_unread(&l, access->die) && end_level(&l);
		else if (pd_type_part_read(&level->walk.die, &part))
			goes_on = add_part(&l, &part, level->offset);
	}
	types->entries += access->die->dwarf->entry_work;
	types->failed |= l.text.failed;
	pd_free(l.text.data);
	return goes_on;
}
