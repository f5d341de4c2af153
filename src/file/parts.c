/* SPDX-License-Identifier: MIT */
/* Where the records are: the data section of the main file, and the other files of a directory. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file/open.h"

static enum pd_status add_part(struct pd_file *file, struct pd_source *source, const char *name, uint64_t begin,
			       uint64_t end, struct pd_error *error)
{
	struct pd_part *parts = pd_realloc(file->parts, (file->part_count + 1) * sizeof(*parts));

	if (!parts)
		return pd_fail_memory(error);
	file->parts = parts;
	parts[file->part_count] = (struct pd_part){
		.source = source, .name = pd_arena_text(&file->arena, name, strlen(name)), .begin = begin, .end = end};
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

		// attrs behind the data are no records
		if (header->attrs_offset > header->data_offset && header->attrs_offset < end && header->attrs_size)
			end = header->attrs_offset;
		return add_part(file, &file->main, name, header->data_offset < end ? header->data_offset : end, end, error);
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

// Regular files whose name begins with "data.", as perf takes them.
static enum pd_status list_parts(int dir_fd, char ***names_out, size_t *count_out, struct pd_error *error)
{
	int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	char **names = NULL;
	size_t count = 0, capacity = 0;
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
		if (!PD_GROW(names, capacity, count + 1))
			break;
		names[count] = strdup(entry->d_name);
		if (!names[count])
			break;
		count++;
	}
	closedir(dir);
	if (count)
		qsort(names, count, sizeof(names[0]), compare_names);
	*names_out = names;
	*count_out = count;
	return entry ? pd_fail_memory(error) : PD_OK;
}

static enum pd_status open_part(struct pd_file *file, int dir_fd, const char *name, struct pd_source *source,
				struct pd_error *error)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	enum pd_status status;

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

enum pd_status pd_file_add_directory_parts(struct pd_file *file, int dir_fd, struct pd_error *error)
{
	const struct pd_dir_format *format = pd_file_dir_format(file);
	char **names = NULL;
	size_t count = 0;
	enum pd_status status;

	if (format && format->version != 1)
		pd_file_tell(file, PD_PROBLEM_DIRECTORY_VERSION, PD_NO_OFFSET, "dir_format.version",
			     "the directory has version %" PRIu64, format->version);
	status = list_parts(dir_fd, &names, &count, error);
	if (status >= 0 && count) {
		file->extra = pd_alloc(count * sizeof(*file->extra));
		if (!file->extra)
			status = pd_fail_memory(error);
	}
	for (size_t i = 0; i < count && status >= 0; i++) {
		struct pd_error why = {0};

		status = open_part(file, dir_fd, names[i], &file->extra[i], &why);
		if (status == PD_ERROR_SYSTEM) {
			// the other parts are not worse for it
			pd_file_tell(file, PD_PROBLEM_UNREADABLE_PART, PD_NO_OFFSET, NULL, "%s", why.message);
			status = PD_OK;
		} else if (status < 0 && error) {
			*error = why;
		}
	}
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	pd_free(names);
	return status;
}
