/* SPDX-License-Identifier: MIT */
#include "import/json.h"

static int peek(struct pd_cursor *c)
{
	while (c->at < c->end && (*c->at == ' ' || *c->at == '\n' || *c->at == '\t' || *c->at == '\r'))
		c->at++;
	return c->at < c->end ? *c->at : -1;
}

static bool take_if(struct pd_cursor *c, int wanted)
{
	if (peek(c) != wanted)
		return false;
	c->at++;
	return true;
}

bool pd_json_enter(struct pd_cursor *c, char bracket)
{
	if (take_if(c, bracket))
		return true;
	pd_cursor_fail(c, bracket == '{' ? "an object is missing" : "an array is missing");
	return false;
}

// After a value a comma or the end; before the first one neither.
static bool another(struct pd_cursor *c, char close)
{
	if (c->failed || take_if(c, close))
		return false;
	take_if(c, ',');
	if (peek(c) >= 0)
		return true;
	pd_cursor_fail(c, "it is cut off");
	return false;
}

bool pd_json_item(struct pd_cursor *c)
{
	return another(c, ']');
}

bool pd_json_member(struct pd_cursor *c, struct pd_text *key)
{
	if (!another(c, '}') || !pd_json_take_string(c, key))
		return false;
	if (take_if(c, ':'))
		return true;
	pd_cursor_fail(c, "a colon is missing");
	return false;
}

// ---- strings ----

static uint32_t take_hex(struct pd_cursor *c)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < 4; i++) {
		int byte = pd_cursor_u8(c);
		int digit = byte >= '0' && byte <= '9'               ? byte - '0' :
			    (byte | 32) >= 'a' && (byte | 32) <= 'f' ? (byte | 32) - 'a' + 10 :
								       -1;

		if (digit < 0) {
			pd_cursor_fail(c, "an escape is damaged");
			return 0;
		}
		value = value << 4 | (uint32_t)digit;
	}
	return value;
}

static void put_utf8(struct pd_text *text, uint32_t code)
{
	if (code < 0x80) {
		pd_text_char(text, (char)code);
		return;
	}
	if (code < 0x800) {
		pd_text_char(text, (char)(0xc0 | code >> 6));
	} else {
		if (code < 0x10000) {
			pd_text_char(text, (char)(0xe0 | code >> 12));
		} else {
			pd_text_char(text, (char)(0xf0 | code >> 18));
			pd_text_char(text, (char)(0x80 | (code >> 12 & 63)));
		}
		pd_text_char(text, (char)(0x80 | (code >> 6 & 63)));
	}
	pd_text_char(text, (char)(0x80 | (code & 63)));
}

static void take_escape(struct pd_cursor *c, struct pd_text *text)
{
	static const char names[] = "bfnrt", values[] = "\b\f\n\r\t";
	int byte = pd_cursor_u8(c);
	const char *at = byte ? strchr(names, byte) : NULL;
	uint32_t code, low;

	if (byte != 'u') {
		pd_text_char(text, at ? values[at - names] : (char)byte);
		return;
	}
	code = take_hex(c);
	// characters beyond the first 65536 are two of them
	if (code >= 0xd800 && code < 0xdc00 && pd_cursor_left(c) >= 6 && c->at[0] == '\\' && c->at[1] == 'u') {
		c->at += 2;
		low = take_hex(c);
		code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : 0xfffd;
	}
	put_utf8(text, code >= 0xd800 && code < 0xe000 ? 0xfffd : code);
}

bool pd_json_take_string(struct pd_cursor *c, struct pd_text *text)
{
	pd_text_clear(text);
	if (!take_if(c, '"')) {
		pd_cursor_fail(c, "a string is missing");
		return false;
	}
	for (;;) {
		const uint8_t *from = c->at;

		while (c->at < c->end && *c->at != '"' && *c->at != '\\')
			c->at++;
		pd_text_put(text, (const char *)from, (size_t)(c->at - from));
		if (c->at == c->end || c->failed) {
			pd_cursor_fail(c, "a string has no end");
			return false;
		}
		if (*c->at++ == '"')
			return !text->failed;
		take_escape(c, text);
	}
}

bool pd_json_is(const struct pd_text *text, const char *string)
{
	return text->size == strlen(string) && !memcmp(text->data, string, text->size);
}

// ---- numbers and the rest ----

static bool is_digit(const struct pd_cursor *c)
{
	return c->at < c->end && *c->at >= '0' && *c->at <= '9';
}

// Powers of ten that a number has after its digits.
static int take_exponent(struct pd_cursor *c)
{
	bool minus;
	int value = 0;

	if (c->at == c->end || (*c->at | 32) != 'e')
		return 0;
	c->at++;
	minus = c->at < c->end && *c->at == '-';
	if (minus || (c->at < c->end && *c->at == '+'))
		c->at++;
	for (; is_digit(c); c->at++)
		value = value < 1000 ? value * 10 + (*c->at - '0') : value;
	return minus ? -value : value;
}

bool pd_json_take_number(struct pd_cursor *c, uint64_t factor, uint64_t *value_out)
{
	bool minus = take_if(c, '-'), exact = true;
	uint64_t whole = 0;
	double value = 0, place = 1;
	int exponent;

	if (!is_digit(c)) {
		pd_cursor_fail(c, "a number is missing");
		return false;
	}
	for (; is_digit(c); c->at++) {
		exact &= whole <= (UINT64_MAX / factor - 9) / 10;
		whole = whole * 10 + (uint64_t)(*c->at - '0');
		value = value * 10 + (*c->at - '0');
	}
	if (c->at < c->end && *c->at == '.')
		for (c->at++; is_digit(c); c->at++) {
			place /= 10;
			value += (*c->at - '0') * place;
			exact = false;
		}
	exponent = take_exponent(c);
	for (; exponent && value > 0 && value < 1e30; exponent += exponent < 0 ? 1 : -1)
		value = exponent < 0 ? value / 10 : value * 10;
	value *= (double)factor;
	if (exact && place == 1 && value < 1e19 && !exponent && (double)(whole * factor) == value)
		*value_out = whole * factor;
	else
		*value_out = value >= 1.8e19 ? UINT64_MAX : (uint64_t)(value + 0.5);
	if (minus)
		*value_out = 0;
	return true;
}

// Brackets are counted: what is between them is not looked at, but for strings.
void pd_json_skip(struct pd_cursor *c)
{
	size_t depth = 0;

	do {
		int byte = peek(c);

		if (byte < 0) {
			pd_cursor_fail(c, "it is cut off");
			return;
		}
		c->at++;
		depth += byte == '{' || byte == '[';
		if (byte == '}' || byte == ']') {
			if (!depth) {
				pd_cursor_fail(c, "a value is missing");
				return;
			}
			depth--;
		} else if (byte == '"') {
			while (c->at < c->end && *c->at != '"')
				c->at += *c->at == '\\' && c->end - c->at > 1 ? 2 : 1;
			if (c->at < c->end)
				c->at++;
		} else if (byte != '{' && byte != '[' && byte != ',' && byte != ':') {
			while (c->at < c->end && !strchr(",]} \n\t\r", *c->at))
				c->at++;
		}
	} while (depth);
}
