/* SPDX-License-Identifier: MIT */
/*
 * Whether a result still says what it should not: every text that the tables find in the original, and every part of
 * it, is searched for in the bytes of the result, whatever they are, and in what its compressed records hold.
 *
 * A text is no find where it stands inside another one that may be there: a word that everybody knows, or one that
 * was told to be kept.
 */
#include "scrub.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	HEAD_BYTES = 4,    /* of a text, by which it is found */
	MOST_BYTES = 1024, /* longer texts are searched by their begin */
	CHUNK_BYTES = 1 << 20,
	FILTER_BITS = 20
};

/* Where a needle stands in a text that may be there. */
struct excuse {
	const char *text;
	size_t length, at;
};

struct needle {
	const char *text;
	size_t length;
	enum scrub_class class;
	uint32_t next;  /* with the same head, by number + 1 */
	bool explained; /* excuses were looked for */
	struct excuse *excuses;
	size_t excuse_count;
	uint64_t found, excused, first;
	const char *where; /* a file, or the compressed records */
};

struct verify {
	struct scrub *scrub;
	size_t least;
	struct room room;
	struct needle *needles;
	size_t count, capacity;
	uint32_t *heads; /* by hash of the first bytes: number + 1 of a needle */
	size_t head_capacity;
	uint8_t *filter;
	const char **kept; /* texts that may be there */
	size_t kept_count, kept_capacity;
	uint64_t too_short;
	uint64_t bytes;
	bool failed;
};

/* ---- what is searched for ---- */

static uint32_t head_of(const char *text)
{
	uint32_t head;

	memcpy(&head, text, sizeof(head));
	return head * 0x9e3779b1u;
}

static uint32_t *slot_of(struct verify *verify, uint32_t hash)
{
	return &verify->heads[hash & (verify->head_capacity - 1)];
}

static bool grow(struct verify *verify)
{
	size_t capacity = verify->capacity ? 2 * verify->capacity : 1024;
	struct needle *needles = realloc(verify->needles, capacity * sizeof(*needles));
	uint32_t *heads = calloc(4 * capacity, sizeof(*heads));

	if (needles)
		verify->needles = needles;
	if (!needles || !heads) {
		free(heads);
		verify->failed = true;
		return false;
	}
	verify->capacity = capacity;
	free(verify->heads);
	verify->heads = heads;
	verify->head_capacity = 4 * capacity;
	for (size_t i = 0; i < verify->count; i++) {
		uint32_t *slot = slot_of(verify, head_of(needles[i].text));

		needles[i].next = *slot;
		*slot = (uint32_t)i + 1;
	}
	return true;
}

static const char *copy_of(struct verify *verify, const char *text, size_t length)
{
	char *copy = room_take(&verify->room, length + 1);

	if (!copy) {
		verify->failed = true;
		return NULL;
	}
	return memcpy(copy, text, length);
}

static void add_needle(struct verify *verify, enum scrub_class class, const char *text, size_t length)
{
	uint32_t hash, *slot;

	if (length < verify->least) {
		verify->too_short += length > 0;
		return;
	}
	if (length > MOST_BYTES)
		length = MOST_BYTES;
	if (verify->count == verify->capacity && !grow(verify))
		return;
	hash = head_of(text);
	slot = slot_of(verify, hash);
	for (uint32_t i = *slot; i; i = verify->needles[i - 1].next) {
		const struct needle *needle = &verify->needles[i - 1];

		if (needle->length == length && !memcmp(needle->text, text, length))
			return;
	}
	text = copy_of(verify, text, length);
	if (!text)
		return;
	verify->needles[verify->count] =
		(struct needle){ .text = text, .length = length, .class = class, .next = *slot };
	*slot = (uint32_t)++verify->count;
	hash >>= 32 - FILTER_BITS;
	verify->filter[hash >> 3] |= (uint8_t)(1 << (hash & 7));
}

static void add_kept(struct verify *verify, const char *text, size_t length)
{
	const char **more;

	if (length < HEAD_BYTES || length > MOST_BYTES)
		return;
	for (size_t i = 0; i < verify->kept_count; i++) {
		if (strlen(verify->kept[i]) == length && !memcmp(verify->kept[i], text, length))
			return;
	}
	if (verify->kept_count == verify->kept_capacity) {
		verify->kept_capacity = verify->kept_capacity ? 2 * verify->kept_capacity : 1024;
		more = realloc(verify->kept, verify->kept_capacity * sizeof(*more));
		if (!more) {
			verify->failed = true;
			return;
		}
		verify->kept = more;
	}
	verify->kept[verify->kept_count] = copy_of(verify, text, length);
	verify->kept_count += verify->kept[verify->kept_count] != NULL;
}

