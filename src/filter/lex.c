/* SPDX-License-Identifier: MIT */
/* The text of a filter as words, numbers, texts and signs. */
#include "filter/filter.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum pd_status pd_filter_fail(struct pd_error *error, size_t at, const char *format, ...)
{
	char message[200];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	return pd_fail(error, PD_ERROR_ARGUMENT, at, "column %zu: %s", at + 1, message);
}

static bool is_in_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == ':';
}

// ---- numbers ----

struct unit {
	const char *name;
	uint64_t ns;
};

static const struct unit units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };

static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

// False if it does not fit into 64 bits.
static bool take_digits(const char **at, unsigned base, uint64_t *number)
{
	for (; digit_of(**at) < base; (*at)++)
		if (__builtin_mul_overflow(*number, (uint64_t)base, number) ||
		    __builtin_add_overflow(*number, (uint64_t)digit_of(**at), number))
			return false;
	return true;
}

// What stands after the point, in parts of unit: exact, as times have more digits than a double.
static double take_fraction(const char **at, uint64_t unit, uint64_t *parts)
{
	double real = 0, worth = 1;

	for (; isdigit((unsigned char)**at); (*at)++) {
		worth /= 10;
		real += worth * digit_of(**at);
		unit /= 10;
		*parts += unit * digit_of(**at);
	}
	return real;
}

static const struct unit *find_unit(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strlen(units[i].name) == length && !strncmp(name, units[i].name, length))
			return &units[i];
	return NULL;
}

// 12, 0x1f, 0.5, 12ms, 1.25s
static enum pd_status take_number(struct pd_token *token, const char *start, struct pd_error *error)
{
	struct pd_filter_value *value = &token->value;
	const char *at = start, *point = NULL, *name;
	const struct unit *unit = NULL;
	uint64_t parts = 0;
	bool hex = at[0] == '0' && (at[1] == 'x' || at[1] == 'X');
	bool fits;

	at += hex ? 2 : 0;
	fits = take_digits(&at, hex ? 16 : 10, &value->number);
	if (hex && at == start + 2)
		fits = false;
	if (fits && !hex && *at == '.') {
		point = ++at;
		while (isdigit((unsigned char)*at))
			at++;
	}
	for (name = at; is_in_word(*at); at++)
		;
	token->length = (size_t)(at - start);
	if (at > name)
		unit = hex ? NULL : find_unit(name, (size_t)(at - name));
	if (!fits && digit_of(start[hex ? 2 : 0]) < (hex ? 16 : 10))
		return pd_filter_fail(error, token->at, "'%.*s' is too large", (int)token->length, start);
	if (!fits || (at > name && !unit))
		return pd_filter_fail(error, token->at, "'%.*s' is not a number", (int)token->length, start);
	value->real = (double)value->number;
	if (point)
		value->real += take_fraction(&point, unit ? unit->ns : 1, &parts);
	if (point && !unit)
		value->kind = PD_VALUE_REAL;
	if (unit && (__builtin_mul_overflow(value->number, unit->ns, &value->number) ||
		     __builtin_add_overflow(value->number, parts, &value->number)))
		return pd_filter_fail(error, token->at, "'%.*s' is too large", (int)token->length, start);
	return PD_OK;
}

// ---- texts ----

// A backslash stands before a quote or another backslash.
static enum pd_status take_text(struct pd_filter *filter, struct pd_token *token, const char *start,
				struct pd_error *error)
{
	const char quote = *start, *at = start + 1;
	char *text = pd_arena_alloc(&filter->arena, strlen(start));
	size_t size = 0;

	if (!text)
		return pd_fail_memory(error);
	for (; *at && *at != quote; at++) {
		if (*at == '\\' && (at[1] == quote || at[1] == '\\'))
			at++;
		text[size++] = *at;
	}
	if (!*at)
		return pd_filter_fail(error, token->at, "unterminated string");
	token->length = (size_t)(at + 1 - start);
	token->value = (struct pd_filter_value){ .kind = PD_VALUE_TEXT, .text = text, .size = size };
	return PD_OK;
}

// ---- all ----

static bool take_sign(struct pd_token *token, const char *start)
{
	static const char *const signs[] = { "&&", "||", "==", "!=", "<=", ">=", "=~", "!",
					     "<",  ">",  "&",  "|",  "(",  ")",  ",",  "-" };

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		token->length = strlen(signs[i]);
		if (!strncmp(start, signs[i], token->length)) {
			memcpy(token->sign, signs[i], token->length + 1);
			return true;
		}
	}
	return false;
}

// Operators that are words.
static void take_word(struct pd_token *token, const char *start)
{
	static const char *const words[][2] = { { "and", "&&" }, { "or", "||" }, { "not", "!" }, { "in", "in" } };

	token->kind = PD_TOKEN_WORD;
	while (is_in_word(start[token->length]))
		token->length++;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i][0]) != token->length || strncmp(words[i][0], start, token->length) != 0)
			continue;
		token->kind = PD_TOKEN_SIGN;
		strcpy(token->sign, words[i][1]);
	}
}

enum pd_status pd_filter_lex(struct pd_filter *filter, size_t *at, struct pd_token *token, struct pd_error *error)
{
	const char *start;
	enum pd_status status = PD_OK;

	while (isspace((unsigned char)filter->text[*at]))
		(*at)++;
	start = filter->text + *at;
	*token = (struct pd_token){ .at = *at };
	if (!*start)
		return PD_OK;
	if (isdigit((unsigned char)*start)) {
		token->kind = PD_TOKEN_NUMBER;
		status = take_number(token, start, error);
	} else if (*start == '"' || *start == '\'') {
		token->kind = PD_TOKEN_TEXT;
		status = take_text(filter, token, start, error);
	} else if (is_in_word(*start)) {
		take_word(token, start);
	} else {
		token->kind = PD_TOKEN_SIGN;
		if (!take_sign(token, start))
			status = isprint((unsigned char)*start) ?
					 pd_filter_fail(error, *at, "unexpected character '%c'", *start) :
					 pd_filter_fail(error, *at, "unexpected non-ASCII byte");
	}
	*at += token->length;
	return status;
}
