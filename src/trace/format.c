/* SPDX-License-Identifier: MIT */
/*
 * Parses the text of a format: lines of fields, then "print fmt:", a string with conversions, and an expression
 * for each of them.
 */
#include "trace/trace.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
// ---- the format string ----

struct arguments {
	const struct pd_node **items;
	size_t count, next;
};

struct piece_list {
	struct pd_trace *trace;
	struct pd_format_piece *items;
	size_t count, capacity;
	struct pd_text text; // that waits to become a piece
	bool failed;
};

static struct pd_format_piece *add_piece(struct piece_list *list)
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
	struct pd_format_piece *piece;

	if (!list->text.size || !(piece = add_piece(list)))
		return;
	piece->text = pd_arena_text(&list->trace->arena, list->text.data, list->text.size);
	piece->size = piece->text ? list->text.size : 0;
	list->failed |= !piece->text;
	list->text.size = 0;
}

// How many characters after p belong to it.
static size_t pointer_length(const char *at)
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

// Few digits, which may begin with a 0, and longs: what nearly all numbers have.
static void find_simple(struct pd_format_piece *piece, const char *at, const char *end)
{
	unsigned pad = 0;

	piece->pad_char = *at == '0' ? '0' : ' ';
	for (; at < end && isdigit((unsigned char)*at) && pad <= PD_TRACE_PAD_MOST; at++)
		pad = pad * 10 + (unsigned)(*at - '0');
	piece->pad = pad;
	piece->simple = at + strspn(at, "lL") == end && pad <= PD_TRACE_PAD_MOST && !piece->width &&
			piece->longs >= 0 && piece->longs <= 2 && strchr("diux", *end);
}

static bool end_conversion(struct piece_list *list, struct pd_format_piece *piece, const char *start, const char *end,
			   struct arguments *arguments)
{
	static const char *const kinds[] = {
		[PD_PIECE_NUMBER] = "diuxXo", [PD_PIECE_POINTER] = "p", [PD_PIECE_STRING] = "s"
	};
	size_t size = (size_t)(end - start);

	for (size_t kind = PD_PIECE_NUMBER; kind <= PD_PIECE_STRING; kind++)
		if (strchr(kinds[kind], *end))
			piece->kind = (enum pd_piece_kind)kind;
	piece->conversion = *end;
	piece->arg = next_argument(arguments);
	piece->text = pd_arena_text(&list->trace->arena, start, size + 1);
	piece->size = size + 1;
	find_simple(piece, start + 1, end);
	list->failed |= !piece->text;
	return piece->arg && size < 31 && !is_too_wide(start, size);
}

// The conversion at *at, which moves past it. False if perf gives up there.
static bool take_conversion(struct piece_list *list, const char **at, struct arguments *arguments)
{
	const char *start = *at, *p = start + 1;
	struct pd_format_piece *piece;
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
		more = *p == 'p' ? pointer_length(p + 1) : 0;
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
	bool ok = take_pieces(&list, string, arguments);
	struct pd_format_piece *pieces =
		ok ? pd_arena_copy(&trace->arena, list.items, list.count * sizeof(*list.items)) : NULL;

	if (pieces) {
		format->pieces = pieces;
		format->piece_count = list.count;
	}
	trace->lacks_memory |= list.failed || list.text.failed;
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
		struct pd_node *node;

		if (*at++ != ',')
			return false;
		node = pd_trace_expression(trace, format, &at, end);
		if (!node)
			return false;
		pd_trace_find_constants(node);
		if (!PD_GROW(arguments->items, capacity, arguments->count + 1)) {
			trace->lacks_memory = true;
			return false;
		}
		arguments->items[arguments->count++] = node;
	}
	return true;
}

static bool read_print(struct pd_trace *trace, struct pd_format *format, struct pd_bytes print)
{
	const char *at = (const char *)print.data, *end = at + print.size;
	struct arguments arguments = { 0 };
	char *string;
	bool ok;

	at = memchr(at, ':', print.size);
	string = at ? (at++, pd_trace_literal(trace, &at, end)) : NULL;
	if (!string)
		return false;
	ok = take_arguments(trace, format, at, end, &arguments) && take_format(trace, format, string, &arguments);
	pd_free(arguments.items);
	return ok;
}

void pd_trace_read_format(struct pd_trace *trace, struct pd_format *format)
{
	struct pd_bytes print;

	format->read = true;
	format->usable = format->text.size <= PD_TRACE_FORMAT_MOST && pd_trace_read_fields(trace, format, &print);
	if (format->usable)
		format->failed = !read_print(trace, format, print);
}
