/* SPDX-License-Identifier: MIT */
#include "format/parse.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "format/encode.h"
#include "format/print.h"
#include "format/record.h"

enum {
	MOST_FIELDS = 128,
	MOST_DEPTH = 16, // layouts are not that deep
	MOST_MADE = 1 << 16, // items that are made because nobody wrote them
	WORD_ROOM = 64
};

struct pd_parser pd_parser(const char *text, size_t size, struct pd_arena *arena)
{
	return (struct pd_parser){.start = text, .at = text, .end = text + size, .scope.arena = arena};
}

void pd_parse_fail(struct pd_parser *p, const char *at, const char *format, ...)
{
	va_list args;

	if (p->failed_at)
		return;
	p->failed_at = at;
	p->status = PD_ERROR_FORMAT;
	va_start(args, format);
	vsnprintf(p->reason, sizeof(p->reason), format, args);
	va_end(args);
	p->at = p->end;
}

static void *take_memory(struct pd_parser *p, size_t size)
{
	void *memory = pd_arena_alloc(p->scope.arena, size);

	if (!memory && !p->failed_at) {
		pd_parse_fail(p, p->at, "no memory");
		p->status = PD_ERROR_MEMORY;
	}
	return memory;
}

// ---- characters and words ----

bool pd_parse_more(struct pd_parser *p)
{
	while (p->at < p->end) {
		char c = *p->at;

		if (c == '#') {
			const char *line_end = memchr(p->at, '\n', (size_t)(p->end - p->at));

			p->at = line_end ? line_end : p->end;
		} else if (c == ' ' || c == '\n' || c == '\t' || c == ',' || c == '\r') {
			p->at++;
		} else {
			return true;
		}
	}
	return false;
}

bool pd_parse_take(struct pd_parser *p, char c)
{
	if (!pd_parse_more(p) || *p->at != c)
		return false;
	p->at++;
	return true;
}

