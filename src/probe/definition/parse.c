/* SPDX-License-Identifier: MIT */
/*
 * Definitions of probes as perf probe takes them:
 *   [[GROUP:]EVENT=]FUNC[@SRC][+OFFSET|%return|:LINE|;PATTERN] [ARG...]
 *   [[GROUP:]EVENT=]SRC{:LINE|;PATTERN} [ARG...]
 *   ARG: [NAME=]VALUE[:TYPE][@user]     VALUE: VAR[->FIELD|.FIELD|[INDEX]]..., $retval, %register, @symbol and the like
 * A backslash or quotes keep what would be a separator.
 */
#include "probe/definition/definition.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct parsing {
	struct pd_arena *arena;
	const char *text; // all of it
	struct pd_error *error;
	const char *copy,
		*original; // of an argument, which is cut into parts: where it begins, and where that is in the text
};

static enum pd_status fail_at(const struct parsing *p, const char *at, const char *sentence, const char *what)
{
	size_t column = (size_t)(at - p->text);

	return pd_fail(p->error, PD_ERROR_ARGUMENT, column, "'%s', column %zu: %s%s%s%s", p->text, column + 1, sentence,
		       what ? " '" : "", what ? what : "", what ? "'" : "");
}

// The same of a place in the copy.
static enum pd_status fail_in(const struct parsing *p, const char *at, const char *sentence, const char *what)
{
	return fail_at(p, p->original + (at - p->copy), sentence, what);
}

// ---- words ----

// The first character of a set that is neither escaped nor in quotes; end if there is none.
static const char *find_any(const char *at, const char *end, const char *set)
{
	char quote = 0;

	for (; at < end; at++) {
		if (*at == '\\' && at + 1 < end)
			at++;
		else if (quote)
			quote = *at == quote ? 0 : quote;
		else if (strchr(set, *at))
			return at;
		else if (*at == '"' || *at == '\'')
			quote = *at;
	}
	return end;
}

char *pd_probe_plain(struct pd_arena *arena, const char *text, size_t length)
{
	char *plain = pd_arena_text(arena, text, length), *to = plain, quote = 0;

	for (const char *at = plain; at && at < plain + length; at++) {
		if (*at == '\\' && at + 1 < plain + length)
			*to++ = *++at;
		else if (*at == quote)
			quote = 0;
		else if (!quote && (*at == '"' || *at == '\''))
			quote = *at;
		else
			*to++ = *at;
	}
	if (to)
		*to = 0;
	return plain;
}

bool pd_probe_is_name(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	while (isalnum((unsigned char)*name) || *name == '_')
		name++;
	return !*name;
}

bool pd_probe_is_variable(const struct pd_probe_argument *argument)
{
	return isalpha((unsigned char)argument->variable[0]) || argument->variable[0] == '_';
}

static bool take_number(const char *text, const char *end, uint64_t *number_out)
{
	char digits[32], *stop;
	size_t length = (size_t)(end - text);

	if (!length || length >= sizeof(digits) || !isdigit((unsigned char)*text))
		return false;
	memcpy(digits, text, length);
	digits[length] = 0;
	errno = 0;
	*number_out = strtoull(digits, &stop, 0);
	return !*stop && !errno;
}

// ---- types ----

static bool is_listed_type(const char *type, size_t length)
{
	static const char *const types[] = {
#define TYPE(name, what) name,
#include "probe/definition/types.def"
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i]) == length && memcmp(types[i], type, length) == 0)
			return true;
	return false;
}

static const char *skip_digits(const char *at)
{
	while (isdigit((unsigned char)*at))
		at++;
	return at;
}

static bool is_bit_field(const char *type, size_t length)
{
	const char *at = type + 1, *next = skip_digits(at);

	if (*type != 'b' || next == at || *next != '@')
		return false;
	at = next + 1;
	next = skip_digits(at);
	if (next == at || *next != '/')
		return false;
	at = next + 1;
	next = skip_digits(at);
	return next != at && next == type + length;
}

bool pd_probe_is_type(const char *type)
{
	const char *bracket = strchr(type, '[');
	size_t length = bracket ? (size_t)(bracket - type) : strlen(type);

	if (bracket && (skip_digits(bracket + 1) == bracket + 1 || strcmp(skip_digits(bracket + 1), "]") != 0))
		return false;
	return is_listed_type(type, length) || is_bit_field(type, length);
}

