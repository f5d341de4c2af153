/* SPDX-License-Identifier: MIT */
/*
 * C++ names come readable from a library, with the types of parameters, and with the return type where a function is a
 * template. Both are taken off by looking at brackets; a text that is not understood stays whole.
 */
#include "object/demangle/demangle.h"

#include "base/memory.h"

enum {
	LONGEST = 16 << 10, // the library's memory grows with the name
	NESTED = 200
};

struct strip {
	const char *text;
	size_t size;
	size_t at;
	char open[NESTED]; // brackets
	unsigned depth;
	bool failed;
	size_t space; // after the last space in front of the name
	size_t after_operator;
	bool is_operator;
	size_t group; // the last group of parameters
	size_t group_end;
	size_t name_start; // of the name before that group
	size_t inner;      // what is between "(*" and ")" in front of all groups
	size_t inner_end;
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
	static const char *const signs[] = { "()", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">" };

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
	s->after_operator = s->at;
	if (!s->depth)
		s->is_operator = true;
	return true;
}

// Steps over a sign of an expression that looks like a bracket. Operands are in brackets themselves: "((a)>(b))", "(a)<=(b)".
static bool skip_sign(struct strip *s)
{
	static const char *const signs[] = { "->", "<=>", "<=", "<<", ">=" };
	char c = s->text[s->at];

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (begins(s, s->at, signs[i])) {
			s->at += strlen(signs[i]);
			return true;
		}
	}
	if (!(c == '<' && s->at && s->text[s->at - 1] == ')' && s->at != s->after_operator) &&
	    !(c == '>' && s->depth && s->open[s->depth - 1] != '<'))
		return false;
	s->at++;
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
	if (!s->depth && !s->is_operator && (begins(s, s->at, "(*") || begins(s, s->at, "(&"))) {
		s->failed |= s->inner || begins(s, s->at + 2, ")");
		s->inner = s->at + 2;
	}
	if (s->depth == NESTED)
		s->failed = true;
	else
		s->open[s->depth++] = s->text[s->at];
	s->at++;
}

static void close_bracket(struct strip *s)
{
	s->failed |= !s->depth;
	s->depth -= !!s->depth;
	s->at++;
	if (!s->depth && s->text[s->at - 1] == ')' && s->group)
		s->group_end = s->at;
	else if (!s->depth && s->inner && !s->inner_end)
		s->inner_end = s->at - 1;
}

// What a character may be. Most are none of these.
enum meaning {
	PLAIN,
	OPENS,
	CLOSES,
	BEGINS_SIGN, // and nothing else
	BEGINS_OPERATOR,
	SPACE
};

static const uint8_t meanings[256] = {
	['('] = OPENS,  ['<'] = OPENS,  ['['] = OPENS,       ['{'] = OPENS,           [')'] = CLOSES, ['>'] = CLOSES,
	[']'] = CLOSES, ['}'] = CLOSES, ['-'] = BEGINS_SIGN, ['o'] = BEGINS_OPERATOR, [' '] = SPACE,
};

static void scan(struct strip *s)
{
	while (s->at < s->size && !s->failed) {
		char c = s->text[s->at];
		uint8_t meaning = meanings[(uint8_t)c];

		if ((meaning == BEGINS_OPERATOR && skip_operator(s)) ||
		    ((c == '<' || c == '>' || c == '-') && skip_sign(s)))
			continue;
		if (meaning == OPENS) {
			open_bracket(s);
		} else if (meaning == CLOSES) {
			close_bracket(s);
		} else {
			s->at++;
			if (meaning == SPACE && !s->depth && !s->is_operator && !s->group)
				s->space = s->at;
		}
	}
}

// Steps over what may stand after parameters. False if something else does: then they are of a function around it.
static bool skip_qualifiers(struct strip *s)
{
	static const char *const words[] = { " const", " volatile", " &&", " &" };

	s->at = s->group_end;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (begins(s, s->at, words[i]))
			s->at += strlen(words[i]);
	return s->at == s->size;
}

// The name of a part that the compiler made of a function is that of the function.
static size_t without_clone(const char *text, size_t length)
{
	const char *found = memmem(text, length, " [clone ", 8);

	return found ? (size_t)(found - text) : length;
}

void pd_demangle_cxx_strip(struct pd_text *out, const char *text, size_t length)
{
	struct strip s = { .text = text, .size = without_clone(text, length) };

	scan(&s);
	while (!s.failed && s.inner_end) {
		s = (struct strip){ .text = s.text + s.inner, .size = s.inner_end - s.inner };
		scan(&s);
	}
	if (s.failed || s.depth || !s.group || !skip_qualifiers(&s))
		pd_text_put(out, s.failed ? text : s.text, s.failed ? length : s.size);
	else
		pd_text_put(out, s.text + s.name_start, s.group - s.name_start);
}

/*
 * Vtables, thunks, guard variables and so on. Functions in these names are whole, and no parameters follow: linkers and
 * people distinguish thunks of overloaded functions by them.
 */
static bool is_special(const char *name)
{
	return memcmp(name, "_Z", 2) != 0 || name[2] == 'T' || name[2] == 'G';
}

static bool is_mangled(const char *name, size_t length)
{
	if (length < 3 || length > LONGEST)
		return false;
	// of code that runs before and after main()
	return memcmp(name, "_Z", 2) == 0 ||
	       (length > 11 && (memcmp(name, "_GLOBAL__I_", 11) == 0 || memcmp(name, "_GLOBAL__D_", 11) == 0));
}

/*
 * Compilers put ".cold" and the like after names, assemblers "@VERSION". Names of temporaries end in '_', of which
 * libraries may not know.
 */
static size_t without_suffix(const char *name, size_t length)
{
	size_t size = 0;

	if (memcmp(name, "_Z", 2) != 0)
		return length;
	while (size < length && name[size] != '.' && name[size] != '@')
		size++;
	if (size > 4 && memcmp(name, "_ZGR", 4) == 0 && name[size - 1] == '_')
		size--;
	return size;
}

static char *library_text(const char *name, size_t length)
{
	char *copy = pd_alloc(length + 1);
	char *text;

	if (!copy)
		return NULL;
	memcpy(copy, name, length);
	text = pd_demangler_cxx.demangle(copy);
	pd_free(copy);
	return text;
}

bool pd_demangle_cxx(struct pd_text *out, const char *name, size_t length)
{
	size_t size;
	char *text;

	if (!pd_demangler_cxx.demangle || !is_mangled(name, length))
		return false;
	size = without_suffix(name, length);
	text = library_text(name, size);
	// in very old names of things without a name is that of a file
	if (!text && size < length)
		text = library_text(name, length);
	if (!text)
		return false;
	if (is_special(name))
		pd_text_put(out, text, strlen(text));
	else
		pd_demangle_cxx_strip(out, text, strlen(text));
	pd_demangler_cxx.free(text);
	return true;
}
