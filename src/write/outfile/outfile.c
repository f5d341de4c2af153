/* SPDX-License-Identifier: MIT */
/* Writes a temporary file and renames it. */
#include <perfdata/outfile.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

struct pd_outfile {
	struct pd_outfile_options options;
	const char *path;
	char *temporary; // what is written, until it is whole; NULL: path itself
	char *target;    // what gets it then: path, or where it leads
	int fd;
};

// ---- what must stay ----

// Whether path begins as perf.data files do, in either byte order.
static bool is_recording(const char *path)
{
	static const char *const starts[] = { "PERFILE2", "2ELIFREP", "PERFFILE" };
	char start[8] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t size = fd >= 0 ? read(fd, start, sizeof(start)) : 0;

	if (fd >= 0)
		close(fd);
	for (size_t i = 0; size == sizeof(start) && i < sizeof(starts) / sizeof(starts[0]); i++) {
		if (!memcmp(start, starts[i], sizeof(start)))
			return true;
	}
	return false;
}

static bool is_same(const struct stat *one, const struct stat *other)
{
	return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

static bool is_input(const struct stat *status, const char *input)
{
	struct stat read;

	return S_ISREG(status->st_mode) && ((input && stat(input, &read) == 0 && is_same(status, &read)) ||
					    (fstat(STDIN_FILENO, &read) == 0 && is_same(status, &read)));
}

static enum pd_status refuse_recording(const char *path, struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: refusing to overwrite a perf.data file", path);
}

// ---- the temporary file ----

// The file that a link leads to: what takes its name must not take that of the link.
static char *where_it_leads(const char *path)
{
	struct stat link;

	return lstat(path, &link) == 0 && S_ISLNK(link.st_mode) ? realpath(path, NULL) : strdup(path);
}

static void report_step(const struct pd_outfile *file, enum pd_unfinished step)
{
	if (file->options.unfinished)
		file->options.unfinished(file->options.self, step, file->temporary);
}

static int open_temporary(struct pd_outfile *file, const struct stat *status)
{
	mode_t mask = umask(0);
	mode_t mode = status ? status->st_mode & 0777 : 0666 & ~mask;
	int fd;

	umask(mask);
	file->target = status ? where_it_leads(file->path) : strdup(file->path);
	if (!file->target || asprintf(&file->temporary, "%s.XXXXXX", file->target) < 0) {
		file->temporary = NULL;
		return -1;
	}
	report_step(file, PD_UNFINISHED_STARTS);
	fd = mkostemp(file->temporary, O_CLOEXEC);
	report_step(file, fd >= 0 ? PD_UNFINISHED_EXISTS : PD_UNFINISHED_FAILED);
	if (fd >= 0)
		fchmod(fd, mode);
	return fd;
}

static void free_file(struct pd_outfile *file)
{
	free(file->temporary);
	free(file->target);
	pd_free(file);
}

static enum pd_status open_path(struct pd_outfile *file, struct pd_error *error)
{
	struct stat status;
	bool there = stat(file->path, &status) == 0;

	if (there && S_ISREG(status.st_mode) && is_recording(file->path))
		return refuse_recording(file->path, error);
	if (there && is_input(&status, file->options.input))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s: refusing to overwrite the input file",
			       file->path);
	file->fd = there && !S_ISREG(status.st_mode) ? open(file->path, O_WRONLY | O_CLOEXEC) :
						       open_temporary(file, there ? &status : NULL);
	return file->fd >= 0 ? PD_OK : pd_fail_system(error, errno, "%s", file->path);
}

enum pd_status pd_outfile_open(const char *path, const struct pd_outfile_options *options, struct pd_outfile **file_out,
			       struct pd_error *error)
{
	struct pd_outfile *file = pd_alloc(sizeof(*file));
	enum pd_status status;

	if (!file)
		return pd_fail_memory(error);
	*file = (struct pd_outfile){ .path = path };
	if (options)
		memcpy(&file->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	status = open_path(file, error);
	if (status < 0)
		free_file(file);
	else
		*file_out = file;
	return status;
}

int pd_outfile_fd(const struct pd_outfile *file)
{
	return file->fd;
}

const char *pd_outfile_temporary(const struct pd_outfile *file)
{
	return file->temporary ? file->temporary : file->path;
}

// ---- the end ----

static enum pd_status rename_file(const struct pd_outfile *file, struct pd_error *error)
{
	if (!file->temporary)
		return PD_OK;
	if (is_recording(file->path))
		return refuse_recording(file->path, error);
	return rename(file->temporary, file->target) == 0 ? PD_OK : pd_fail_system(error, errno, "%s", file->path);
}

enum pd_status pd_outfile_finish(struct pd_outfile *file, struct pd_error *error)
{
	enum pd_status status = close(file->fd) == 0 ? PD_OK : pd_fail_system(error, errno, "%s", file->path);

	if (status >= 0)
		status = rename_file(file, error);
	if (status < 0 && file->temporary)
		unlink(file->temporary);
	if (file->temporary)
		report_step(file, PD_UNFINISHED_DONE);
	free_file(file);
	return status;
}

void pd_outfile_abort(struct pd_outfile *file)
{
	if (!file)
		return;
	close(file->fd);
	if (file->temporary) {
		unlink(file->temporary);
		report_step(file, PD_UNFINISHED_DONE);
	}
	free_file(file);
}

bool pd_is_same_file(const char *path, int fd)
{
	struct stat one, other;

	return (strcmp(path, "-") != 0 ? stat(path, &one) : fstat(STDOUT_FILENO, &one)) == 0 &&
	       fstat(fd, &other) == 0 && S_ISREG(one.st_mode) && one.st_dev == other.st_dev &&
	       one.st_ino == other.st_ino;
}
