/* SPDX-License-Identifier: MIT */
/* Members of a tar file: found by name, through links inside of it, and read where they stand. */
#include "file/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/lookup/search.h"

enum {
	LINKS = 40
}; // most to follow, as the kernel has it

static const uint64_t default_memory_limit = (uint64_t)256 << 20;
static const uint64_t default_inflate_limit = (uint64_t)1 << 40;

// ---- the order of names ----

static int compare(const void *a, const void *b, void *self)
{
	const struct pd_archive *archive = self;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	int order = strcmp(archive->members[left]->member.name, archive->members[right]->member.name);

	return order ? order : left < right ? -1 : left > right;
}

static bool make_order(struct pd_archive *archive)
{
	archive->order = pd_alloc((archive->count + 1) * sizeof(*archive->order));
	if (!archive->order)
		return false;
	for (size_t i = 0; i < archive->count; i++)
		archive->order[i] = (uint32_t)i;
	qsort_r(archive->order, archive->count, sizeof(*archive->order), compare, archive);
	return true;
}

// Whether a member sorts before another of that name and index: by name, then by index.
static bool is_before(const struct pd_archive *archive, size_t index, const char *name, size_t before)
{
	int order = strcmp(archive->members[index]->member.name, name);

	return order < 0 || (order == 0 && index < before);
}

// The last member of a name that stands before an index; NULL if there is none.
static struct pd_member_full *last_before(const struct pd_archive *archive, const char *name, size_t before)
{
	size_t low;

	PD_SEARCH(low, 0, archive->count, i, is_before(archive, archive->order[i], name, before));
	if (!low || strcmp(archive->members[archive->order[low - 1]]->member.name, name) != 0)
		return NULL;
	return archive->members[archive->order[low - 1]];
}

// Hard links name what stands before them, so that they never go in a circle.
static void resolve_hard_links(struct pd_archive *archive)
{
	for (size_t i = 0; i < archive->count; i++) {
		struct pd_member_full *full = archive->members[i], *same;

		if (!full->is_same || full->member.kind != PD_MEMBER_FILE)
			continue;
		same = last_before(archive, full->member.target, i);
		if (!same || same->member.kind == PD_MEMBER_FOLDER || same->member.kind == PD_MEMBER_REFUSED) {
			full->member.kind = PD_MEMBER_REFUSED;
			full->member.reason = "link to a missing file";
			continue;
		}
		full->member.kind = same->member.kind;
		if (same->member.kind == PD_MEMBER_LINK)
			full->member.target = same->member.target;
		full->member.size = same->member.size;
		full->at = same->at;
		full->extents = same->extents;
		full->extent_count = same->extent_count;
	}
}

// ---- opening ----

static enum pd_status list(struct pd_archive *archive, struct pd_error *error)
{
	enum pd_status status = pd_tar_list(archive, error);

	if (status < 0)
		return status;
	if (!make_order(archive))
		return pd_fail_memory(error);
	resolve_hard_links(archive);
	return PD_OK;
}

static void take_options(const struct pd_open_options *options, struct pd_open_options *all)
{
	*all = (struct pd_open_options){ .size = sizeof(*all) };
	if (options)
		memcpy(all, options, options->size < sizeof(*all) ? options->size : sizeof(*all));
	if (!all->memory_limit)
		all->memory_limit = default_memory_limit;
	if (all->memory_limit > SIZE_MAX / 16)
		all->memory_limit = SIZE_MAX / 16;
	if (!all->inflate_limit)
		all->inflate_limit = default_inflate_limit;
	if (!all->temp_dir)
		all->temp_dir = "/tmp";
}

static enum pd_status find_form(struct pd_source *source, bool *is_tar_out, struct pd_error *error)
{
	uint8_t block[PD_TAR_BLOCK] = { 0 };
	size_t got;
	enum pd_status status = pd_source_read(source, 0, block, 16, &got, error);

