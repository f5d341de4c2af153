/* SPDX-License-Identifier: MIT */
/*
 * Texts that take the place of others. A word becomes six letters and six digits in turns, so that it cannot be, and
 * cannot contain, a word that stood there before; what is around words stays: the steps of a path, the end of a file's
 * name, the brackets of what is no file.
 */
#include "edit/scrub/scrub.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	WORD_PAIRS = 6,
	MOST_PATTERN = 4096
};

static bool starts(const char *text, size_t length, const char *with)
{
	size_t size = strlen(with);

	return length >= size && !memcmp(text, with, size);
}

static bool ends(const char *text, size_t length, const char *with)
{
	size_t size = strlen(with);

	return length >= size && !memcmp(text + length - size, with, size);
}

static void append_name(struct pd_scrub *scrub, const char *text, size_t length)
{
	pd_text_printf(scrub->text, "%.*s", (int)length, text);
}

/* ---- words ---- */

static void put_number(struct pd_scrub *scrub, uint64_t number)
{
	static const char consonants[] = "bcdfghjkmnpqrstvwxyz";
	char word[2 * WORD_PAIRS + 1];

	for (unsigned i = 0; i < WORD_PAIRS; i++) {
		word[2 * i] = consonants[number % 20];
		word[2 * i + 1] = (char)('0' + number / 20 % 10);
		number /= 200;
	}
	word[2 * WORD_PAIRS] = 0;
	pd_text_add(scrub->text, word);
}

/* A name is the same word wherever it stands. */
static void put_word(struct pd_scrub *scrub, const char *text, size_t length)
{
	put_number(scrub, pd_scrub_number_of_text(scrub, PD_CLASS_NAME, text, length));
}

static bool is_kept(const struct pd_scrub *scrub, enum pd_value_class class, const char *text, size_t length)
{
	char copy[MOST_PATTERN];

	if (!scrub->keep_count || length >= sizeof(copy))
		return false;
	memcpy(copy, text, length);
	copy[length] = 0;
	for (size_t i = 0; i < scrub->keep_count; i++) {
		const struct pd_keep_pattern *keep = &scrub->keep[i];

		if ((keep->class == class || keep->class == PD_CLASS_NONE) && !fnmatch(keep->pattern, copy, 0))
			return true;
	}
	return false;
}

/* ---- paths ---- */

/* The end of a file's name says what kind of file it is. */
static const char *const kinds[] = { ".jar",   ".apk",   ".dex",     ".odex",  ".oat", ".vdex", ".art", ".map",
				     ".debug", ".dump",  ".py",      ".pl",    ".rb",  ".js",   ".dll", ".exe",
				     ".slice", ".scope", ".service", ".mount", ".a",   ".o",    NULL };

static const char *kind_of(const char *name, size_t length)
{
	for (const char *const *kind = kinds; *kind; kind++) {
		if (length > strlen(*kind) && ends(name, length, *kind))
			return *kind;
	}
	return "";
}

/* Where in name ".so" or ".ko" stands, with an end or another dot after it; 0: nowhere. */
static size_t find_kind(const char *name, size_t length, const char *kind)
{
	for (size_t i = 1; i + 3 <= length; i++) {
		if (!memcmp(name + i, kind, 3) && (i + 3 == length || name[i + 3] == '.'))
			return i;
	}
	return 0;
}

/* A module is called [name] too, with _ for -. */
static void put_module(struct pd_scrub *scrub, const char *name, size_t length)
{
	char plain[256];

	if (length > sizeof(plain)) {
		put_word(scrub, name, length);
		return;
	}
	for (size_t i = 0; i < length; i++)
		plain[i] = name[i] == '-' ? '_' : name[i];
	put_word(scrub, plain, length);
}

static void put_step(struct pd_scrub *scrub, enum pd_value_class class, const char *name, size_t length)
{
	size_t at;

	if (!length || (length <= 2 && !memcmp(name, "..", length)) || is_kept(scrub, class, name, length)) {
		append_name(scrub, name, length);
	} else if ((at = find_kind(name, length, ".ko")) != 0) {
		put_module(scrub, name, at);
		pd_text_add(scrub->text, ".ko");
	} else {
		put_word(scrub, name, length);
		pd_text_add(scrub->text, find_kind(name, length, ".so") ? ".so" : kind_of(name, length));
	}
}

