/* SPDX-License-Identifier: MIT */
/* Lists perf's cache of objects. Links that lead out of it, and what perf would not put there, are left out. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <perfdata/json.h>

#include "base/error.h"
#include "object/cache/cache.h"

// ---- names ----

void pd_cache_digits(const struct pd_build_id *id, char digits[PD_CACHE_DIGITS])
{
	*digits = 0;
	for (size_t i = 0; i < id->size && i < PD_BUILD_ID_SIZE; i++)
		snprintf(digits + 2 * i, 3, "%02x", id->bytes[i]);
}

void pd_cache_link_path(const char *digits, char path[PD_CACHE_DIGITS + 16])
{
	snprintf(path, PD_CACHE_DIGITS + 16, ".build-id/%.2s/%s", digits, digits + 2);
}

static int digit_of(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool id_from_digits(const char *digits, struct pd_build_id *id_out)
{
	size_t length = strlen(digits);

	*id_out = (struct pd_build_id){ .size = (uint8_t)(length / 2) };
	if (!length || length % 2 || length > 2 * PD_BUILD_ID_SIZE)
		return false;
	for (size_t i = 0; i < length; i += 2) {
		int high = digit_of(digits[i]), low = digit_of(digits[i + 1]);

		if (high < 0 || low < 0)
			return false;
		id_out->bytes[i / 2] = (uint8_t)(high << 4 | low);
	}
	return true;
}

/* "../../usr/bin/x/DIGITS" is of "/usr/bin/x", "../../[vdso]/DIGITS" of "[vdso]". False if it is no such link. */
static bool name_from_target(char *target, const char *digits, const char **name_out)
{
	char *end = strrchr(target, '/');

	if (strncmp(target, "../../", 6) != 0 || !end || end <= target + 6 || strcmp(end + 1, digits) != 0 ||
	    strstr(target + 6, "../"))
		return false;
	*end = 0;
	*name_out = target[6] == '[' ? target + 6 : target + 5;
	return true;
}

// ---- the list ----

static int compare(const struct pd_build_id *a, const struct pd_build_id *b)
{
	size_t size = a->size < b->size ? a->size : b->size;
	int order = memcmp(a->bytes, b->bytes, size);

	return order ? order : (int)a->size - (int)b->size;
}

/* Where a build id is in the list, or would be. */
static size_t place_of(const struct pd_build_id_cache *cache, const struct pd_build_id *id)
{
	size_t from = 0, to = cache->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (compare(&cache->objects[middle].id, id) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

bool pd_cache_insert(struct pd_build_id_cache *cache, const struct pd_build_id *id, const char *name)
{
	const char *copy = pd_arena_text(&cache->names, name, strlen(name));
	size_t at = place_of(cache, id);

	if (!copy || !PD_GROW(cache->objects, cache->capacity, cache->count + 1))
		return false;
	memmove(cache->objects + at + 1, cache->objects + at, (cache->count - at) * sizeof(*cache->objects));
	cache->objects[at] = (struct pd_cached_object){ .id = *id, .name = copy };
	cache->count++;
	return true;
}

void pd_cache_forget(struct pd_build_id_cache *cache, const struct pd_build_id *id)
{
	size_t at = place_of(cache, id);

	if (at == cache->count || compare(&cache->objects[at].id, id) != 0)
		return;
	cache->count--;
	memmove(cache->objects + at, cache->objects + at + 1, (cache->count - at) * sizeof(*cache->objects));
}

const struct pd_cached_object *pd_build_id_cache_find(const struct pd_build_id_cache *cache,
						      const struct pd_build_id *id)
{
	size_t at = place_of(cache, id);

	return at < cache->count && !compare(&cache->objects[at].id, id) ? &cache->objects[at] : NULL;
}

const struct pd_cached_object *pd_build_id_cache_at(const struct pd_build_id_cache *cache, size_t index)
{
	return index < cache->count ? &cache->objects[index] : NULL;
}

// ---- reading the directory ----

int pd_cache_open_folder(int dir, const char *path, bool create)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), next, failure;
	char part[NAME_MAX + 1];

	while (fd >= 0 && *path) {
		size_t length = strcspn(path, "/");

		if (length > NAME_MAX || (length == 2 && !strncmp(path, "..", 2))) {
			close(fd);
			errno = length > NAME_MAX ? ENAMETOOLONG : EINVAL;
			return -1;
		}
		memcpy(part, path, length);
		part[length] = 0;
		path += length + (path[length] == '/');
		if (!length)
			continue;
		if (create && mkdirat(fd, part, 0777) < 0 && errno != EEXIST)
			next = -1;
		else
			next = openat(fd, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		failure = errno;
		close(fd);
		errno = failure;
		fd = next;
	}
	return fd;
}

static bool read_link(struct pd_build_id_cache *cache, int folder, const char *start, const char *rest)
{
	char target[PATH_MAX], digits[PD_CACHE_DIGITS];
	struct pd_build_id id;
	const char *name;
	ssize_t length;

	if (snprintf(digits, sizeof(digits), "%s%s", start, rest) >= (int)sizeof(digits) ||
	    !id_from_digits(digits, &id))
		return true;
	length = readlinkat(folder, rest, target, sizeof(target) - 1);
	if (length <= 0)
		return true;
	target[length] = 0;
	return !name_from_target(target, digits, &name) || pd_cache_insert(cache, &id, name);
}

static DIR *open_names(int dir, const char *path)
{
	int fd = pd_cache_open_folder(dir, path, false);
	DIR *names = fd >= 0 ? fdopendir(fd) : NULL;

	if (!names && fd >= 0)
		close(fd);
	return names;
}

static bool read_folder(struct pd_build_id_cache *cache, int ids, const char *start)
{
	DIR *names = open_names(ids, start);
	struct dirent *entry;
	bool ok = true;

	if (!names)
		return true;
	while (ok && (entry = readdir(names)) != NULL)
		if (entry->d_name[0] != '.')
			ok = read_link(cache, dirfd(names), start, entry->d_name);
	closedir(names);
	return ok;
}

static bool read_list(struct pd_build_id_cache *cache)
{
	DIR *names = open_names(cache->dir, ".build-id");
	struct dirent *entry;
	bool ok = true;

	if (!names)
		return true;
	while (ok && (entry = readdir(names)) != NULL)
		if (strlen(entry->d_name) == 2 && entry->d_name[0] != '.')
			ok = read_folder(cache, dirfd(names), entry->d_name);
	closedir(names);
	return ok;
}

static enum pd_status open_cache(const char *directory, bool is_partial, struct pd_build_id_cache **cache_out,
				 struct pd_error *error)
{
	struct pd_build_id_cache *cache = pd_alloc(sizeof(*cache));
	enum pd_status status = PD_OK;

	if (!cache)
		return pd_fail_memory(error);
	cache->is_partial = is_partial;
	cache->path = pd_arena_text(&cache->names, directory, strlen(directory));
	cache->dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!cache->path)
		status = pd_fail_memory(error);
	else if (cache->dir < 0 && errno != ENOENT)
		status = pd_fail_system(error, errno, "%s", directory);
	else if (cache->dir >= 0 && !is_partial && !read_list(cache))
		status = pd_fail_memory(error);
	if (status < 0)
		pd_build_id_cache_close(cache);
	else
		*cache_out = cache;
	return status;
}