// ---- arguments ----

static enum pd_status take_index(const struct parsing *p, const char *start, struct pd_probe_field *field,
				 const char **end_out)
{
	char *stop;

	errno = 0;
	field->is_index = true;
	field->is_arrow = true;
	field->index = strtol(start + 1, &stop, 0);
	if (*stop != ']' || stop == start + 1 || errno)
		return fail_in(p, start + 1, "the index of an array is a number, followed by ]", NULL);
	if (stop[1] && !strchr("-.[", stop[1]))
		return fail_in(p, stop + 1, "expected ., -> or [ after ]", NULL);
	*end_out = stop + 1;
	return PD_OK;
}

static enum pd_status take_field(struct parsing *p, const char **at, struct pd_probe_field *field)
{
	const char *start = *at;
	enum pd_status status = PD_OK;

	if (*start == '[') {
		status = take_index(p, start, field, at);
	} else {
		field->is_arrow = *start == '-';
		if (field->is_arrow && start[1] != '>')
			return fail_in(p, start, "expected -> after the variable", NULL);
		start += field->is_arrow ? 2 : 1;
		*at = start + strcspn(start, "-.[");
		if (*at == start)
			return fail_in(p, start, "the name of a field is missing", NULL);
	}
	if (status)
		return status;
	field->name = pd_arena_text(p->arena, start, (size_t)(*at - start));
	return field->name ? PD_OK : pd_fail_memory(p->error);
}

// The last field that has a name is that of the argument, if no other one was given.
static enum pd_status take_fields(struct parsing *p, const char *at, struct pd_probe_argument *argument)
{
	struct pd_probe_field **link = &argument->fields;
	const char *name = argument->variable;

	while (*at) {
		struct pd_probe_field *field = pd_arena_alloc(p->arena, sizeof(*field));
		enum pd_status status = field ? take_field(p, &at, field) : pd_fail_memory(p->error);

		if (status)
			return status;
		name = field->is_index ? name : field->name;
		*link = field;
		link = &field->next;
	}
	if (!argument->name)
		argument->name = name;
	return PD_OK;
}

// word is the copy, which is cut into parts.
static enum pd_status take_value(struct parsing *p, char *word, struct pd_probe_argument *argument)
{
	char *at = strchr(word, '@');

	if (at && at != word && strcmp(at + 1, "user") == 0) {
		*at = 0;
		argument->is_user = true;
	}
	at = strchr(word, ':');
	if (at) {
		*at = 0;
		argument->type = at + 1;
		if (!pd_probe_is_type(argument->type))
			return fail_in(p, at + 1, "unknown type", argument->type);
	}
	if (!*word)
		return fail_in(p, word, "the value of an argument is missing", NULL);
	argument->variable = word;
	at = strpbrk(word, "-.[");
	if (!pd_probe_is_variable(argument) || !at)
		return PD_OK;
	argument->variable = pd_arena_text(p->arena, word, (size_t)(at - word));
	return argument->variable ? take_fields(p, at, argument) : pd_fail_memory(p->error);
}

static enum pd_status take_argument(struct parsing *p, const char *start, const char *end,
				    struct pd_probe_argument *argument)
{
	char *word = pd_arena_text(p->arena, start, (size_t)(end - start)), *at;

	if (!word)
		return pd_fail_memory(p->error);
	p->copy = word;
	p->original = start;
	at = strchr(word, '=');
	if (at) {
		*at = 0;
		argument->name = word;
		if (!pd_probe_is_name(word))
			return fail_at(p, start, "not a name that an argument can have:", word);
		word = at + 1;
	}
	return take_value(p, word, argument);
}

// ---- the point ----

struct piece {
	char separator;
	const char *start, *end;
};

static enum pd_status take_text(struct parsing *p, const char *start, const char *end, const char **text_out)
{
	*text_out = pd_probe_plain(p->arena, start, (size_t)(end - start));
	return *text_out ? PD_OK : pd_fail_memory(p->error);
}