void pd_parse_want(struct pd_parser *p, char c)
{
	if (pd_parse_take(p, c))
		return;
	if (p->at == p->end)
		pd_parse_fail(p, p->at, "'%c' is missing", c);
	else
		pd_parse_fail(p, p->at, "'%c' was expected", c);
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t word_length(const struct pd_parser *p)
{
	const char *at = p->at;

	if (at == p->end || !is_letter(*at))
		return 0;
	while (at < p->end && (is_letter(*at) || is_digit(*at) || *at == '-' || *at == '.'))
		at++;
	return (size_t)(at - p->at);
}

void pd_parse_word(struct pd_parser *p, char *word, size_t size)
{
	size_t length;

	pd_parse_more(p);
	length = word_length(p);
	snprintf(word, size, "%.*s", length < size ? (int)length : (int)size - 1, p->at);
	p->at += length;
}

bool pd_parse_key(struct pd_parser *p, const char *key)
{
	size_t length = strlen(key);

	if (!pd_parse_more(p) || (size_t)(p->end - p->at) <= length || memcmp(p->at, key, length) != 0 ||
	    p->at[length] != ':')
		return false;
	p->at += length + 1;
	return true;
}

// ---- texts and bytes ----

static int hex_digit(char c)
{
	return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Where a quoted piece ends: at its second quote. NULL if it does not.
static const char *quote_end(const struct pd_parser *p, const char *at)
{
	for (at++; at < p->end && *at != '"' && *at != '\n'; at++)
		if (*at == '\\')
			at++;
	return at < p->end && *at == '"' ? at : NULL;
}

// The next piece of bytes: begins with a quote, or x and a quote.
static bool is_piece(struct pd_parser *p)
{
	if (!pd_parse_more(p))
		return false;
	return *p->at == '"' || (*p->at == 'x' && p->end - p->at > 1 && p->at[1] == '"');
}

static size_t unescape(struct pd_parser *p, const char *from, const char *to, uint8_t *out)
{
	size_t size = 0;

	for (const char *at = from; at < to; at++) {
		int high, low;

		if (*at != '\\') {
			out[size++] = (uint8_t)*at;
			continue;
		}
		at++;
		switch (*at) {
		case 'n':
			out[size++] = '\n';
			break;
		case 't':
			out[size++] = '\t';
			break;
		case '"':
		case '\\':
			out[size++] = (uint8_t)*at;
			break;
		case 'x':
			high = to - at > 2 ? hex_digit(at[1]) : -1;
			low = to - at > 2 ? hex_digit(at[2]) : -1;
			if (high >= 0 && low >= 0) {
				out[size++] = (uint8_t)(high << 4 | low);
				at += 2;
				break;
			}
			// fall through
		default:
			pd_parse_fail(p, at - 1, "escapes are \\n, \\t, \\\", \\\\ and \\x with two digits");
			return 0;
		}
	}
	return size;
}

static size_t unhex(struct pd_parser *p, const char *from, const char *to, uint8_t *out)
{
	size_t size = 0;

	for (const char *at = from; at < to; at++) {
		int high, low;

		if (*at == ' ')
			continue;
		high = hex_digit(*at);
		low = to - at > 1 ? hex_digit(at[1]) : -1;
		if (high < 0 || low < 0) {
			pd_parse_fail(p, at, "two hexadecimal digits were expected");
			return 0;
		}
		out[size++] = (uint8_t)(high << 4 | low);
		at++;
	}
	return size;
}

// Takes a piece; what it gives is no longer than itself.
static size_t take_piece(struct pd_parser *p, uint8_t *out)
{
	bool hex = *p->at == 'x';
	const char *begin = p->at + hex;
	const char *end = quote_end(p, begin);
	size_t size;

	if (!end) {
		pd_parse_fail(p, begin, "the quote is not closed on its line");
		return 0;
	}
	size = hex ? unhex(p, begin + 1, end, out) : unescape(p, begin + 1, end, out);
	if (!p->failed_at)
		p->at = end + 1;
	return size;
}

// Room that the pieces from here on take at most.
static size_t pieces_room(struct pd_parser *p)
{
	const char *before = p->at;
	size_t room = 1;

	while (is_piece(p)) {
		const char *begin = p->at + (*p->at == 'x'), *end = quote_end(p, begin);

		if (!end)
			break;
		room += (size_t)(end - begin);
		p->at = end + 1;
	}
	p->at = before;
	return room;
}

struct pd_bytes pd_parse_bytes(struct pd_parser *p)
{
	struct pd_bytes bytes = {NULL, 0};
	uint8_t *out;

	if (!is_piece(p)) {
		pd_parse_fail(p, p->at, "a text in quotes or bytes like x\"0a\" were expected");
		return bytes;
	}
	out = take_memory(p, pieces_room(p));
	while (out && !p->failed_at && is_piece(p))
		bytes.size += take_piece(p, out + bytes.size);
	bytes.data = out;
	return p->failed_at ? (struct pd_bytes){NULL, 0} : bytes;
}

static struct pd_bytes parse_quoted(struct pd_parser *p)
{
	struct pd_bytes bytes = {NULL, 0};
	const char *begin;

	if (!pd_parse_more(p) || *p->at != '"') {
		pd_parse_fail(p, p->at, "a text in quotes was expected");
		return bytes;
	}
	begin = p->at;
	bytes = pd_parse_bytes(p);
	if (bytes.size && memchr(bytes.data, 0, bytes.size))
		pd_parse_fail(p, begin, "a text holds no NUL");
	return bytes;
}

const char *pd_parse_text(struct pd_parser *p)
{
	struct pd_bytes bytes = parse_quoted(p);

	// memory is zeroed, and there was room for a quote
	return p->failed_at ? "" : (const char *)bytes.data;
}

// ---- numbers ----

static uint64_t parse_digits(struct pd_parser *p, unsigned base)
{
	const char *begin = p->at;
	uint64_t value = 0;

	for (int digit; p->at < p->end && (digit = hex_digit(*p->at)) >= 0 && digit < (int)base; p->at++) {
		if (value > (UINT64_MAX - (unsigned)digit) / base) {
			pd_parse_fail(p, begin, "the number is too large");
			return 0;
		}
		value = value * base + (unsigned)digit;
	}
	if (p->at == begin)
		pd_parse_fail(p, begin, "a number was expected");
	return value;
}

static uint64_t parse_unsigned(struct pd_parser *p)
{
	if (p->end - p->at > 2 && p->at[0] == '0' && (p->at[1] == 'x' || p->at[1] == 'X')) {
		p->at += 2;
		return parse_digits(p, 16);
	}
	return parse_digits(p, 10);
}

// What stands behind a number ends it.
static void check_end(struct pd_parser *p)
{
	if (p->at < p->end && (is_letter(*p->at) || is_digit(*p->at) || *p->at == '.' || *p->at == '"'))
		pd_parse_fail(p, p->at, "this does not belong to a number");
}

uint64_t pd_parse_u64(struct pd_parser *p, uint64_t most)
{
	const char *begin;
	uint64_t value;

	pd_parse_more(p);
	begin = p->at;
	value = parse_unsigned(p);
	check_end(p);
	if (value > most)
		pd_parse_fail(p, begin, "the number is too large, at most %" PRIu64 " fits", most);
	return p->failed_at ? 0 : value;
}

// A number of so many bytes; negative ones have the same bits in an unsigned field.
static uint64_t parse_sized(struct pd_parser *p, size_t size)
{
	uint64_t most = size >= 8 ? UINT64_MAX : (UINT64_C(1) << size * 8) - 1;
	const char *begin;
	uint64_t value;

	pd_parse_more(p);
	begin = p->at;
	if (!pd_parse_take(p, '-'))
		return pd_parse_u64(p, most);
	value = pd_parse_u64(p, UINT64_MAX);
	if (value > most / 2 + 1)
		pd_parse_fail(p, begin, "the number is too small");
	return (0 - value) & most;
}

// Seconds with a point, else ns; "none" is the largest number.
static uint64_t parse_time(struct pd_parser *p)
{
	const char *begin;
	uint64_t value, part = 0;

	if (pd_parse_more(p) && word_length(p) == 4 && !memcmp(p->at, "none", 4)) {
		p->at += 4;
		return UINT64_MAX;
	}
	begin = p->at;
	value = parse_unsigned(p);
	if (p->at == p->end || *p->at != '.') {
		check_end(p);
		return value;
	}
	p->at++;
	for (unsigned i = 0; i < 9; i++) {
		bool more = p->at < p->end && is_digit(*p->at);

		part = part * 10 + (more ? (unsigned)(*p->at - '0') : 0);
		p->at += more;
	}
	check_end(p);
	if (value > (UINT64_MAX - part) / 1000000000)
		pd_parse_fail(p, begin, "the time is too large");
	return value * 1000000000 + part;
}

static double parse_f64(struct pd_parser *p)
{
	char number[64];
	size_t length = 0;
	double value = 0;
	uint64_t bits;
	char *end;

	pd_parse_more(p);
	if (p->end - p->at > 2 && p->at[0] == '0' && p->at[1] == 'x') {
		bits = parse_unsigned(p);
		memcpy(&value, &bits, sizeof(value));
		return value;
	}
	while (p->at + length < p->end && length < sizeof(number) - 1 &&
	       (is_digit(p->at[length]) || strchr("+-.eE", p->at[length])) && p->at[length])
		length++;
	memcpy(number, p->at, length);
	number[length] = '\0';
	value = strtod(number, &end);
	if (!length || *end)
		pd_parse_fail(p, p->at, "a number was expected");
	else
		p->at += length;
	return value;
}

// ---- names ----

// A name of a value or bit: a word, or a text in quotes. False if none is next.
static bool parse_name(struct pd_parser *p, char *name, size_t size)
{
	if (!pd_parse_more(p) || (*p->at != '"' && !is_letter(*p->at)))
		return false;
	if (*p->at == '"')
		snprintf(name, size, "%s", pd_parse_text(p));
	else
		pd_parse_word(p, name, size);
	return true;
}

static void fail_name(struct pd_parser *p, const char *at, const char *name, const struct pd_names *names)
{
	struct pd_nearest nearest = {.word = name};

	for (size_t i = 0; i < names->count; i++)
		pd_nearest_try(&nearest, names->items[i].text);
	if (nearest.best)
		pd_parse_fail(p, at, "%s has no '%s', did you mean '%s'?", names->name, name, nearest.best);
	else
		pd_parse_fail(p, at, "%s has no '%s'", names->name, name);
}

static const struct pd_name *find_name(struct pd_parser *p, const struct pd_names *names, const char *at, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (strcasecmp(names->items[i].text, name) == 0)
			return &names->items[i];
	fail_name(p, at, name, names);
	return NULL;
}

static uint64_t parse_value(struct pd_parser *p, const struct pd_names *names, size_t size)
{
	uint64_t most = size >= 8 ? UINT64_MAX : (UINT64_C(1) << size * 8) - 1;
	char name[WORD_ROOM];
	const struct pd_name *found;
	const char *begin;

	pd_parse_more(p);
	begin = p->at;
	if (!parse_name(p, name, sizeof(name)))
		return parse_sized(p, size);
	found = p->failed_at ? NULL : find_name(p, names, begin, name);
	return found ? (uint64_t)found->value & most : 0;
}

static uint64_t parse_bit(struct pd_parser *p, const struct pd_names *names)
{
	char name[WORD_ROOM];
	const struct pd_name *found;
	const char *begin;
	uint64_t value, most;

	pd_parse_more(p);
	begin = p->at;
	if (!parse_name(p, name, sizeof(name)))
		return pd_parse_u64(p, UINT64_MAX);
	found = p->failed_at ? NULL : find_name(p, names, begin, name);
	if (!found)
		return 0;
	most = found->width >= 64 ? UINT64_MAX : (UINT64_C(1) << found->width) - 1;
	if (p->at == p->end || *p->at != '(') {
		if (found->width > 1)
			pd_parse_fail(p, p->at, "%s wants a value in parentheses", found->text);
		return UINT64_C(1) << found->value;
	}
	p->at++;
	begin = p->at;
	if (!found->values)
		value = pd_parse_u64(p, most);
	else if (found->values->bits)
		value = pd_parse_bits(p, found->values);
	else
		value = parse_value(p, found->values, 8);
	if (value > most)
		pd_parse_fail(p, begin, "%s has only %u bits", found->text, found->width);
	pd_parse_want(p, ')');
	return p->failed_at ? 0 : value << found->value;
}

uint64_t pd_parse_bits(struct pd_parser *p, const struct pd_names *names)
{
	uint64_t word = 0;

	if (++p->depth > MOST_DEPTH)
		pd_parse_fail(p, p->at, "this is too deep");
	do
		word |= parse_bit(p, names);
	while (!p->failed_at && pd_parse_take(p, '|'));
	p->depth--;
	return word;
}

static uint16_t misc_word(struct pd_parser *p, uint32_t type, const char *begin, const char *name)
{
	struct pd_nearest nearest = {.word = name};

	for (size_t i = 0; i < pd_names_cpumode.count; i++) {
		const struct pd_name *mode = &pd_names_cpumode.items[i];

		if (strcasecmp(mode->text, name) == 0)
			return (uint16_t)mode->value;
		pd_nearest_try(&nearest, mode->text);
	}
	for (unsigned bit = 12; bit < 16; bit++) {
		const char *text = bit == 12 ? "PROC_MAP_PARSE_TIMEOUT" : pd_misc_bit_name(type, bit);

		if (!text)
			continue;
		if (strcasecmp(text, name) == 0)
			return (uint16_t)(1u << bit);
		pd_nearest_try(&nearest, text);
	}
	if (nearest.best)
		pd_parse_fail(p, begin, "misc of this record has no '%s', did you mean '%s'?", name, nearest.best);
	else
		pd_parse_fail(p, begin, "misc of this record has no '%s'", name);
	return 0;
}

uint16_t pd_parse_misc(struct pd_parser *p, uint32_t type)
{
	char name[WORD_ROOM];
	uint16_t misc = 0;

	do {
		const char *begin;

		pd_parse_more(p);
		begin = p->at;
		if (parse_name(p, name, sizeof(name)))
			misc |= misc_word(p, type, begin, name);
		else
			misc |= (uint16_t)pd_parse_u64(p, UINT16_MAX);
	} while (!p->failed_at && pd_parse_take(p, '|'));
	return misc;
}

// ---- fields ----

static void put_number(void *out, size_t offset, size_t size, uint64_t value)
{
	uint8_t *at = (uint8_t *)out + offset;
	uint16_t two = (uint16_t)value;
	uint32_t four = (uint32_t)value;

	if (size == 1)
		*at = (uint8_t)value;
	else if (size == 2)
		memcpy(at, &two, sizeof(two));
	else if (size == 4)
		memcpy(at, &four, sizeof(four));
	else
		memcpy(at, &value, sizeof(value));
}

static void parse_number(struct pd_parser *p, const struct pd_field *field, void *out)
{
	uint64_t value;

	if (field->kind == PD_KIND_F64) {
		double number = parse_f64(p);

		memcpy((uint8_t *)out + field->offset, &number, sizeof(number));
		return;
	}
	if (field->show == PD_SHOW_TIME)
		value = parse_time(p);
	else if (field->show == PD_SHOW_NAMES)
		value = parse_value(p, field->names, field->size);
	else if (field->show == PD_SHOW_BITS)
		value = pd_parse_bits(p, field->names);
	else
		value = parse_sized(p, field->size);
	if (field->size < 8 && value >> field->size * 8)
		pd_parse_fail(p, p->at, "%s has only %u bytes", field->name, field->size);
	else
		put_number(out, field->offset, field->size, value);
}

// Room behind a text: "abc"+64 or "abc"+x"00ff".
static void parse_padding(struct pd_parser *p, struct pd_bytes text, struct pd_str *str)
{
	const char *begin = p->at;
	uint8_t *copy;
	uint64_t size;

	if (is_piece(p)) {
		struct pd_bytes behind = pd_parse_bytes(p);

		size = text.size + behind.size;
		copy = take_memory(p, size + 1);
		if (copy && behind.size)
			memcpy(copy + text.size, behind.data, behind.size);
	} else {
		size = pd_parse_u64(p, UINT32_MAX - 1);
		if (size < text.size)
			pd_parse_fail(p, begin, "the text alone has %zu bytes", text.size);
		copy = p->failed_at ? NULL : take_memory(p, size + 1);
	}
	if (!copy)
		return;
	if (text.size)
		memcpy(copy, text.data, text.size);
	str->data = (const char *)copy;
	str->size = (uint32_t)size;
}

static void parse_str(struct pd_parser *p, const struct pd_field *field, void *member)
{
	struct pd_bytes text = parse_quoted(p);
	struct pd_str str = {.data = (const char *)text.data, .length = (uint32_t)text.size};

	if (p->failed_at)
		return;
	if (text.size > UINT32_MAX - 1)
		pd_parse_fail(p, p->at, "the text is too long");
	else if (p->at < p->end && *p->at == '+') {
		p->at++;
		parse_padding(p, text, &str);
	} else if (field->line == PD_LINE_CHARS && !text.size) {
		str.data = NULL; // all of its place, not one that was cut off
	}
	memcpy(member, &str, sizeof(str));
}

static uint64_t parse_item(struct pd_parser *p, const struct pd_field *field, size_t size)
{
	if (field->show == PD_SHOW_CHAIN)
		return parse_value(p, field->names, size);
	return parse_sized(p, size);
}

// "AX:" in front of a register has to be the name of the one that stands there.
static void parse_register(struct pd_parser *p, uint64_t mask)
{
	const char *begin;
	char word[WORD_ROOM];
	const char *name;

	pd_parse_more(p);
	begin = p->at;
	if (!word_length(p))
		return;
	pd_parse_word(p, word, sizeof(word));
	name = mask ? pd_register_name(p->arch, (unsigned)__builtin_ctzll(mask)) : NULL;
	if (name && strcasecmp(name, word) != 0)
		pd_parse_fail(p, begin, "register %s was expected", name);
	pd_parse_want(p, ':');
}

// Items double the memory: what is left behind goes with the statement.
static bool grow(struct pd_parser *p, uint8_t **items, size_t *capacity, size_t count, size_t size)
{
	size_t more = *capacity ? *capacity * 2 : 8;
	uint8_t *grown;

	if (count < *capacity)
		return true;
	grown = take_memory(p, more * size);
	if (!grown)
		return false;
	if (count)
		memcpy(grown, *items, count * size);
	*items = grown;
	*capacity = more;
	return true;
}

static bool at_item(struct pd_parser *p)
{
	return !p->failed_at && pd_parse_more(p) && *p->at != ']';
}

static void parse_numbers(struct pd_parser *p, const struct pd_field *field, void *member)
{
	static const uint8_t sizes[] = {[PD_KIND_U8] = 1, [PD_KIND_U16] = 2, [PD_KIND_U32] = 4, [PD_KIND_U64] = 8};
	uint64_t mask = field->show == PD_SHOW_REGS ? p->scope.words[field->word] : 0;
	size_t size = sizes[field->kind], count = 0, capacity = 0;
	struct pd_bytes array;
	uint8_t *items = NULL;

	for (pd_parse_want(p, '['); at_item(p) && grow(p, &items, &capacity, count, size); count++) {
		if (field->show == PD_SHOW_REGS)
			parse_register(p, mask);
		put_number(items, count * size, size, parse_item(p, field, size));
		mask &= mask - 1;
	}
	pd_parse_want(p, ']');
	array = (struct pd_bytes){items, count};
	memcpy(member, &array, sizeof(array));
}

struct pd_u64s pd_parse_u64s(struct pd_parser *p)
{
	static const struct pd_field numbers = {.kind = PD_KIND_U64};
	struct pd_u64s array = {NULL, 0};

	parse_numbers(p, &numbers, &array);
	return array;
}

static void parse_braced(struct pd_parser *p, const struct pd_layout *layout, void *out)
{
	pd_parse_want(p, '{');
	if (++p->depth > MOST_DEPTH)
		pd_parse_fail(p, p->at, "this is too deep");
	else
		pd_parse_struct(p, layout, out);
	p->depth--;
	pd_parse_want(p, '}');
}

static void parse_list(struct pd_parser *p, const struct pd_layout *layout, struct pd_list *list)
{
	size_t count = 0, capacity = 0;
	uint8_t *items = NULL;

	for (pd_parse_want(p, '['); at_item(p) && grow(p, &items, &capacity, count, layout->struct_size); count++)
		parse_braced(p, layout, items + count * layout->struct_size);
	pd_parse_want(p, ']');
	*list = (struct pd_list){items, count, layout->struct_size};
}

// One of the records in a feature, encoded.
static struct pd_bytes parse_record(struct pd_parser *p, const struct pd_layout *layout)
{
	struct pd_record_head head = {0};
	struct pd_bytes record = {NULL, 0};
	struct pd_parser before;
	void *decoded = take_memory(p, layout->struct_size);
	struct pd_pen pen;
	uint8_t *room;

	pd_parse_want(p, '{');
	if (pd_parse_key(p, "type"))
		head.type = (uint32_t)pd_parse_u64(p, UINT32_MAX);
	if (pd_parse_key(p, "misc"))
		head.misc = pd_parse_misc(p, PD_RECORD_HEADER_BUILD_ID);
	before = *p;
	p->scope.words[PD_WORD_MISC] = head.misc;
	if (decoded)
		pd_parse_struct(p, layout, decoded);
	pd_parse_want(p, '}');
	p->scope = before.scope;
	if (p->failed_at)
		return record;
	room = take_memory(p, UINT16_MAX + 1);
	if (!room)
		return record;
	pen = pd_pen(room, UINT16_MAX + 1, p->big);
	pd_record_put(&pen, &head, layout, PD_GROUP_TOOL, &p->scope, decoded);
	if (pen.failed || pd_pen_full(&pen))
		pd_parse_fail(p, before.at, "%s: %s", pen.field ? pen.field : layout->name,
			      pen.failed ? pen.reason : "record is too large");
	return (struct pd_bytes){room, p->failed_at ? 0 : pen.need};
}

static void parse_records(struct pd_parser *p, const struct pd_field *field, void *member)
{
	const struct pd_layout *layout = pd_record_layout(field->count.value);
	size_t capacity = 0;
	struct pd_bytes all = {NULL, 0};
	uint8_t *data = NULL;

	for (pd_parse_want(p, '['); at_item(p);) {
		struct pd_bytes piece = *p->at == '{' ? parse_record(p, layout) : pd_parse_bytes(p);

		while (!p->failed_at && capacity - all.size < piece.size) {
			size_t filled = all.size;

			// grows when it is full
			if (!grow(p, &data, &capacity, capacity, 1))
				filled = 0;
			all.size = filled;
		}
		if (p->failed_at)
			break;
		if (piece.size)
			memcpy(data + all.size, piece.data, piece.size);
		all.size += piece.size;
	}
	pd_parse_want(p, ']');
	all.data = data;
	memcpy(member, &all, sizeof(all));
}

static void parse_field(struct pd_parser *p, const struct pd_field *field, void *out)
{
	void *member = (uint8_t *)out + field->offset;
	struct pd_bytes bytes;
	void *part;

	switch (field->line) {
	case PD_LINE_TEXT:
	case PD_LINE_CHARS:
		parse_str(p, field, member);
		break;
	case PD_LINE_ARRAY:
		if (field->kind != PD_KIND_U8) {
			parse_numbers(p, field, member);
			break;
		}
		bytes = pd_parse_bytes(p);
		memcpy(member, &bytes, sizeof(bytes));
		break;
	case PD_LINE_LIST:
		parse_list(p, field->part, member);
		break;
	case PD_LINE_RECORDS:
		parse_records(p, field, member);
		break;
	case PD_LINE_ONE:
	case PD_LINE_AGAIN:
	case PD_LINE_BOXED:
		part = take_memory(p, field->part->struct_size);
		if (part)
			parse_braced(p, field->part, part);
		memcpy(member, &part, sizeof(part));
		break;
	default:
		parse_number(p, field, out);
		break;
	}
}

// ---- structs ----

// A struct while its fields are read.
struct reading {
	const struct pd_layout *layout;
	const struct pd_field *fields;
	size_t count;
	void *out;
	const char *given[MOST_FIELDS]; // where a field stands
	bool has_size, has_id;
};

static bool has_bytes(const struct pd_field *field)
{
	return field->line < PD_LINE_MORE;
}

// The field of a name, of which there may be two; looks behind the last one first.
static size_t find_field(const struct reading *r, size_t last, const char *name, size_t length)
{
	for (size_t i = 0; i < r->count; i++) {
		size_t at = (last + i) % r->count;

		if (has_bytes(&r->fields[at]) && strlen(r->fields[at].name) == length &&
		    !memcmp(r->fields[at].name, name, length))
			return at;
	}
	return r->count;
}

static void fail_field(struct pd_parser *p, const struct reading *r, const char *at, size_t length)
{
	char name[WORD_ROOM];
	struct pd_nearest nearest = {.word = name};

	snprintf(name, sizeof(name), "%.*s", length < sizeof(name) ? (int)length : (int)sizeof(name) - 1, at);
	for (size_t i = 0; i < r->count; i++)
		if (has_bytes(&r->fields[i]))
			pd_nearest_try(&nearest, r->fields[i].name);
	if (!length)
		pd_parse_fail(p, at, "the name of a field of %s was expected", r->layout->name);
	else if (nearest.best)
		pd_parse_fail(p, at, "%s has no field '%s', did you mean '%s'?", r->layout->name, name, nearest.best);
	else
		pd_parse_fail(p, at, "%s has no field '%s'", r->layout->name, name);
}

// What every struct of some form may have. True if it was that.
static bool parse_end(struct pd_parser *p, struct reading *r)
{
	struct pd_body_head *head = r->out;
	struct pd_sample_id *sample_id;

	if (r->layout->form != PD_FORM_PART && pd_parse_key(p, "rest")) {
		head->rest = pd_parse_bytes(p);
		return true;
	}
	if (r->layout->form != PD_FORM_BODY || !pd_parse_key(p, "sample_id"))
		return false;
	r->has_id = true;
	head->sample_id = NULL;
	if (pd_parse_more(p) && word_length(p) == 4 && !memcmp(p->at, "none", 4)) {
		p->at += 4;
		return true;
	}
	sample_id = take_memory(p, sizeof(*sample_id));
	if (sample_id)
		parse_braced(p, &pd_layouts[PD_LAYOUT_sample_id], sample_id);
	head->sample_id = sample_id;
	return true;
}

static bool parse_wire_size(struct pd_parser *p, struct reading *r)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct pd_when *when = &r->fields[i].when;

		if (when->op != PD_WHEN_SINCE)
			continue;
		if (!pd_parse_key(p, "wire_size"))
			return false;
		put_number(r->out, when->offset, when->size, pd_parse_u64(p, UINT32_MAX));
		r->has_size = true;
		return true;
	}
	return false;
}

