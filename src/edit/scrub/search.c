/* SPDX-License-Identifier: MIT */
/*
 * Whether a result still says what it should not: every text that the tables find in the original, and every part of
 * it, is searched for in the bytes of the result, whatever they are, and in what its compressed records hold.
 *
 * Texts are found by their first bytes, at every byte of the result, behind a filter of bits: that is no table of base.
 *
 * A text is no find where it stands inside another one that may be there: a word that everybody knows, or one that
 * was requested to be kept.
 */
#include "edit/scrub/scrub.h"
#include "stream/each.h"
#include "stream/read/stream.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
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
	enum pd_value_class class;
	uint32_t next;  /* with the same head, by number + 1 */
	bool explained; /* excuses were looked for */
	struct excuse *excuses;
	size_t excuse_count;
	uint64_t found, excused, first;
	const char *where; /* a file, or the compressed records */
};

struct pd_scrub_search {
	struct pd_scrub scrub; /* of the original, which is not written */
	size_t min_length;
	struct pd_arena arena;
	struct needle *needles;
	size_t count, capacity;
	uint32_t *heads; /* by hash of the first bytes: number + 1 of a needle */
	size_t head_capacity;
	uint8_t *filter;
	const char **kept; /* texts that may be there */
	size_t kept_count, kept_capacity;
	uint64_t too_short;
	uint64_t bytes;
	uint32_t *finds; /* numbers of the needles that were found */
	size_t find_count, find_capacity;
	bool failed;
};

/* ---- what is searched for ---- */

static uint32_t head_of(const char *text)
{
	uint32_t head;

	memcpy(&head, text, sizeof(head));
	return head * 0x9e3779b1u;
}

static uint32_t *slot_of(struct pd_scrub_search *search, uint32_t hash)
{
	return &search->heads[hash & (search->head_capacity - 1)];
}

static bool grow(struct pd_scrub_search *search)
{
	size_t capacity = search->capacity ? 2 * search->capacity : 1024;
	struct needle *needles = pd_realloc(search->needles, capacity * sizeof(*needles));
	uint32_t *heads = pd_alloc((4 * capacity) * (sizeof(*heads)));

	if (needles)
		search->needles = needles;
	if (!needles || !heads) {
		pd_free(heads);
		search->failed = true;
		return false;
	}
	search->capacity = capacity;
	pd_free(search->heads);
	search->heads = heads;
	search->head_capacity = 4 * capacity;
	for (size_t i = 0; i < search->count; i++) {
		uint32_t *slot = slot_of(search, head_of(needles[i].text));

		needles[i].next = *slot;
		*slot = (uint32_t)i + 1;
	}
	return true;
}

static const char *copy_of(struct pd_scrub_search *search, const char *text, size_t length)
{
	char *copy = pd_arena_alloc(&search->arena, length + 1);

	if (!copy) {
		search->failed = true;
		return NULL;
	}
	return memcpy(copy, text, length);
}

static void add_needle(struct pd_scrub_search *search, enum pd_value_class class, const char *text, size_t length)
{
	uint32_t hash, *slot;

	if (length < search->min_length) {
		search->too_short += length > 0;
		return;
	}
	if (length > MOST_BYTES)
		length = MOST_BYTES;
	if (search->count == search->capacity && !grow(search))
		return;
	hash = head_of(text);
	slot = slot_of(search, hash);
	for (uint32_t i = *slot; i; i = search->needles[i - 1].next) {
		const struct needle *needle = &search->needles[i - 1];

		if (needle->length == length && !memcmp(needle->text, text, length))
			return;
	}
	text = copy_of(search, text, length);
	if (!text)
		return;
	search->needles[search->count] =
		(struct needle){ .text = text, .length = length, .class = class, .next = *slot };
	*slot = (uint32_t)++search->count;
	hash >>= 32 - FILTER_BITS;
	search->filter[hash >> 3] |= (uint8_t)(1 << (hash & 7));
}

static void add_kept(struct pd_scrub_search *search, const char *text, size_t length)
{
	if (length < HEAD_BYTES || length > MOST_BYTES)
		return;
	for (size_t i = 0; i < search->kept_count; i++) {
		if (strlen(search->kept[i]) == length && !memcmp(search->kept[i], text, length))
			return;
	}
	if (!PD_GROW(search->kept, search->kept_capacity, search->kept_count + 1)) {
		search->failed = true;
		return;
	}
	search->kept[search->kept_count] = copy_of(search, text, length);
	search->kept_count += search->kept[search->kept_count] != NULL;
}

