/* SPDX-License-Identifier: MIT */
/*
 * Takes the text of a format apart: lines of fields, then "print fmt:", a string with conversions, and an expression
 * for each of them.
 */
#include "trace/trace.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

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

// The number behind "key:" in a line, or other.
static uint64_t number_behind(struct pd_bytes line, const char *key, uint64_t other)
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
	uint64_t offset = number_behind(line, "offset:", UINT32_MAX), size = number_behind(line, "size:", UINT32_MAX);

	if (!start || offset > UINT16_MAX || size > UINT16_MAX)
		return false;
	start += strlen("field:");
	end = memchr(start, ';', line.size - (size_t)(start - (const char *)line.data));
	if (!end)
		return false;
	m->field.offset = (uint32_t)offset;
	m->field.size = (uint32_t)size;
	m->field.is_signed = number_behind(line, "signed:", 0) != 0;
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

// ---- the format string ----

struct arguments {
	const struct pd_node **items;
	size_t count, next;
};

struct piece_list {
	struct pd_trace *trace;
	struct pd_piece *items;
	size_t count, capacity;
	struct pd_text text; // that waits to become a piece
	bool failed;
};

static struct pd_piece *add_piece(struct piece_list *list)
{
	if (!PD_GROW(list->items, list->capacity, list->count + 1)) {
		list->failed = true;
		return NULL;
	}
	memset(&list->items[list->count], 0, sizeof(*list->items));
	return &list->items[list->count++];
}

static void end_text(struct piece_list *list)
{
	struct pd_piece *piece;

	if (!list->text.size || !(piece = add_piece(list)))
		return;
	piece->text = pd_arena_text(&list->trace->arena, list->text.data, list->text.size);
	piece->size = piece->text ? list->text.size : 0;
	list->failed |= !piece->text;
	list->text.size = 0;
}

// How many letters behind p belong to it.
static size_t pointer_letters(const char *at)
{
	switch (at[0]) {
	case 'F':
	case 'S':
	case 'f':
	case 's':
		return 1;
	case 'M':
	case 'm':
		return at[1] == 'F' || at[1] == 'R' ? 2 : 1;
	case 'I':
	case 'i':
		if (at[1] == '4')
			return at[2] && strchr("hnbl", at[2]) ? 3 : 2;
		if (at[1] == '6' || at[1] == 'S')
			return 2 + strspn(at + 2, at[1] == '6' ? "c" : "pfscnh");
		return 1;
	case 'U':
		return at[1] && strchr("bBlL", at[1]) ? 2 : 1;
	case 'h':
		return at[1] && strchr("CDN", at[1]) ? 2 : 1;
	}
	return 0;
}

static const struct pd_node *next_argument(struct arguments *arguments)
{
	return arguments->next < arguments->count ? arguments->items[arguments->next++] : NULL;
}

// A width or precision that would take much memory.
static bool is_too_wide(const char *at, size_t size)
{
	size_t digits = 0;

	for (size_t i = 0; i < size; i++) {
		digits = isdigit((unsigned char)at[i]) ? digits + 1 : 0;
		if (digits > 3)
			return true;
	}
	return false;
}

static bool end_conversion(struct piece_list *list, struct pd_piece *piece, const char *start, const char *end,
			   struct arguments *arguments)
{
	static const char *const kinds[] = {
		[PD_PIECE_NUMBER] = "diuxXo", [PD_PIECE_POINTER] = "p", [PD_PIECE_STRING] = "s"
	};
	size_t size = (size_t)(end - start);

	for (size_t kind = PD_PIECE_NUMBER; kind <= PD_PIECE_STRING; kind++)
		if (strchr(kinds[kind], *end))
			piece->kind = (enum pd_piece_kind)kind;
	piece->letter = *end;
	piece->arg = next_argument(arguments);
	piece->text = pd_arena_text(&list->trace->arena, start, size + 1);
	piece->size = size + 1;
	piece->simple = strspn(start + 1, "lL") + 1 == size && !piece->width;
	list->failed |= !piece->text;
	return piece->arg && size < 31 && !is_too_wide(start, size);
}