static void set_words(struct pd_parser *p, const struct reading *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->fields[i].line == PD_LINE_SET)
			p->scope.words[r->fields[i].word] = pd_member(r->out, r->fields[i].offset, r->fields[i].size);
}

static void parse_fields(struct pd_parser *p, struct reading *r)
{
	size_t last = 0;

	while (!p->failed_at && pd_parse_more(p) && *p->at != '}') {
		const char *begin = p->at;
		size_t length = word_length(p);
		size_t at = find_field(r, last, begin, length);

		if (at == r->count) {
			if (parse_end(p, r) || parse_wire_size(p, r))
				continue;
			fail_field(p, r, begin, length);
			return;
		}
		if (r->given[at])
			pd_parse_fail(p, begin, "%s.%s is there twice", r->layout->name, r->fields[at].name);
		r->given[at] = begin;
		p->at += length;
		pd_parse_want(p, ':');
		if (!p->failed_at)
			parse_field(p, &r->fields[at], r->out);
		set_words(p, r);
		last = at + 1;
	}
}

// ---- what is left out ----

static size_t find_member(const struct reading *r, size_t offset)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->fields[i].line == PD_LINE_FIELD && r->fields[i].offset == offset)
			return i;
	return r->count;
}

static uint64_t count_of(struct pd_parser *p, const struct reading *r, const struct pd_field *field)
{
	const void *member = (const uint8_t *)r->out + field->offset;
	struct pd_pen pen = pd_pen(NULL, 0, p->big);
	struct pd_scope scope = p->scope;
	struct pd_list list;
	const void *part;

	switch (field->line) {
	case PD_LINE_ARRAY:
		return pd_array_of(r->out, field).size;
	case PD_LINE_LIST:
		memcpy(&list, member, sizeof(list));
		return list.count;
	default:
		memcpy(&part, member, sizeof(part));
		if (part)
			field->part->encode(&pen, &scope, part);
		return pen.need;
	}
}