enum pd_status pd_build_id_cache_open(const char *directory, struct pd_build_id_cache **cache_out,
				      struct pd_error *error)
{
	return open_cache(directory, false, cache_out, error);
}

enum pd_status pd_cache_open_partial(const char *directory, struct pd_build_id_cache **cache_out,
				     struct pd_error *error)
{
	return open_cache(directory, true, cache_out, error);
}

bool pd_cache_has(struct pd_build_id_cache *cache, const struct pd_build_id *id)
{
	char digits[PD_CACHE_DIGITS], folder_path[16], start[3];
	int folder;

	if (pd_build_id_cache_find(cache, id))
		return true;
	if (!cache->is_partial || cache->dir < 0)
		return false;
	pd_cache_digits(id, digits);
	snprintf(start, sizeof(start), "%.2s", digits);
	snprintf(folder_path, sizeof(folder_path), ".build-id/%s", start);
	folder = pd_cache_open_folder(cache->dir, folder_path, false);
	if (folder < 0)
		return false;
	read_link(cache, folder, start, digits + 2);
	close(folder);
	return pd_build_id_cache_find(cache, id) != NULL;
}

void pd_build_id_cache_close(struct pd_build_id_cache *cache)
{
	if (!cache)
		return;
	if (cache->dir >= 0)
		close(cache->dir);
	pd_free(cache->objects);
	pd_arena_fini(&cache->names);
	pd_free(cache);
}

// ---- as text ----

void pd_print_build_id_cache(struct pd_text *text, const struct pd_build_id_cache *cache, bool escape)
{
	char digits[PD_CACHE_DIGITS];

	for (size_t i = 0; i < cache->count; i++) {
		const struct pd_cached_object *object = &cache->objects[i];

		pd_cache_digits(&object->id, digits);
		pd_text_printf(text, "%s ", digits);
		if (escape)
			pd_text_escaped(text, object->name, strlen(object->name));
		else
			pd_text_add(text, object->name);
		pd_text_add(text, "\n");
	}
}

void pd_json_build_id_cache(struct pd_text *text, const struct pd_build_id_cache *cache)
{
	char digits[PD_CACHE_DIGITS];

	for (size_t i = 0; i < cache->count; i++) {
		struct pd_json json = { .text = text };

		pd_cache_digits(&cache->objects[i].id, digits);
		pd_json_open(&json, NULL, '{');
		pd_json_string(&json, "build_id", digits);
		pd_json_string(&json, "name", cache->objects[i].name);
		pd_json_close(&json, '}');
		pd_text_add(text, "\n");
	}
}
