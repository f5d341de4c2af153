/* SPDX-License-Identifier: MIT */
/*
 * PerfDataProto as text, one field of the outermost message at a time, into bytes. Everything that the text format of
 * protocol buffers allows for these messages is read: comments, lists in brackets, strings in pieces, commas.
 */
#include "quipper/text.h"

enum {
	DEEPEST = 8,
	END = -1
};

static bool parse_field(struct pd_quipper_parser *self, enum pd_quipper_message_id id, struct pd_text *out,
			unsigned depth);

static bool fail(struct pd_quipper_parser *self, const char *why)
{
	if (!self->wrong)
		self->wrong = why;
	return false;
}

// ---- characters ----

static int peek(struct pd_quipper_parser *self)
{
	if (self->at == self->size && !self->ended) {
		self->at = 0;
		self->size = self->more(self->self, self->data, sizeof(self->data));
		self->ended = !self->size;
	}
	return self->at < self->size ? (unsigned char)self->data[self->at] : END;
}

static int take_char(struct pd_quipper_parser *self)
{
	int c = peek(self);

	if (c == END)
		return END;
	self->line += c == '\n';
	self->at++;
	return c;
}

static int skip_blanks(struct pd_quipper_parser *self)
{
	int c;

	while ((c = peek(self)) == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '#') {
		if (c == '#')
			while ((c = peek(self)) != END && c != '\n')
				take_char(self);
		else
			take_char(self);
	}
	return c;
}

static bool take_if(struct pd_quipper_parser *self, int wanted)
{
	if (skip_blanks(self) != wanted)
		return false;
	take_char(self);
	return true;
}

static bool is_word(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
	       c == '-' || c == '+';
}

static bool take_word(struct pd_quipper_parser *self)
{
	enum {
		LONGEST = 64
	};

	pd_text_clear(self->word);
	skip_blanks(self);
	while (is_word(peek(self)) && self->word->size < LONGEST)
		pd_text_char(self->word, (char)take_char(self));
	return self->word->size != 0 || fail(self, "a name or value is missing");
}

// ---- values ----

static int hex_digit(int c)
{
	return c >= '0' && c <= '9' ? c - '0' :
	       c >= 'a' && c <= 'f' ? c - 'a' + 10 :
	       c >= 'A' && c <= 'F' ? c - 'A' + 10 :
				      -1;
}

static int take_digits(struct pd_quipper_parser *self, int value, unsigned base, unsigned most)
{
	for (unsigned i = 0; i < most; i++) {
		int d = hex_digit(peek(self));

		if (d < 0 || d >= (int)base)
			break;
		value = value * (int)base + d;
		take_char(self);
	}
	return value & 0xff;
}

static int take_escape(struct pd_quipper_parser *self)
{
	static const char names[] = "abfnrtv", values[] = "\a\b\f\n\r\t\v";
	int c = take_char(self);
	const char *at = c > 0 ? strchr(names, c) : NULL;

	if (at)
		return (unsigned char)values[at - names];
	if (c == 'x' || c == 'X')
		return take_digits(self, 0, 16, 2);
	if (c >= '0' && c <= '7')
		return take_digits(self, c - '0', 8, 2);
	return c;
}

// Pieces side by side are one string.
static bool parse_string(struct pd_quipper_parser *self, struct pd_text *out)
{
	int quote = skip_blanks(self);

	if (quote != '"' && quote != '\'')
		return fail(self, "a string is missing");
	while (quote == '"' || quote == '\'') {
		int c;

		take_char(self);
		while ((c = take_char(self)) != quote) {
			if (c == END || c == '\n')
				return fail(self, "a string has no end");
			pd_text_char(out, (char)(c == '\\' ? take_escape(self) : c));
		}
		quote = skip_blanks(self);
	}
	return !pd_text_failed(out) || fail(self, "there is no memory");
}

