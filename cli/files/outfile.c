/* SPDX-License-Identifier: MIT */
/*
 * Writes a temporary file and renames it.
 */
#include "files/outfile.h"

#include "front/cli.h"
#include "files/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether path begins as perf.data files do, in either byte order. */
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

/* The file that a link leads to: what takes its name must not take that of the link. */
static char *where_it_leads(const char *path)
{
	struct stat link;

	return lstat(path, &link) == 0 && S_ISLNK(link.st_mode) ? realpath(path, NULL) : strdup(path);
}

static int open_temporary(struct outfile *file, const struct stat *status)
{
	mode_t mask = umask(0);
	mode_t mode = status ? status->st_mode & 0777 : 0666 & ~mask;
	int fd = -1;

	umask(mask);
	file->target = status ? where_it_leads(file->path) : strdup(file->path);
	if (!file->target || asprintf(&file->temporary, "%s.XXXXXX", file->target) < 0) {
		file->temporary = NULL;
		return -1;
	}
	unfinished_begin();
	fd = mkostemp(file->temporary, O_CLOEXEC);
	if (fd >= 0)
		file->unfinished = unfinished_add(file->temporary, UNFINISHED_TREE);
	unfinished_end();
	if (fd >= 0)
		fchmod(fd, mode);
	return fd;
}

/* The temporary file is renamed, or removed. */
static int rename_or_remove(struct outfile *file, bool wanted)
{
	int failure = 0;

	if (wanted && is_recording(file->path)) {
		failure = EEXIST;
		print_error("%s: refusing to overwrite a perf.data file", file->path);
	} else if (wanted && rename(file->temporary, file->target) < 0) {
		failure = errno;
		print_error("%s: %s", file->path, strerror(failure));
	}
	if (!wanted || failure)
		unlink(file->temporary);
	unfinished_done(file->unfinished);
	free(file->temporary);
	free(file->target);
	return failure;
}

int outfile_open(struct outfile *file, const char *path, struct output *standard, const char *input)
{
	struct stat status;
	bool there;
	int fd;

	memset(file, 0, sizeof(*file));
	file->out = standard;
	if (!path || !strcmp(path, "-"))
		return CODE_OK;
	file->path = path;
	file->out = &file->own;
	there = stat(path, &status) == 0;
	if (there && S_ISREG(status.st_mode) && is_recording(path))
		return print_failure(CODE_USAGE, "%s: refusing to overwrite a perf.data file", path);
	if (there && is_input(&status, input))
		return print_failure(CODE_USAGE, "%s: refusing to overwrite the input file", path);
	fd = there && !S_ISREG(status.st_mode) ? open(path, O_WRONLY | O_CLOEXEC) :
						 open_temporary(file, there ? &status : NULL);
	if (fd < 0 || !output_init(&file->own, fd)) {
		print_error("%s: %s", path, fd < 0 ? strerror(errno) : "out of memory");
		if (fd >= 0) {
			close(fd);
			if (file->temporary)
				unlink(file->temporary);
		}
		unfinished_done(file->unfinished);
		free(file->temporary);
		free(file->target);
		return CODE_OUTPUT;
	}
	file->own.progress = standard->progress;
	file->own.name = path;
	return CODE_OK;
}

int outfile_close(struct outfile *file, int code)
{
	bool wanted = code == CODE_OK || code == CODE_DAMAGED;
	int failure;

	if (!file->path)
		return code;
	if (wanted)
		output_finish(&file->own);
	failure = file->own.failure;
	if (close(file->own.fd) < 0 && !failure) {
		failure = errno;
		print_error("%s: %s", file->path, strerror(failure));
	}
	output_fini(&file->own);
	if (file->temporary) {
		int unsettled = rename_or_remove(file, wanted && !failure);

		failure = failure ? failure : unsettled;
	}
	return wanted && failure ? CODE_OUTPUT : code;
}