	*is_tar_out = false;
	// a live pipe of perf may have no more yet
	if (status < 0 || memcmp(block, "PERF", 4) == 0 || memcmp(block, "2ELIFREP", 8) == 0)
		return status;
	status = pd_source_read(source, 0, block, sizeof(block), &got, error);
	*is_tar_out = status >= 0 && got == sizeof(block) && pd_tar_is_header(block);
	return status;
}

enum pd_status pd_archive_take(struct pd_source *source, const char *name, const struct pd_open_options *options,
			       struct pd_archive **archive_out, bool *is_tar_out, struct pd_error *error)
{
	struct pd_archive *archive = NULL;
	struct pd_open_options all;
	bool is_tar;
	enum pd_status status = find_form(source, &is_tar, error);

	if (is_tar_out)
		*is_tar_out = is_tar;
	if (status >= 0 && !is_tar && is_tar_out)
		return PD_OK;
	if (status >= 0 && !is_tar)
		status = pd_fail(error, PD_ERROR_FORMAT, 0, "%s: not a tar file%s%s", name, source->damaged ? ": " : "",
				 source->damaged ? source->damage : "");
	take_options(options, &all);
	if (status >= 0)
		status = pd_source_make_seekable(source, all.temp_dir, error);
	archive = status >= 0 ? pd_alloc(sizeof(*archive)) : NULL;
	if (!archive) {
		pd_source_close(source);
		return status < 0 ? status : pd_fail_memory(error);
	}
	archive->source = *source;
	*source = (struct pd_source){ .fd = -1 };
	archive->memory_limit = all.memory_limit;
	archive->arena.limit = (size_t)all.memory_limit;
	archive->name = strdup(name);
	status = archive->name ? list(archive, error) : pd_fail_memory(error);
	if (archive->source.damaged && !archive->damage) {
		archive->damage = archive->source.damage;
		archive->damage_offset = archive->source.size;
	}
	if (status < 0)
		pd_archive_close(archive);
	else
		*archive_out = archive;
	return status;
}

static enum pd_status open_source(struct pd_source *source, const char *name, const struct pd_open_options *options,
				  struct pd_archive **archive_out, struct pd_error *error)
{
	struct pd_open_options all;
	enum pd_status status;

	if (options && !options->size) {
		pd_source_close(source);
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "the size member of the options is 0");
	}
	take_options(options, &all);
	status = pd_source_unwrap(source, all.inflate_limit, error);
	if (status < 0) {
		pd_source_close(source);
		return status;
	}
	return pd_archive_take(source, name, options, archive_out, NULL, error);
}

const char *pd_archive_of_recording(const char *recording, char *path, size_t size)
{
	static const char *const ends[] = { ".tar.bz2", ".tar.zst", ".tar.gz", ".tar.xz", ".tar" };
	size_t length = strlen(recording);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		size_t end = strlen(ends[i]) + 1;
		int fd;

		if (length >= size || end > size - length)
			continue;
		memcpy(path, recording, length);
		memcpy(path + length, ends[i], end);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		close(fd);
		return path;
	}
	return NULL;
}

enum pd_status pd_archive_open(const char *path, const struct pd_open_options *options, struct pd_archive **archive_out,
			       struct pd_error *error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct pd_source source;
	enum pd_status status;

	if (fd < 0)
		return pd_fail_system(error, errno, "%s: cannot open", path);
	status = pd_source_open_fd(&source, fd, true, error);
	if (status < 0) {
		close(fd);
		return status;
	}
	return open_source(&source, path, options, archive_out, error);
}

enum pd_status pd_archive_open_fd(int fd, const struct pd_open_options *options, struct pd_archive **archive_out,
				  struct pd_error *error)
{
	struct pd_source source;
	enum pd_status status = pd_source_open_fd(&source, fd, false, error);
	char name[32];

	if (status < 0)
		return status;
	snprintf(name, sizeof(name), fd == STDIN_FILENO ? "standard input" : "fd %d", fd);
	return open_source(&source, name, options, archive_out, error);
}