static void put_steps(struct pd_scrub *scrub, enum pd_value_class class, const char *path, size_t length)
{
	for (size_t from = 0, at = 0; at <= length; at++) {
		if (at < length && path[at] != '/')
			continue;
		put_step(scrub, class, path + from, at - from);
		if (at < length)
			pd_text_add(scrub->text, "/");
		from = at + 1;
	}
}

/* Digits to the closing bracket become another number. */
static bool put_bracketed_task(struct pd_scrub *scrub, const char *text, size_t length, const char *start)
{
	size_t size = strlen(start);
	uint64_t task = 0;

	if (!starts(text, length, start) || length < size + 2 || length > size + 11)
		return false;
	for (size_t i = size; i < length && text[i] != ']'; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		task = task * 10 + (uint64_t)(text[i] - '0');
	}
	if (text[length - 1] != ']')
		return false;
	pd_text_printf(scrub->text, "%s%" PRIu64 "]", start, pd_scrub_task(scrub, task, 4));
	return true;
}

/* What stands where a path would. */
static bool put_no_file(struct pd_scrub *scrub, const char *text, size_t length)
{
	static const char *const shapes[] = { "anon_inode:", "/memfd:", "[anon:", "socket:", "pipe:" };

	if (pd_scrub_is_marker(text, length)) {
		append_name(scrub, text, length);
		return true;
	}
	if (put_bracketed_task(scrub, text, length, "[stack:"))
		return true;
	if (starts(text, length, "[guest.kernel.kallsyms.")) {
		size_t bracket = length;

		while (bracket && text[bracket - 1] != ']')
			bracket--;
		if (!put_bracketed_task(scrub, text, bracket, "[guest.kernel.kallsyms."))
			return false;
		if (bracket < length)
			pd_text_add(scrub->text, "_text");
		return true;
	}
	if (starts(text, length, "/SYSV") && length == 13) {
		pd_text_printf(scrub->text, "/SYSV%08" PRIx32,
			       (uint32_t)pd_scrub_number_of_text(scrub, PD_CLASS_FILE, text, length));
		return true;
	}
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		size_t size = strlen(shapes[i]);

		if (starts(text, length, shapes[i])) {
			bool bracket = length > size && ends(text, length, "]");

			pd_text_add(scrub->text, shapes[i]);
			put_word(scrub, text + size, length - size);
			if (bracket && i == 2)
				pd_text_add(scrub->text, "]");
			return true;
		}
	}
	if (length > 2 && text[0] == '[' && text[length - 1] == ']') {
		pd_text_add(scrub->text, "[");
		put_module(scrub, text + 1, length - 2);
		pd_text_add(scrub->text, "]");
		return true;
	}
	return false;
}

static void put_path(struct pd_scrub *scrub, const char *path, size_t length)
{
	static const char deleted[] = " (deleted)";
	bool gone = ends(path, length, deleted);

	if (gone)
		length -= sizeof(deleted) - 1;
	if (is_kept(scrub, PD_CLASS_PATH, path, length))
		append_name(scrub, path, length);
	else if (!put_no_file(scrub, path, length))
		put_steps(scrub, PD_CLASS_PATH, path, length);
	if (gone)
		pd_text_add(scrub->text, deleted);
}

/* ---- other texts ---- */

static bool is_plain_word(const char *word, size_t length)
{
	return strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") >= length;
}

/* Words between separators, of which those that are known stay. "sched:sched_switch": of a system of the kernel all is
 * known. */
static void put_words(struct pd_scrub *scrub, enum pd_value_class class, const char *text, size_t length,
		      const char *separators, bool (*known)(const char *, size_t))
{
	bool in_system = false;

	for (size_t from = 0, at = 0; at <= length; at++) {
		const char *word = text + from;
		size_t size = at - from;

		if (at < length && !strchr(separators, text[at]))
			continue;
		if (size && (known(word, size) || (in_system && is_plain_word(word, size)) ||
			     (at < length && text[at] == ':' && pd_scrub_is_tracepoint_system(word, size))))
			append_name(scrub, word, size);
		else if (size)
			put_step(scrub, class, word, size);
		in_system = at < length && text[at] == ':' && !in_system && pd_scrub_is_tracepoint_system(word, size);
		if (at < length)
			append_name(scrub, text + at, 1);
		from = at + 1;
	}
}