// Counts that nobody wrote are those of what is listed.
static void count_members(struct pd_parser *p, const struct reading *r)
{
	for (size_t i = 0; i < r->count && !p->failed_at; i++) {
		const struct pd_field *field = &r->fields[i];
		size_t member = field->count.op == PD_COUNT_MEMBER || field->count.op == PD_COUNT_BITMAP
					? find_member(r, field->count.offset)
					: r->count;
		uint64_t count;

		if (!r->given[i] || member == r->count || r->given[member] || field->line == PD_LINE_MORE)
			continue;
		count = count_of(p, r, field) * (field->count.op == PD_COUNT_BITMAP ? 64 : 1);
		if (field->count.size < 8 && count >> field->count.size * 8)
			pd_parse_fail(p, r->given[i], "%s.%s: too many to be counted", r->layout->name, field->name);
		put_number(r->out, field->count.offset, field->count.size, count);
	}
}

// Whether more follows is said by what is there.
static void find_more(const struct reading *r)
{
	for (size_t i = 0; i < r->count; i++) {
		bool *more = (bool *)((uint8_t *)r->out + r->fields[i].offset);

		if (r->fields[i].line != PD_LINE_MORE)
			continue;
		for (size_t j = 0; j < r->count; j++)
			if (r->given[j] && r->fields[j].when.op == PD_WHEN_NOT && r->fields[j].when.offset == r->fields[i].offset)
				*more = true;
	}
}