static bool parse_number(const struct pd_text *word, uint64_t *value_out)
{
	size_t at = word->size && word->data[0] == '-', first = at;
	unsigned base = 10;
	uint64_t value = 0;

	if (word->size > at + 2 && word->data[at] == '0' && (word->data[at + 1] | 32) == 'x') {
		base = 16;
		at += 2;
	} else if (word->size > at + 1 && word->data[at] == '0') {
		base = 8;
	}
	for (; at < word->size; at++) {
		int d = hex_digit(word->data[at]);

		if (d < 0 || (unsigned)d >= base || value > (UINT64_MAX - (unsigned)d) / base)
			return false;
		value = value * base + (unsigned)d;
	}
	*value_out = first ? -value : value;
	return word->size > first;
}

static bool is_text(const struct pd_text *word, const char *text)
{
	return word->size == strlen(text) && !memcmp(word->data, text, word->size);
}

static bool parse_value(struct pd_quipper_parser *self, const struct pd_quipper_line *line, uint64_t *value_out)
{
	if (!take_word(self))
		return false;
	if (line->type == PD_QUIPPER_BOOL && (is_text(self->word, "true") || is_text(self->word, "t")))
		*value_out = 1;
	else if (line->type == PD_QUIPPER_BOOL && (is_text(self->word, "false") || is_text(self->word, "f")))
		*value_out = 0;
	else if (!parse_number(self->word, value_out) || (line->type == PD_QUIPPER_U32 && *value_out > UINT32_MAX))
		return fail(self, "a value is no number, or too large");
	return true;
}

// ---- fields ----

static bool parse_message(struct pd_quipper_parser *self, const struct pd_quipper_line *line, struct pd_text *out,
			  unsigned depth)
{
	int close = take_if(self, '{') ? '}' : take_if(self, '<') ? '>' : END;

	if (close == END)
		return fail(self, "a message has no brackets");
	if (depth > DEEPEST)
		return fail(self, "messages are too deep");
	while (!take_if(self, close))
		if (skip_blanks(self) == END || !parse_field(self, line->part, out, depth + 1))
			return fail(self, "a message has no end");
	return true;
}

static bool parse_one(struct pd_quipper_parser *self, const struct pd_quipper_line *line, struct pd_text *out,
		      unsigned depth)
{
	uint64_t value;
	size_t opened;
	bool ok;

	if (line->type == PD_QUIPPER_U32 || line->type == PD_QUIPPER_U64 || line->type == PD_QUIPPER_BOOL) {
		if (!parse_value(self, line, &value))
			return false;
		pd_proto_given(out, line->number, value);
		return true;
	}
	opened = pd_proto_open(out, line->number);
	ok = line->type == PD_QUIPPER_MESSAGE ? parse_message(self, line, out, depth) : parse_string(self, out);
	pd_proto_close(out, opened);
	return ok;
}

static bool parse_field(struct pd_quipper_parser *self, enum pd_quipper_message_id id, struct pd_text *out,
			unsigned depth)
{
	const struct pd_quipper_line *line;
	bool colon;

	if (!take_word(self))
		return false;
	line = pd_quipper_by_name(id, self->word->data, self->word->size);
	if (!line)
		return fail(self, "a field has a name that PerfDataProto does not have there");
	colon = take_if(self, ':');
	if (!colon && line->type != PD_QUIPPER_MESSAGE)
		return fail(self, "a colon is missing");
	if (take_if(self, '[')) {
		while (!take_if(self, ']')) {
			if (skip_blanks(self) == END || !parse_one(self, line, out, depth))
				return fail(self, "a list has no end");
			take_if(self, ',');
		}
	} else if (!parse_one(self, line, out, depth)) {
		return false;
	}
	if (!take_if(self, ','))
		take_if(self, ';');
	return !pd_text_failed(out) || fail(self, "there is no memory");
}

bool pd_quipper_parse(struct pd_quipper_parser *self, struct pd_text *message)
{
	pd_text_clear(message);
	return skip_blanks(self) != END && !self->wrong && parse_field(self, PD_QUIPPER_PerfDataProto, message, 0);
}