/* A part that is in what takes the place of the whole was kept on purpose. */
static void add_part(struct verify *verify, enum scrub_class class, const char *part, size_t length, const char *now,
		     size_t now_length)
{
	size_t stem = 0;

	if (length >= HEAD_BYTES && memmem(now, now_length, part, length)) {
		add_kept(verify, part, length);
		return;
	}
	add_needle(verify, class, part, length);
	while (stem < length && part[stem] != '.')
		stem++;
	if (stem < length && !memmem(now, now_length, part, stem))
		add_needle(verify, class, part, stem);
}

static const char *separators_of(enum scrub_class class)
{
	switch (class) {
	case CLASS_PATH:
		return "/:[] ";
	case CLASS_ARGUMENT:
	case CLASS_EVENT:
		return "/,=:{}+ @\n";
	default:
		return "";
	}
}

static void collect(void *self, enum scrub_class class, const char *text, size_t length, const char *now,
		    size_t now_length)
{
	struct verify *verify = self;
	const char *separators = separators_of(class);

	if (length == now_length && !memcmp(text, now, length))
		add_kept(verify, text, length);
	else if (length <= MOST_BYTES || now_length < MOST_BYTES || memcmp(text, now, MOST_BYTES) != 0)
		add_needle(verify, class, text, length);
	if (class == CLASS_SYMBOL && length > 26 && !memcmp(text, "bpf_prog_", 9))
		add_part(verify, class, text + 26, length - 26, now, now_length);
	for (size_t from = 0, at = 0; *separators && at <= length; at++) {
		if (at < length && !strchr(separators, text[at]))
			continue;
		if (at > from)
			add_part(verify, class, text + from, at - from, now, now_length);
		from = at + 1;
	}
}

/* ---- the original ---- */

/* "1234 name" on each line. */
static void collect_saved(struct verify *verify)
{
	const struct pd_tracing_data *data = pd_file_tracing_data(verify->scrub->file);
	struct pd_bytes lines = data ? data->saved_cmdlines : (struct pd_bytes){ 0 };
	size_t length;

	for (size_t at = 0; at < lines.size;) {
		const char *line = (const char *)lines.data + at;
		const char *end = memchr(line, '\n', lines.size - at);
		size_t size = end ? (size_t)(end - line) : lines.size - at;
		const char *space = memchr(line, ' ', size);

		if (space)
			scrub_name(verify->scrub, CLASS_COMM, space + 1, size - (size_t)(space + 1 - line), &length);
		at += size + 1;
	}
}

static void collect_features(struct verify *verify)
{
	struct scrub *scrub = verify->scrub;
	struct pd_feature_section section;
	size_t length;

	for (size_t i = 0; i < pd_file_event_count(scrub->file); i++) {
		const char *name = pd_file_event(scrub->file, i)->name;

		if (*name)
			scrub_name(scrub, CLASS_EVENT, name, strlen(name), &length);
	}
	for (size_t i = 0; pd_file_feature_at(scrub->file, i, &section); i++)
		scrub_collect_feature(scrub, section.number);
	collect_saved(verify);
}

static bool collect_record(struct verify *verify, const struct pd_record *record)
{
	const void *decoded;

	if (scrub_record_fate(record->type) == FATE_PACKED || pd_record_decode(record, &decoded, NULL) < 0)
		return true;
	room_reset(&verify->scrub->room);
	scrub_trim(verify->scrub);
	return scrub_record(verify->scrub, record->type, record->misc, decoded) && !verify->failed;
}

typedef bool each_fn(struct verify *verify, const struct pd_record *record);

static int walk(struct verify *verify, struct pd_file *file, each_fn *each)
{
	const struct pd_record *record;
	struct pd_stream *stream = NULL;
	struct pd_error error;
	enum pd_status status = pd_stream_open(file, NULL, &stream, &error);

	while (status == PD_OK) {
		status = pd_stream_next(stream, &record, &error);
		if (status == PD_OK && !each(verify, record)) {
			pd_stream_close(stream);
			complain("out of memory");
			return CODE_UNREADABLE;
		}
	}
	pd_stream_close(stream);
	if (status >= 0)
		return CODE_FINE;
	complain("%s", error.message);
	return CODE_UNREADABLE;
}