static void take_said_size(const struct reading *r)
{
	uint64_t said = pd_layout_said_size(r->layout, r->out);

	for (size_t i = 0; i < r->count && said && !r->has_size; i++)
		if (r->fields[i].when.op == PD_WHEN_SINCE)
			put_number(r->out, r->fields[i].when.offset, r->fields[i].when.size, said);
}

// A field may have two places; one of them is enough.
static bool is_there(struct pd_parser *p, const struct reading *r, size_t at)
{
	if (pd_when_holds(&r->fields[at].when, &p->scope, r->out))
		return true;
	for (size_t i = 0; i < r->count; i++)
		if (has_bytes(&r->fields[i]) && r->fields[i].offset == r->fields[at].offset &&
		    pd_when_holds(&r->fields[i].when, &p->scope, r->out))
			return true;
	return false;
}

static uint64_t made_count(struct pd_parser *p, const struct reading *r, const struct pd_field *field)
{
	switch (field->count.op) {
	case PD_COUNT_FIXED:
		return field->count.value;
	case PD_COUNT_POPCOUNT:
		return (uint64_t)__builtin_popcountll(p->scope.words[field->count.word]);
	case PD_COUNT_BITS_OF:
		return (uint64_t)__builtin_popcountll(pd_member(r->out, field->count.offset, field->count.size));
	case PD_COUNT_MEMBER:
		return pd_member(r->out, field->count.offset, field->count.size);
	case PD_COUNT_BITMAP:
		return pd_member(r->out, field->count.offset, field->count.size) / 64 + 1;
	default:
		return 0;
	}
}

