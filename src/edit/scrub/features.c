/* SPDX-License-Identifier: MIT */
/*
 * Events and features on their way to the writer, and those of them that are made anew: the list of build ids.
 */
#include "edit/scrub/scrub.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- events ---- */

/* The bits of a word that the format explains. */
static uint64_t known_bits(const char *set)
{
	const struct pd_names *names = pd_names_by_name(set), *values;
	const char *text;
	unsigned width;
	uint64_t bits = 0;
	int64_t at;

	for (size_t i = 0; names && pd_names_item(names, i, &text, &at, &width, &values); i++)
		bits |= (~UINT64_C(0) >> (64 - width)) << at;
	return bits;
}

/* Of an event whose fields are not known nothing can be learned from a name that stands there. */
static bool is_valid(const struct pd_attr *attr)
{
	return !(attr->sample_type & ~known_bits("sample_type")) && !(attr->read_format & ~known_bits("read_format")) &&
	       !(attr->branch_sample_type & ~known_bits("branch_sample_type"));
}

static enum pd_status not_valid(struct pd_scrub *scrub, const struct pd_event *event, struct pd_error *error)
{
	scrub->unsound = true;
	return pd_fail(error, PD_ERROR_FORMAT, event->attr_offset,
		       "event %zu has unknown fields: its samples cannot be anonymized", event->index);
}

enum pd_status pd_scrub_check_events(struct pd_scrub *scrub, struct pd_error *error)
{
	for (size_t i = 0; i < pd_file_event_count(scrub->file); i++) {
		const struct pd_event *event = pd_file_event(scrub->file, i);

		if (!is_valid(event->attr))
			return not_valid(scrub, event, error);
	}
	return PD_OK;
}

static uint64_t dropped_fields(const struct pd_scrub *scrub)
{
	uint64_t bits = 0;

	if (!scrub->with[PD_CLASS_RAW])
		bits |= PD_MASK(PD_SAMPLE_TYPE_RAW);
	if (!scrub->with[PD_CLASS_REGS])
		bits |= PD_MASK(PD_SAMPLE_TYPE_REGS_USER) | PD_MASK(PD_SAMPLE_TYPE_REGS_INTR);
	if (!scrub->with[PD_CLASS_STACK])
		bits |= PD_MASK(PD_SAMPLE_TYPE_STACK_USER);
	if (!scrub->with[PD_CLASS_AUX])
		bits |= PD_MASK(PD_SAMPLE_TYPE_AUX);
	return bits;
}

/* Members are changed in an arena of their own: a record may be on its way meanwhile. */
static void swap_arenas(struct pd_scrub *scrub)
{
	struct pd_arena arena = scrub->arena;

	scrub->arena = scrub->feature_arena;
	scrub->feature_arena = arena;
}

static enum pd_status change_event(void *self, const struct pd_event *event, struct pd_attr *attr, const char **name,
				   struct pd_error *error)
{
	struct pd_scrub *scrub = self;
	size_t length;

	if (!is_valid(attr))
		return not_valid(scrub, event, error);
	swap_arenas(scrub);
	pd_arena_reset(&scrub->arena);
	pd_scrub_attr(scrub, attr);
	swap_arenas(scrub);
	attr->flags &= known_bits("attr_flags");
	attr->sample_type &= ~dropped_fields(scrub);
	/* The name in an EVENT_UPDATE was changed with its record. */
	if (*name && *name != scrub->named)
		*name = pd_scrub_name(scrub, PD_CLASS_EVENT, *name, strlen(*name), &length);
	return scrub->failed ? pd_fail_memory(error) : PD_OK;
}

/* ---- build ids ---- */

static void put_number(uint8_t *at, uint64_t value, unsigned bytes, bool big)
{
	for (unsigned i = 0; i < bytes; i++)
		at[big ? bytes - 1 - i : i] = (uint8_t)(value >> (8 * i));
}

enum {
	ENTRY_BYTES = 36,
	NAME_GRAIN = 64
};

static size_t put_build_id(struct pd_scrub *scrub, const struct pd_build_id_entry *entry, uint8_t **at)
{
	uint16_t known = PD_BITS(entry->misc, PD_MISC_CPUMODE) | (entry->misc & PD_MASK(PD_MISC_BUILD_ID_SIZE));
	size_t length, size;
	const char *name = pd_scrub_name(scrub, PD_CLASS_PATH, entry->name, strlen(entry->name), &length);
	bool big = scrub->big_endian;

	size = ENTRY_BYTES + (length / NAME_GRAIN + 1) * NAME_GRAIN;
	if (size > UINT16_MAX)
		return 0;
	scrub->counts.values[PD_CLASS_BUILD_ID]++;
	*at = pd_arena_alloc(&scrub->arena, size);
	if (!*at) {
		scrub->failed = true;
		return 0;
	}
	put_number(*at + 4, known, 2, big);
	put_number(*at + 6, size, 2, big);
	put_number(*at + 8, pd_scrub_task(scrub, entry->pid, 4), 4, big);
	memcpy(*at + 12, entry->id.bytes, entry->id.size);
	pd_scrub_build_id(scrub, *at + 12, entry->id.size);
	if (known & PD_MASK(PD_MISC_BUILD_ID_SIZE))
		(*at)[32] = (uint8_t)entry->id.size;
	memcpy(*at + ENTRY_BYTES, name, length);
	return size;
}

