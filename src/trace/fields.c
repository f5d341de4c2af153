/* SPDX-License-Identifier: MIT */
/* The lines of a format that describe the fields of a tracepoint: names, types, places and sizes. */
#include "trace/trace.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

// ---- fields ----

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

// What stands in text, which is no C string.
static const char *find(struct pd_bytes text, const char *what)
{
	size_t length = strlen(what);

	return text.size >= length ? memmem(text.data, text.size, what, length) : NULL;
}

const char *pd_trace_skip_space(const char *at, const char *end)
{
	while (at < end && isspace((unsigned char)*at))
		at++;
	return at;
}

// The number after "key:" in a line, or other.
static uint64_t number_after(struct pd_bytes line, const char *key, uint64_t other)
{
	const char *at = find(line, key), *end = (const char *)line.data + line.size;
	uint64_t value = 0;

	if (!at)
		return other;
	at = pd_trace_skip_space(at + strlen(key), end);
	while (at < end && isdigit((unsigned char)*at) && value < UINT32_MAX)
		value = value * 10 + (uint64_t)(*at++ - '0');
	return value;
}

static unsigned size_of_type(const char *type, unsigned long_size)
{
	static const struct {
		const char *name;
		unsigned size;
	} types[] = {
		{ "u8", 1 },    { "u16", 2 },           { "u32", 4 },      { "u64", 8 },
		{ "s8", 1 },    { "s16", 2 },           { "s32", 4 },      { "s64", 8 },
		{ "char", 1 },  { "unsigned char", 1 }, { "short", 2 },    { "unsigned short", 2 },
		{ "int", 4 },   { "unsigned int", 4 },  { "unsigned", 4 }, { "__u8", 1 },
		{ "__u16", 2 }, { "__u32", 4 },         { "__u64", 8 },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(types[i].name, type) == 0)
			return types[i].size;
	return strstr(type, "long") ? long_size : 0;
}

// Elements of an array whose brackets say a plain number, or 0.
static uint64_t element_count(const char *at, const char *end)
{
	uint64_t count = 0;

	for (; at < end; at++) {
		if (!isdigit((unsigned char)*at) || count > UINT32_MAX)
			return 0;
		count = count * 10 + (uint64_t)(*at - '0');
	}
	return count;
}

static void describe_member(const struct pd_trace *trace, struct pd_member *m, uint64_t count)
{
	const char *type = m->field.type;

	m->is_dynamic = strncmp(type, "__data_loc", 10) == 0 || strncmp(type, "__rel_loc", 9) == 0;
	m->is_relative = strncmp(type, "__rel_loc", 9) == 0;
	m->is_array |= m->is_dynamic && strchr(type, '[');
	m->is_pointer = strchr(type, '*') != NULL;
	m->is_long = strstr(type, "long") != NULL;
	m->field.is_string = m->is_array && (strstr(type, "char") || strstr(type, "u8") || strstr(type, "s8"));
	m->element_size = m->field.size;
	if (m->is_dynamic) {
		char inner[32] = "";
		const char *start = strchr(type, ' ');

		if (start)
			strncpy(inner, start + 1, sizeof(inner) - 1);
		inner[strcspn(inner, "[")] = 0;
		m->element_size = size_of_type(inner, trace->long_size);
	} else if (m->is_array) {
		m->element_size = count              ? m->field.size / (uint32_t)count :
				  m->is_long         ? trace->long_size :
				  m->field.is_string ? 1 :
						       0;
	}
}

// "unsigned long args[6]": type, name and brackets.
static bool read_declaration(struct pd_trace *trace, struct pd_member *m, const char *at, const char *end)
{
	const char *name_end, *name, *type_end, *inner = NULL;
	uint64_t count = 0;

	at = pd_trace_skip_space(at, end);
	while (end > at && isspace((unsigned char)end[-1]))
		end--;
	name_end = end;
	if (end > at && end[-1] == ']') {
		while (name_end > at && name_end[-1] != '[')
			name_end--;
		if (name_end == at)
			return false;
		inner = name_end--;
		count = element_count(inner, end - 1);
		m->is_array = true;
	}
	while (name_end > at && isspace((unsigned char)name_end[-1]))
		name_end--;
	for (name = name_end; name > at && is_name(name[-1]); name--)
		;
	for (type_end = name; type_end > at && isspace((unsigned char)type_end[-1]); type_end--)
		;
	if (name == name_end || type_end == at)
		return false;
	m->field.type = pd_arena_text(&trace->arena, at, (size_t)(type_end - at));
	m->field.name = pd_arena_text(&trace->arena, name, (size_t)(name_end - name));
	if (!m->field.type || !m->field.name)
		return false;
	describe_member(trace, m, count);
	return true;
}

static bool read_member(struct pd_trace *trace, struct pd_member *m, struct pd_bytes line)
{
	const char *start = find(line, "field:"), *end;
	uint64_t offset = number_after(line, "offset:", UINT32_MAX), size = number_after(line, "size:", UINT32_MAX);

	if (!start || offset > UINT16_MAX || size > UINT16_MAX)
		return false;
	start += strlen("field:");
	end = memchr(start, ';', line.size - (size_t)(start - (const char *)line.data));
	if (!end)
		return false;
	m->field.offset = (uint32_t)offset;
	m->field.size = (uint32_t)size;
	m->field.is_signed = number_after(line, "signed:", 0) != 0;
	return read_declaration(trace, m, start, end);
}

static bool is_blank(struct pd_bytes line)
{
	for (size_t i = 0; i < line.size; i++)
		if (!isspace(line.data[i]))
			return false;
	return true;
}

static struct pd_bytes take_line(struct pd_bytes *text)
{
	const uint8_t *end = memchr(text->data, '\n', text->size);
	struct pd_bytes line = { text->data, end ? (size_t)(end - text->data) : text->size };
	size_t taken = line.size + (end != NULL);

	text->data += taken;
	text->size -= taken;
	return line;
}

static size_t count_lines(struct pd_bytes text)
{
	size_t count = 1;

	for (size_t i = 0; i < text.size; i++)
		count += text.data[i] == '\n';
	return count;
}

// The common fields end with an empty line, and so do the others.
bool pd_trace_read_fields(struct pd_trace *trace, struct pd_format *format, struct pd_bytes *print_out)
{
	const char *start = find(format->text, "format:"), *print = find(format->text, "print fmt");
	struct pd_bytes text;
	bool common = true;

	if (!start || !print || print < start)
		return false;
	text = (struct pd_bytes){ (const uint8_t *)start, (size_t)(print - start) };
	format->members = pd_arena_alloc(&trace->arena, count_lines(text) * sizeof(*format->members));
	if (!format->members)
		return false;
	take_line(&text);
	while (text.size) {
		struct pd_bytes line = take_line(&text);
		struct pd_member *m = &format->members[format->member_count];

		if (is_blank(line)) {
			common = common && !format->member_count;
			continue;
		}
		if (!read_member(trace, m, line))
			return false;
		m->field.is_common = common;
		format->member_count++;
	}
	*print_out = (struct pd_bytes){ (const uint8_t *)print,
					format->text.size - (size_t)((const uint8_t *)print - format->text.data) };
	return true;
}

struct pd_member *pd_trace_find_member(const struct pd_format *format, const char *name, size_t length)
{
	for (size_t i = 0; i < format->member_count; i++) {
		const char *own = format->members[i].field.name;

		if (strncmp(own, name, length) == 0 && !own[length])
			return &format->members[i];
	}
	return NULL;
}
