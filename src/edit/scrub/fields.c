/* SPDX-License-Identifier: MIT */
/*
 * Records and features by the tables. The lines of the format are expanded into one function for each layout, which
 * goes through its members and does with each what scrub.def says.
 *
 * scrub.def becomes a struct for each layout, whose members have the size of their class: sizeof gives the class as a
 * constant, and a member that scrub.def lacks does not compile.
 */
#include "edit/scrub/scrub.h"

#include <stdlib.h>
#include <string.h>

/* ---- decisions as types ---- */

#define DECIDE(layout)           \
	struct decide_##layout { \
		char special[1];
#define SPECIAL_CASE(layout)     \
	struct decide_##layout { \
		char special[2];
#define AS(member, CLASS) char member[PD_CLASS_##CLASS];
#define DECIDED \
	}       \
	;
#include "edit/scrub/scrub.def"

struct record_fates {
	char none;
#define RECORD_AS(name, FATE) char of_##name[PD_FATE_##FATE];
#include "edit/scrub/scrub.def"
};

struct feature_fates {
	char none;
#define FEATURE_AS(name, FATE) char of_##name[PD_FATE_##FATE];
#include "edit/scrub/scrub.def"
};

/* A line for what the format no longer has does not compile either. */
#define DECIDE(layout)                                                  \
	static inline void check_##layout(const struct pd_##layout *it) \
	{                                                               \
		(void)it;
#define AS(member, CLASS) (void)it->member;
#define DECIDED }
#include "edit/scrub/scrub.def"

enum pd_scrub_fate pd_scrub_record_fate(uint32_t type)
{
	switch (type) {
#define RECORD(NAME, name, number, layout, GROUP, doc) \
	case number:                                   \
		return (enum pd_scrub_fate)sizeof(((struct record_fates *)0)->of_##name);
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>
	}
	return PD_FATE_DROP;
}

enum pd_scrub_fate pd_scrub_feature_fate(unsigned feature)
{
	switch (feature) {
#define FEATURE(NAME, name, number, layout, doc) \
	case number:                             \
		return (enum pd_scrub_fate)sizeof(((struct feature_fates *)0)->of_##name);
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>
	}
	return PD_FATE_DROP;
}

/* ---- memory ---- */

static void *alloc_scratch(struct pd_scrub *scrub, size_t size)
{
	void *data = pd_arena_alloc(&scrub->arena, size ? size : 1);

	if (!data)
		scrub->failed = true;
	return data;
}

static void *copy_of(struct pd_scrub *scrub, const void *from, size_t size)
{
	void *to = alloc_scratch(scrub, size);

	return to && size ? memcpy(to, from, size) : to;
}

/* ---- single values ---- */

/* With a class that is known when this is compiled, little of it is left. */
static inline __attribute__((always_inline)) uint64_t number(struct pd_scrub *scrub, enum pd_value_class class,
							     uint64_t value, unsigned bytes)
{
	if (class == PD_CLASS_NUMBER || class == PD_CLASS_SPECIAL)
		return value;
	if (!value && class != PD_CLASS_CPU)
		return 0;
	scrub->counts.values[class == PD_CLASS_BRANCH || class == PD_CLASS_KERNEL_CODE ? PD_CLASS_CODE : class]++;
	switch (class) {
	case PD_CLASS_TASK:
		return pd_scrub_task(scrub, value, bytes);
	case PD_CLASS_CPU:
		return pd_scrub_cpu(scrub, value);
	case PD_CLASS_TIME:
		return pd_scrub_time(scrub, value);
	case PD_CLASS_ID:
		return pd_scrub_id(scrub, value);
	case PD_CLASS_FILE:
		return pd_scrub_file(scrub, value, bytes);
	case PD_CLASS_CODE:
		return pd_scrub_address(scrub, scrub->space, value, false);
	case PD_CLASS_BRANCH:
		return pd_scrub_address(scrub, PD_SPACE_ANY, value, false);
	case PD_CLASS_KERNEL_CODE:
		return pd_scrub_address(scrub, PD_SPACE_KERNEL, value, false);
	case PD_CLASS_DATA:
		return pd_scrub_address(scrub, PD_SPACE_ANY, value, true);
	case PD_CLASS_PHYSICAL:
		if (pd_scrub_action(scrub, PD_CLASS_PHYSICAL) == PD_SCRUB_REPLACE)
			return (pd_scrub_number_of(scrub, PD_CLASS_PHYSICAL, value >> 12) & 0xffffffffff) << 12 |
			       (value & 0xfff);
		return pd_scrub_action(scrub, PD_CLASS_PHYSICAL) == PD_SCRUB_KEEP ? value : 0;
	default:
		return pd_scrub_action(scrub, class) == PD_SCRUB_KEEP ? value : 0;
	}
}

/* capacity: bytes of its place, 0 if it may grow. */
static void text(struct pd_scrub *scrub, enum pd_value_class class, struct pd_str *str, size_t capacity)
{
	char *now;
	size_t length = 0, size = capacity && str->size ? str->size : capacity;
	const char *name = "";

	if (!str->data || class == PD_CLASS_SPECIAL)
		return;
	if (class != PD_CLASS_GONE && str->length)
		name = pd_scrub_name(scrub, class, str->data, str->length, &length);
	else if (str->length)
		scrub->counts.values[class]++;
	if (capacity && length >= capacity)
		length = capacity - 1;
	if (length >= size)
		size = capacity;
	now = alloc_scratch(scrub, length + 1 > size ? length + 1 : size);
	if (!now)
		return;
	memcpy(now, name, length);
	*str = (struct pd_str){ now, (uint32_t)length, (uint32_t)size };
}

/* ---- arrays ---- */

static void array_U8(struct pd_scrub *scrub, enum pd_value_class class, struct pd_bytes *array)
{
	uint8_t *now;

	if (!array->size)
		return;
	scrub->counts.values[class]++;
	switch (class) {
	case PD_CLASS_BUILD_ID:
		now = copy_of(scrub, array->data, array->size);
		if (now)
			pd_scrub_build_id(scrub, now, array->size);
		array->data = now;
		break;
	case PD_CLASS_TEXT_BYTES:
		array->data = alloc_scratch(scrub, array->size);
		break;
	default:
		if (pd_scrub_action(scrub, class) == PD_SCRUB_KEEP)
			return;
		array->data = NULL;
	}
	if (!array->data)
		array->size = 0;
}

static void array_U64(struct pd_scrub *scrub, enum pd_value_class class, struct pd_u64s *array)
{
	bool keeps = pd_scrub_action(scrub, class) == PD_SCRUB_KEEP;
	uint64_t *now;

	if (class == PD_CLASS_NUMBERS || class == PD_CLASS_SPECIAL || !array->count)
		return;
	if (class != PD_CLASS_CHAIN && class != PD_CLASS_CODES && class != PD_CLASS_DATAS) {
		scrub->counts.values[class]++;
		if (!keeps)
			*array = (struct pd_u64s){ 0 };
		return;
	}
	scrub->counts.values[class == PD_CLASS_DATAS ? PD_CLASS_DATA : PD_CLASS_CODE] += array->count;
	if (keeps)
		return;
	now = copy_of(scrub, array->items, array->count * sizeof(*now));
	if (!now) {
		*array = (struct pd_u64s){ 0 };
		return;
	}
	if (class == PD_CLASS_CHAIN)
		pd_scrub_chain(scrub, now, array->count);
	else
		for (size_t i = 0; i < array->count; i++)
			now[i] = pd_scrub_address(scrub, PD_SPACE_ANY, now[i], class == PD_CLASS_DATAS);
	array->items = now;
}

/* Only numbers that mean nothing outside, and sets of CPUs that pd_scrub_special has changed. */
#define array_U16(scrub, class, array) \
	_Static_assert((class) == PD_CLASS_NUMBERS || (class) == PD_CLASS_SPECIAL, "no such array")
#define array_U32(scrub, class, array) \
	_Static_assert((class) == PD_CLASS_NUMBERS || (class) == PD_CLASS_SPECIAL, "no such array")

/* Bytes that the format does not explain. */
static void rest(struct pd_scrub *scrub, struct pd_bytes *bytes)
{
	if (!bytes->size)
		return;
	scrub->counts.values[PD_CLASS_ZERO] += bytes->size;
	bytes->data = alloc_scratch(scrub, bytes->size);
	if (!bytes->data)
		bytes->size = 0;
}

/* ---- layouts ---- */

#define PART(layout, doc) static void walk_##layout(struct pd_scrub *scrub, struct pd_##layout *it);
#define BOX(layout, doc) PART(layout, doc)
#define BODY(layout, doc) PART(layout, doc)
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>

/* Layouts without a case of their own; never called. */
#define DECIDE(layout)                                                                      \
	static inline void special_##layout(struct pd_scrub *scrub, struct pd_##layout *it) \
	{                                                                                   \
		(void)scrub;                                                                \
		(void)it;                                                                   \
	}
#define SPECIAL_CASE(layout)                                                                \
	static inline void special_##layout(struct pd_scrub *scrub, struct pd_##layout *it) \
	{                                                                                   \
		pd_scrub_special_##layout(scrub, it);                                       \
	}
#include "edit/scrub/scrub.def"

static const void *one(struct pd_scrub *scrub, const void *part, size_t size)
{
	return part ? copy_of(scrub, part, size) : NULL;
}

static void list(struct pd_scrub *scrub, struct pd_list *list, size_t size)
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

#define PD_CLASS_OF(member) ((enum pd_value_class)sizeof(((decided *)0)->member))
#define OPEN(layout)                                                              \
	static void walk_##layout(struct pd_scrub *scrub, struct pd_##layout *it) \
	{                                                                         \
		typedef struct decide_##layout decided;                           \
		(void)scrub;                                                      \
		(void)it;                                                         \
		if (sizeof(((decided *)0)->special) == 2)                         \
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
	it->member =         \
		(__typeof__(it->member))number(scrub, PD_CLASS_OF(member), (uint64_t)it->member, sizeof(it->member));
#define FIELD_U8(member) FIELD_NUMBER(member)
#define FIELD_U16(member) FIELD_NUMBER(member)
#define FIELD_U32(member) FIELD_NUMBER(member)
#define FIELD_U64(member) FIELD_NUMBER(member)
#define FIELD_S32(member) \
	it->member = (int32_t)number(scrub, PD_CLASS_OF(member), (uint32_t)it->member, sizeof(it->member));
#define FIELD_F64(member) _Static_assert(PD_CLASS_OF(member) == PD_CLASS_NUMBER, "a fraction is a number");
#define FLAGS(KIND, member, set, WHEN, doc) FIELD_##KIND(member)
#define TEXT(KIND, member, WHEN, doc) text(scrub, PD_CLASS_OF(member), &it->member, 0);
#define CHARS(member, bytes, FIT, WHEN, doc) text(scrub, PD_CLASS_OF(member), &it->member, bytes);
#define ARRAY(KIND, member, COUNT, SHOW, WHEN, doc) array_##KIND(scrub, PD_CLASS_OF(member), &it->member);
#define ONE(layout, member, WHEN, doc)                                                          \
	_Static_assert(PD_CLASS_OF(member) == PD_CLASS_PARTS, "a part has members of its own"); \
	it->member = one(scrub, it->member, sizeof(*it->member));                               \
	if (it->member)                                                                         \
		walk_##layout(scrub, (struct pd_##layout *)it->member);
#define BOXED(layout, member, SIZE, WHEN, doc) ONE(layout, member, WHEN, doc)
#define LIST(layout, member, COUNT, WHEN, doc)                                                  \
	_Static_assert(PD_CLASS_OF(member) == PD_CLASS_PARTS, "a part has members of its own"); \
	list(scrub, &it->member, sizeof(struct pd_##layout));                                   \
	for (size_t i = 0; i < it->member.count; i++)                                           \
		walk_##layout(scrub, (struct pd_##layout *)PD_ITEM(pd_##layout, it->member, i));
/* Records inside a feature are changed by who knows their form, see pd_scrub_features.c. */
#define RECORDS(member, NAME, doc) _Static_assert(PD_CLASS_OF(member) == PD_CLASS_BUILD_IDS, "what are these records?");
#include <perfdata/table/begin.h>
#include <perfdata/table/layouts.def>
#include <perfdata/table/end.h>

/* A set of CPUs that became a list has another size; records stay aligned. */
static void align(struct pd_scrub *scrub, struct pd_bytes *rest, const struct pd_cpu_map_data *map)
{
	size_t size = map ? 4 + 2 * map->cpus.count : 0;

	if (!map || pd_scrub_action(scrub, PD_CLASS_CPU) == PD_SCRUB_KEEP)
		return;
	rest->size = (8 - size % 8) % 8;
	rest->data = alloc_scratch(scrub, rest->size);
}

/* ---- doors ---- */

void pd_scrub_attr(struct pd_scrub *scrub, struct pd_attr *attr)
{
	walk_attr(scrub, attr);
}

void *pd_scrub_record(struct pd_scrub *scrub, uint32_t type, uint16_t misc, const void *decoded)
{
	const struct pd_layout *layout = pd_record_layout(type);
	void *it = layout ? copy_of(scrub, decoded, pd_layout_struct_size(layout)) : NULL;

	if (!it)
		return NULL;
	scrub->misc = misc;
	scrub->space = pd_scrub_space_of(misc);
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

void *pd_scrub_feature(struct pd_scrub *scrub, unsigned feature, const void *decoded)
{
	const struct pd_layout *layout = pd_feature_layout(feature);
	void *it = layout ? copy_of(scrub, decoded, pd_layout_struct_size(layout)) : NULL;

	if (!it)
		return NULL;
	scrub->space = PD_SPACE_ANY;
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
