/* SPDX-License-Identifier: MIT */
/*
 * Rust's own scheme ("v0"): _R, a path, the crate that made it. A name may point back into itself, so that a short one
 * can unfold to any length and depth: depth, steps and output are limited.
 */
#include "object/demangle/demangle.h"

enum {
	DEPTH = 200,
	STEPS = 20000,
	OUTPUT = 64 << 10
};

struct rust {
	const char *name;
	size_t at, size;
	struct pd_text *out;
	size_t out_start;
	unsigned depth, steps;
	uint64_t bound_lifetimes;
	bool silent; // reads without writing
	bool failed;
};

static void print_path(struct rust *r, bool in_value);
static void print_type(struct rust *r);
static void print_const(struct rust *r);

static void fail(struct rust *r)
{
	r->failed = true;
	r->at = r->size;
}

// ---- characters and numbers ----

static char peek(const struct rust *r)
{
	return r->at < r->size ? r->name[r->at] : 0;
}

static bool eat(struct rust *r, char c)
{
	if (peek(r) != c)
		return false;
	r->at++;
	return true;
}

static char next(struct rust *r)
{
	char c = peek(r);

	if (c)
		r->at++;
	else
		fail(r);
	return c;
}

static void append(struct rust *r, const char *text, size_t size)
{
	if (r->silent || r->failed)
		return;
	if (size > OUTPUT - (r->out->size - r->out_start)) {
		fail(r);
		return;
	}
	pd_text_put(r->out, text, size);
}

static void puts_(struct rust *r, const char *text)
{
	append(r, text, strlen(text));
}

static void put_number(struct rust *r, uint64_t value)
{
	if (!r->silent && !r->failed)
		pd_text_u64(r->out, value);
}

static void put_utf8(struct rust *r, uint32_t c)
{
	char text[4];
	size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = size; i-- > 1; c >>= 6)
		text[i] = (char)(0x80 | (c & 63));
	text[0] = (char)(size == 1 ? c : (0xf00u >> size & 0xf0) | c);
	append(r, text, size);
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static uint64_t read_decimal(struct rust *r)
{
	uint64_t value = 0;

	if (eat(r, '0'))
		return 0;
	if (!is_digit(peek(r)))
		fail(r);
	while (is_digit(peek(r))) {
		value = value * 10 + (uint64_t)(next(r) - '0');
		if (value > UINT32_MAX) {
			fail(r);
			return 0;
		}
	}
	return value;
}

// "_" is 0, "0_" is 1 and so on.
static uint64_t read_base62(struct rust *r)
{
	uint64_t value = 0;

	if (eat(r, '_'))
		return 0;
	while (!eat(r, '_')) {
		char c = next(r);
		unsigned digit = 0;

		if (is_digit(c))
			digit = (unsigned)(c - '0');
		else if (c >= 'a' && c <= 'z')
			digit = (unsigned)(c - 'a') + 10;
		else if (c >= 'A' && c <= 'Z')
			digit = (unsigned)(c - 'A') + 36;
		else
			fail(r);
		if (r->failed || __builtin_mul_overflow(value, 62, &value) ||
		    __builtin_add_overflow(value, digit, &value)) {
			fail(r);
			return 0;
		}
	}
	if (__builtin_add_overflow(value, 1, &value))
		fail(r);
	return value;
}

static uint64_t read_optional(struct rust *r, char tag)
{
	uint64_t value = eat(r, tag) ? read_base62(r) : UINT64_MAX;

	return value + 1;
}

// ---- names ----

struct ident {
	const char *text;
	size_t size;
	bool is_punycode;
	uint64_t disambiguator;
};

static struct ident read_undisambiguated(struct rust *r)
{
	struct ident ident = { .is_punycode = eat(r, 'u') };
	uint64_t size = read_decimal(r);

	eat(r, '_');
	if (r->failed || size > r->size - r->at) {
		fail(r);
		return (struct ident){ .text = "" };
	}
	ident.text = r->name + r->at;
	ident.size = (size_t)size;
	r->at += ident.size;
	return ident;
}

