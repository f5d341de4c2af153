/* SPDX-License-Identifier: MIT */
/*
 * A file is a head, the place of the object, a first part, and whatever its kind has after it; the checksum is that of the
 * first three. Numbers are those of the machine: another byte order is another magic number, and so not ours.
 */
#include "object/index/index_file.h"
#include "base/write_all.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	SHORTEST_ID = 8,
	NAME_SIZE = 224,
	STEP = 64 << 10,
	BETWEEN_EVICTIONS = 16 << 20, // bytes
	STALE_SECONDS = 3600,         // what somebody began to write and did not finish
	STILL_NS = 50000000           // a file that was changed later than this may change once more with the same time
};

static const uint64_t magic = 0x7064696478000000u + PD_INDEX_FORMAT;
static const uint64_t file_limit = (uint64_t)256 << 20;
static const uint64_t total_limit = (uint64_t)1 << 30;
static const uint64_t kept_free = 4 * (uint64_t)BETWEEN_EVICTIONS; // of the total

static const char *const kinds[] = {
	[PD_INDEX_SYMBOLS] = ".symbols", [PD_INDEX_LINES] = ".lines", [PD_INDEX_KERNEL] = ".kernel", [PD_INDEX_UNWIND] = ".unwind"
};
static const char unfinished[] = ".new";

struct head {
	uint64_t magic;
	uint64_t sum; // of all that follows up to the end of the first part
	uint64_t first_size;
	uint64_t file_size;
	uint32_t kind;
	uint32_t variant;
	uint64_t id_size;
	uint8_t id[64];
	struct pd_stamp files[2];
	uint64_t place_size;
};

static const char *place_of(const struct pd_index_key *key)
{
	return key->origin && key->origin->place ? key->origin->place : "";
}

size_t pd_index_head_size(const struct pd_index_key *key)
{
	return sizeof(struct head) + strlen(place_of(key));
}

uint64_t pd_index_file_limit(void)
{
	return file_limit;
}

// Four lanes, so that the multiplications do not wait for one another.
uint64_t pd_index_sum(const void *data, size_t size)
{
	const uint64_t prime = 0x9e3779b97f4a7c15u;
	uint64_t lanes[4] = { 1, 2, 3, 4 }, words[4], sum = size;
	const uint8_t *at = data;

	for (; size >= sizeof(words); at += sizeof(words), size -= sizeof(words)) {
		memcpy(words, at, sizeof(words));
		for (size_t i = 0; i < 4; i++) {
			lanes[i] = (lanes[i] ^ words[i]) * prime;
			lanes[i] ^= lanes[i] >> 29;
		}
	}
	memset(words, 0, sizeof(words));
	if (size)
		memcpy(words, at, size);
	for (size_t i = 0; i < 4; i++) {
		sum = (sum ^ lanes[i]) * prime;
		sum = (sum ^ words[i] ^ sum >> 31) * prime;
	}
	return sum ^ sum >> 32;
}

// ---- heads ----

static size_t summed_from(void)
{
	return offsetof(struct head, first_size);
}

static struct head head_of(const struct pd_index_key *key, uint64_t first_size, uint64_t file_size)
{
	struct head head = {
		.magic = magic,
		.first_size = first_size,
		.file_size = file_size,
		.kind = key->kind,
		.variant = key->variant,
		.id_size = key->id->size,
		.place_size = strlen(place_of(key)),
	};

	memcpy(head.id, key->id->bytes, key->id->size);
	if (key->origin)
		memcpy(head.files, key->origin->files, sizeof(head.files));
	return head;
}

void pd_index_seal(uint8_t *data, const struct pd_index_key *key, size_t first_size, uint64_t file_size)
{
	struct head head = head_of(key, first_size, file_size);

	memcpy(data, &head, sizeof(head));
	memcpy(data + sizeof(head), place_of(key), (size_t)head.place_size);
	head.sum = pd_index_sum(data + summed_from(), pd_index_head_size(key) - summed_from() + first_size);
	memcpy(data, &head, sizeof(head));
}

// Where no file is found any more, what was kept of those that were there is as good as it was.
static bool is_gone(const struct pd_index_key *key)
{
	return key->origin && !key->origin->files[0].known && !key->origin->files[1].known;
}

// Whether the head is the one of the key, as far as the files are still there to say so.
static bool is_head_of(struct head *head, const struct pd_index_key *key)
{
	struct head wanted = head_of(key, head->first_size, head->file_size);

	wanted.sum = head->sum;
	if (is_gone(key))
		memcpy(wanted.files, head->files, sizeof(head->files));
	return memcmp(head, &wanted, sizeof(wanted)) == 0;
}

bool pd_index_first(const struct pd_image *image, const struct pd_index_key *key, size_t limit,
		    struct pd_index_content *content_out)
{
	const size_t align = 16;
	size_t size, before = pd_index_head_size(key);
	struct head head;
	uint8_t *block, *data;

