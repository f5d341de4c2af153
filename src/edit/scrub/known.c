/* SPDX-License-Identifier: MIT */
/*
 * Names that were met, with what takes their place: each is made and counted once. When they get many they are forgotten; the
 * key makes the same of them again.
 */
#include "edit/scrub/scrub.h"

#include <string.h>

enum {
	MOST_TEXT_BYTES = 64 << 20 /* remembered */
};

struct pd_known_name {
	const char *text, *now;
	size_t length, now_length;
	enum pd_value_class class;
};

/* ---- known names ---- */

static struct pd_known_name *find_name(const struct pd_known_names *names, enum pd_value_class class, const char *text,
				       size_t length, uint64_t hash)
{
	size_t at = (uint32_t)hash;

	for (uint32_t i; (i = pd_index_next(&names->index, hash, &at)) != PD_INDEX_END;) {
		struct pd_known_name *name = &names->items[i];

		if (name->class == class && name->length == length && !memcmp(name->text, text, length))
			return name;
	}
	return NULL;
}

void pd_scrub_trim(struct pd_scrub *scrub)
{
	struct pd_known_names *names = &scrub->names;

	if (names->strings.used < MOST_TEXT_BYTES)
		return;
	pd_arena_fini(&names->strings);
	pd_index_fini(&names->index);
	names->count = 0;
}

/* False if there is no memory. */
static bool make_name(struct pd_scrub *scrub, enum pd_value_class class, const char *text, size_t length,
		      struct pd_known_name *name_out)
{
	struct pd_arena *strings = &scrub->names.strings;
	struct pd_bytes now;

	pd_text_clear(scrub->text);
	pd_scrub_put_name(scrub, class, text, length);
	now = pd_text_bytes(scrub->text);
	*name_out = (struct pd_known_name){ pd_arena_text(strings, text, length),
					    pd_arena_text(strings, now.size ? (const void *)now.data : "", now.size),
					    length, now.size, class };
	return name_out->text && name_out->now && !pd_text_failed(scrub->text);
}

/* NULL if there is no memory. */
static struct pd_known_name *add_name(struct pd_scrub *scrub, enum pd_value_class class, const char *text,
				      size_t length, uint64_t hash)
{
	struct pd_known_names *names = &scrub->names;
	struct pd_known_name *name;

	if (names->count >= UINT32_MAX || !PD_GROW(names->items, names->capacity, names->count + 1))
		return NULL;
	name = &names->items[names->count];
	if (!make_name(scrub, class, text, length, name) || !pd_index_add(&names->index, hash, (uint32_t)names->count))
		return NULL;
	names->count++;
	return name;
}

static void count_name(struct pd_scrub *scrub, enum pd_value_class class, const struct pd_known_name *name)
{
	scrub->counts.distinct[class]++;
	scrub->counts.kept[class] += name->now_length == name->length && !memcmp(name->now, name->text, name->length);
	if (scrub->name_met)
		scrub->name_met(scrub->name_self, class, name->text, name->length, name->now, name->now_length);
}

const char *pd_scrub_name(struct pd_scrub *scrub, enum pd_value_class class, const char *text, size_t length,
			  size_t *length_out)
{
	struct pd_known_name *name;
	uint64_t hash;

	if (class == PD_CLASS_STRING)
		class = scrub->string;
	*length_out = 0;
	scrub->counts.values[class]++;
	hash = pd_hash(scrub->seed + class, text, length);
	name = find_name(&scrub->names, class, text, length, hash);
	if (!name) {
		name = add_name(scrub, class, text, length, hash);
		if (!name) {
			scrub->failed = true;
			return "";
		}
		count_name(scrub, class, name);
	}
	*length_out = name->now_length;
	return name->now;
}