/* A number of the version may stay, what a builder put after it not. */
static void put_release(struct pd_scrub *scrub, const char *text, size_t length)
{
	size_t digits = strspn(text, "0123456789.");

	if (digits > length)
		digits = length;
	if (digits > 16)
		digits = 0;
	append_name(scrub, text, digits);
	if (digits == length)
		return;
	if (digits)
		pd_text_add(scrub->text, "-");
	put_word(scrub, text, length);
}

/* "bpf_prog_TAG_name": the tag is the one in the BPF_EVENT. */
static void put_bpf_program(struct pd_scrub *scrub, const char *text, size_t length)
{
	static const char start[] = "bpf_prog_";
	const char *at = text + sizeof(start) - 1;
	size_t left = length - (sizeof(start) - 1);
	uint8_t tag[8];

	pd_text_add(scrub->text, start);
	if (left < 16 || (left > 16 && at[16] != '_')) {
		put_word(scrub, text, length);
		return;
	}
	for (unsigned i = 0; i < 8; i++) {
		char digits[3] = { at[2 * i], at[2 * i + 1] }, *end;

		tag[i] = (uint8_t)strtoul(digits, &end, 16);
		if (*end || digits[0] == '-' || digits[0] == '+' || digits[0] == ' ') {
			put_word(scrub, text, length);
			return;
		}
	}
	pd_scrub_build_id(scrub, tag, sizeof(tag));
	for (unsigned i = 0; i < 8; i++)
		pd_text_printf(scrub->text, "%02x", tag[i]);
	if (left > 17) {
		pd_text_add(scrub->text, "_");
		put_word(scrub, at + 17, left - 17);
	}
}

static void put_symbol(struct pd_scrub *scrub, const char *text, size_t length)
{
	static const char *const shapes[] = { "bpf_trampoline_", "bpf_dispatcher_" };

	if (pd_scrub_is_marker(text, length)) {
		append_name(scrub, text, length);
		return;
	}
	if (starts(text, length, "bpf_prog_")) {
		put_bpf_program(scrub, text, length);
		return;
	}
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		if (starts(text, length, shapes[i]))
			pd_text_add(scrub->text, shapes[i]);
	}
	put_word(scrub, text, length);
}

static void put_known(struct pd_scrub *scrub, const char *text, size_t length, bool known)
{
	if (known)
		append_name(scrub, text, length);
	else
		put_word(scrub, text, length);
}

static void put_text(struct pd_scrub *scrub, enum pd_value_class class, const char *text, size_t length)
{
	switch (class) {
	case PD_CLASS_PATH:
		put_path(scrub, text, length);
		return;
	case PD_CLASS_COMM:
		pd_text_add(scrub->text, "c-");
		put_word(scrub, text, length);
		return;
	case PD_CLASS_HOST:
		pd_text_add(scrub->text, "h-");
		put_word(scrub, text, length);
		return;
	case PD_CLASS_SYMBOL:
		put_symbol(scrub, text, length);
		return;
	case PD_CLASS_EVENT:
		put_words(scrub, class, text, length, "/,=:{}+ @\n", pd_scrub_is_word_of_events);
		return;
	case PD_CLASS_ARGUMENT:
		put_words(scrub, class, text, length, "/,=:{}+ ", pd_scrub_is_word_of_arguments);
		return;
	case PD_CLASS_RELEASE:
		put_release(scrub, text, length);
		return;
	case PD_CLASS_PMU:
		put_known(scrub, text, length, pd_scrub_is_pmu(text, length));
		return;
	case PD_CLASS_WORD:
		put_known(scrub, text, length,
			  pd_scrub_is_word_of_units(text, length) || pd_scrub_is_architecture(text, length));
		return;
	case PD_CLASS_CPU_LIST:
		put_known(scrub, text, length, strspn(text, "0123456789abcdefx,-") >= length);
		return;
	case PD_CLASS_MACHINE:
		append_name(scrub, text, length);
		return;
	default:
		put_word(scrub, text, length);
	}
}

void pd_scrub_put_name(struct pd_scrub *scrub, enum pd_value_class class, const char *text, size_t length)
{
	if (class == PD_CLASS_STRING)
		class = scrub->string;
	if (class != PD_CLASS_PATH && is_kept(scrub, class, text, length))
		append_name(scrub, text, length);
	else
		put_text(scrub, class, text, length);
}