static enum pd_status take_event(struct parsing *p, const char *start, const char *end, struct pd_probe_definition *d)
{
	const char *colon = find_any(start, end, ":");
	enum pd_status status = PD_OK;

	if (colon < end) {
		status = take_text(p, start, colon, &d->group);
		if (!status && !pd_probe_is_name(d->group))
			return fail_at(p, start, "not a name that a group can have:", d->group);
		start = colon + 1;
	}
	if (!status)
		status = take_text(p, start, end, &d->event);
	if (!status && !pd_probe_is_name(d->event))
		return fail_at(p, start, "not a name that an event can have:", d->event);
	return status;
}

static enum pd_status take_function(struct parsing *p, const struct piece *piece, struct pd_probe_definition *d)
{
	enum pd_status status = take_text(p, piece->start, piece->end, &d->function);

	if (status)
		return status;
	d->is_addr = strncmp(d->function, "0x", 2) == 0;
	if (d->is_addr && !take_number(d->function, d->function + strlen(d->function), &d->addr))
		return fail_at(p, piece->start, "not an address:", d->function);
	return PD_OK;
}

static enum pd_status take_piece(struct parsing *p, const struct piece *piece, struct pd_probe_definition *d)
{
	size_t length = (size_t)(piece->end - piece->start);

	switch (piece->separator) {
	case ':':
		// as perf: nothing is 0
		if (length && (!take_number(piece->start, piece->end, &d->line) || d->line > INT32_MAX))
			return fail_at(p, piece->start, "a line is a number", NULL);
		return PD_OK;
	case '+':
		if (length && !take_number(piece->start, piece->end, &d->offset))
			return fail_at(p, piece->start, "an offset is a number of bytes", NULL);
		return PD_OK;
	case '%':
		if (length != 6 || memcmp(piece->start, "return", 6) != 0)
			return fail_at(p, piece->start, "only %return is known after %", NULL);
		d->is_return = true;
		return PD_OK;
	case ';':
		d->pattern = pd_arena_text(p->arena, piece->start, length);
		return d->pattern ? PD_OK : pd_fail_memory(p->error);
	default:
		if (d->file)
			return fail_at(p, piece->start, "a source file is given twice", NULL);
		if (length == 1 && *piece->start == '*')
			return PD_OK;
		return take_text(p, piece->start, piece->end, &d->file);
	}
}

static enum pd_status check_point(const struct parsing *p, const char *at, const struct pd_probe_definition *d)
{
	const char *wrong = NULL;

	if (d->pattern && d->line)
		wrong = "a pattern and a line exclude each other";
	else if (d->pattern && d->offset)
		wrong = "a pattern and an offset exclude each other";
	else if (d->line && d->offset)
		wrong = "a line and an offset exclude each other";
	else if (!d->line && !d->pattern && d->file && !d->function)
		wrong = "a source file needs a line or a pattern";
	else if (d->offset && !d->function)
		wrong = "an offset needs a function";
	else if ((d->offset || d->line || d->pattern) && d->is_return)
		wrong = "%return goes with a function only";
	else if (!d->function && !d->file)
		wrong = "name a function, or a source file with a line";
	return wrong ? fail_at(p, at, wrong, NULL) : PD_OK;
}

// A name with a point before a line or a pattern is that of a file.
static bool is_file(const char *start, const char *end)
{
	const char *separator = find_any(start, end, ";:");

	return find_any(start, end, "+@%") == end && separator < end &&
	       memchr(start, '.', (size_t)(separator - start)) != NULL;
}

static enum pd_status take_point(struct parsing *p, const char *start, const char *end, struct pd_probe_definition *d)
{
	const char *first = find_any(start, end, ";=@+%");
	struct piece piece;
	enum pd_status status = PD_OK;

	if (*start == '%')
		return fail_at(p, start, "events of SDT are not known; give the address of the probe", NULL);
	if (first < end && *first == '=') {
		status = take_event(p, start, first, d);
		start = first + 1;
	}
	piece = (struct piece){ .start = start, .end = find_any(start, end, ";:+@%") };
	if (!status && piece.end > piece.start)
		status = is_file(start, end) ? take_text(p, piece.start, piece.end, &d->file) :
					       take_function(p, &piece, d);
	while (!status && piece.end < end) {
		piece.separator = *piece.end;
		piece.start = piece.end + 1;
		piece.end = piece.separator == ';' ? end : find_any(piece.start, end, ";:+@%");
		status = take_piece(p, &piece, d);
	}
	return status ? status : check_point(p, start, d);
}