static struct ident read_ident(struct rust *r)
{
	uint64_t disambiguator = read_optional(r, 's');
	struct ident ident = read_undisambiguated(r);

	ident.disambiguator = disambiguator;
	return ident;
}

static void print_ident(struct rust *r, const struct ident *ident)
{
	uint32_t code_points[PD_PUNYCODE_MAX];
	size_t count;

	if (!ident->is_punycode) {
		append(r, ident->text, ident->size);
		return;
	}
	count = pd_punycode_decode(ident->text, ident->size, code_points);
	for (size_t i = 0; i < count; i++)
		put_utf8(r, code_points[i]);
	if (!count) {
		puts_(r, "punycode{");
		append(r, ident->text, ident->size);
		puts_(r, "}");
	}
}

// ---- depth and references ----

static bool enter(struct rust *r)
{
	if (r->depth >= DEPTH || r->steps >= STEPS)
		fail(r);
	if (r->failed)
		return false;
	r->depth++;
	r->steps++;
	return true;
}

// Goes where a reference points to, which is always further in front; gives the place to go back to, or SIZE_MAX.
static size_t follow(struct rust *r)
{
	size_t tag = r->at - 1, back;
	uint64_t target = read_base62(r);

	if (!r->failed && target >= tag)
		fail(r);
	if (r->failed || r->silent)
		return SIZE_MAX;
	back = r->at;
	r->at = (size_t)target;
	return back;
}

static void come_back(struct rust *r, size_t back)
{
	if (!r->failed)
		r->at = back;
}

// ---- lifetimes ----

static void print_lifetime(struct rust *r, uint64_t index)
{
	uint64_t depth;
	char name;

	if (index > r->bound_lifetimes) {
		fail(r);
		return;
	}
	puts_(r, "'");
	depth = r->bound_lifetimes - index;
	name = (char)('a' + (depth < 26 ? depth : 0));
	if (!index)
		puts_(r, "_");
	else if (depth < 26)
		append(r, &name, 1);
	else {
		puts_(r, "_");
		put_number(r, depth);
	}
}

// Returns how many lifetimes are bound; the caller lets them go.
static uint64_t print_binder(struct rust *r)
{
	uint64_t count = read_optional(r, 'G');

	if (!count || r->failed)
		return 0;
	if (count > STEPS) {
		fail(r);
		return 0;
	}
	puts_(r, "for<");
	for (uint64_t i = 0; i < count && !r->failed; i++) {
		if (i)
			puts_(r, ", ");
		r->bound_lifetimes++;
		print_lifetime(r, 1);
	}
	puts_(r, "> ");
	return count;
}

// ---- paths ----

static void print_argument(struct rust *r)
{
	if (eat(r, 'L'))
		print_lifetime(r, read_base62(r));
	else if (eat(r, 'K'))
		print_const(r);
	else
		print_type(r);
}

// Up to the E. Returns how many there were.
static size_t print_list(struct rust *r, void (*print)(struct rust *r), const char *between)
{
	size_t count = 0;

	for (; !r->failed && !eat(r, 'E'); count++) {
		if (count)
			puts_(r, between);
		print(r);
	}
	return count;
}

static void skip_impl_path(struct rust *r)
{
	bool was_silent = r->silent;

	r->silent = true;
	read_optional(r, 's');
	print_path(r, false);
	r->silent = was_silent;
}

static void print_nested(struct rust *r, bool in_value)
{
	char space = next(r);
	struct ident ident;

	print_path(r, in_value);
	ident = read_ident(r);
	if (space >= 'A' && space <= 'Z') {
		puts_(r, "::{");
		if (space == 'C')
			puts_(r, "closure");
		else if (space == 'S')
			puts_(r, "shim");
		else
			append(r, &space, 1);
		if (ident.size) {
			puts_(r, ":");
			print_ident(r, &ident);
		}
		puts_(r, "#");
		put_number(r, ident.disambiguator);
		puts_(r, "}");
	} else if (ident.size) {
		puts_(r, "::");
		print_ident(r, &ident);
	}
}

