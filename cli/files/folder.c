/* SPDX-License-Identifier: MIT */
/* Makes a temporary folder and renames it. */
#include "files/folder.h"

#include "front/cli.h"
#include "files/unfinished.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct folder_file {
	struct output out;
	char *path;
};

static int fail(const struct folder *folder)
{
	return print_failure(CODE_OUTPUT, "%s: cannot create: %s", folder->path, strerror(errno));
}

/* All whose place rename() lets a folder take: nothing, or an empty folder. False with errno. */
static bool is_free(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	bool empty = true;

	if (!dir)
		return errno == ENOENT;
	while (empty && (entry = readdir(dir)) != NULL)
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	closedir(dir);
	errno = ENOTEMPTY;
	return empty;
}

int folder_open(struct folder *folder)
{
	size_t length = strlen(folder->path);
	mode_t mask = umask(0);

	umask(mask);
	if (!is_free(folder->path))
		return fail(folder);
	while (length > 1 && folder->path[length - 1] == '/')
		length--;
	if (asprintf(&folder->temporary, "%.*s.XXXXXX", (int)length, folder->path) < 0)
		folder->temporary = NULL;
	unfinished_begin();
	if (folder->temporary && !mkdtemp(folder->temporary)) {
		free(folder->temporary);
		folder->temporary = NULL;
	}
	if (folder->temporary)
		folder->unfinished = unfinished_add(folder->temporary, UNFINISHED_TREE);
	unfinished_end();
	if (!folder->temporary)
		return fail(folder);
	chmod(folder->temporary, 0777 & ~mask);
	return CODE_OK;
}

/* False with errno. */
static bool open_file(const struct folder *folder, const char *name, struct folder_file *file)
{
	int fd;

	if (asprintf(&file->path, "%s/%s", folder->temporary, name) < 0) {
		file->path = NULL;
		return false;
	}
	fd = open(file->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return false;
	file->out.name = folder->path;
	if (output_init(&file->out, fd))
		return true;
	close(fd);
	unlink(file->path);
	errno = ENOMEM;
	return false;
}

struct pd_text *folder_file(struct folder *folder, const char *name)
{
	struct folder_file **files = realloc(folder->files, (folder->count + 1) * sizeof(*files));
	struct folder_file *file = calloc(1, sizeof(*file));

	if (files)
		folder->files = files;
	if (files && file && open_file(folder, name, file)) {
		files[folder->count++] = file;
		return file->out.text;
	}
	fail(folder);
	folder->failed = true;
	if (file)
		free(file->path);
	free(file);
	return NULL;
}

static int write_rest(struct folder *folder, int code)
{
	for (size_t i = 0; i < folder->count && (code == CODE_OK || code == CODE_DAMAGED); i++) {
		int written = output_finish(&folder->files[i]->out);

		code = written == CODE_OK ? code : written;
	}
	return code;
}

static void close_files(struct folder *folder, bool wanted)
{
	for (size_t i = 0; i < folder->count; i++) {
		struct folder_file *file = folder->files[i];

		close(file->out.fd);
		output_fini(&file->out);
		if (!wanted)
			unlink(file->path);
		free(file->path);
		free(file);
	}
	free(folder->files);
}

int folder_close(struct folder *folder, int code)
{
	bool wanted;

	code = write_rest(folder, code == CODE_OK && folder->failed ? CODE_OUTPUT : code);
	wanted = code == CODE_OK || code == CODE_DAMAGED;
	unfinished_begin();
	close_files(folder, wanted);
	if (wanted && rename(folder->temporary, folder->path) != 0)
		code = fail(folder);
	else if (!wanted)
		rmdir(folder->temporary);
	unfinished_done(folder->unfinished);
	unfinished_end();
	free(folder->temporary);
	return code;
}
