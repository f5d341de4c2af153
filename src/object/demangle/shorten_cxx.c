/* SPDX-License-Identifier: MIT */
/*
 * Short C++ names: std::string for std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >. What is
 * left out is what the standard library has by default: inline namespaces, and the last arguments of a template of std that
 * follow from the first one. A name that is not understood stays as it is.
 */
#include "object/demangle/demangle.h"

enum {
	NESTED = 100,
	ARGUMENTS = 16, // of a template; those of longer lists stay
	NO_NAME = -1
};

// A bracket that is open.
struct bracket {
	char sign;
	unsigned count; // of arguments
	size_t name;    // where the name of the template begins
	size_t arguments[ARGUMENTS];
};

struct shorten {
	const char *text;
	size_t size, at;
	char *out; // never longer than what was read
	size_t used;
	size_t name; // where the name that is being written begins
	struct bracket brackets[NESTED];
	unsigned depth;
	bool failed;
};

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

static bool begins(const char *text, size_t size, const char *word)
{
	size_t length = strlen(word);

	return size >= length && memcmp(text, word, length) == 0;
}

static bool ends(const struct shorten *s, const char *word)
{
	size_t length = strlen(word);

	return s->used >= length && memcmp(s->out + s->used - length, word, length) == 0;
}

static void copy(struct shorten *s, size_t count)
{
	memcpy(s->out + s->used, s->text + s->at, count);
	s->used += count;
	s->at += count;
}

static struct bracket *innermost(struct shorten *s)
{
	return s->depth ? &s->brackets[s->depth - 1] : NULL;
}

// ---- words ----

// "operator<" and the like, whose signs are no brackets.
static void copy_sign_of_operator(struct shorten *s)
{
	static const char *const signs[] = { "()", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">" };

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (!begins(s->text + s->at, s->size - s->at, signs[i]))
			continue;
		copy(s, strlen(signs[i]));
		// as in "operator< <char>"
		if (begins(s->text + s->at, s->size - s->at, " <"))
			copy(s, 1);
		return;
	}
}

static void copy_word(struct shorten *s)
{
	size_t start = s->used;

	if (s->name == (size_t)NO_NAME)
		s->name = start;
	while (s->at < s->size && is_word(s->text[s->at]))
		copy(s, 1);
	if (s->used - start == 8 && ends(s, "operator"))
		copy_sign_of_operator(s);
}

// After a name of a namespace.
static void copy_colons(struct shorten *s)
{
	static const char *const inlines[] = { "::__cxx11", "::__1", "::__ndk1", "::_V2" };

	for (size_t i = 0; i < sizeof(inlines) / sizeof(inlines[0]); i++)
		if (ends(s, inlines[i]))
			s->used -= strlen(inlines[i]);
	if (s->name == (size_t)NO_NAME)
		s->name = s->used;
	copy(s, 2);
}

// ---- lists of arguments ----

static void open_bracket(struct shorten *s)
{
	struct bracket *bracket = &s->brackets[s->depth];

	if (s->depth == NESTED) {
		s->failed = true;
		return;
	}
	*bracket = (struct bracket){ .sign = s->text[s->at], .name = s->name, .count = 1 };
	copy(s, 1);
	bracket->arguments[0] = s->used;
	s->depth++;
	s->name = (size_t)NO_NAME;
}

static void next_argument(struct shorten *s)
{
	struct bracket *bracket = innermost(s);

	copy(s, s->at + 1 < s->size && s->text[s->at + 1] == ' ' ? 2 : 1);
	s->name = (size_t)NO_NAME;
	if (!bracket)
		return;
	if (bracket->count < ARGUMENTS)
		bracket->arguments[bracket->count] = s->used;
	bracket->count++;
}

// Whether the last argument is what the library takes if none is given.
static bool is_default(const struct shorten *s, const struct bracket *bracket)
{
	static const char *const of_first[] = { "std::char_traits<", "std::less<", "std::equal_to<", "std::hash<",
						"std::default_delete<" };
	const char *last = s->out + bracket->arguments[bracket->count - 1], *first = s->out + bracket->arguments[0];
	size_t size = (size_t)(s->out + s->used - last), first_size = bracket->arguments[1] - bracket->arguments[0] - 2;

	if (last[size - 1] != '>')
		return false;
	if (begins(last, size, "std::allocator<"))
		return true;
	for (size_t i = 0; i < sizeof(of_first) / sizeof(of_first[0]); i++) {
		size_t front = strlen(of_first[i]);

		if (begins(last, size, of_first[i]) && size == front + first_size + 1 &&
		    memcmp(last + front, first, first_size) == 0)
			return true;
	}
	return false;
}