static int collect_original(struct verify *verify, const char *path)
{
	struct pd_error error;
	int code;

	if (pd_file_open(path, NULL, &verify->scrub->file, &error) < 0) {
		complain("%s", error.message);
		return CODE_UNREADABLE;
	}
	verify->scrub->told = collect;
	verify->scrub->told_self = verify;
	code = walk(verify, verify->scrub->file, collect_record);
	if (code == CODE_FINE)
		collect_features(verify);
	pd_file_close(verify->scrub->file);
	for (size_t i = 0; public_text(i); i++)
		add_kept(verify, public_text(i), strlen(public_text(i)));
	if (code == CODE_FINE && (verify->failed || verify->scrub->failed)) {
		complain("out of memory");
		return CODE_UNREADABLE;
	}
	return code;
}

/* ---- the search ---- */

static void explain(struct verify *verify, struct needle *needle)
{
	struct excuse *more;

	needle->explained = true;
	for (size_t i = 0; i < verify->kept_count; i++) {
		const char *text = verify->kept[i], *at = text;

		for (; (at = strstr(at, needle->text)) != NULL; at++) {
			more = realloc(needle->excuses, (needle->excuse_count + 1) * sizeof(*more));
			if (!more) {
				verify->failed = true;
				return;
			}
			needle->excuses = more;
			needle->excuses[needle->excuse_count++] =
				(struct excuse){ text, strlen(text), (size_t)(at - text) };
		}
	}
}

static bool is_excused(struct verify *verify, struct needle *needle, struct pd_bytes bytes, size_t at)
{
	if (!needle->explained)
		explain(verify, needle);
	for (size_t i = 0; i < needle->excuse_count; i++) {
		const struct excuse *excuse = &needle->excuses[i];

		if (at >= excuse->at && bytes.size - (at - excuse->at) >= excuse->length &&
		    !memcmp(bytes.data + at - excuse->at, excuse->text, excuse->length))
			return true;
	}
	return false;
}

static void look_at(struct verify *verify, struct pd_bytes bytes, size_t at, uint32_t hash, uint64_t offset,
		    const char *where)
{
	for (uint32_t i = *slot_of(verify, hash); i; i = verify->needles[i - 1].next) {
		struct needle *needle = &verify->needles[i - 1];

		if (needle->length > bytes.size - at || memcmp(needle->text, bytes.data + at, needle->length) != 0)
			continue;
		if (is_excused(verify, needle, bytes, at)) {
			needle->excused++;
		} else if (!needle->found++) {
			needle->first = offset;
			needle->where = where;
		}
	}
}

/* Searches the part [from, to) of bytes, whose first byte is at an offset. */
static void search(struct verify *verify, struct pd_bytes bytes, size_t from, size_t to, uint64_t offset,
		   const char *where)
{
	verify->bytes += to - from;
	if (!verify->count)
		return;
	for (size_t at = from; at < to && bytes.size - at >= HEAD_BYTES; at++) {
		uint32_t hash = head_of((const char *)bytes.data + at), bit = hash >> (32 - FILTER_BITS);

		if (verify->filter[bit >> 3] >> (bit & 7) & 1)
			look_at(verify, bytes, at, hash, offset + at, where);
	}
}

static bool fill(int fd, uint8_t *buffer, size_t *used, size_t size)
{
	while (*used < size) {
		ssize_t got = read(fd, buffer + *used, size - *used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return false;
		if (!got)
			return true;
		*used += (size_t)got;
	}
	return true;
}

/* In pieces that overlap, so that what is found can be seen with what is around it. */
static int search_file(struct verify *verify, int folder, const char *name)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	uint8_t *buffer = malloc(CHUNK_BYTES + 3 * MOST_BYTES);
	size_t used = 0, from = 0;
	uint64_t offset = 0;
	bool fine = fd >= 0 && buffer, end = false;

	while (fine && !end) {
		size_t size = CHUNK_BYTES + 3 * MOST_BYTES, to;

		fine = fill(fd, buffer, &used, size);
		if (!fine)
			break;
		end = used < size;
		to = end ? used : used - 2 * MOST_BYTES;
		search(verify, (struct pd_bytes){ buffer, used }, from, to, offset, name);
		if (end)
			break;
		/* what was searched last stays in front, for what is around finds */
		memmove(buffer, buffer + to - MOST_BYTES, used - (to - MOST_BYTES));
		offset += to - MOST_BYTES;
		used -= to - MOST_BYTES;
		from = MOST_BYTES;
	}
	if (!fine)
		complain("%s: %s", name, buffer ? strerror(errno) : "out of memory");
	free(buffer);
	if (fd >= 0)
		close(fd);
	return fine ? CODE_FINE : CODE_UNREADABLE;
}

