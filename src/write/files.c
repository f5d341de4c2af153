/* SPDX-License-Identifier: MIT */
/*
 * The files that a writer writes: a temporary name next to the output, a directory with its parts, or what was there
 * already. The input is never overwritten.
 */
#include "write/inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	NAME_TRIES = 100
};

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_input(const struct pd_writer_options *options, const struct stat *target)
{
	struct stat stat_of;

	// what is no file with a content of its own may be both: a terminal, /dev/null
	if (!S_ISREG(target->st_mode) && !S_ISDIR(target->st_mode))
		return false;
	for (size_t i = 0; i < options->input_count; i++) {
		const struct pd_file *file = options->inputs[i];

		if (pd_file_main_source(file)->fd >= 0 && fstat(pd_file_main_source(file)->fd, &stat_of) == 0 &&
		    is_same_file(&stat_of, target))
			return true;
		if (stat(pd_file_name(file), &stat_of) == 0 && is_same_file(&stat_of, target))
			return true;
		for (size_t j = 1; j < pd_file_part_count(file); j++)
			if (fstat(pd_file_part(file, j)->source->fd, &stat_of) == 0 && is_same_file(&stat_of, target))
				return true;
	}
	return false;
}

// The only thing whose place a directory can take.
static bool is_empty_directory(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool empty = dir != NULL;

	while (empty && (entry = readdir(dir)) != NULL)
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	if (dir)
		closedir(dir);
	return empty;
}

// Rights of a new file: those of the first input, without one as perf has them.
static mode_t new_mode(const struct pd_writer_options *options)
{
	struct stat stat_of;

	if (options->input_count && pd_file_main_source(options->inputs[0])->fd >= 0 &&
	    fstat(pd_file_main_source(options->inputs[0])->fd, &stat_of) == 0 && S_ISREG(stat_of.st_mode))
		return stat_of.st_mode & 0777;
	return 0600;
}

enum pd_status pd_writer_add_output(struct pd_writer *writer, int fd, bool owns_fd, const char *name,
				    struct pd_error *error)
{
	struct pd_write_part *parts = pd_realloc(writer->parts, (writer->part_count + 1) * sizeof(*parts));
	struct pd_write_part *part;
	enum pd_status status;

	if (parts)
		writer->parts = parts;
	if (!parts) {
		if (owns_fd)
			close(fd);
		return pd_fail_memory(error);
	}
	part = &parts[writer->part_count++];
	*part = (struct pd_write_part){ .name = strdup(name) };
	status = pd_output_init(&part->out, fd, owns_fd, writer->name, error);
	if (status >= 0 && !part->name)
		status = pd_fail_memory(error);
	return status;
}

// A temporary name next to the output: a file, or a directory that is made.
static enum pd_status create_temporary(struct pd_writer *writer, mode_t mode, int *fd_out, struct pd_error *error)
{
	size_t capacity = strlen(writer->path) + 32;
	int fd = -1;

