/* SPDX-License-Identifier: MIT */
/*
 * C++ names come readable from a library, with the types of parameters, and with the return type where a function is a
 * template. Both are taken off by looking at brackets; a text that is not understood stays whole.
 */
#include "symbol/demangle.h"

#include "base/memory.h"

enum {
	LONGEST = 16 << 10, // the library's memory grows with the name
	NESTED = 200
};

struct strip {
	const char *text;
	size_t size;
	size_t at;
	unsigned depth;
	bool failed;
	size_t space;      // behind the last space in front of the name
	bool seen_operator;
	bool is_template;  // what stands before the group does
	size_t group;      // the last group of parameters
	size_t group_end;
	size_t name_start; // of the name before that group
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

static bool begins(const struct strip *s, size_t at, const char *word)
{
	size_t length = strlen(word);

	return s->size - at >= length && memcmp(s->text + at, word, length) == 0;
}

// "operator<<" and the like have brackets that enclose nothing.
static bool skip_operator(struct strip *s)
{
	// of those that begin alike the longer one first; those without brackets need not be here
	static const char *const signs[] = {"()", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">"};

	if (!begins(s, s->at, "operator") || (s->at && is_word(s->text[s->at - 1])) ||
	    (s->at + 8 < s->size && is_word(s->text[s->at + 8])))
		return false;
	s->at += 8;
	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (begins(s, s->at, signs[i])) {
			s->at += strlen(signs[i]);
			break;
		}
	}
	if (!s->depth)
		s->seen_operator = true;
	return true;
}

static void open_bracket(struct strip *s)
{
	char before = s->at ? s->text[s->at - 1] : ' ';

	bool is_type = s->at >= 8 && begins(s, s->at - 8, "decltype");

	if (!s->depth && s->text[s->at] == '(' && before != ' ' && before != ':' && !is_type) {
		s->group = s->at;
		s->name_start = before == '>' ? s->space : 0;
	}
	// a function that returns a pointer to one has its name inside
	if (begins(s, s->at, "(*") || begins(s, s->at, "(&"))
		s->failed |= !s->depth;
	s->failed |= ++s->depth > NESTED;
	s->at++;
}

static void close_bracket(struct strip *s)
{
	s->failed |= !s->depth;
	s->depth -= !!s->depth;
	s->at++;
	if (!s->depth && s->text[s->at - 1] == ')' && s->group)
		s->group_end = s->at;
}

static void scan(struct strip *s)
{
	while (s->at < s->size && !s->failed) {
		char c = s->text[s->at];

		if (c == 'o' && skip_operator(s))
			continue;
		if (c == '-' && begins(s, s->at, "->")) {
			s->at += 2;
		} else if (strchr("(<[{", c)) {
			open_bracket(s);
		} else if (strchr(")>]}", c)) {
			close_bracket(s);
		} else {
			s->at++;
			if (c == ' ' && !s->depth && !s->seen_operator && !s->group)
				s->space = s->at;
		}
	}
}

static bool is_prefixed(const char *text, size_t size)
{
	static const char *const words[] = {"virtual thunk to ", "non-virtual thunk to ", "covariant return thunk to "};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (size > strlen(words[i]) && memcmp(text, words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

// Steps over what may stand behind parameters. False if something else does: then they are of a function around it.
static bool skip_behind(struct strip *s)
{
	static const char *const words[] = {" const", " volatile", " &&", " &"};

	s->at = s->group_end;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (begins(s, s->at, words[i]))
			s->at += strlen(words[i]);
	return s->at == s->size || begins(s, s->at, " [clone ");
}

void pd_demangle_cxx_strip(struct pd_text *out, const char *text, size_t length)
{
	struct strip s = {.text = text, .size = length};

	scan(&s);
	if (s.failed || s.depth || !s.group || !skip_behind(&s)) {
		pd_text_put(out, text, length);
		return;
	}
	if (is_prefixed(text, length))
		s.name_start = 0;
	pd_text_put(out, text + s.name_start, s.group - s.name_start);
	pd_text_put(out, text + s.at, length - s.at);
}

bool pd_demangle_cxx(struct pd_text *out, const char *name, size_t length)
{
	char *copy, *text;

	if (!pd_demangler_cxx.demangle || length < 3 || length > LONGEST || memcmp(name, "_Z", 2) != 0)
		return false;
	copy = pd_alloc(length + 1);
	if (!copy)
		return false;
	memcpy(copy, name, length);
	text = pd_demangler_cxx.demangle(copy);
	pd_free(copy);
	if (!text)
		return false;
	pd_demangle_cxx_strip(out, text, strlen(text));
	pd_demangler_cxx.free(text);
	return true;
}