enum pd_status pd_archive_open_memory(const void *data, size_t size, const struct pd_open_options *options,
				      struct pd_archive **archive_out, struct pd_error *error)
{
	struct pd_source source;

	pd_source_open_memory(&source, data, size);
	return open_source(&source, "memory", options, archive_out, error);
}

enum pd_status pd_archive_open_member(const struct pd_archive *archive, const struct pd_member *member,
				      const struct pd_open_options *options, struct pd_archive **archive_out,
				      struct pd_error *error)
{
	struct pd_source source;
	enum pd_status status = pd_archive_source(archive, member, &source, error);

	return status < 0 ? status : open_source(&source, member->name, options, archive_out, error);
}

void pd_archive_close(struct pd_archive *archive)
{
	if (!archive)
		return;
	pd_source_close(&archive->source);
	pd_arena_fini(&archive->arena);
	pd_free(archive->members);
	pd_free(archive->order);
	free(archive->name);
	pd_free(archive);
}

// ---- members ----

const char *pd_archive_name(const struct pd_archive *archive)
{
	return archive->name;
}

const struct pd_member *pd_archive_member(const struct pd_archive *archive, size_t index)
{
	return index < archive->count ? &archive->members[index]->member : NULL;
}

const char *pd_archive_damage(const struct pd_archive *archive, uint64_t *offset_out)
{
	if (archive->damage && offset_out)
		*offset_out = archive->damage_offset;
	return archive->damage;
}

// A path on its way: what was walked, and what is to come.
struct walk {
	char done[PATH_MAX];
	char pending[2 * PATH_MAX];
	unsigned links;
};

static void step_back(struct walk *w)
{
	char *slash = strrchr(w->done, '/');

	if (slash)
		*slash = 0;
	else
		w->done[0] = 0;
}

// Puts a link's target in front of what is to come.
static bool follow(struct walk *w, const char *target)
{
	size_t length = strlen(target), rest = strlen(w->pending);

	if (++w->links > LINKS || length + 1 + rest >= sizeof(w->pending))
		return false;
	memmove(w->pending + length + 1, w->pending, rest + 1);
	memcpy(w->pending, target, length);
	w->pending[length] = '/';
	if (target[0] == '/')
		w->done[0] = 0;
	else
		step_back(w);
	return true;
}

// Walks over the next part of the path; false if it leads nowhere.
static bool step(const struct pd_archive *archive, struct walk *w, size_t length, const struct pd_member_full **found)
{
	size_t have = strlen(w->done);

	*found = NULL;
	if (length == 2 && memcmp(w->pending, "..", 2) == 0)
		step_back(w);
	if (!length || (w->pending[0] == '.' && (length == 1 || (length == 2 && w->pending[1] == '.')))) {
		memmove(w->pending, w->pending + length, strlen(w->pending + length) + 1);
		return true;
	}
	if (have + 1 + length >= sizeof(w->done))
		return false;
	if (have)
		w->done[have++] = '/';
	memcpy(w->done + have, w->pending, length);
	w->done[have + length] = 0;
	memmove(w->pending, w->pending + length, strlen(w->pending + length) + 1);
	*found = last_before(archive, w->done, archive->count);
	return !*found || (*found)->member.kind != PD_MEMBER_LINK || follow(w, (*found)->member.target);
}

const struct pd_member *pd_archive_find(const struct pd_archive *archive, const char *path)
{
	const struct pd_member_full *found = NULL, *last = NULL;
	struct walk w = { .links = 0 };

	if (strlen(path) >= PATH_MAX)
		return NULL;
	memcpy(w.pending, path, strlen(path) + 1);
	for (;;) {
		size_t slashes = strspn(w.pending, "/");

		memmove(w.pending, w.pending + slashes, strlen(w.pending + slashes) + 1);
		if (!w.pending[0])
			break;
		if (!step(archive, &w, strcspn(w.pending, "/"), &found))
			return NULL;
		last = found && found->member.kind == PD_MEMBER_FILE ? found : NULL;
		// a file has nothing below it
		if (last && w.pending[strspn(w.pending, "/")])
			return NULL;
	}
	return last ? &last->member : NULL;
}