static void make_array(struct pd_parser *p, const struct reading *r, const struct pd_field *field)
{
	uint64_t count = made_count(p, r, field);
	struct pd_bytes array = {NULL, (size_t)count};

	// the encoder will miss it
	if (!count || count > MOST_MADE)
		return;
	array.data = take_memory(p, (size_t)count * 8);
	if (array.data)
		memcpy((uint8_t *)r->out + field->offset, &array, sizeof(array));
}

// A struct of which nobody wrote anything.
static void *make_struct(struct pd_parser *p, const struct pd_layout *layout)
{
	const char *at = p->at;
	void *out = take_memory(p, layout->struct_size);

	p->at = p->end;
	if (out)
		pd_parse_struct(p, layout, out);
	if (!p->failed_at)
		p->at = at;
	return out;
}

static void make_part(struct pd_parser *p, const struct reading *r, const struct pd_field *field)
{
	void *part = make_struct(p, field->part);

	memcpy((uint8_t *)r->out + field->offset, &part, sizeof(part));
}

static void make_field(struct pd_parser *p, const struct reading *r, const struct pd_field *field)
{
	switch (field->line) {
	case PD_LINE_FIELD:
		if (field->role == PD_ROLE_ID && p->id)
			put_number(r->out, field->offset, field->size, p->id);
		break;
	case PD_LINE_ARRAY:
		make_array(p, r, field);
		break;
	case PD_LINE_ONE:
	case PD_LINE_AGAIN:
	case PD_LINE_BOXED:
		make_part(p, r, field);
		break;
	default:
		break;
	}
}