static void print_path_inside(struct rust *r, bool in_value)
{
	char tag = next(r);
	struct ident ident;
	size_t back;

	switch (tag) {
	case 'C':
		ident = read_ident(r);
		print_ident(r, &ident);
		break;
	case 'N':
		print_nested(r, in_value);
		break;
	case 'M':
	case 'X':
	case 'Y':
		if (tag != 'Y')
			skip_impl_path(r);
		puts_(r, "<");
		print_type(r);
		if (tag != 'M') {
			puts_(r, " as ");
			print_path(r, false);
		}
		puts_(r, ">");
		break;
	case 'I':
		print_path(r, in_value);
		puts_(r, in_value ? "::<" : "<");
		print_list(r, print_argument, ", ");
		puts_(r, ">");
		break;
	case 'B':
		back = follow(r);
		if (back != SIZE_MAX) {
			print_path(r, in_value);
			come_back(r, back);
		}
		break;
	default:
		fail(r);
	}
}

static void print_path(struct rust *r, bool in_value)
{
	if (!enter(r))
		return;
	print_path_inside(r, in_value);
	r->depth--;
}

// ---- types ----

static const char *basic_type(char tag)
{
	static const char *const names[26] = {
		"i8",   "bool", "char", "f64", "str", "f32", NULL,  "u8", "isize", "usize", NULL,  "i32", "u32",
		"i128", "u128", "_",    NULL,  NULL,  "i16", "u16", "()", "...",   NULL,    "i64", "u64", "!",
	};

	return tag >= 'a' && tag <= 'z' ? names[tag - 'a'] : NULL;
}

static void print_reference(struct rust *r, const char *sign)
{
	puts_(r, "&");
	if (eat(r, 'L')) {
		uint64_t lifetime = read_base62(r);

		if (lifetime) {
			print_lifetime(r, lifetime);
			puts_(r, " ");
		}
	}
	puts_(r, sign);
	print_type(r);
}

static void print_abi(struct rust *r)
{
	struct ident abi = { .text = "C", .size = 1 };

	if (!eat(r, 'C'))
		abi = read_undisambiguated(r);
	puts_(r, "extern \"");
	for (size_t i = 0; i < abi.size; i++)
		append(r, abi.text[i] == '_' ? "-" : &abi.text[i], 1);
	puts_(r, "\" ");
}

static void print_function(struct rust *r)
{
	uint64_t bound = print_binder(r);

	if (eat(r, 'U'))
		puts_(r, "unsafe ");
	if (eat(r, 'K'))
		print_abi(r);
	puts_(r, "fn(");
	print_list(r, print_type, ", ");
	puts_(r, ")");
	if (!eat(r, 'u')) {
		puts_(r, " -> ");
		print_type(r);
	}
	r->bound_lifetimes -= bound;
}

// A path whose list of arguments stays open for what a trait binds. True if it is open.
static bool print_open_path(struct rust *r)
{
	bool is_open = false;
	size_t back;

	if (!enter(r))
		return false;
	if (eat(r, 'B')) {
		back = follow(r);
		if (back != SIZE_MAX) {
			is_open = print_open_path(r);
			come_back(r, back);
		}
	} else if (eat(r, 'I')) {
		print_path(r, false);
		puts_(r, "<");
		print_list(r, print_argument, ", ");
		is_open = true;
	} else {
		print_path(r, false);
	}
	r->depth--;
	return is_open;
}

static void print_trait(struct rust *r)
{
	bool is_open = print_open_path(r);

	while (eat(r, 'p')) {
		struct ident name = read_undisambiguated(r);

		puts_(r, is_open ? ", " : "<");
		is_open = true;
		print_ident(r, &name);
		puts_(r, " = ");
		print_type(r);
	}
	if (is_open)
		puts_(r, ">");
}

