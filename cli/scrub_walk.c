/* SPDX-License-Identifier: MIT */
/*
 * Records and features by the tables. The lines of the format are expanded into one function for each layout, which
 * goes through its members and does with each what scrub.def says.
 *
 * scrub.def becomes a struct for each layout, whose members have the size of their class: sizeof gives the class as a
 * constant, and a member that scrub.def lacks does not compile.
 */
#include "scrub.h"

#include <stdlib.h>
#include <string.h>

/* ---- decisions as types ---- */

#define DECIDE(layout)           \
	struct decide_##layout { \
		char special[1];
#define SPECIAL_CASE(layout)     \
	struct decide_##layout { \
		char special[2];
#define AS(member, CLASS) char member[CLASS_##CLASS];
#define DECIDED \
	}       \
	;
#include "scrub.def"

struct record_fates {
	char none;
#define RECORD_AS(name, FATE) char of_##name[FATE_##FATE];
#include "scrub.def"
};

struct feature_fates {
	char none;
#define FEATURE_AS(name, FATE) char of_##name[FATE_##FATE];
#include "scrub.def"
};

/* A line for what the format no longer has does not compile either. */
#define DECIDE(layout)                                                  \
	static inline void check_##layout(const struct pd_##layout *it) \
	{                                                               \
		(void)it;
#define AS(member, CLASS) (void)it->member;
#define DECIDED }
#include "scrub.def"

enum scrub_fate scrub_record_fate(uint32_t type)
{
	switch (type) {
#define RECORD(NAME, name, number, layout, GROUP, doc) \
	case number:                                   \
		return (enum scrub_fate)sizeof(((struct record_fates *)0)->of_##name);
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>
	}
	return FATE_DROP;
}

enum scrub_fate scrub_feature_fate(unsigned feature)
{
	switch (feature) {
#define FEATURE(NAME, name, number, layout, doc) \
	case number:                             \
		return (enum scrub_fate)sizeof(((struct feature_fates *)0)->of_##name);
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>
	}
	return FATE_DROP;
}

/* ---- memory ---- */

static void *take(struct scrub *scrub, size_t size)
{
	void *data = room_take(&scrub->room, size ? size : 1);

	if (!data)
		scrub->failed = true;
	return data;
}

static void *copy_of(struct scrub *scrub, const void *from, size_t size)
{
	void *to = take(scrub, size);

	return to && size ? memcpy(to, from, size) : to;
}

/* ---- single values ---- */

/* With a class that is known when this is compiled, little of it is left. */
static inline __attribute__((always_inline)) uint64_t number(struct scrub *scrub, enum scrub_class class,
							     uint64_t value, unsigned bytes)
{
	if (class == CLASS_NUMBER || class == CLASS_SPECIAL)
		return value;
	if (!value && class != CLASS_CPU)
		return 0;
	scrub->counts.values[class == CLASS_BRANCH || class == CLASS_KERNEL_CODE ? CLASS_CODE : class]++;
	switch (class) {
	case CLASS_TASK:
		return scrub_task(scrub, value, bytes);
	case CLASS_CPU:
		return scrub_cpu(scrub, value);
	case CLASS_TIME:
		return scrub_time(scrub, value);
	case CLASS_ID:
		return scrub_id(scrub, value);
	case CLASS_FILE:
		return scrub_file(scrub, value, bytes);
	case CLASS_CODE:
		return scrub_address(scrub, scrub->space, value, false);
	case CLASS_BRANCH:
		return scrub_address(scrub, SPACE_ANY, value, false);
	case CLASS_KERNEL_CODE:
		return scrub_address(scrub, SPACE_KERNEL, value, false);
	case CLASS_DATA:
		return scrub_address(scrub, SPACE_ANY, value, true);
	case CLASS_PHYSICAL:
		if (scrub_action(scrub, CLASS_PHYSICAL) == ACTION_REPLACE)
			return (scrub_number_of(scrub, CLASS_PHYSICAL, value >> 12) & 0xffffffffff) << 12 |
			       (value & 0xfff);
		return scrub_action(scrub, CLASS_PHYSICAL) == ACTION_KEEP ? value : 0;
	default:
		return scrub_action(scrub, class) == ACTION_KEEP ? value : 0;
	}
}

/* room: bytes of its place, 0 if it may grow. */
static void text(struct scrub *scrub, enum scrub_class class, struct pd_str *str, size_t room)
{
	char *now;
	size_t length = 0, size = room && str->size ? str->size : room;
	const char *name = "";

	if (!str->data || class == CLASS_SPECIAL)
		return;
	if (class != CLASS_GONE && str->length)
		name = scrub_name(scrub, class, str->data, str->length, &length);
	else if (str->length)
		scrub->counts.values[class]++;
	if (room && length >= room)
		length = room - 1;
	if (length >= size)
		size = room;
	now = take(scrub, length + 1 > size ? length + 1 : size);
	if (!now)
		return;
	memcpy(now, name, length);
	*str = (struct pd_str){ now, (uint32_t)length, (uint32_t)size };
}

/* ---- arrays ---- */

static void array_U8(struct scrub *scrub, enum scrub_class class, struct pd_bytes *array)
{
	uint8_t *now;

	if (!array->size)
		return;
	scrub->counts.values[class]++;
	switch (class) {
	case CLASS_BUILD_ID:
		now = copy_of(scrub, array->data, array->size);
		if (now)
			scrub_build_id(scrub, now, array->size);
		array->data = now;
		break;
	case CLASS_TEXT_BYTES:
		array->data = take(scrub, array->size);
		break;
	default:
		if (scrub_action(scrub, class) == ACTION_KEEP)
			return;
		array->data = NULL;
	}
	if (!array->data)
		array->size = 0;
}

static void array_U64(struct scrub *scrub, enum scrub_class class, struct pd_u64s *array)
{
	bool keeps = scrub_action(scrub, class) == ACTION_KEEP;
	uint64_t *now;

	if (class == CLASS_NUMBERS || class == CLASS_SPECIAL || !array->count)
		return;
	if (class != CLASS_CHAIN && class != CLASS_CODES && class != CLASS_DATAS) {
		scrub->counts.values[class]++;
		if (!keeps)
			*array = (struct pd_u64s){ 0 };
		return;
	}
	scrub->counts.values[class == CLASS_DATAS ? CLASS_DATA : CLASS_CODE] += array->count;
	if (keeps)
		return;
	now = copy_of(scrub, array->items, array->count * sizeof(*now));
	if (!now) {
		*array = (struct pd_u64s){ 0 };
		return;
	}
	if (class == CLASS_CHAIN)
		scrub_chain(scrub, now, array->count);
	else
		for (size_t i = 0; i < array->count; i++)
			now[i] = scrub_address(scrub, SPACE_ANY, now[i], class == CLASS_DATAS);
	array->items = now;
}

/* Only numbers that mean nothing outside, and sets of CPUs that scrub_special has changed. */
#define array_U16(scrub, class, array) \
	_Static_assert((class) == CLASS_NUMBERS || (class) == CLASS_SPECIAL, "no such array")
#define array_U32(scrub, class, array) \
	_Static_assert((class) == CLASS_NUMBERS || (class) == CLASS_SPECIAL, "no such array")

/* Bytes that the format does not explain. */
static void rest(struct scrub *scrub, struct pd_bytes *bytes)
{
	if (!bytes->size)
		return;
	scrub->counts.values[CLASS_ZERO] += bytes->size;
	bytes->data = take(scrub, bytes->size);
	if (!bytes->data)
		bytes->size = 0;
}

/* ---- layouts ---- */

#define PART(layout, doc) static void walk_##layout(struct scrub *scrub, struct pd_##layout *it);
#define BOX(layout, doc) PART(layout, doc)
#define BODY(layout, doc) PART(layout, doc)
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>

/* Layouts without a case of their own; never called. */
#define DECIDE(layout)                                                                   \
	static inline void special_##layout(struct scrub *scrub, struct pd_##layout *it) \
	{                                                                                \
		(void)scrub;                                                             \
		(void)it;                                                                \
	}
#define SPECIAL_CASE(layout)                                                             \
	static inline void special_##layout(struct scrub *scrub, struct pd_##layout *it) \
	{                                                                                \
		scrub_special_##layout(scrub, it);                                       \
	}
#include "scrub.def"

static const void *one(struct scrub *scrub, const void *part, size_t size)
{
	return part ? copy_of(scrub, part, size) : NULL;
}

static void list(struct scrub *scrub, struct pd_list *list, size_t size)
{
	if (!list->count)
		return;
	if (list->stride > SIZE_MAX / list->count || list->stride < size) {
		scrub->failed = true;
		list->count = 0;
		return;
	}
	list->items = copy_of(scrub, list->items, list->count * list->stride);
	if (!list->items)
		list->count = 0;
}

#define CLASS_OF(member) ((enum scrub_class)sizeof(((decided *)0)->member))
#define OPEN(layout)                                                           \
	static void walk_##layout(struct scrub *scrub, struct pd_##layout *it) \
	{                                                                      \
		typedef struct decide_##layout decided;                        \
		(void)scrub;                                                   \
		(void)it;                                                      \
		if (sizeof(((decided *)0)->special) == 2)                      \
			special_##layout(scrub, it);
#define PART(layout, doc) OPEN(layout)
#define BOX(layout, doc) \
	OPEN(layout)     \
	rest(scrub, &it->rest);
#define BODY(layout, doc)                                                  \
	BOX(layout, doc)                                                   \
	it->sample_id = one(scrub, it->sample_id, sizeof(*it->sample_id)); \
	if (it->sample_id)                                                 \
		walk_sample_id(scrub, (struct pd_sample_id *)it->sample_id);
#define END(layout) }
#define FIELD(KIND, member, SHOW, WHEN, doc) FIELD_##KIND(member)
#define FIELD_NUMBER(member) \
	it->member = (__typeof__(it->member))number(scrub, CLASS_OF(member), (uint64_t)it->member, sizeof(it->member));
#define FIELD_U8(member) FIELD_NUMBER(member)
#define FIELD_U16(member) FIELD_NUMBER(member)
#define FIELD_U32(member) FIELD_NUMBER(member)
#define FIELD_U64(member) FIELD_NUMBER(member)
#define FIELD_S32(member) \
	it->member = (int32_t)number(scrub, CLASS_OF(member), (uint32_t)it->member, sizeof(it->member));
#define FIELD_F64(member) _Static_assert(CLASS_OF(member) == CLASS_NUMBER, "a fraction is a number");
#define FLAGS(KIND, member, set, WHEN, doc) FIELD_##KIND(member)
#define TEXT(KIND, member, WHEN, doc) text(scrub, CLASS_OF(member), &it->member, 0);
#define CHARS(member, bytes, FIT, WHEN, doc) text(scrub, CLASS_OF(member), &it->member, bytes);
#define ARRAY(KIND, member, COUNT, SHOW, WHEN, doc) array_##KIND(scrub, CLASS_OF(member), &it->member);
#define ONE(layout, member, WHEN, doc)                                                    \
	_Static_assert(CLASS_OF(member) == CLASS_PARTS, "a part has members of its own"); \
	it->member = one(scrub, it->member, sizeof(*it->member));                         \
	if (it->member)                                                                   \
		walk_##layout(scrub, (struct pd_##layout *)it->member);
#define BOXED(layout, member, SIZE, WHEN, doc) ONE(layout, member, WHEN, doc)
#define LIST(layout, member, COUNT, WHEN, doc)                                            \
	_Static_assert(CLASS_OF(member) == CLASS_PARTS, "a part has members of its own"); \
	list(scrub, &it->member, sizeof(struct pd_##layout));                             \
	for (size_t i = 0; i < it->member.count; i++)                                     \
		walk_##layout(scrub, (struct pd_##layout *)PD_ITEM(pd_##layout, it->member, i));
/* Records inside a feature are changed by who knows their form, see scrub_features.c. */
#define RECORDS(member, NAME, doc) _Static_assert(CLASS_OF(member) == CLASS_BUILD_IDS, "what are these records?");
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>

/* A set of CPUs that became a list has another size; records stay aligned. */
static void align(struct scrub *scrub, struct pd_bytes *rest, const struct pd_cpu_map_data *map)
{
	size_t size = map ? 4 + 2 * map->cpus.count : 0;

	if (!map || scrub_action(scrub, CLASS_CPU) == ACTION_KEEP)
		return;
	rest->size = (8 - size % 8) % 8;
	rest->data = take(scrub, rest->size);
}

/* ---- doors ---- */

void scrub_attr(struct scrub *scrub, struct pd_attr *attr)
{
	walk_attr(scrub, attr);
}

void *scrub_record(struct scrub *scrub, uint32_t type, uint16_t misc, const void *decoded)
{
	const struct pd_layout *layout = pd_record_layout(type);
	void *it = layout ? copy_of(scrub, decoded, pd_layout_struct_size(layout)) : NULL;

	if (!it)
		return NULL;
	scrub->misc = misc;
	scrub->space = scrub_space_of(misc);
	switch (type) {
#define RECORD(NAME, name, number, layout, GROUP, doc) \
	case number:                                   \
		walk_##layout(scrub, it);              \
		break;
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>
	}
	if (type == PD_RECORD_CPU_MAP)
		align(scrub, &((struct pd_cpu_map *)it)->rest, ((struct pd_cpu_map *)it)->cpus);
	else if (type == PD_RECORD_EVENT_UPDATE)
		align(scrub, &((struct pd_event_update *)it)->rest, ((struct pd_event_update *)it)->cpus);
	return scrub->failed ? NULL : it;
}

void *scrub_feature(struct scrub *scrub, unsigned feature, const void *decoded)
{
	const struct pd_layout *layout = pd_feature_layout(feature);
	void *it = layout ? copy_of(scrub, decoded, pd_layout_struct_size(layout)) : NULL;

	if (!it)
		return NULL;
	scrub->space = SPACE_ANY;
	switch (feature) {
#define FEATURE(NAME, name, number, layout, doc) \
	case number:                             \
		walk_##layout(scrub, it);        \
		break;
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>
	}
	return scrub->failed ? NULL : it;
}