// Kernel records have a trailer where their event says so.
static void make_sample_id(struct pd_parser *p, const struct reading *r)
{
	struct pd_body_head *head = r->out;

	if (r->layout->form == PD_FORM_BODY && !r->has_id && p->scope.words[PD_WORD_TRAILER])
		head->sample_id = make_struct(p, &pd_layouts[PD_LAYOUT_sample_id]);
}

static bool is_given(const struct reading *r, size_t at)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->given[i] && r->fields[i].offset == r->fields[at].offset && has_bytes(&r->fields[i]))
			return true;
	return false;
}

static void finish(struct pd_parser *p, const struct reading *r)
{
	count_members(p, r);
	find_more(r);
	take_said_size(r);
	set_words(p, r);
	for (size_t i = 0; i < r->count && !p->failed_at; i++) {
		const struct pd_field *field = &r->fields[i];

		if (r->given[i] && !is_there(p, r, i))
			pd_parse_fail(p, r->given[i], "%s.%s is there only if %s", r->layout->name, field->name,
				      field->when.text);
	}
	for (size_t i = 0; i < r->count && !p->failed_at; i++) {
		const struct pd_field *field = &r->fields[i];

		if (!r->given[i] && has_bytes(field) && pd_when_holds(&field->when, &p->scope, r->out) && !is_given(r, i))
			make_field(p, r, field);
	}
	if (!p->failed_at)
		make_sample_id(p, r);
}

void pd_parse_struct(struct pd_parser *p, const struct pd_layout *layout, void *out)
{
	struct reading r;

	r.layout = layout;
	r.fields = layout->fields(&r.count);
	r.out = out;
	r.has_size = r.has_id = false;
	if (r.count > MOST_FIELDS)
		pd_parse_fail(p, p->at, "%s has too many fields", layout->name);
	if (p->failed_at)
		return;
	memset(r.given, 0, r.count * sizeof(r.given[0]));
	parse_fields(p, &r);
	if (!p->failed_at)
		finish(p, &r);
}