/* A part that is in what takes the place of the whole was kept on purpose. */
static void add_part(struct pd_scrub_search *search, enum pd_value_class class, const char *part, size_t length,
		     const char *now, size_t now_length)
{
	size_t stem = 0;

	if (length >= HEAD_BYTES && memmem(now, now_length, part, length)) {
		add_kept(search, part, length);
		return;
	}
	add_needle(search, class, part, length);
	while (stem < length && part[stem] != '.')
		stem++;
	if (stem < length && !memmem(now, now_length, part, stem))
		add_needle(search, class, part, stem);
}

static const char *separators_of(enum pd_value_class class)
{
	switch (class) {
	case PD_CLASS_PATH:
		return "/:[] ";
	case PD_CLASS_ARGUMENT:
	case PD_CLASS_EVENT:
		return "/,=:{}+ @\n";
	default:
		return "";
	}
}

static void collect(void *self, enum pd_value_class class, const char *text, size_t length, const char *now,
		    size_t now_length)
{
	struct pd_scrub_search *search = self;
	const char *separators = separators_of(class);

	if (length == now_length && !memcmp(text, now, length))
		add_kept(search, text, length);
	else if (length <= MOST_BYTES || now_length < MOST_BYTES || memcmp(text, now, MOST_BYTES) != 0)
		add_needle(search, class, text, length);
	if (class == PD_CLASS_SYMBOL && length > 26 && !memcmp(text, "bpf_prog_", 9))
		add_part(search, class, text + 26, length - 26, now, now_length);
	for (size_t from = 0, at = 0; *separators && at <= length; at++) {
		if (at < length && !strchr(separators, text[at]))
			continue;
		if (at > from)
			add_part(search, class, text + from, at - from, now, now_length);
		from = at + 1;
	}
}

/* ---- the original ---- */

/* "1234 name" on each line. */
static void collect_saved(struct pd_scrub_search *search)
{
	const struct pd_tracing_data *data = pd_file_tracing_data(search->scrub.file);
	struct pd_bytes lines = data ? data->saved_cmdlines : (struct pd_bytes){ 0 };
	size_t length;

	for (size_t at = 0; at < lines.size;) {
		const char *line = (const char *)lines.data + at;
		const char *end = memchr(line, '\n', lines.size - at);
		size_t size = end ? (size_t)(end - line) : lines.size - at;
		const char *space = memchr(line, ' ', size);

		if (space)
			pd_scrub_name(&search->scrub, PD_CLASS_COMM, space + 1, size - (size_t)(space + 1 - line),
				      &length);
		at += size + 1;
	}
}

static void collect_features(struct pd_scrub_search *search)
{
	struct pd_scrub *scrub = &search->scrub;
	struct pd_feature_section section;
	size_t length;

	for (size_t i = 0; i < pd_file_event_count(scrub->file); i++) {
		const char *name = pd_file_event(scrub->file, i)->name;

		if (*name)
			pd_scrub_name(scrub, PD_CLASS_EVENT, name, strlen(name), &length);
	}
	for (size_t i = 0; pd_file_feature_at(scrub->file, i, &section); i++)
		pd_scrub_collect_feature(scrub, section.number);
	collect_saved(search);
}

static bool collect_record(struct pd_scrub_search *search, const struct pd_record *record)
{
	uint16_t misc = record->misc;
	struct pd_mmap2 mended;
	const void *decoded;

	if (pd_scrub_record_fate(record->type) == PD_FATE_PACKED || pd_record_decode(record, &decoded, NULL) < 0)
		return true;
	pd_arena_reset(&search->scrub.arena);
	pd_scrub_trim(&search->scrub);
	decoded = pd_record_unmark(record, decoded, &misc, &mended);
	return pd_scrub_record(&search->scrub, record->type, misc, decoded) && !search->failed;
}

static enum pd_status collect_each(void *self, struct pd_stream *stream, const struct pd_record *record,
				   struct pd_error *error)
{
	(void)stream;
	return collect_record(self, record) ? PD_OK : pd_fail_memory(error);
}

static enum pd_status each_record(struct pd_scrub_search *search, struct pd_file *file, pd_each_fn *function,
				  struct pd_error *error)
{
	const struct pd_each each = { .trusts = true };

	return pd_each_record(file, &each, function, search, error);
}

static enum pd_status collect_original(struct pd_scrub_search *search, const char *path, struct pd_error *error)
{
	enum pd_status status = pd_file_open(path, NULL, &search->scrub.file, error);

	if (status < 0)
		return status;
	search->scrub.name_met = collect;
	search->scrub.name_self = search;
	status = each_record(search, search->scrub.file, collect_each, error);
	if (status >= 0)
		collect_features(search);
	pd_file_close(search->scrub.file);
	search->scrub.file = NULL;
	for (size_t i = 0; pd_scrub_public_text(i); i++)
		add_kept(search, pd_scrub_public_text(i), strlen(pd_scrub_public_text(i)));
	return status >= 0 && (search->failed || search->scrub.failed) ? pd_fail_memory(error) : status;
}

