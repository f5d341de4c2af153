/* SPDX-License-Identifier: MIT */
/* Fields of samples and of tracepoints: what they are in a trace, and values of the latter. */
#include "export/ctf/ctf.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"

#define MASK(NAME) PD_MASK(PD_SAMPLE_TYPE_##NAME)
#define AT(member) offsetof(struct pd_sample, member)

const struct pd_ctf_part pd_ctf_parts[PD_CTF_PARTS] = {
	{ "perf_ip", MASK(IP), 8, false, true, AT(ip) },
	{ "perf_tid", MASK(TID), 4, true, false, AT(tid) },
	{ "perf_pid", MASK(TID), 4, true, false, AT(pid) },
	{ "perf_id", MASK(ID) | MASK(IDENTIFIER), 8, false, false, AT(id) },
	{ "perf_stream_id", MASK(STREAM_ID), 8, false, false, AT(stream_id) },
	{ "perf_period", MASK(PERIOD), 8, false, false, AT(period) },
	{ "perf_weight", MASK(WEIGHT), 8, false, false, AT(weight) },
	{ "perf_weight_struct", MASK(WEIGHT_STRUCT), 8, false, true, AT(weight_struct) },
	{ "perf_data_src", MASK(DATA_SRC), 8, false, false, AT(data_src) },
	{ "perf_transaction", MASK(TRANSACTION), 8, false, false, AT(transaction) },
};

// ---- what they are ----

static bool is_number_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static void describe(struct pd_ctf_field *field, const struct pd_member *member)
{
	uint32_t item = member->element_size;

	*field = (struct pd_ctf_field){ .member = member, .count = 1 };
	if (member->field.is_string) {
		field->kind = PD_CTF_STRING;
		return;
	}
	field->kind = member->is_dynamic ? PD_CTF_SEQUENCE : member->is_array ? PD_CTF_ARRAY : PD_CTF_NUMBER;
	field->item_size = is_number_size(item) ? item : 1;
	if (field->kind == PD_CTF_NUMBER && field->item_size != member->field.size)
		field->kind = PD_CTF_ARRAY;
	if (field->kind == PD_CTF_ARRAY)
		field->count = member->field.size / field->item_size;
}

static bool is_keyword(const char *name)
{
	static const char *const keywords[] = {
		"align",     "callsite",       "char",    "clock",  "const",   "double",   "enum",
		"env",       "event",          "float",   "int",    "integer", "long",     "short",
		"signed",    "floating_point", "stream",  "string", "struct",  "trace",    "typedef",
		"typealias", "unsigned",       "variant", "void",   "_Bool",   "_Complex", "_Imaginary",
	};

	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (strcmp(name, keywords[i]) == 0)
			return true;
	return false;
}

static bool is_taken(const struct pd_ctf_event *event, const char *name)
{
	for (size_t i = 0; i < PD_CTF_PARTS; i++)
		if (strcmp(name, pd_ctf_parts[i].name) == 0)
			return true;
	for (size_t i = 0; i < event->field_count; i++)
		if (strcmp(name, event->fields[i].name) == 0)
			return true;
	return strncmp(name, "perf_callchain", strlen("perf_callchain")) == 0;
}

// A name that is an identifier of the metadata and of no other field; readers take one leading _ away.
static const char *name_field(struct pd_ctf *ctf, const struct pd_ctf_event *event, const char *name)
{
	bool is_special = is_keyword(name) || name[0] == '_' || isdigit((unsigned char)name[0]);
	size_t capacity = strlen(name) + 32;
	char *copy = pd_arena_alloc(&ctf->arena, capacity);

	if (!copy)
		return NULL;
	snprintf(copy, capacity, "%s%s", is_special ? "_" : "", name);
	for (unsigned i = 0; is_taken(event, copy); i++)
		snprintf(copy, capacity, "%s%s_dupl_%u", is_special ? "_" : "", name, i);
	return copy;
}