// ---- bytes ----

static const struct pd_member_full *full_of(const struct pd_archive *archive, const struct pd_member *member)
{
	return archive->members[member->index];
}

// The first extent that ends after an offset; the count if there is none.
static size_t extent_at(const struct pd_member_full *full, uint64_t offset)
{
	size_t low;

	PD_SEARCH(low, 0, full->extent_count, i, full->extents[i].offset + full->extents[i].size <= offset);
	return low;
}

bool pd_archive_extent(const struct pd_archive *archive, const struct pd_member *member, uint64_t offset,
		       uint64_t *start_out, uint64_t *size_out)
{
	const struct pd_member_full *full = full_of(archive, member);
	const struct pd_extent *e;
	size_t i;

	if (offset >= member->size || member->kind != PD_MEMBER_FILE)
		return false;
	if (!full->extents) {
		*start_out = offset;
		*size_out = member->size - offset;
		return true;
	}
	i = extent_at(full, offset);
	if (i == full->extent_count)
		return false;
	e = &full->extents[i];
	*start_out = e->offset > offset ? e->offset : offset;
	*size_out = e->offset + e->size - *start_out;
	return true;
}

static enum pd_status read_bytes(const struct pd_archive *archive, uint64_t at, void *data, size_t size,
				 size_t *got_out, struct pd_error *error)
{
	// reading what can seek changes nothing in a source
	struct pd_source *source = (struct pd_source *)(uintptr_t)&archive->source;

	return pd_source_read(source, at, data, size, got_out, error);
}

static enum pd_status read_sparse(const struct pd_archive *archive, const struct pd_member_full *full, uint64_t offset,
				  uint8_t *data, size_t size, struct pd_error *error)
{
	size_t i = extent_at(full, offset);
	enum pd_status status = PD_OK;
	size_t got;

	memset(data, 0, size);
	for (; i < full->extent_count && full->extents[i].offset < offset + size && status >= 0; i++) {
		const struct pd_extent *e = &full->extents[i];
		uint64_t from = e->offset > offset ? e->offset : offset;
		uint64_t to = e->offset + e->size < offset + size ? e->offset + e->size : offset + size;

		if (to > from)
			status = read_bytes(archive, e->at + (from - e->offset), data + (from - offset),
					    (size_t)(to - from), &got, error);
	}
	return status;
}

enum pd_status pd_archive_read(const struct pd_archive *archive, const struct pd_member *member, uint64_t offset,
			       void *data, size_t size, size_t *got_out, struct pd_error *error)
{
	const struct pd_member_full *full = full_of(archive, member);
	enum pd_status status;

	if (member->kind != PD_MEMBER_FILE)
		return pd_fail(error, PD_ERROR_ARGUMENT, member->offset, "%s: %s is not a regular file", archive->name,
			       member->name);
	if (offset >= member->size)
		size = 0;
	else if (size > member->size - offset)
		size = (size_t)(member->size - offset);
	if (!full->extents)
		return read_bytes(archive, full->at + offset, data, size, got_out, error);
	status = read_sparse(archive, full, offset, data, size, error);
	if (status >= 0)
		*got_out = size;
	return status;
}

enum pd_status pd_archive_source(const struct pd_archive *archive, const struct pd_member *member,
				 struct pd_source *source_out, struct pd_error *error)
{
	const struct pd_member_full *full = full_of(archive, member);

	if (member->kind != PD_MEMBER_FILE)
		return pd_fail(error, PD_ERROR_ARGUMENT, member->offset, "%s: %s is not a regular file", archive->name,
			       member->name);
	if (full->extents)
		return pd_fail(error, PD_ERROR_UNSUPPORTED, member->offset, "%s: %s has holes", archive->name,
			       member->name);
	pd_source_open_range(source_out, &archive->source, full->at, member->size);
	return PD_OK;
}
