/* SPDX-License-Identifier: MIT */
/*
 * Texts that take the place of others. A word becomes six letters and six digits in turns, so that it cannot be, and
 * cannot contain, a word that stood there before; what is around words stays: the steps of a path, the end of a file's
 * name, the brackets of what is no file.
 */
#include "scrub.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	WORD_PAIRS = 6,
	MOST_TEXT_BYTES = 64 << 20, /* remembered */
	MOST_PATTERN = 4096
};

struct text_entry {
	const char *text, *now;
	size_t length, now_length;
	uint32_t hash;
	uint8_t class;
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

static void put(struct scrub *scrub, const char *text, size_t length)
{
	pd_text_printf(scrub->text, "%.*s", (int)length, text);
}

/* ---- words ---- */

static void put_number(struct scrub *scrub, uint64_t number)
{
	static const char letters[] = "bcdfghjkmnpqrstvwxyz";
	char word[2 * WORD_PAIRS + 1];

	for (unsigned i = 0; i < WORD_PAIRS; i++) {
		word[2 * i] = letters[number % 20];
		word[2 * i + 1] = (char)('0' + number / 20 % 10);
		number /= 200;
	}
	word[2 * WORD_PAIRS] = 0;
	pd_text_add(scrub->text, word);
}

/* A name is the same word wherever it stands. */
static void put_word(struct scrub *scrub, const char *text, size_t length)
{
	put_number(scrub, scrub_number_of_text(scrub, CLASS_NAME, text, length));
}

static bool is_kept(const struct scrub *scrub, enum scrub_class class, const char *text, size_t length)
{
	char copy[MOST_PATTERN];

	if (!scrub->keep_count || length >= sizeof(copy))
		return false;
	memcpy(copy, text, length);
	copy[length] = 0;
	for (size_t i = 0; i < scrub->keep_count; i++) {
		const struct keep_pattern *keep = &scrub->keep[i];

		if ((keep->class == class || keep->class == CLASS_NONE) && !fnmatch(keep->pattern, copy, 0))
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

/* Where in name ".so" or ".ko" stands, with an end or another dot behind; 0: nowhere. */
static size_t find_kind(const char *name, size_t length, const char *kind)
{
	for (size_t i = 1; i + 3 <= length; i++) {
		if (!memcmp(name + i, kind, 3) && (i + 3 == length || name[i + 3] == '.'))
			return i;
	}
	return 0;
}

/* A module is called [name] too, with _ for -. */
static void put_module(struct scrub *scrub, const char *name, size_t length)
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

static void put_step(struct scrub *scrub, enum scrub_class class, const char *name, size_t length)
{
	size_t at;

	if (!length || (length <= 2 && !memcmp(name, "..", length)) || is_kept(scrub, class, name, length)) {
		put(scrub, name, length);
	} else if ((at = find_kind(name, length, ".ko")) != 0) {
		put_module(scrub, name, at);
		pd_text_add(scrub->text, ".ko");
	} else {
		put_word(scrub, name, length);
		pd_text_add(scrub->text, find_kind(name, length, ".so") ? ".so" : kind_of(name, length));
	}
}

static void put_steps(struct scrub *scrub, enum scrub_class class, const char *path, size_t length)
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
static bool put_bracketed_task(struct scrub *scrub, const char *text, size_t length, const char *start)
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
	pd_text_printf(scrub->text, "%s%" PRIu64 "]", start, scrub_task(scrub, task, 4));
	return true;
}

/* What stands where a path would. */
static bool put_no_file(struct scrub *scrub, const char *text, size_t length)
{
	static const char *const shapes[] = { "anon_inode:", "/memfd:", "[anon:", "socket:", "pipe:" };

	if (is_marker(text, length)) {
		put(scrub, text, length);
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
			       (uint32_t)scrub_number_of_text(scrub, CLASS_FILE, text, length));
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

static void put_path(struct scrub *scrub, const char *path, size_t length)
{
	static const char deleted[] = " (deleted)";
	bool gone = ends(path, length, deleted);

	if (gone)
		length -= sizeof(deleted) - 1;
	if (is_kept(scrub, CLASS_PATH, path, length))
		put(scrub, path, length);
	else if (!put_no_file(scrub, path, length))
		put_steps(scrub, CLASS_PATH, path, length);
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
static void put_words(struct scrub *scrub, enum scrub_class class, const char *text, size_t length,
		      const char *separators, bool (*known)(const char *, size_t))
{
	bool in_system = false;

	for (size_t from = 0, at = 0; at <= length; at++) {
		const char *word = text + from;
		size_t size = at - from;

		if (at < length && !strchr(separators, text[at]))
			continue;
		if (size && (known(word, size) || (in_system && is_plain_word(word, size)) ||
			     (at < length && text[at] == ':' && is_tracepoint_system(word, size))))
			put(scrub, word, size);
		else if (size)
			put_step(scrub, class, word, size);
		in_system = at < length && text[at] == ':' && !in_system && is_tracepoint_system(word, size);
		if (at < length)
			put(scrub, text + at, 1);
		from = at + 1;
	}
}

/* A number of the version may stay, what a builder put behind it not. */
static void put_release(struct scrub *scrub, const char *text, size_t length)
{
	size_t digits = strspn(text, "0123456789.");

	if (digits > length)
		digits = length;
	if (digits > 16)
		digits = 0;
	put(scrub, text, digits);
	if (digits == length)
		return;
	if (digits)
		pd_text_add(scrub->text, "-");
	put_word(scrub, text, length);
}

/* "bpf_prog_TAG_name": the tag is the one in the BPF_EVENT. */
static void put_bpf_program(struct scrub *scrub, const char *text, size_t length)
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
	scrub_build_id(scrub, tag, sizeof(tag));
	for (unsigned i = 0; i < 8; i++)
		pd_text_printf(scrub->text, "%02x", tag[i]);
	if (left > 17) {
		pd_text_add(scrub->text, "_");
		put_word(scrub, at + 17, left - 17);
	}
}

static void put_symbol(struct scrub *scrub, const char *text, size_t length)
{
	static const char *const shapes[] = { "bpf_trampoline_", "bpf_dispatcher_" };

	if (is_marker(text, length)) {
		put(scrub, text, length);
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

static void put_known(struct scrub *scrub, const char *text, size_t length, bool known)
{
	if (known)
		put(scrub, text, length);
	else
		put_word(scrub, text, length);
}

static void put_text(struct scrub *scrub, enum scrub_class class, const char *text, size_t length)
{
	switch (class) {
	case CLASS_PATH:
		put_path(scrub, text, length);
		return;
	case CLASS_COMM:
		pd_text_add(scrub->text, "c-");
		put_word(scrub, text, length);
		return;
	case CLASS_HOST:
		pd_text_add(scrub->text, "h-");
		put_word(scrub, text, length);
		return;
	case CLASS_SYMBOL:
		put_symbol(scrub, text, length);
		return;
	case CLASS_EVENT:
		put_words(scrub, class, text, length, "/,=:{}+ @\n", is_word_of_events);
		return;
	case CLASS_ARGUMENT:
		put_words(scrub, class, text, length, "/,=:{}+ ", is_word_of_arguments);
		return;
	case CLASS_RELEASE:
		put_release(scrub, text, length);
		return;
	case CLASS_PMU:
		put_known(scrub, text, length, is_pmu(text, length));
		return;
	case CLASS_WORD:
		put_known(scrub, text, length, is_word_of_units(text, length) || is_architecture(text, length));
		return;
	case CLASS_CPU_LIST:
		put_known(scrub, text, length, strspn(text, "0123456789abcdefx,-") >= length);
		return;
	case CLASS_MACHINE:
		put(scrub, text, length);
		return;
	default:
		put_word(scrub, text, length);
	}
}

static void put_class(struct scrub *scrub, enum scrub_class class, const char *text, size_t length)
{
	if (class == CLASS_STRING)
		class = scrub->string;
	if (class != CLASS_PATH && is_kept(scrub, class, text, length))
		put(scrub, text, length);
	else
		put_text(scrub, class, text, length);
}

/* ---- what is remembered ---- */

static uint32_t hash_of(enum scrub_class class, const char *text, size_t length)
{
	uint32_t hash = 2166136261u + (uint32_t) class;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (uint8_t)text[i]) * 16777619u;
	return hash;
}

static struct text_entry *entry_of(const struct text_memo *memo, enum scrub_class class, const char *text,
				   size_t length, uint32_t hash)
{
	size_t slot = hash & (memo->capacity - 1);

	for (;; slot = (slot + 1) & (memo->capacity - 1)) {
		struct text_entry *entry = &memo->entries[slot];

		if (!entry->text || (entry->hash == hash && entry->class == class && entry->length == length &&
				     !memcmp(entry->text, text, length)))
			return entry;
	}
}

static bool texts_grow(struct text_memo *memo)
{
	struct text_memo more = *memo;

	more.capacity = memo->capacity ? 2 * memo->capacity : 1024;
	more.entries = calloc(more.capacity, sizeof(*more.entries));
	if (!more.entries)
		return false;
	for (size_t i = 0; i < memo->capacity; i++) {
		const struct text_entry *entry = &memo->entries[i];

		if (entry->text)
			*entry_of(&more, (enum scrub_class)entry->class, entry->text, entry->length, entry->hash) =
				*entry;
	}
	free(memo->entries);
	*memo = more;
	return true;
}

void scrub_trim(struct scrub *scrub)
{
	struct text_memo *memo = &scrub->texts;

	if (memo->room.total < MOST_TEXT_BYTES)
		return;
	room_fini(&memo->room);
	memset(memo->entries, 0, memo->capacity * sizeof(*memo->entries));
	memo->used = 0;
}

static const char *remembered(struct room *room, const char *text, size_t length)
{
	char *copy = room_take(room, length + 1);

	return copy ? memcpy(copy, text, length) : NULL;
}

static void count(struct scrub *scrub, enum scrub_class class, const struct text_entry *entry)
{
	scrub->counts.distinct[class]++;
	scrub->counts.kept[class] += entry->now_length == entry->length &&
				     !memcmp(entry->now, entry->text, entry->length);
	if (scrub->told)
		scrub->told(scrub->told_self, class, entry->text, entry->length, entry->now, entry->now_length);
}

const char *scrub_name(struct scrub *scrub, enum scrub_class class, const char *text, size_t length, size_t *length_out)
{
	struct text_memo *memo = &scrub->texts;
	struct text_entry *entry;
	struct pd_bytes now;
	uint32_t hash;

	if (class == CLASS_STRING)
		class = scrub->string;
	*length_out = 0;
	scrub->counts.values[class]++;
	if (2 * memo->used >= memo->capacity && !texts_grow(memo)) {
		scrub->failed = true;
		return "";
	}
	hash = hash_of(class, text, length);
	entry = entry_of(memo, class, text, length, hash);
	if (!entry->text) {
		pd_text_clear(scrub->text);
		put_class(scrub, class, text, length);
		now = pd_text_bytes(scrub->text);
		*entry = (struct text_entry){ remembered(&memo->room, text, length),
					      remembered(&memo->room, (const char *)now.data, now.size),
					      length,
					      now.size,
					      hash,
					      (uint8_t) class };
		if (!entry->text || !entry->now || pd_text_failed(scrub->text)) {
			entry->text = NULL;
			scrub->failed = true;
			return "";
		}
		memo->used++;
		count(scrub, class, entry);
	}
	*length_out = entry->now_length;
	return entry->now;
}

/* ---- simpleperf ---- */

static void set_text(struct scrub *scrub, struct pd_str *str, enum scrub_class class)
{
	size_t length;
	const char *now = scrub_name(scrub, class, str->data, str->length, &length);

	*str = (struct pd_str){ now, (uint32_t)length, 0 };
}

static bool is_plain_value(const struct pd_str *value)
{
	return !strcmp(value->data, "true") || !strcmp(value->data, "false") ||
	       (value->length <= 9 && strspn(value->data, "0123456789.") == value->length);
}

/* A value may be anything but for the few that are known. */
void scrub_special_simpleperf_pair(struct scrub *scrub, struct pd_simpleperf_pair *pair)
{
	bool known, events;

	if (!pair->key.data || !pair->value.data)
		return;
	known = is_meta_key(pair->key.data, pair->key.length);
	events = known && !strcmp(pair->key.data, "event_type_info");
	if (!known)
		set_text(scrub, &pair->key, CLASS_NAME);
	if (events)
		set_text(scrub, &pair->value, CLASS_EVENT);
	else if (!known || !is_plain_value(&pair->value))
		set_text(scrub, &pair->value, CLASS_NAME);
}

/* ---- the whole ---- */

enum scrub_class scrub_class_by_name(const char *name, size_t length)
{
	if (length == 3 && !strncasecmp(name, "dso", length))
		return CLASS_PATH;
	for (int class = CLASS_COMM; class <= CLASS_NAME; class ++) {
		if (strlen(scrub_classes[class].name) == length &&
		    !strncasecmp(scrub_classes[class].name, name, length))
			return (enum scrub_class) class;
	}
	return CLASS_COUNT;
}

bool scrub_init(struct scrub *scrub, const void *key, size_t key_size)
{
	hmac_key(&scrub->key, key, key_size);
	scrub->text = pd_text_new();
	return scrub->text;
}

void scrub_fini(struct scrub *scrub)
{
	for (size_t i = 0; i < CLASS_COUNT; i++)
		memo_fini(&scrub->memos[i]);
	for (size_t i = 0; i < SPACE_COUNT; i++)
		free(scrub->spaces[i].ranges);
	free(scrub->cpus);
	free(scrub->texts.entries);
	room_fini(&scrub->texts.room);
	room_fini(&scrub->room);
	room_fini(&scrub->feature_room);
	pd_text_free(scrub->text);
}
