/* SPDX-License-Identifier: MIT */
#include "quipper/schema.h"

#include <string.h>

// ---- an array of lines for each message ----

#define HAS(code, n, text, kind) .number = (n), .name = #text, .type = PD_QUIPPER_##kind, .how = PD_QUIPPER_##code
#define OF(m) .member = #m, .offset = offsetof(self, m), .size = sizeof(((self *)0)->m)
#define ALSO_OF(m) .other_offset = offsetof(self, m), .other_size = sizeof(((self *)0)->m)
#define OF_PART(ptr, layout, m)                                                                                  \
	.inside = true, .pointer = offsetof(self, ptr), .pointer_name = #ptr,                                    \
	.part_layout = &pd_layouts[PD_LAYOUT_##layout], .member = #m, .offset = offsetof(struct pd_##layout, m), \
	.size = sizeof(((struct pd_##layout *)0)->m)
#define BITS_OF(BITS) .shift = BITS##_SHIFT, .width = BITS##_WIDTH
#define ITEM_OF(layout, m) .item = offsetof(struct pd_##layout, m)

#define MESSAGE(Name, layout)                                                   \
	static const struct pd_quipper_line *lines_of_##Name(size_t *count_out) \
	{                                                                       \
		typedef struct pd_##layout self;                                \
		static const struct pd_quipper_line lines[] = {
#define END_MESSAGE(Name)                              \
	}                                              \
	;                                              \
	(void)(self *)0;                               \
	*count_out = sizeof(lines) / sizeof(lines[0]); \
	return lines;                                  \
	}
#define NUMBER(n, TYPE, name, member) { HAS(NUMBER, n, name, TYPE), OF(member) },
#define ALSO(n, TYPE, name, member) { HAS(ALSO, n, name, TYPE), OF(member) },
#define ALWAYS(n, TYPE, name, member, constant) { HAS(ALWAYS, n, name, TYPE), OF(member), .value = (constant) },
#define EITHER(n, TYPE, name, member, flags, BIT, want) \
	{ HAS(EITHER, n, name, TYPE), OF(member), ALSO_OF(flags), BITS_OF(BIT), .value = (want) },
#define BIT(n, TYPE, name, member, BITS) { HAS(BIT, n, name, TYPE), OF(member), BITS_OF(BITS) },
#define NUMBERS(n, TYPE, name, member) { HAS(NUMBERS, n, name, TYPE), OF(member), .repeated = true },
#define ID(n, name) { HAS(ID, n, name, U64), OF(id), ALSO_OF(identifier) },
#define CPUS(n, name, member) { HAS(CPUS, n, name, U32), OF(member), .repeated = true },
#define OUT(n, name) { HAS(OUT, n, name, BOOL) },
#define TEXT(n, name, member) { HAS(TEXT, n, name, STRING), OF(member) },
#define MD5(n, name, member) { HAS(MD5, n, name, U64), OF(member) },
#define ROOT(n, name, member) { HAS(ROOT, n, name, STRING), OF(member) },
#define ROOT_MD5(n, name, member) { HAS(ROOT_MD5, n, name, U64), OF(member) },
#define TEXTS(n, name, list, part, member)                                                                            \
	{ HAS(TEXTS, n, name, STRING), OF(list), ITEM_OF(part, member), .part_layout = &pd_layouts[PD_LAYOUT_##part], \
	  .repeated = true },
#define MD5S(n, name, list, part, member) \
	{ HAS(MD5S, n, name, U64), OF(list), ITEM_OF(part, member), .repeated = true },
#define HEX(n, name, member, size) { HAS(HEX, n, name, STRING), OF(member), ALSO_OF(size) },
#define DATA(n, name, member) { HAS(DATA, n, name, BYTES), OF(member) },
#define LENGTH(n, name, member) { HAS(LENGTH, n, name, U32), OF(member) },
#define TAIL(n, name) { HAS(TAIL, n, name, BYTES) },
#define PART(n, Message, name, member) { HAS(PART, n, name, MESSAGE), OF(member), .part = PD_QUIPPER_##Message },
#define HERE(n, Message, name, member) { HAS(HERE, n, name, MESSAGE), OF(member), .part = PD_QUIPPER_##Message },
#define LIST(n, Message, name, member) \
	{ HAS(LIST, n, name, MESSAGE), OF(member), .part = PD_QUIPPER_##Message, .repeated = true },
#define NUMBER_IN(n, TYPE, name, pointer, part, member) { HAS(NUMBER, n, name, TYPE), OF_PART(pointer, part, member) },
#define LIST_IN(n, Message, name, pointer, layout, member)                                             \
	{ HAS(LIST, n, name, MESSAGE), OF_PART(pointer, layout, member), .part = PD_QUIPPER_##Message, \
	  .repeated = true },
#define NO_INDEX_IN(n, name, pointer, part) { HAS(NO_INDEX, n, name, BOOL), OF_PART(pointer, part, nr) },
#define TRAILER(n, name) { HAS(TRAILER, n, name, MESSAGE), .part = PD_QUIPPER_SampleInfo },
#define OTHER(n, TYPE, name) { HAS(OTHER, n, name, TYPE) },
#define OTHERS(n, TYPE, name) { HAS(OTHER, n, name, TYPE), .repeated = true },
#define OTHER_PART(n, Message, name) { HAS(OTHER, n, name, MESSAGE), .part = PD_QUIPPER_##Message },
#define OTHER_PARTS(n, Message, name) { HAS(OTHER, n, name, MESSAGE), .part = PD_QUIPPER_##Message, .repeated = true },
#define EVENT(n, Message, name, RECORD) \
	{ HAS(EVENT, n, name, MESSAGE), .part = PD_QUIPPER_##Message, .value = PD_RECORD_##RECORD },
#include "quipper/schema.def"

static const struct {
	const struct pd_layout *layout;
	const struct pd_quipper_line *(*lines)(size_t *count_out);
} messages[PD_QUIPPER_MESSAGE_COUNT] = {
#define MESSAGE(Name, layout) { &pd_layouts[PD_LAYOUT_##layout], lines_of_##Name },
#include "quipper/schema.def"
};

// ---- looking for them ----

struct pd_quipper_message pd_quipper_message(enum pd_quipper_message_id id)
{
	struct pd_quipper_message message = { .layout = messages[id].layout };

	message.lines = messages[id].lines(&message.count);
	return message;
}

const struct pd_quipper_line *pd_quipper_by_number(enum pd_quipper_message_id id, uint32_t number)
{
	struct pd_quipper_message message = pd_quipper_message(id);

	for (size_t i = 0; i < message.count; i++)
		if (message.lines[i].number == number)
			return &message.lines[i];
	return NULL;
}

const struct pd_quipper_line *pd_quipper_by_name(enum pd_quipper_message_id id, const char *name, size_t length)
{
	struct pd_quipper_message message = pd_quipper_message(id);

	for (size_t i = 0; i < message.count; i++)
		if (strlen(message.lines[i].name) == length && !memcmp(message.lines[i].name, name, length))
			return &message.lines[i];
	return NULL;
}

const struct pd_quipper_line *pd_quipper_event(uint32_t type)
{
	struct pd_quipper_message message = pd_quipper_message(PD_QUIPPER_PerfEvent);

	for (size_t i = 0; i < message.count; i++)
		if (message.lines[i].how == PD_QUIPPER_EVENT && message.lines[i].value == type)
			return &message.lines[i];
	return NULL;
}

// ---- the plan ----

static const struct pd_field *find_field(const struct pd_layout *layout, const char *name)
{
	size_t count;
	const struct pd_field *fields = layout->fields(&count);

	for (size_t i = 0; name && i < count; i++)
		if (!strcmp(fields[i].name, name))
			return &fields[i];
	return NULL;
}

void pd_quipper_plan_init(struct pd_quipper_plan *plan)
{
	for (unsigned id = 0; id < PD_QUIPPER_MESSAGE_COUNT; id++) {
		struct pd_quipper_message message = pd_quipper_message(id);

		for (size_t i = 0; i < message.count; i++) {
			const struct pd_quipper_line *line = &message.lines[i];

			plan->fields[id][i] =
				find_field(line->inside ? line->part_layout : message.layout, line->member);
			plan->pointers[id][i] = find_field(message.layout, line->pointer_name);
		}
	}
}