static int search_folder(struct verify *verify, const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int code = CODE_FINE;

	if (!folder) {
		complain("%s: %s", path, strerror(errno));
		return CODE_UNREADABLE;
	}
	while (code == CODE_FINE && (entry = readdir(folder)) != NULL) {
		struct stat status;

		if (fstatat(dirfd(folder), entry->d_name, &status, 0) == 0 && S_ISREG(status.st_mode)) {
			const char *name = copy_of(verify, entry->d_name, strlen(entry->d_name));

			code = name ? search_file(verify, dirfd(folder), name) : CODE_UNREADABLE;
		}
	}
	closedir(folder);
	return code;
}

static bool search_inflated(struct verify *verify, const struct pd_record *record)
{
	if (record->flags & PD_RECORD_INFLATED)
		search(verify, record->bytes, 0, record->bytes.size, record->offset, "compressed records");
	return !verify->failed;
}

static int search_result(struct verify *verify, const char *path)
{
	struct pd_file *file = NULL;
	struct pd_error error;
	struct stat status;
	int code;

	if (stat(path, &status) < 0) {
		complain("%s: %s", path, strerror(errno));
		return CODE_UNREADABLE;
	}
	if (pd_file_open(path, NULL, &file, &error) < 0) {
		complain("%s", error.message);
		return CODE_UNREADABLE;
	}
	if (pd_file_header(file)->compression || !(S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))) {
		complain("%s: not a plain file or directory; decompress or unpack it first", path);
		code = CODE_USAGE;
	} else {
		code = S_ISDIR(status.st_mode) ? search_folder(verify, path) : search_file(verify, AT_FDCWD, path);
		if (code == CODE_FINE)
			code = walk(verify, file, search_inflated);
	}
	pd_file_close(file);
	return code;
}

/* ---- what was found ---- */

static int print_found(const struct verify *verify, const struct verify_options *options, struct pd_text *text)
{
	struct pd_json json = { text };
	uint64_t found = 0, excused = 0;

	if (options->json) {
		pd_json_open(&json, NULL, '{');
		pd_json_open(&json, "found", '[');
	}
	for (size_t i = 0; i < verify->count; i++) {
		const struct needle *needle = &verify->needles[i];

		excused += !needle->found && needle->excused;
		if (!needle->found)
			continue;
		found++;
		if (options->json) {
			pd_json_open(&json, NULL, '{');
			pd_json_string(&json, "class", scrub_classes[needle->class].name);
			pd_json_string(&json, "text", needle->text);
			pd_json_number(&json, "count", needle->found);
			pd_json_string(&json, "where", needle->where);
			pd_json_number(&json, "offset", needle->first);
			pd_json_close(&json, '}');
			continue;
		}
		pd_text_printf(text, "found %-9s ", scrub_classes[needle->class].name);
		pd_text_escaped(text, needle->text, needle->length);
		pd_text_printf(text, ": %" PRIu64 " times, first in %s at offset 0x%" PRIx64 "\n", needle->found,
			       needle->where, needle->first);
	}
	if (options->json) {
		pd_json_close(&json, ']');
		pd_json_number(&json, "searched", verify->count);
		pd_json_number(&json, "known_to_all", excused);
		pd_json_number(&json, "too_short", verify->too_short);
		pd_json_number(&json, "bytes", verify->bytes);
		pd_json_close(&json, '}');
		pd_text_add(text, "\n");
	} else {
		pd_text_printf(text, "%" PRIu64 " of %zu strings found in %" PRIu64 " bytes", found, verify->count,
			       verify->bytes);
		pd_text_printf(text,
			       "; %" PRIu64 " more only inside known words, %" PRIu64
			       " shorter than %zu bytes ignored\n",
			       excused, verify->too_short, verify->least);
	}
	return found ? CODE_DAMAGED : CODE_FINE;
}

int scrub_verify(struct scrub *scrub, const char *original, const char *result, const struct verify_options *options,
		 struct output *out)
{
	struct verify verify = { .scrub = scrub, .least = options->least };
	int code = CODE_UNREADABLE;

	scrub->level = LEVEL_NAMES;
	verify.filter = calloc(1 << (FILTER_BITS - 3), 1);
	if (verify.filter && grow(&verify))
		code = collect_original(&verify, original);
	else
		complain("out of memory");
	if (code == CODE_FINE)
		code = search_result(&verify, result);
	if (code == CODE_FINE)
		code = print_found(&verify, options, out->text);
	for (size_t i = 0; i < verify.count; i++)
		free(verify.needles[i].excuses);
	free(verify.needles);
	free(verify.heads);
	free(verify.filter);
	free(verify.kept);
	room_fini(&verify.room);
	return code;
}