	if (image->size < before || pd_image_copy(image, 0, &head, sizeof(head)) != sizeof(head) ||
	    head.file_size != image->size || head.first_size > image->size - before || head.first_size > limit ||
	    !is_head_of(&head, key))
		return false;
	size = before + (size_t)head.first_size;
	block = pd_realloc(NULL, size + align);
	if (!block)
		return false;
	// read to where the first part is aligned, so that it can be used as it is
	data = block + (align - before % align) % align;
	if (pd_image_copy(image, 0, data, size) != size ||
	    pd_index_sum(data + summed_from(), size - summed_from()) != head.sum ||
	    memcmp(data + sizeof(head), place_of(key), before - sizeof(head)) != 0) {
		pd_free(block);
		return false;
	}
	*content_out = (struct pd_index_content){ block, data + before, (size_t)head.first_size, size };
	return true;
}

// ---- names ----

static bool is_kept(const struct pd_index_key *key)
{
	return key->id->size >= SHORTEST_ID && key->id->size <= sizeof(key->id->bytes) &&
	       (!key->origin || key->origin->place);
}

// Places of one build id are kept separately.
static bool name_of(const struct pd_index_key *key, char name[NAME_SIZE])
{
	size_t at = 0;

	if (!is_kept(key))
		return false;
	for (size_t i = 0; i < key->id->size; i++)
		at += (size_t)snprintf(name + at, NAME_SIZE - at, "%02x", key->id->bytes[i]);
	at += (size_t)snprintf(name + at, NAME_SIZE - at, "%s", kinds[key->kind]);
	if (key->variant)
		at += (size_t)snprintf(name + at, NAME_SIZE - at, ".%x", key->variant);
	if (key->origin)
		snprintf(name + at, NAME_SIZE - at, ".%016" PRIx64, pd_index_sum(place_of(key), strlen(place_of(key))));
	return true;
}