	writer->temporary = pd_alloc(capacity);
	if (!writer->temporary)
		return pd_fail_memory(error);
	for (unsigned i = 0; i < NAME_TRIES; i++) {
		snprintf(writer->temporary, capacity, "%s.new-%ld-%u", writer->path, (long)getpid(), i);
		if (writer->mode == PD_MODE_DIRECTORY)
			fd = mkdir(writer->temporary, 0700);
		else
			fd = open(writer->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	if (fd < 0) {
		int saved = errno;

		// nothing of ours is there
		pd_free(writer->temporary);
		writer->temporary = NULL;
		return pd_fail_system(error, saved, "%s: cannot create the file", writer->path);
	}
	*fd_out = fd;
	return PD_OK;
}

// Opens a file of the directory that is being made.
enum pd_status pd_writer_add_part(struct pd_writer *writer, const char *name, struct pd_error *error)
{
	int fd = openat(writer->dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0)
		return pd_fail_system(error, errno, "%s: cannot create %s", writer->path, name);
	return pd_writer_add_output(writer, fd, true, name, error);
}

enum pd_status pd_writer_find_part(struct pd_writer *writer, const char *name, size_t *part_out, struct pd_error *error)
{
	for (size_t i = 0; i < writer->part_count; i++) {
		if (strcmp(writer->parts[i].name, name) == 0) {
			*part_out = i;
			return PD_OK;
		}
	}
	*part_out = writer->part_count;
	return pd_writer_fail(writer, pd_writer_add_part(writer, name, error), error);
}

// A directory gets the same parts as the first input, if that is one, else parts by CPU.
static enum pd_status open_directory(struct pd_writer *writer, const struct pd_writer_options *options,
				     struct pd_error *error)
{
	const struct pd_file *input = options->input_count ? options->inputs[0] : NULL;
	enum pd_status status;
	int made;

	status = create_temporary(writer, 0, &made, error);
	if (status < 0)
		return status;
	writer->dir_fd = open(writer->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (writer->dir_fd < 0)
		return pd_fail_system(error, errno, "%s: cannot create the file", writer->path);
	writer->by_cpu = input && pd_file_mode(input) != PD_MODE_DIRECTORY;
	status = pd_writer_add_part(writer, "data", error);
	for (size_t i = 1;
	     status >= 0 && input && pd_file_mode(input) == PD_MODE_DIRECTORY && i < pd_file_part_count(input); i++)
		status = pd_writer_add_part(writer, pd_file_part_name(input, i), error);
	return status;
}

enum pd_status pd_writer_open_path(struct pd_writer *writer, const struct pd_writer_options *options,
				   struct pd_error *error)
{
	struct stat target;
	bool there = stat(writer->path, &target) == 0;
	mode_t mode = there ? target.st_mode & 0777 : new_mode(options);
	enum pd_status status;
	int fd = -1;

	if (there && is_input(options, &target))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: refusing to overwrite the input",
			       writer->name);
	if (writer->mode == PD_MODE_DIRECTORY) {
		if (there && !is_empty_directory(writer->path))
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: already exists", writer->path);
		return open_directory(writer, options, error);
	}
	if (there && S_ISDIR(target.st_mode))
		return pd_fail_system(error, EISDIR, "%s: cannot write", writer->path);
	if (there && !S_ISREG(target.st_mode)) {
		fd = open(writer->path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			return pd_fail_system(error, errno, "%s: cannot open", writer->path);
	} else {
		status = create_temporary(writer, mode, &fd, error);
		if (status < 0)
			return status;
	}
	return pd_writer_add_output(writer, fd, true, "", error);
}

enum pd_status pd_writer_check_descriptor(struct pd_writer *writer, int fd, const struct pd_writer_options *options,
					  struct pd_error *error)
{
	struct stat target;
	off_t position = lseek(fd, 0, SEEK_CUR);

	if (fstat(fd, &target) == 0 && is_input(options, &target))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: refusing to overwrite the input",
			       writer->name);
	if (writer->mode == PD_MODE_DIRECTORY)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: cannot write a directory here",
			       writer->name);
	if (writer->mode == PD_MODE_PIPE)
		return PD_OK;
	if (position < 0)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "%s: cannot seek; only the pipe form can be written", writer->name);
	if (position > 0 || fcntl(fd, F_GETFL) & O_APPEND || (S_ISREG(target.st_mode) && target.st_size))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "%s: not empty; only the pipe form can be written", writer->name);
	return PD_OK;
}

// The file that a link leads to: who takes its name must not take that of the link.
char *pd_write_target(const char *path)
{
	struct stat link, target;

	if (lstat(path, &link) == 0 && S_ISLNK(link.st_mode) && stat(path, &target) == 0 && S_ISREG(target.st_mode))
		return realpath(path, NULL);
	return strdup(path);
}

void pd_writer_remove_files(struct pd_writer *writer)
{
	if (!writer->temporary)
		return;
	pd_writer_remove_sidecars(writer);
	for (size_t i = 0; i < writer->part_count && writer->dir_fd >= 0; i++)
		unlinkat(writer->dir_fd, writer->parts[i].name, 0);
	if (writer->mode == PD_MODE_DIRECTORY)
		rmdir(writer->temporary);
	else
		unlink(writer->temporary);
}