static bool has_defaults(const char *name, size_t size)
{
	return begins(name, size, "std::") && !begins(name, size, "std::pair<") && !begins(name, size, "std::tuple<");
}

static void drop_defaults(struct shorten *s, struct bracket *bracket)
{
	if (bracket->name == (size_t)NO_NAME || bracket->count > ARGUMENTS ||
	    !has_defaults(s->out + bracket->name, s->used - bracket->name))
		return;
	while (bracket->count > 1 && s->used > bracket->arguments[bracket->count - 1] && is_default(s, bracket)) {
		s->used = bracket->arguments[--bracket->count];
		// the comma and the blank in front of it
		s->used -= s->out[s->used - 1] == ' ' ? 2 : 1;
	}
}

// std::basic_string<char> is std::string.
static void use_alias(struct shorten *s)
{
	static const struct {
		const char *argument, *front;
	} kinds[] = { { "<char>", "" },
		      { "<wchar_t>", "w" },
		      { "<char8_t>", "u8" },
		      { "<char16_t>", "u16" },
		      { "<char32_t>", "u32" } };
	static const char basic[] = "std::basic_";
	size_t front = sizeof(basic) - 1, size = s->used - s->name, word;
	char *name = s->out + s->name;

	if (!begins(name, size, basic))
		return;
	for (word = 0; front + word < size && is_word(name[front + word]); word++)
		;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t length = strlen(kinds[i].argument), more = strlen(kinds[i].front);

		if (front + word + length != size || memcmp(name + size - length, kinds[i].argument, length) != 0)
			continue;
		memmove(name + 5 + more, name + front, word);
		memcpy(name + 5, kinds[i].front, more);
		s->used = s->name + 5 + more + word;
	}
}

static bool matches(char open, char close)
{
	return (open == '(' && close == ')') || (open == '<' && close == '>') || (open == '[' && close == ']') ||
	       (open == '{' && close == '}');
}

static void close_bracket(struct shorten *s)
{
	struct bracket *bracket = innermost(s);

	if (!bracket || !matches(bracket->sign, s->text[s->at])) {
		s->failed = true;
		return;
	}
	if (bracket->sign == '<') {
		// "> >" was needed once; what was in front may be an alias by now
		if (s->at >= 2 && memcmp(s->text + s->at - 2, "> ", 2) == 0 && ends(s, " ") && !ends(s, "operator> "))
			s->used--;
		drop_defaults(s, bracket);
	}
	copy(s, 1);
	s->depth--;
	s->name = bracket->name;
	if (bracket->sign == '<' && s->name != (size_t)NO_NAME)
		use_alias(s);
}

// Signs of expressions that look like brackets; their operands are in brackets: "((a)>(b))", "(a)<=(b)".
static size_t sign_size(const struct shorten *s)
{
	static const char *const signs[] = { "->", "<=>", "<=", "<<", ">=" };
	char c = s->text[s->at];

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (begins(s->text + s->at, s->size - s->at, signs[i]))
			return strlen(signs[i]);
	if (c == '<' && s->at && s->text[s->at - 1] == ')' && !ends(s, "operator()"))
		return 1;
	return c == '>' && s->depth && s->brackets[s->depth - 1].sign != '<';
}

// ---- all ----

static void step(struct shorten *s)
{
	char c = s->text[s->at];
	size_t sign;

	if (is_word(c)) {
		copy_word(s);
	} else if (begins(s->text + s->at, s->size - s->at, "::")) {
		copy_colons(s);
	} else if ((sign = sign_size(s)) != 0) {
		copy(s, sign);
		s->name = (size_t)NO_NAME;
	} else if (strchr("(<[{", c)) {
		open_bracket(s);
	} else if (strchr(")>]}", c)) {
		close_bracket(s);
	} else if (c == ',') {
		next_argument(s);
	} else {
		copy(s, 1);
		if (c != '~')
			s->name = (size_t)NO_NAME;
	}
}

void pd_shorten_cxx(struct pd_text *text, size_t start)
{
	size_t size = text->size - start;
	struct shorten s = { .size = size, .name = (size_t)NO_NAME };

	if (text->failed || !size || memchr(text->data + start, 0, size) || !pd_text_reserve(text, size + 1))
		return;
	s.text = text->data + start;
	s.out = text->data + text->size;
	while (s.at < s.size && !s.failed)
		step(&s);
	if (s.failed || s.depth)
		return;
	memmove(text->data + start, s.out, s.used);
	text->size = start + s.used;
}
