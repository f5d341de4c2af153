/* SPDX-License-Identifier: MIT */
/* Where the records are: the data section of the main file, and the other files of a directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/archive.h"
#include "file/inside.h"

static enum pd_status add_part(struct pd_file *file, struct pd_source *source, const char *name, uint64_t begin,
			       uint64_t end, struct pd_error *error)
{
	struct pd_part *parts = pd_realloc(file->parts, (file->part_count + 1) * sizeof(*parts));

	if (!parts)
		return pd_fail_memory(error);
	file->parts = parts;
	parts[file->part_count] = (struct pd_part){
		.source = source, .name = pd_arena_text(&file->arena, name, strlen(name)), .begin = begin, .end = end
	};
	if (!parts[file->part_count].name)
		return pd_fail_memory(error);
	file->part_count++;
	return PD_OK;
}

enum pd_status pd_file_add_main_part(struct pd_file *file, const char *name, struct pd_error *error)
{
	const struct pd_header *header = &file->header;

	if (header->mode == PD_MODE_PIPE)
		return add_part(file, &file->main, name, PD_PIPE_HEADER_SIZE, file->main.size, error);
	if (header->unfinished || header->truncated) {
		uint64_t end = file->main.size;

		// attrs after the data are no records
		if (header->attrs_offset > header->data_offset && header->attrs_offset < end && header->attrs_size)
			end = header->attrs_offset;
		return add_part(file, &file->main, name, header->data_offset < end ? header->data_offset : end, end,
				error);
	}
	return add_part(file, &file->main, name, header->data_offset, header->data_offset + header->data_size, error);
}

// data.2 before data.10
static int compare_names(const void *a, const void *b)
{
	const char *left = *(char *const *)a, *right = *(char *const *)b;
	size_t left_length = strlen(left), right_length = strlen(right);

	if (left_length != right_length)
		return left_length < right_length ? -1 : 1;
	return strcmp(left, right);
}

struct names {
	char **items;
	size_t count, capacity;
};

static bool add_name(struct names *names, const char *name)
{
	if (!PD_GROW(names->items, names->capacity, names->count + 1))
		return false;
	names->items[names->count] = strdup(name);
	if (!names->items[names->count])
		return false;
	names->count++;
	return true;
}

// Regular files whose name begins with "data.", as perf takes them.
static enum pd_status list_directory(int dir_fd, struct names *names, struct pd_error *error)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;

	if (!dir) {
		int saved = errno;

		if (fd >= 0)
			close(fd);
		return pd_fail_system(error, saved, "cannot list the directory");
	}
	while ((entry = readdir(dir)) != NULL) {
		struct stat stat;

		if (strncmp(entry->d_name, "data.", 5) != 0 || fstatat(dir_fd, entry->d_name, &stat, 0) < 0 ||
		    !S_ISREG(stat.st_mode))
			continue;
		if (!add_name(names, entry->d_name))
			break;
	}
	closedir(dir);
	return entry ? pd_fail_memory(error) : PD_OK;
}

// The same in an archive; of several with one name the last one counts.
static enum pd_status list_members(const struct pd_archive *archive, const char *inside, struct names *names,
				   struct pd_error *error)
{
	size_t length = strlen(inside);
	const struct pd_member *m;

	for (size_t i = 0; (m = pd_archive_member(archive, i)); i++) {
		const char *name = m->name + length + 1;

		if (m->kind != PD_MEMBER_FILE || strncmp(m->name, inside, length) != 0 || m->name[length] != '/' ||
		    strncmp(name, "data.", 5) != 0 || strchr(name, '/') || pd_archive_find(archive, m->name) != m)
			continue;
		if (!add_name(names, name))
			return pd_fail_memory(error);
	}
	return PD_OK;
}

static enum pd_status open_member(struct pd_file *file, const char *inside, const char *name, struct pd_source *source,
				  struct pd_error *error)
{
	char path[PATH_MAX];
	const struct pd_member *member;
	int n = snprintf(path, sizeof(path), "%s/%s", inside, name);

	member = n > 0 && (size_t)n < sizeof(path) ? pd_archive_find(file->archive, path) : NULL;
	if (!member)
		return pd_fail(error, PD_ERROR_SYSTEM, PD_NO_OFFSET, "%s: cannot open %s", file->name, name);
	return pd_archive_source(file->archive, member, source, error);
}

static enum pd_status open_part(struct pd_file *file, const struct pd_folder *folder, const char *name,
				struct pd_source *source, struct pd_error *error)
{
	enum pd_status status;
	int fd;

	if (folder->fd < 0) {
		status = open_member(file, folder->inside, name, source, error);
		return status < 0 ? PD_ERROR_SYSTEM : add_part(file, source, name, 0, source->size, error);
	}
	fd = openat(folder->fd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return pd_fail_system(error, errno, "%s: cannot open %s", file->name, name);
	status = pd_source_open_fd(source, fd, true, error);
	if (status < 0) {
		close(fd);
		return status;
	}
	status = add_part(file, source, name, 0, source->size, error);
	if (status < 0)
		pd_source_close(source);
	return status;
}

enum pd_status pd_file_add_directory_parts(struct pd_file *file, const struct pd_folder *folder, struct pd_error *error)
{
	const struct pd_dir_format *format = pd_file_dir_format(file);
	struct names names = { .items = NULL };
	enum pd_status status;

	if (format && format->version != 1)
		pd_file_report(file, PD_PROBLEM_DIRECTORY_VERSION, PD_NO_OFFSET, "dir_format.version",
			       "the directory has version %" PRIu64, format->version);
	status = folder->fd >= 0 ? list_directory(folder->fd, &names, error) :
				   list_members(file->archive, folder->inside, &names, error);
	if (status >= 0 && names.count) {
		qsort(names.items, names.count, sizeof(names.items[0]), compare_names);
		file->extra = pd_alloc(names.count * sizeof(*file->extra));
		if (!file->extra)
			status = pd_fail_memory(error);
	}
	for (size_t i = 0; i < names.count && status >= 0; i++) {
		struct pd_error why = { 0 };

		status = open_part(file, folder, names.items[i], &file->extra[i], &why);
		if (status == PD_ERROR_SYSTEM) {
			// the other parts are not worse for it
			pd_file_report(file, PD_PROBLEM_UNREADABLE_PART, PD_NO_OFFSET, NULL, "%s", why.message);
			status = PD_OK;
		} else if (status < 0 && error) {
			*error = why;
		}
	}
	for (size_t i = 0; i < names.count; i++)
		free(names.items[i]);
	pd_free(names.items);
	return status;
}
