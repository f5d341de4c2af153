/* SPDX-License-Identifier: MIT */
/*
 * Adds objects to perf's cache. A file gets its name when all of it is written, and the link by which it is found comes last,
 * so that an interrupted run leaves nothing that is half there.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <perfdata/objects.h>

#include "base/error.h"
#include "base/write_all.h"
#include "object/cache/cache.h"
#include "object/elf/image.h"
#include "object/elf/note.h"
#include "object/symbols/kallsyms.h"

#define KERNEL "[kernel.kallsyms]"

enum {
	PIECE_BYTES = 256 << 10,
	PATH_BYTES = PATH_MAX + PD_CACHE_DIGITS + 16
};

// What is to be added.
struct addition {
	struct pd_build_id_cache *cache;
	struct pd_error *error;
	const char *path; // as the caller has it
	const char *name; // in the cache
	const char *leaf; // of the file: what perf calls it
	struct pd_build_id id;
	char digits[PD_CACHE_DIGITS];
	int source;          // descriptor of the file, or -1:
	const uint8_t *data; // then these bytes
	size_t size;
	mode_t mode;
};

static enum pd_status cannot(const struct addition *a)
{
	return pd_fail_system(a->error, errno, "%s: cannot be added to %s", a->path, a->cache->path);
}

// ---- the copy ----

static bool copy_file(int from, int to)
{
	uint8_t *piece = pd_alloc(PIECE_BYTES);
	ssize_t got = -1;
	bool ok = piece != NULL;

	errno = ENOMEM;
	while (ok && (got = read(from, piece, PIECE_BYTES)) != 0) {
		if (got < 0 && errno == EINTR)
			continue;
		ok = got > 0 && pd_write_all(to, piece, (size_t)got);
	}
	pd_free(piece);
	return ok;
}

static bool write_copy(const struct addition *a, int fd)
{
	return (a->source >= 0 ? copy_file(a->source, fd) : pd_write_all(fd, a->data, a->size)) &&
	       fchmod(fd, a->mode) == 0;
}

/* A name of its own for each process that may do the same now. */
static enum pd_status add_file(const struct addition *a, int folder)
{
	char unfinished[64];
	struct stat status;
	bool ok;
	int fd;

	if (fstatat(folder, a->leaf, &status, AT_SYMLINK_NOFOLLOW) == 0)
		return PD_OK;
	snprintf(unfinished, sizeof(unfinished), ".%s.%ld", a->leaf, (long)getpid());
	unlinkat(folder, unfinished, 0);
	fd = openat(folder, unfinished, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return cannot(a);
	ok = write_copy(a, fd);
	if (close(fd) == 0 && ok && renameat(folder, unfinished, folder, a->leaf) == 0)
		return PD_OK;
	cannot(a);
	unlinkat(folder, unfinished, 0);
	return PD_ERROR_SYSTEM;
}

// ---- the link ----

static enum pd_status add_link(const struct addition *a)
{
	char folder_path[16], target[PATH_BYTES];
	enum pd_status status = PD_OK;
	int folder;

	snprintf(folder_path, sizeof(folder_path), ".build-id/%.2s", a->digits);
	folder = pd_cache_open_folder(a->cache->dir, folder_path, true);
	if (folder < 0)
		return cannot(a);
	snprintf(target, sizeof(target), "../../%s/%s", a->name + (*a->name == '/'), a->digits);
	if (symlinkat(target, folder, a->digits + 2) < 0 && errno != EEXIST)
		status = cannot(a);
	close(folder);
	return status;
}

static enum pd_status open_cache(const struct addition *a)
{
	struct pd_build_id_cache *cache = a->cache;

	if (cache->dir >= 0)
		return PD_OK;
	if (mkdir(cache->path, 0777) < 0 && errno != EEXIST)
		return cannot(a);
	cache->dir = open(cache->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return cache->dir < 0 ? cannot(a) : PD_OK;
}

static enum pd_status add_copy(struct addition *a)
{
	char path[PATH_BYTES];
	enum pd_status status;
	int folder;

	pd_cache_digits(&a->id, a->digits);
	if (pd_cache_has(a->cache, &a->id))
		return PD_OK;
	status = open_cache(a);
	if (status < 0)
		return status;
	snprintf(path, sizeof(path), "%s/%s", a->name, a->digits);
	folder = pd_cache_open_folder(a->cache->dir, path, true);
	if (folder < 0)
		return cannot(a);
	status = add_file(a, folder);
	close(folder);
	if (status == PD_OK)
		status = add_link(a);
	if (status == PD_OK && !pd_cache_insert(a->cache, &a->id, a->name))
		status = pd_fail_memory(a->error);
	return status;
}

// ---- what is added ----

static enum pd_status add_kernel(struct addition *a)
{
	struct pd_kallsyms kallsyms;
	enum pd_status status;
	uint8_t *data;
	bool hidden;

	a->id = pd_note_file_build_id("/sys/kernel/notes");
	if (!a->id.size)
		return pd_fail(a->error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "%s: /sys/kernel/notes has no build id",
			       KERNEL);
	status = pd_image_read_file("/proc/kallsyms", 0, &data, &a->size, a->error);
	if (status < 0)
		return status;
	status = pd_kallsyms_read(&kallsyms, (const char *)data, a->size, 0, a->error);
	if (status == PD_OK) {
		hidden = kallsyms.hidden;
		pd_kallsyms_close(&kallsyms);
		a->data = data;
		a->name = KERNEL;
		a->leaf = "kallsyms";
		a->mode = 0600;
		status = !hidden ? add_copy(a) :
				   pd_fail(a->error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
					   "%s: the kernel hides its addresses, see kernel.kptr_restrict", KERNEL);
	}
	pd_free(data);
	return status;
}

static enum pd_status add_elf(struct addition *a)
{
	char real[PATH_MAX];
	struct stat file;
	enum pd_status status;

	if (!realpath(a->path, real))
		return cannot(a);
	a->id = pd_elf_build_id(real);
	if (!a->id.size)
		return pd_is_elf(real) ?
			       pd_fail(a->error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "%s: has no build id", a->path) :
			       pd_fail(a->error, PD_ERROR_FORMAT, PD_NO_OFFSET, "%s: is no ELF file", a->path);
	a->source = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (a->source < 0)
		return cannot(a);
	a->name = real;
	a->leaf = "elf";
	a->mode = fstat(a->source, &file) == 0 ? (file.st_mode & 0777) | 0400 : 0700;
	status = add_copy(a);
	close(a->source);
	return status;
}

enum pd_status pd_build_id_cache_add(struct pd_build_id_cache *cache, const char *path, struct pd_build_id *id_out,
				     struct pd_error *error)
{
	struct addition a = { .cache = cache, .error = error, .path = path, .source = -1 };
	enum pd_status status = strcmp(path, KERNEL) != 0 ? add_elf(&a) : add_kernel(&a);

	if (id_out)
		*id_out = a.id;
	return status;
}