static void print_dyn(struct rust *r)
{
	uint64_t bound, lifetime;

	puts_(r, "dyn ");
	bound = print_binder(r);
	print_list(r, print_trait, " + ");
	r->bound_lifetimes -= bound;
	if (!eat(r, 'L')) {
		fail(r);
		return;
	}
	lifetime = read_base62(r);
	if (lifetime) {
		puts_(r, " + ");
		print_lifetime(r, lifetime);
	}
}

static void print_type_inside(struct rust *r)
{
	char tag = next(r);
	size_t back;

	switch (tag) {
	case 'A':
	case 'S':
		puts_(r, "[");
		print_type(r);
		if (tag == 'A') {
			puts_(r, "; ");
			print_const(r);
		}
		puts_(r, "]");
		break;
	case 'T':
		puts_(r, "(");
		puts_(r, print_list(r, print_type, ", ") == 1 ? ",)" : ")");
		break;
	case 'R':
		print_reference(r, "");
		break;
	case 'Q':
		print_reference(r, "mut ");
		break;
	case 'P':
	case 'O':
		puts_(r, tag == 'P' ? "*const " : "*mut ");
		print_type(r);
		break;
	case 'F':
		print_function(r);
		break;
	case 'D':
		print_dyn(r);
		break;
	case 'B':
		back = follow(r);
		if (back != SIZE_MAX) {
			print_type(r);
			come_back(r, back);
		}
		break;
	default:
		if (basic_type(tag)) {
			puts_(r, basic_type(tag));
		} else if (!r->failed) {
			r->at--;
			print_path(r, false);
		}
	}
}

static void print_type(struct rust *r)
{
	if (!enter(r))
		return;
	print_type_inside(r);
	r->depth--;
}

// ---- constants ----

// Hex digits up to "_"; a value that does not fit stays in them.
static void print_integer(struct rust *r, char type)
{
	const char *digits = r->name + r->at;
	size_t count = 0;
	uint64_t value = 0;

	while (is_digit(peek(r)) || (peek(r) >= 'a' && peek(r) <= 'f')) {
		char c = next(r);

		value = value << 4 | (uint64_t)(is_digit(c) ? c - '0' : c - 'a' + 10);
		count++;
	}
	if (!eat(r, '_')) {
		fail(r);
	} else if (type == 'b' && value <= 1) {
		puts_(r, value ? "true" : "false");
	} else if (type == 'c' && value >= 32 && value < 0x110000 && value != '\'' && value != '\\') {
		puts_(r, "'");
		put_utf8(r, (uint32_t)value);
		puts_(r, "'");
	} else if (count > 16 || type == 'c') {
		puts_(r, "0x");
		append(r, digits, count);
	} else {
		put_number(r, value);
	}
}

static void print_const_inside(struct rust *r)
{
	char type = next(r);
	size_t back;

	if (type == 'p') {
		puts_(r, "_");
	} else if (type == 'B') {
		back = follow(r);
		if (back != SIZE_MAX) {
			print_const(r);
			come_back(r, back);
		}
	} else if (type && strchr("aslxni", type)) {
		if (eat(r, 'n'))
			puts_(r, "-");
		print_integer(r, type);
	} else if (type && strchr("htmyojbc", type)) {
		print_integer(r, type);
	} else {
		fail(r);
	}
}

static void print_const(struct rust *r)
{
	if (!enter(r))
		return;
	print_const_inside(r);
	r->depth--;
}

// ---- the whole name ----

bool pd_demangle_rust(struct pd_text *out, const char *name, size_t length)
{
	struct rust r = { .out = out, .out_start = out->size };
	const char *suffix;

	if (length < 3 || name[0] != '_' || name[1] != 'R' || name[2] < 'A' || name[2] > 'Z')
		return false;
	suffix = memchr(name, '.', length);
	r.name = name + 2;
	r.size = (suffix ? (size_t)(suffix - name) : length) - 2;
	print_path(&r, true);
	if (!r.failed && r.at < r.size) {
		r.silent = true;
		print_path(&r, false);
		r.silent = false;
	}
	if (r.failed || r.at != r.size) {
		out->size = r.out_start;
		return false;
	}
	return true;
}