/* ---- the search ---- */

static void explain(struct pd_scrub_search *search, struct needle *needle)
{
	struct excuse *more;

	needle->explained = true;
	for (size_t i = 0; i < search->kept_count; i++) {
		const char *text = search->kept[i], *at = text;

		for (; (at = strstr(at, needle->text)) != NULL; at++) {
			more = pd_realloc(needle->excuses, (needle->excuse_count + 1) * sizeof(*more));
			if (!more) {
				search->failed = true;
				return;
			}
			needle->excuses = more;
			needle->excuses[needle->excuse_count++] =
				(struct excuse){ text, strlen(text), (size_t)(at - text) };
		}
	}
}

static bool is_excused(struct pd_scrub_search *search, struct needle *needle, struct pd_bytes bytes, size_t at)
{
	if (!needle->explained)
		explain(search, needle);
	for (size_t i = 0; i < needle->excuse_count; i++) {
		const struct excuse *excuse = &needle->excuses[i];

		if (at >= excuse->at && bytes.size - (at - excuse->at) >= excuse->length &&
		    !memcmp(bytes.data + at - excuse->at, excuse->text, excuse->length))
			return true;
	}
	return false;
}

static void find_needles(struct pd_scrub_search *search, struct pd_bytes bytes, size_t at, uint32_t hash,
			 uint64_t offset, const char *where)
{
	for (uint32_t i = *slot_of(search, hash); i; i = search->needles[i - 1].next) {
		struct needle *needle = &search->needles[i - 1];

		if (needle->length > bytes.size - at || memcmp(needle->text, bytes.data + at, needle->length) != 0)
			continue;
		if (is_excused(search, needle, bytes, at)) {
			needle->excused++;
		} else if (!needle->found++) {
			needle->first = offset;
			needle->where = where;
		}
	}
}

/* Searches the part [from, to) of bytes, whose first byte is at an offset. */
static void search_bytes(struct pd_scrub_search *search, struct pd_bytes bytes, size_t from, size_t to, uint64_t offset,
			 const char *where)
{
	search->bytes += to - from;
	if (!search->count)
		return;
	for (size_t at = from; at < to && bytes.size - at >= HEAD_BYTES; at++) {
		uint32_t hash = head_of((const char *)bytes.data + at), bit = hash >> (32 - FILTER_BITS);

		if (search->filter[bit >> 3] >> (bit & 7) & 1)
			find_needles(search, bytes, at, hash, offset + at, where);
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

/* In chunks that overlap, so that what is found can be seen with what is around it. */
static bool search_fd(struct pd_scrub_search *search, int fd, uint8_t *buffer, const char *name)
{
	const size_t size = CHUNK_BYTES + 3 * MOST_BYTES;
	size_t used = 0, from = 0;
	uint64_t offset = 0;

	for (;;) {
		size_t to;

		if (!fill(fd, buffer, &used, size))
			return false;
		to = used < size ? used : used - 2 * MOST_BYTES;
		search_bytes(search, (struct pd_bytes){ buffer, used }, from, to, offset, name);
		if (used < size)
			return true;
		// what was searched last stays in front, for what is around finds
		memmove(buffer, buffer + to - MOST_BYTES, used - (to - MOST_BYTES));
		offset += to - MOST_BYTES;
		used -= to - MOST_BYTES;
		from = MOST_BYTES;
	}
}

static enum pd_status search_file(struct pd_scrub_search *search, int folder, const char *name, struct pd_error *error)
{
	uint8_t *buffer = pd_realloc(NULL, CHUNK_BYTES + 3 * MOST_BYTES);
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	enum pd_status status = PD_OK;

	if (!buffer)
		status = pd_fail_memory(error);
	else if (fd < 0 || !search_fd(search, fd, buffer, name))
		status = pd_fail_system(error, errno, "%s", name);
	pd_free(buffer);
	if (fd >= 0)
		close(fd);
	return status;
}

static enum pd_status search_folder(struct pd_scrub_search *search, const char *path, struct pd_error *error)
{
	DIR *folder = opendir(path);
	enum pd_status status = PD_OK;
	struct dirent *entry;

	if (!folder)
		return pd_fail_system(error, errno, "%s", path);
	while (status >= 0 && (entry = readdir(folder)) != NULL) {
		struct stat kind;
		const char *name;

		if (fstatat(dirfd(folder), entry->d_name, &kind, 0) != 0 || !S_ISREG(kind.st_mode))
			continue;
		name = copy_of(search, entry->d_name, strlen(entry->d_name));
		status = name ? search_file(search, dirfd(folder), name, error) : pd_fail_memory(error);
	}
	closedir(folder);
	return status;
}

static enum pd_status search_inflated(void *self, struct pd_stream *stream, const struct pd_record *record,
				      struct pd_error *error)
{
	struct pd_scrub_search *search = self;

	(void)stream;
	if (record->flags & PD_RECORD_INFLATED)
		search_bytes(search, record->bytes, 0, record->bytes.size, record->offset, "compressed records");
	return search->failed ? pd_fail_memory(error) : PD_OK;
}

static enum pd_status search_result(struct pd_scrub_search *search, const char *path, struct pd_error *error)
{
	struct pd_file *file = NULL;
	enum pd_status status;
	struct stat kind;

	if (stat(path, &kind) < 0)
		return pd_fail_system(error, errno, "%s", path);
	status = pd_file_open(path, NULL, &file, error);
	if (status < 0)
		return status;
	if (pd_file_header(file)->compression || !(S_ISREG(kind.st_mode) || S_ISDIR(kind.st_mode)))
		status = pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				 "%s: not a plain file or directory; decompress or unpack it first", path);
	else
		status = S_ISDIR(kind.st_mode) ? search_folder(search, path, error) :
						 search_file(search, AT_FDCWD, path, error);
	if (status >= 0)
		status = each_record(search, file, search_inflated, error);
	pd_file_close(file);
	return status;
}

/* ---- what was found ---- */

static enum pd_status note_finds(struct pd_scrub_search *search, struct pd_error *error)
{
	for (size_t i = 0; i < search->count; i++) {
		if (!search->needles[i].found)
			continue;
		if (!PD_GROW(search->finds, search->find_capacity, search->find_count + 1))
			return pd_fail_memory(error);
		search->finds[search->find_count++] = (uint32_t)i;
	}
	return PD_OK;
}

static enum pd_status search_all(struct pd_scrub_search *search, const char *original, const char *result,
				 const struct pd_scrub_options *options, struct pd_error *error)
{
	enum pd_status status = pd_scrub_init(&search->scrub, options, error);

	search->scrub.level = PD_SCRUB_NAMES;
	search->filter = pd_alloc(1 << (FILTER_BITS - 3));
	if (status < 0)
		return status;
	if (search->min_length < HEAD_BYTES)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "min_length is less than %d", HEAD_BYTES);
	if (!search->filter || !grow(search))
		return pd_fail_memory(error);
	status = collect_original(search, original, error);
	if (status >= 0)
		status = search_result(search, result, error);
	return status < 0 ? status : note_finds(search, error);
}

