/* SPDX-License-Identifier: MIT */
/* Removes objects from perf's cache: the link first, so that nobody finds what is about to go. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <perfdata/objects.h>

#include "base/error.h"
#include "object/cache/cache.h"

/* Removes the files of a folder; folders in it, which perf would not create, stay, and so does the folder. */
static void remove_files(int fd)
{
	DIR *names = fdopendir(fd);
	struct dirent *entry;

	if (!names) {
		close(fd);
		return;
	}
	while ((entry = readdir(names)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(names), entry->d_name, 0);
	closedir(names);
}

/* Removes the folder of an object, and those above it that are empty then. */
static void remove_folders(const struct pd_build_id_cache *cache, char *path)
{
	while (*path) {
		char *leaf = strrchr(path, '/');
		int above;

		if (leaf)
			*leaf = 0;
		above = pd_cache_open_folder(cache->dir, leaf ? path : "", false);
		if (above < 0)
			return;
		if (unlinkat(above, leaf ? leaf + 1 : path, AT_REMOVEDIR) < 0) {
			close(above);
			return;
		}
		close(above);
		if (!leaf)
			return;
	}
}

static enum pd_status remove_link(const struct pd_build_id_cache *cache, const char *digits, struct pd_error *error)
{
	char path[PD_CACHE_DIGITS + 16];

	pd_cache_link_path(digits, path);
	if (unlinkat(cache->dir, path, 0) < 0 && errno != ENOENT)
		return pd_fail_system(error, errno, "%s/%s: cannot be removed", cache->path, path);
	/* empty or not */
	path[sizeof(".build-id/ab") - 1] = 0;
	unlinkat(cache->dir, path, AT_REMOVEDIR);
	return PD_OK;
}

enum pd_status pd_build_id_cache_remove(struct pd_build_id_cache *cache, const struct pd_build_id *id,
					struct pd_error *error)
{
	const struct pd_cached_object *object = pd_build_id_cache_find(cache, id);
	char digits[PD_CACHE_DIGITS], path[PATH_MAX + PD_CACHE_DIGITS];
	enum pd_status status;
	int folder;

	pd_cache_digits(id, digits);
	if (!object)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "%s: no object has build id %s", cache->path,
			       digits);
	status = remove_link(cache, digits, error);
	if (status < 0)
		return status;
	snprintf(path, sizeof(path), "%s/%s", object->name + (*object->name == '/'), digits);
	folder = pd_cache_open_folder(cache->dir, path, false);
	if (folder >= 0)
		remove_files(folder);
	remove_folders(cache, path);
	pd_cache_forget(cache, id);
	return PD_OK;
}

enum pd_status pd_build_id_cache_remove_file(struct pd_build_id_cache *cache, const char *path, struct pd_error *error)
{
	const struct pd_build_id id = pd_elf_build_id(path);

	if (id.size)
		return pd_build_id_cache_remove(cache, &id, error);
	if (access(path, R_OK) < 0)
		return pd_fail_system(error, errno, "%s", path);
	return pd_fail(error, pd_is_elf(path) ? PD_ERROR_NO_MATCH : PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: %s", path,
		       pd_is_elf(path) ? "has no build id" : "is no ELF file");
}

/* Removes what was added from a path; false in *found_out if there was nothing. */
static enum pd_status remove_named(struct pd_build_id_cache *cache, const char *name, bool *found_out,
				   struct pd_error *error)
{
	for (size_t i = 0; i < cache->count;) {
		const struct pd_build_id id = cache->objects[i].id;
		enum pd_status status;

		if (strcmp(cache->objects[i].name, name) != 0) {
			i++;
			continue;
		}
		*found_out = true;
		status = pd_build_id_cache_remove(cache, &id, error);
		if (status < 0)
			return status;
	}
	return PD_OK;
}

enum pd_status pd_build_id_cache_remove_path(struct pd_build_id_cache *cache, const char *path, struct pd_error *error)
{
	char real[PATH_MAX];
	const char *name = realpath(path, real) ? real : path;
	bool found = false;
	enum pd_status status = remove_named(cache, name, &found, error);

	if (status == PD_OK && !found)
		status = pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "%s: nothing was added from there to %s", path,
				 cache->path);
	return status;
}

enum pd_status pd_build_id_cache_update(struct pd_build_id_cache *cache, const char *path, struct pd_build_id *id_out,
					struct pd_error *error)
{
	char real[PATH_MAX];
	bool found;
	enum pd_status status = remove_named(cache, realpath(path, real) ? real : path, &found, error);

	return status < 0 ? status : pd_build_id_cache_add(cache, path, id_out, error);
}

enum pd_status pd_build_id_cache_clear(struct pd_build_id_cache *cache, struct pd_error *error)
{
	const struct pd_cached_object *object;
	enum pd_status status = PD_OK;

	while (status >= 0 && (object = pd_build_id_cache_at(cache, 0)) != NULL) {
		const struct pd_build_id id = object->id;

		status = pd_build_id_cache_remove(cache, &id, error);
	}
	return status;
}