static bool read_fields(struct pd_ctf *ctf, const struct pd_event *event, struct pd_ctf_event *to)
{
	const struct pd_member *member;
	size_t count = 0;

	while (pd_trace_member_at(ctf->trace, event, count))
		count++;
	to->has_fields = count;
	to->fields = pd_arena_alloc(&ctf->arena, (count + 1) * sizeof(*to->fields));
	if (!to->fields)
		return false;
	while ((member = pd_trace_member_at(ctf->trace, event, to->field_count)) != NULL) {
		struct pd_ctf_field *field = &to->fields[to->field_count];

		describe(field, member);
		field->name = name_field(ctf, to, member->field.name);
		if (!field->name)
			return false;
		to->field_count++;
	}
	return !pd_trace_lacks_memory(ctf->trace);
}

const struct pd_ctf_event *pd_ctf_event(struct pd_ctf *ctf, const struct pd_event *event)
{
	struct pd_ctf_event *found;

	if (event->index >= ctf->event_count) {
		struct pd_ctf_event *events = pd_realloc(ctf->events, (event->index + 1) * sizeof(*events));

		if (!events)
			return NULL;
		memset(events + ctf->event_count, 0, (event->index + 1 - ctf->event_count) * sizeof(*events));
		ctf->events = events;
		ctf->event_count = event->index + 1;
	}
	found = &ctf->events[event->index];
	if (!found->is_known && !read_fields(ctf, event, found))
		return NULL;
	found->is_known = true;
	return found;
}

// ---- values ----

void pd_ctf_put(struct pd_text *text, uint64_t value, unsigned size)
{
	char bytes[8];

	for (unsigned i = 0; i < size; i++)
		bytes[i] = (char)(value >> 8 * i);
	pd_text_put(text, bytes, size);
}

void pd_ctf_put_string(struct pd_text *text, const char *string, size_t size)
{
	size = strnlen(string, size);
	for (size_t i = 0; i < size; i++) {
		if (string[i] >= ' ' && string[i] <= '~')
			pd_text_char(text, string[i]);
		else
			pd_text_printf(text, "\\x%02x", (unsigned char)string[i]);
	}
	pd_text_char(text, 0);
}

// What is outside of the raw data is zero.
static uint64_t number_at(struct pd_bytes raw, size_t offset, uint32_t size, bool big)
{
	uint64_t value = 0;

	if (offset > raw.size || size > raw.size - offset)
		return 0;
	for (uint32_t i = 0; i < size; i++)
		value |= (uint64_t)raw.data[offset + i] << 8 * (big ? size - 1 - i : i);
	return value;
}

// Where the bytes of a field are; those of a dynamic one are where the field says.
static struct pd_bytes bytes_of(const struct pd_member *member, struct pd_bytes raw, bool big)
{
	uint64_t offset = member->field.offset, size = member->field.size;

	if (member->is_dynamic) {
		uint64_t word = number_at(raw, member->field.offset, 4, big);

		offset = word & 0xffff;
		if (member->is_relative)
			offset += (uint64_t)member->field.offset + member->field.size;
		size = word >> 16;
	}
	if (offset > raw.size)
		return (struct pd_bytes){ 0 };
	if (size > raw.size - offset)
		size = raw.size - offset;
	return (struct pd_bytes){ raw.data + offset, size };
}

static void put_items(const struct pd_ctf_field *field, struct pd_bytes bytes, bool big, uint64_t count,
		      struct pd_text *text)
{
	for (uint64_t i = 0; i < count; i++)
		pd_ctf_put(text, number_at(bytes, i * field->item_size, field->item_size, big), field->item_size);
}

void pd_ctf_put_fields(struct pd_ctf *ctf, const struct pd_ctf_event *event, struct pd_bytes raw, struct pd_text *text)
{
	bool big = pd_trace_is_big(ctf->trace);

	for (size_t i = 0; i < event->field_count; i++) {
		const struct pd_ctf_field *field = &event->fields[i];
		struct pd_bytes bytes = bytes_of(field->member, raw, big);
		uint64_t count = field->count;

		if (field->kind == PD_CTF_STRING) {
			pd_ctf_put_string(text, bytes.size ? (const char *)bytes.data : "", bytes.size);
			continue;
		}
		if (field->kind == PD_CTF_SEQUENCE) {
			count = bytes.size / field->item_size;
			pd_ctf_put(text, count, 4);
		}
		put_items(field, bytes, big, count, text);
	}
}
