/* SPDX-License-Identifier: MIT */
/* Which scheme a name is in; Rust's older one, which looks like C++ with a hash at the end; and OCaml's. */
#include "object/demangle/demangle.h"

#include "object/symbols/scan.h"

enum {
	HASH = 17
}; // h and 16 hex digits

// ---- Rust's older scheme ----

static const struct {
	const char *code;
	char character;
} escapes[] = {
	{ "$SP$", '@' }, { "$BP$", '*' }, { "$RF$", '&' }, { "$LT$", '<' },
	{ "$GT$", '>' }, { "$LP$", '(' }, { "$RP$", ')' }, { "$C$", ',' },
};

static bool is_hash(const char *text, size_t size)
{
	if (size != HASH || text[0] != 'h')
		return false;
	for (size_t i = 1; i < HASH; i++)
		if (pd_scan_digit(text[i]) < 0 || (text[i] >= 'A' && text[i] <= 'F'))
			return false;
	return true;
}

static size_t put_utf8(struct pd_text *out, uint32_t c)
{
	size_t size = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	char text[4];

	for (size_t i = size; i-- > 1; c >>= 6)
		text[i] = (char)(0x80 | (c & 63));
	text[0] = (char)(size == 1 ? c : (0xf00u >> size & 0xf0) | c);
	pd_text_put(out, text, size);
	return size;
}

// "$u7e$" and the names of signs. Returns what it took of the text, 0 if it is nothing of the kind.
static size_t put_escape(struct pd_text *out, const char *text, size_t size)
{
	uint32_t value = 0;
	size_t at = 2;

	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		size_t length = strlen(escapes[i].code);

		if (size >= length && memcmp(text, escapes[i].code, length) == 0) {
			pd_text_char(out, escapes[i].character);
			return length;
		}
	}
	if (size < 4 || text[1] != 'u')
		return 0;
	for (; at < size && at < 8 && pd_scan_digit(text[at]) >= 0; at++)
		value = value << 4 | (uint32_t)pd_scan_digit(text[at]);
	if (at == 2 || at == size || text[at] != '$' || value < 32 || value == 127 || value > 0x10ffff ||
	    (value >= 0xd800 && value < 0xe000))
		return 0;
	put_utf8(out, value);
	return at + 1;
}

static void put_part(struct pd_text *out, const char *text, size_t size)
{
	size_t at = size > 1 && text[0] == '_' && text[1] == '$';

	while (at < size) {
		size_t taken = text[at] == '$' ? put_escape(out, text + at, size - at) : 0;

		if (!taken && text[at] == '.' && at + 1 < size && text[at + 1] == '.') {
			PD_TEXT_LITERAL(out, "::");
			taken = 2;
		} else if (!taken) {
			pd_text_char(out, text[at]);
			taken = 1;
		}
		at += taken;
	}
}

// Takes "4name"; false if it is none.
static bool take_part(struct pd_scan *s, const char **text_out, size_t *size_out)
{
	size_t size = 0;

	if (s->at == s->end || *s->at < '1' || *s->at > '9')
		return false;
	while (s->at < s->end && *s->at >= '0' && *s->at <= '9') {
		size = size * 10 + (size_t)(*s->at++ - '0');
		if (size > (size_t)(s->end - s->at))
			return false;
	}
	*text_out = s->at;
	*size_out = size;
	s->at += size;
	return true;
}

bool pd_demangle_rust_legacy(struct pd_text *out, const char *name, size_t length)
{
	struct pd_scan s = { name + 3, name + length };
	size_t start = out->size, size, parts = 0;
	const char *text;

	if (length < 3 || memcmp(name, "_ZN", 3) != 0)
		return false;
	while (take_part(&s, &text, &size)) {
		if (s.at < s.end && *s.at == 'E' && is_hash(text, size) && parts) {
			if (s.at + 1 < s.end && s.at[1] != '.')
				break;
			return true;
		}
		if (parts++)
			PD_TEXT_LITERAL(out, "::");
		put_part(out, text, size);
	}
	out->size = start;
	return false;
}

// ---- OCaml ----

// "camlStdlib__List__map_45": modules are parted by "__", signs are "$" and two hex digits.
static bool demangle_ocaml(struct pd_text *out, const char *name, size_t length)
{
	if (length < 5 || memcmp(name, "caml", 4) != 0 || name[4] < 'A' || name[4] > 'Z')
		return false;
	for (size_t i = 4; i < length;) {
		const char *s = name + i;
		size_t left = length - i;
		int sign = left > 2 && *s == '$' && pd_scan_digit(s[1]) >= 0 && pd_scan_digit(s[2]) >= 0 ?
				   pd_scan_digit(s[1]) << 4 | pd_scan_digit(s[2]) :
				   0;

		if (left > 1 && s[0] == '_' && s[1] == '_') {
			pd_text_char(out, '.');
			i += 2;
		} else if (sign >= 32 && sign != 127) {
			pd_text_char(out, (char)sign);
			i += 3;
		} else {
			pd_text_char(out, *s);
			i++;
		}
	}
	return true;
}

// ---- all ----

bool pd_demangle(struct pd_text *out, const char *name, size_t length)
{
	return pd_demangle_rust(out, name, length) || pd_demangle_rust_legacy(out, name, length) ||
	       pd_demangle_cxx(out, name, length) || demangle_ocaml(out, name, length);
}