enum pd_status pd_scrub_search_new(const char *original, const char *result, const struct pd_scrub_options *options,
				   size_t min_length, struct pd_scrub_search **search_out, struct pd_error *error)
{
	struct pd_scrub_search *search = pd_alloc(sizeof(*search));
	enum pd_status status;

	if (!search)
		return pd_fail_memory(error);
	search->min_length = min_length;
	status = search_all(search, original, result, options, error);
	if (status < 0)
		pd_scrub_search_free(search);
	else
		*search_out = search;
	return status < 0 ? status : PD_OK;
}

void pd_scrub_search_free(struct pd_scrub_search *search)
{
	if (!search)
		return;
	pd_scrub_fini(&search->scrub);
	for (size_t i = 0; i < search->count; i++)
		pd_free(search->needles[i].excuses);
	pd_free(search->needles);
	pd_free(search->heads);
	pd_free(search->filter);
	pd_free(search->kept);
	pd_free(search->finds);
	pd_arena_fini(&search->arena);
	pd_free(search);
}

void pd_scrub_search_count(const struct pd_scrub_search *search, struct pd_scrub_search_result *result_out)
{
	*result_out = (struct pd_scrub_search_result){ .name_count = search->count,
						       .find_count = search->find_count,
						       .too_short_count = search->too_short,
						       .searched_bytes = search->bytes,
						       .min_length = search->min_length };
	for (size_t i = 0; i < search->count; i++)
		result_out->excused_count += !search->needles[i].found && search->needles[i].excused;
}

bool pd_scrub_search_at(const struct pd_scrub_search *search, size_t index, struct pd_scrub_find *find_out)
{
	const struct needle *needle;

	if (index >= search->find_count)
		return false;
	needle = &search->needles[search->finds[index]];
	*find_out = (struct pd_scrub_find){
		.class_name = pd_scrub_classes[needle->class].name,
		.name = { (const uint8_t *)needle->text, needle->length },
		.count = needle->found,
		.where = needle->where,
		.offset = needle->first,
	};
	return true;
}