static int open_directory(const char *index)
{
	return open(index, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

// Nobody else wrote it, or may.
static bool is_own(int fd)
{
	struct stat about;

	return fstat(fd, &about) == 0 && about.st_uid == geteuid() && !(about.st_mode & (S_IWGRP | S_IWOTH));
}

bool pd_index_open(const char *index, const struct pd_index_key *key, struct pd_image *image_out)
{
	char name[NAME_SIZE];
	int directory, fd;

	if (!index || !name_of(key, name))
		return false;
	directory = open_directory(index);
	if (directory < 0)
		return false;
	fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	close(directory);
	if (fd >= 0 && !is_own(fd)) {
		close(fd);
		return false;
	}
	if (fd < 0 || pd_image_open_fd(image_out, fd, "", 0, NULL))
		return false;
	if (image_out->size > file_limit) {
		pd_image_close(image_out);
		return false;
	}
	// what is used stays longest; where it may not be noted it is not
	futimens(fd, NULL);
	return true;
}

void pd_index_remove(const char *index, const struct pd_index_key *key)
{
	char name[NAME_SIZE];
	int directory;

	if (!index || !name_of(key, name))
		return;
	directory = open_directory(index);
	if (directory < 0)
		return;
	unlinkat(directory, name, 0);
	close(directory);
}

// ---- eviction ----

struct entry {
	char name[NAME_SIZE];
	uint64_t size;
	struct timespec used;
};

struct entries {
	struct entry *items;
	size_t count, capacity;
	uint64_t total;
};

static int compare_used(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->used.tv_sec != y->used.tv_sec)
		return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
	return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

// Only what this file makes is counted and removed: hex digits, then a kind.
static bool is_ours(const char *name)
{
	size_t digits = strspn(name, "0123456789abcdef");

	if (digits < 2 * SHORTEST_ID || strlen(name) >= NAME_SIZE)
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(name + digits, kinds[i], strlen(kinds[i])) == 0)
			return true;
	return false;
}

static bool is_unfinished(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot && strcmp(dot, unfinished) == 0;
}

static void take_entry(struct entries *e, int directory, const char *name)
{
	struct entry entry;
	struct stat about;

	if (!is_ours(name) || fstatat(directory, name, &about, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(about.st_mode))
		return;
	if (is_unfinished(name)) {
		if (time(NULL) - about.st_mtime > STALE_SECONDS)
			unlinkat(directory, name, 0);
		return;
	}
	entry = (struct entry){ .size = (uint64_t)about.st_size, .used = about.st_mtim };
	memcpy(entry.name, name, strlen(name) + 1);
	if (!PD_GROW(e->items, e->capacity, e->count + 1))
		return;
	e->items[e->count++] = entry;
	e->total += entry.size;
}

// There may be thousands of files, so they are listed once for so many bytes that are written, on average: whether for a file
// depends on its name, so that the same one written again is not another one.
static bool is_time_to_evict(const char *name, uint64_t size)
{
	return pd_index_sum(name, strlen(name)) % BETWEEN_EVICTIONS < size;
}

// Removes what was not used for longest until there are bytes left for what is written until the next time.
static void evict_oldest(int directory, uint64_t size)
{
	struct entries e = { NULL };
	int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = copy < 0 ? NULL : fdopendir(copy);

	if (!list) {
		if (copy >= 0)
			close(copy);
		return;
	}
	for (struct dirent *entry = readdir(list); entry; entry = readdir(list))
		take_entry(&e, directory, entry->d_name);
	closedir(list);
	if (e.count && e.total + size > total_limit - kept_free)
		qsort(e.items, e.count, sizeof(*e.items), compare_used);
	for (size_t i = 0; i < e.count && e.total + size > total_limit - kept_free; i++)
		if (unlinkat(directory, e.items[i].name, 0) == 0)
			e.total -= e.items[i].size;
	pd_free(e.items);
}

// ---- writing ----

static bool copy_part(int fd, const struct pd_index_part *part)
{
	uint8_t *step = pd_realloc(NULL, STEP);
	uint64_t done = 0;

	while (step && done < part->size) {
		size_t want = part->size - done < STEP ? (size_t)(part->size - done) : STEP;

		if (pd_image_copy(part->image, part->offset + done, step, want) != want ||
		    !pd_write_all(fd, step, want))
			break;
		done += want;
	}
	pd_free(step);
	return done == part->size;
}

static bool write_parts(int fd, const struct pd_index_key *key, const struct pd_index_part *parts, size_t count,
			uint64_t file_size)
{
	size_t first_size = (size_t)parts[0].size, before = pd_index_head_size(key), size = before + first_size;
	uint8_t *first = pd_realloc(NULL, size);
	bool ok = first != NULL;

	if (ok) {
		memcpy(first + before, parts[0].data, first_size);
		pd_index_seal(first, key, first_size, file_size);
		ok = pd_write_all(fd, first, size);
	}
	pd_free(first);
	for (size_t i = 1; ok && i < count; i++)
		ok = parts[i].image ? copy_part(fd, &parts[i]) : pd_write_all(fd, parts[i].data, (size_t)parts[i].size);
	return ok;
}

// Makes the directory and those above it that are missing.
static int make_directory(const char *index)
{
	size_t length = strlen(index);
	char *path = pd_realloc(NULL, length + 1);

	if (!path)
		return -1;
	memcpy(path, index, length + 1);
	for (size_t i = 1; i <= length; i++) {
		if (path[i] != '/' && path[i])
			continue;
		path[i] = 0;
		mkdir(path, 0700);
		path[i] = i < length ? '/' : 0;
	}
	pd_free(path);
	return open_directory(index);
}

static bool write_named(int directory, const char *name, const struct pd_index_key *key,
			const struct pd_index_part *parts, size_t count, uint64_t file_size)
{
	char temporary[NAME_SIZE + 64];
	struct timespec now = { 0 };
	bool ok;
	int fd;

	clock_gettime(CLOCK_REALTIME, &now);
	snprintf(temporary, sizeof(temporary), "%s.%ld-%ld%s", name, (long)getpid(), now.tv_nsec, unfinished);
	fd = openat(directory, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return false;
	ok = write_parts(fd, key, parts, count, file_size);
	ok = close(fd) == 0 && ok;
	ok = ok && renameat(directory, temporary, directory, name) == 0;
	if (!ok)
		unlinkat(directory, temporary, 0);
	return ok;
}

static bool is_still(const struct pd_stamp *stamp, const struct timespec *now)
{
	int64_t seconds = now->tv_sec - stamp->changed_s;

	return !stamp->known || seconds > 1 || seconds < 0 ||
	       seconds * 1000000000 + now->tv_nsec - stamp->changed_ns > STILL_NS;
}

// Whether another change of the files would show in their times.
static bool are_still(const struct pd_index_key *key)
{
	struct timespec now = { 0 };

	clock_gettime(CLOCK_REALTIME, &now);
	return !key->origin || (is_still(&key->origin->files[0], &now) && is_still(&key->origin->files[1], &now));
}

bool pd_index_write(const char *index, const struct pd_index_key *key, const struct pd_index_part *parts, size_t count)
{
	uint64_t file_size = pd_index_head_size(key);
	char name[NAME_SIZE];
	int directory;
	bool ok;

	if (!index || !name_of(key, name) || !are_still(key))
		return false;
	for (size_t i = 0; i < count; i++) {
		if (parts[i].size > file_limit || file_size + parts[i].size > file_limit)
			return false;
		file_size += parts[i].size;
	}
	directory = make_directory(index);
	if (directory < 0)
		return false;
	if (is_time_to_evict(name, file_size))
		evict_oldest(directory, file_size);
	ok = write_named(directory, name, key, parts, count, file_size);
	close(directory);
	return ok;
}
