/* SPDX-License-Identifier: MIT */
/*
 * Names without what differs from build to build. Only known words after a dot are taken off, and digits only behind them:
 * "sha256" and "matrix.4x4" keep theirs. A part and a copy of a function count as the function.
 */
#include "diff/diff.h"

#include <ctype.h>
#include <string.h>

#include "base/text/text.h"

static size_t digits(const char *text, size_t length)
{
	size_t count = 0;

	while (count < length && isdigit((unsigned char)text[count]))
		count++;
	return count;
}

static bool are_hex(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return true;
}

static bool is_word(const char *text, size_t length, const char *const *words)
{
	for (; *words; words++)
		if (strlen(*words) == length && memcmp(text, *words, length) == 0)
			return true;
	return false;
}

/* Length without ".word" or ".word.123" at the end. */
static size_t without_suffix(const char *name, size_t length)
{
	static const char *const words[] = { "cold",  "part",   "isra", "constprop", "lto_priv", "localalias",
					     "clone", "ipa_cp", "llvm", "__uniq",    NULL };
	size_t end = length, dot;

	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	end = end < length && end && name[end - 1] == '.' ? end - 1 : length;
	for (dot = end; dot && name[dot - 1] != '.'; dot--)
		if (name[dot - 1] == ' ' || name[dot - 1] == ')')
			return length;
	return dot > 1 && is_word(name + dot, end - dot, words) ? dot - 1 : length;
}

/* " [clone .cold]", as demanglers print it. */
static size_t without_clone(const char *name, size_t length)
{
	static const char mark[] = " [clone ";
	size_t start;

	if (!length || name[length - 1] != ']')
		return length;
	for (start = length; start && name[start - 1] != '['; start--)
		;
	return start > 1 && start >= 2 && strncmp(name + start - 2, mark, sizeof(mark) - 1) == 0 ? start - 2 : length;
}

/* "::h" and 16 digits, the hash of old Rust names, mangled too; a version after '@'. */
static size_t without_hash(const char *name, size_t length)
{
	const char *at = memchr(name, '@', length);

	if (length > 19 && memcmp(name + length - 19, "::h", 3) == 0 && are_hex(name + length - 16, 16))
		return length - 19;
	if (length > 20 && name[length - 1] == 'E' && memcmp(name + length - 20, "17h", 3) == 0 &&
	    are_hex(name + length - 17, 16))
		return length - 20;
	if (at && at > name && strncmp(at, "@plt", 4) != 0)
		return (size_t)(at - name);
	return length;
}

static size_t plain_length(const char *name)
{
	size_t length = strlen(name), before;

	do {
		before = length;
		length = without_suffix(name, length);
		length = without_clone(name, length);
		length = without_hash(name, length);
	} while (length != before);
	return length;
}

/* Bytes to leave out at a place inside of a name: numbers of closures, "#2" of "{lambda(int)#2}" and "1" of "main.func1", and ABI
 * tags. */
static size_t omitted(const char *name, size_t at, size_t length)
{
	size_t count;

	if (name[at] == '#') {
		count = digits(name + at + 1, length - at - 1);
		return count && at + 1 + count < length && name[at + 1 + count] == '}' ? count + 1 : 0;
	}
	if (strncmp(name + at, "[abi:", 5) == 0) {
		const char *end = memchr(name + at, ']', length - at);

		return end ? (size_t)(end - name) - at + 1 : 0;
	}
	if (at >= 5 && memcmp(name + at - 5, ".func", 5) == 0) {
		count = digits(name + at, length - at);
		while (count && at + count + 1 < length && name[at + count] == '.' &&
		       digits(name + at + count + 1, length - at - count - 1))
			count += 1 + digits(name + at + count + 1, length - at - count - 1);
		return count;
	}
	return 0;
}

void pd_diff_plain_function(struct pd_text *out, const char *name)
{
	size_t length = plain_length(name);

	for (size_t i = 0; i < length;) {
		size_t count = omitted(name, i, length);

		if (!count)
			pd_text_char(out, name[i]);
		i += count ? count : 1;
	}
}

void pd_diff_plain_object(struct pd_text *out, const char *name)
{
	static const char deleted[] = " (deleted)";
	static const char *const kernels[] = { "[kernel.kallsyms]", "[kernel.vmlinux]", "vmlinux", NULL };
	size_t length = strlen(name), dash;
	const char *so = strstr(name, ".so.");

	if (is_word(name, length, kernels)) {
		pd_text_add(out, "[kernel]");
		return;
	}
	if (length > strlen(deleted) && strcmp(name + length - strlen(deleted), deleted) == 0)
		length -= strlen(deleted);
	if (strncmp(name, "jitted-", 7) == 0) {
		pd_text_add(out, "jitted");
		return;
	}
	if (so) {
		length = (size_t)(so - name);
		/* "libfoo-0123456789abcdef.so" */
		for (dash = length; dash && name[dash - 1] != '-'; dash--)
			;
		if (dash > 1 && length - dash >= 8 && are_hex(name + dash, length - dash))
			length = dash - 1;
		pd_text_printf(out, "%.*s.so", (int)length, name);
		return;
	}
	pd_text_printf(out, "%.*s", (int)length, name);
}