// A line of a function gives the event a name.
static enum pd_status name_line(struct parsing *p, struct pd_probe_definition *d)
{
	struct pd_text text = { .data = NULL };

	if (d->event || !d->function || !d->line)
		return PD_OK;
	pd_text_printf(&text, "%s_L%" PRIu64, d->function, d->line);
	d->event = text.failed ? NULL : pd_arena_text(p->arena, text.data, text.size);
	pd_free(text.data);
	return d->event ? PD_OK : pd_fail_memory(p->error);
}

static const char *skip_blanks(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

static const char *skip_word(const char *at)
{
	while (*at && !isspace((unsigned char)*at))
		at++;
	return at;
}

enum pd_status pd_probe_parse(struct pd_arena *arena, const char *text, struct pd_probe_definition *d,
			      struct pd_error *error)
{
	struct parsing p = { .arena = arena, .text = text, .error = error };
	const char *start = skip_blanks(text), *end = skip_word(start);
	enum pd_status status;

	*d = (struct pd_probe_definition){ .text = text };
	d->arguments = pd_arena_alloc(arena, PD_PROBE_ARGUMENTS * sizeof(*d->arguments));
	if (!d->arguments)
		return pd_fail_memory(error);
	status = take_point(&p, start, end, d);
	if (!status)
		status = name_line(&p, d);
	while (!status && *(start = skip_blanks(end))) {
		struct pd_probe_argument *argument = &d->arguments[d->argument_count];

		end = skip_word(start);
		if (d->argument_count == PD_PROBE_ARGUMENTS)
			return fail_at(&p, start, "too many arguments", NULL);
		status = take_argument(&p, start, end, argument);
		if (!status && d->is_return && pd_probe_is_variable(argument))
			return fail_at(&p, start, "variables have no place at a return; use $retval", NULL);
		d->argument_count++;
	}
	return status;
}

// ---- ranges of lines ----

static enum pd_status take_lines(struct parsing *p, const char *at, struct pd_probe_range *range)
{
	const char *end = at + strspn(at, "0123456789");
	uint64_t first, last;

	if (!take_number(at, end, &first) || first > INT32_MAX)
		return fail_at(p, at, "a line is a number", NULL);
	range->first = (uint32_t)first;
	if (*end == '+' || *end == '-') {
		bool is_count = *end == '+';

		at = end + 1;
		end = at + strspn(at, "0123456789");
		if (!take_number(at, end, &last) || last > INT32_MAX)
			return fail_at(p, at, "a line is a number", NULL);
		last += is_count ? first - 1 : 0;
		if (last < first || last > INT32_MAX)
			return fail_at(p, at, "the last line is before the first one", NULL);
		range->last = (uint32_t)last;
	}
	return *end ? fail_at(p, end, "unexpected", end) : PD_OK;
}

enum pd_status pd_probe_parse_range(struct pd_arena *arena, const char *text, struct pd_probe_range *range,
				    struct pd_error *error)
{
	struct parsing p = { .arena = arena, .text = text, .error = error };
	const char *end = text + strlen(text), *colon = find_any(text, end, ":"), *at = find_any(text, colon, "@");
	enum pd_status status = PD_OK;

	*range = (struct pd_probe_range){ .last = UINT32_MAX };
	if (colon == text)
		return fail_at(&p, text, "name a function or a source file", NULL);
	if (colon < end)
		status = take_lines(&p, colon + 1, range);
	if (!status && at < colon) {
		if (colon - at != 2 || at[1] != '*')
			status = take_text(&p, at + 1, colon, &range->file);
		if (!status && at > text)
			status = take_text(&p, text, at, &range->function);
		if (!status && !range->function && !range->file)
			return fail_at(&p, text, "name a function or a source file", NULL);
	} else if (!status && find_any(text, colon, "/.") < colon) {
		status = take_text(&p, text, colon, &range->file);
	} else if (!status) {
		status = take_text(&p, text, colon, &range->function);
	}
	return status;
}