static const void *make_build_ids(struct pd_scrub *scrub)
{
	const struct pd_build_ids *ids = pd_file_build_id(scrub->file);
	struct pd_build_id_walk walk = { .big_endian = pd_file_header(scrub->file)->big_endian };
	struct pd_build_id_entry entry;
	struct pd_build_ids *now;
	size_t size = 0, capacity = 0;
	uint8_t *data = NULL, *more;

	if (!ids)
		return NULL;
	walk.records = ids->records;
	while (pd_build_id_next(&walk, &entry)) {
		uint8_t *from;
		size_t some = put_build_id(scrub, &entry, &from);

		if (size + some > capacity) {
			capacity = 2 * (size + some);
			more = pd_arena_alloc(&scrub->arena, capacity);
			if (!more) {
				scrub->failed = true;
				return NULL;
			}
			if (size)
				memcpy(more, data, size);
			data = more;
		}
		if (some)
			memcpy(data + size, from, some);
		size += some;
	}
	scrub->counts.values[PD_CLASS_ZERO] += walk.unreadable;
	now = pd_arena_alloc(&scrub->arena, sizeof(*now));
	scrub->failed |= !now;
	if (now)
		now->records = (struct pd_bytes){ data, size };
	return now;
}

/* ---- features ---- */

static enum pd_value_class class_of_string(unsigned feature)
{
	switch (feature) {
	case PD_FEATURE_HOSTNAME:
		return PD_CLASS_HOST;
	case PD_FEATURE_OSRELEASE:
	case PD_FEATURE_VERSION:
		return PD_CLASS_RELEASE;
	case PD_FEATURE_ARCH:
		return PD_CLASS_WORD;
	case PD_FEATURE_CPUDESC:
	case PD_FEATURE_CPUID:
		return PD_CLASS_MACHINE;
	}
	return PD_CLASS_NAME;
}

static const void *make_feature(struct pd_scrub *scrub, unsigned feature)
{
	const void *decoded;

	if (feature == PD_FEATURE_TRACING_DATA)
		return pd_scrub_tracing_data(scrub);
	if (feature == PD_FEATURE_BUILD_ID)
		return make_build_ids(scrub);
	decoded = pd_file_feature(scrub->file, feature);
	scrub->string = class_of_string(feature);
	return decoded ? pd_scrub_feature(scrub, feature, decoded) : NULL;
}

/* Where the bits of the header are damaged, each text may stand where another should be. */
static bool are_valid(struct pd_file *file)
{
	struct pd_feature_section section;

	for (size_t i = 0; pd_file_feature_at(file, i, &section); i++)
		if (pd_feature_layout(section.number) && !pd_file_feature(file, section.number))
			return false;
	return true;
}

static bool keeps(const struct pd_scrub *scrub, unsigned feature)
{
	if ((feature == PD_FEATURE_CPUDESC || feature == PD_FEATURE_CPUID) && !are_valid(scrub->file))
		return false;
	switch (pd_scrub_feature_fate(feature)) {
	case PD_FATE_KEEP:
	case PD_FATE_ASKED:
		return true;
	case PD_FATE_EXCEPT_ALL:
		return scrub->level < PD_SCRUB_ALL;
	case PD_FATE_WITH_AUX:
		return scrub->with[PD_CLASS_AUX];
	default:
		return false;
	}
}

static const void *changed_feature(struct pd_scrub *scrub, unsigned feature)
{
	const void *now = NULL;

	swap_arenas(scrub);
	pd_arena_reset(&scrub->arena);
	if (keeps(scrub, feature))
		now = make_feature(scrub, feature);
	swap_arenas(scrub);
	return now;
}

void pd_scrub_collect_feature(struct pd_scrub *scrub, unsigned feature)
{
	const void *decoded;

	swap_arenas(scrub);
	pd_arena_reset(&scrub->arena);
	scrub->string = class_of_string(feature);
	if (feature == PD_FEATURE_TRACING_DATA || feature == PD_FEATURE_BUILD_ID)
		make_feature(scrub, feature);
	else if ((decoded = pd_file_feature(scrub->file, feature)) != NULL)
		pd_scrub_feature(scrub, feature, decoded);
	swap_arenas(scrub);
}

static enum pd_status change_feature(void *self, struct pd_file *file, unsigned feature, const void **decoded_out,
				     bool *keep, struct pd_error *error)
{
	struct pd_scrub *scrub = self;
	struct pd_bytes bytes;

	*decoded_out = changed_feature(scrub, feature);
	if (scrub->failed)
		return pd_fail_memory(error);
	if (*decoded_out)
		return PD_OK;
	*keep = false;
	if (feature < PD_FEATURE_LIMIT && pd_file_feature_bytes(file, feature, &bytes, NULL) == PD_OK)
		scrub->counts.dropped_features[feature] = bytes.size + 1;
	return PD_OK;
}

static uint64_t change_id(void *self, uint64_t id)
{
	return pd_scrub_id(self, id);
}

const struct pd_changes pd_scrub_changes = {
	.size = sizeof(struct pd_changes),
	.event = change_event,
	.feature = change_feature,
	.id = change_id,
};