// The conversion at *at, which moves behind it. False if perf gives up there.
static bool take_conversion(struct piece_list *list, const char **at, struct arguments *arguments)
{
	const char *start = *at, *p = start + 1;
	struct pd_piece *piece;
	size_t more;

	end_text(list);
	piece = add_piece(list);
	if (!piece)
		return false;
	for (; *p && strchr("#hlL.zZ0123456789-*", *p); p++) {
		piece->longs = *p == 'h' ? piece->longs - 1 :
			       *p == 'l' ? piece->longs + 1 :
			       *p == 'L' ? 2 :
					   piece->longs;
		if (*p != '*')
			continue;
		if (piece->width || !(piece->width = next_argument(arguments)))
			return false;
	}
	if (*p && strchr("diuxXops", *p)) {
		if (!end_conversion(list, piece, start, p, arguments))
			return false;
		more = *p == 'p' ? pointer_letters(p + 1) : 0;
		memcpy(piece->more, p + 1, more < sizeof(piece->more) ? more : sizeof(piece->more) - 1);
		*at = p + 1 + more;
		return true;
	}
	// what perf does not know is shown so, and takes no argument
	list->count--;
	pd_text_char(&list->text, '>');
	if (*p)
		pd_text_char(&list->text, *p);
	pd_text_char(&list->text, '<');
	*at = p + (*p != 0);
	return true;
}

static bool take_pieces(struct piece_list *list, const char *at, struct arguments *arguments)
{
	static const char escapes[] = "n\nt\tr\r\\\\";

	while (*at && !list->failed) {
		if (*at == '%' && at[1] != '%') {
			if (!take_conversion(list, &at, arguments))
				return false;
			continue;
		}
		if (*at == '%') {
			at++;
		} else if (*at == '\\' && at[1]) {
			const char *found = strchr(escapes, at[1]);

			at++;
			pd_text_char(&list->text, found && (found - escapes) % 2 == 0 ? found[1] : *at);
			at++;
			continue;
		}
		pd_text_char(&list->text, *at++);
	}
	end_text(list);
	return !list->failed && !list->text.failed;
}

static bool take_format(struct pd_trace *trace, struct pd_format *format, const char *string,
			struct arguments *arguments)
{
	struct piece_list list = { .trace = trace };
	bool fine = take_pieces(&list, string, arguments);
	struct pd_piece *pieces = fine ? pd_arena_copy(&trace->arena, list.items, list.count * sizeof(*list.items)) :
					 NULL;

	if (pieces) {
		format->pieces = pieces;
		format->piece_count = list.count;
	}
	pd_free(list.items);
	pd_free(list.text.data);
	return pieces != NULL;
}

// Commas and expressions.
static bool take_arguments(struct pd_trace *trace, const struct pd_format *format, const char *at, const char *end,
			   struct arguments *arguments)
{
	size_t capacity = 0;

	while ((at = pd_trace_skip_space(at, end)) < end) {
		const struct pd_node *node;

		if (*at++ != ',')
			return false;
		node = pd_trace_expression(trace, format, &at, end);
		if (!node || !PD_GROW(arguments->items, capacity, arguments->count + 1))
			return false;
		arguments->items[arguments->count++] = node;
	}
	return true;
}

static bool read_print(struct pd_trace *trace, struct pd_format *format, struct pd_bytes print)
{
	const char *at = (const char *)print.data, *end = at + print.size;
	struct arguments arguments = { 0 };
	char *string;
	bool fine;

	at = memchr(at, ':', print.size);
	string = at ? (at++, pd_trace_literal(trace, &at, end)) : NULL;
	if (!string)
		return false;
	fine = take_arguments(trace, format, at, end, &arguments) && take_format(trace, format, string, &arguments);
	pd_free(arguments.items);
	return fine;
}

void pd_trace_read_format(struct pd_trace *trace, struct pd_format *format)
{
	struct pd_bytes print;

	format->read = true;
	format->usable = format->text.size <= PD_TRACE_FORMAT_MOST && pd_trace_read_fields(trace, format, &print);
	if (format->usable)
		format->failed = !read_print(trace, format, print);
}
