/* SPDX-License-Identifier: MIT */
/*
 * Copies of the kernel next to the data of a directory (perf record --kcore): directories named kcore_dir...,
 * with a few files each. They are no records, and are copied as they are: regular files only, no links, no more levels.
 */
#include "write/inside.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	PIECE = 256 << 10,
	MOST_ENTRIES = 4096 // of all directories; perf has three in each
};

struct copying {
	struct pd_writer *writer;
	struct pd_file *file;
	uint8_t *piece;
	size_t entries;
	const char *folder; // name of the directory that is copied
};

static bool is_copy_name(const char *name)
{
	return strncmp(name, "kcore_dir", 9) == 0;
}

static DIR *open_below(int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

static void report_left_out(struct copying *c, const char *name, const char *why)
{
	pd_file_report(c->file, PD_PROBLEM_NOT_CARRIED, PD_NO_OFFSET, NULL, "%.60s%s%.100s: %s",
		       c->folder ? c->folder : "", c->folder ? "/" : "", name, why);
}

static enum pd_status fail(struct copying *c, const char *name, struct pd_error *error)
{
	return pd_fail_system(error, errno, "%s: cannot write %s/%s", c->writer->name, c->folder, name);
}

static enum pd_status write_all(struct copying *c, int to, size_t size, const char *name, struct pd_error *error)
{
	for (size_t done = 0; done < size;) {
		ssize_t count = write(to, c->piece + done, size - done);

		if (count < 0 && errno != EINTR)
			return fail(c, name, error);
		done += count > 0 ? (size_t)count : 0;
	}
	return PD_OK;
}

// As much as there was when it was opened.
static enum pd_status copy_content(struct copying *c, int from, int to, uint64_t left, const char *name,
				   struct pd_error *error)
{
	enum pd_status status = PD_OK;

	while (status >= 0 && left) {
		ssize_t count = read(from, c->piece, left < PIECE ? (size_t)left : PIECE);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0) {
			report_left_out(c, name, count < 0 ? "cannot be read to its end" : "is shorter than it was");
			break;
		}
		status = write_all(c, to, (size_t)count, name, error);
		left -= (uint64_t)count;
	}
	return status;
}

static enum pd_status copy_file(struct copying *c, int from_dir, int to_dir, const char *name, struct pd_error *error)
{
	int from = openat(from_dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), to;
	enum pd_status status;
	struct stat stat;

	if (from < 0 || fstat(from, &stat) < 0 || !S_ISREG(stat.st_mode) || ++c->entries > MOST_ENTRIES) {
		report_left_out(c, name,
				from < 0                  ? "cannot be read" :
				c->entries > MOST_ENTRIES ? "too many entries" :
							    "not a regular file");
		if (from >= 0)
			close(from);
		return PD_OK;
	}
	to = openat(to_dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, stat.st_mode & 0700);
	status = to < 0 ? fail(c, name, error) : copy_content(c, from, to, (uint64_t)stat.st_size, name, error);
	if (to >= 0 && close(to) < 0 && status >= 0)
		status = fail(c, name, error);
	close(from);
	return status;
}

static enum pd_status copy_directory(struct copying *c, DIR *from, int to_dir, struct pd_error *error)
{
	enum pd_status status = PD_OK;
	struct dirent *entry;

	while (status >= 0 && (entry = readdir(from)) != NULL)
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			status = copy_file(c, dirfd(from), to_dir, entry->d_name, error);
	return status;
}

static enum pd_status copy_folder(struct copying *c, int from_dir, const char *name, struct pd_error *error)
{
	DIR *from = open_below(from_dir, name);
	enum pd_status status;
	int to;

	if (!from || ++c->entries > MOST_ENTRIES) {
		report_left_out(c, name, from ? "too many entries" : "not a readable directory");
		if (from)
			closedir(from);
		return PD_OK;
	}
	c->folder = name;
	to = mkdirat(c->writer->dir_fd, name, 0700);
	if (to == 0)
		to = openat(c->writer->dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	status = to < 0 ? fail(c, ".", error) : copy_directory(c, from, to, error);
	if (to >= 0)
		close(to);
	closedir(from);
	c->folder = NULL;
	return status;
}

enum pd_status pd_writer_copy_sidecars(struct pd_writer *writer, struct pd_file *file, struct pd_error *error)
{
	DIR *dir = pd_file_mode(file) == PD_MODE_DIRECTORY ? opendir(pd_file_name(file)) : NULL;
	struct copying c = { .writer = writer, .file = file };
	enum pd_status status = PD_OK;
	struct dirent *entry;

	while (dir && status >= 0 && (entry = readdir(dir)) != NULL) {
		if (!is_copy_name(entry->d_name))
			continue;
		if (writer->dir_fd < 0) {
			report_left_out(&c, entry->d_name, "needs an output directory (--to dir)");
		} else if (writer->changes.event || writer->changes.feature) {
			// who changes what a recording says of itself does not want it reported here
			report_left_out(&c, entry->d_name, "not copied; copy it yourself if you need it");
		} else {
			c.piece = pd_write_scratch(writer, PIECE);
			status = c.piece ? copy_folder(&c, dirfd(dir), entry->d_name, error) : pd_fail_memory(error);
		}
	}
	if (dir)
		closedir(dir);
	return status;
}

static void remove_files(int dir_fd, const char *name)
{
	DIR *dir = open_below(dir_fd, name);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	unlinkat(dir_fd, name, AT_REMOVEDIR);
}

void pd_writer_remove_sidecars(struct pd_writer *writer)
{
	DIR *dir = writer->dir_fd >= 0 ? open_below(writer->dir_fd, ".") : NULL;
	struct dirent *entry;

	while (dir && (entry = readdir(dir)) != NULL)
		if (is_copy_name(entry->d_name))
			remove_files(writer->dir_fd, entry->d_name);
	if (dir)
		closedir(dir);
}
