/* SPDX-License-Identifier: MIT */
/* A folder with files: made under a temporary name, and renamed. */
#include <perfdata/outfile.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/write_all.h"

struct folder_file {
	struct pd_outfolder *folder;
	struct pd_text *text;
	int fd;
};

struct pd_outfolder {
	struct pd_outfile_options options;
	const char *path;
	char *temporary;
	struct folder_file **files;
	size_t count;
	struct pd_error failure; // the first
};

// ---- the folder ----

bool pd_outfolder_is_free(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	struct stat status;
	bool empty = true;

	// a link that leads nowhere is something
	if (!dir && errno == ENOENT && lstat(path, &status) == 0)
		errno = EEXIST;
	if (!dir)
		return errno == ENOENT;
	while (empty && (entry = readdir(dir)) != NULL)
		empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	closedir(dir);
	errno = ENOTEMPTY;
	return empty;
}

static enum pd_status cannot_create(const struct pd_outfolder *folder, int number, struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s: cannot create: %s", folder->path, strerror(number));
}

static void report_step(const struct pd_outfolder *folder, enum pd_unfinished step)
{
	if (folder->options.unfinished)
		folder->options.unfinished(folder->options.self, step, folder->temporary);
}

static bool make_temporary(struct pd_outfolder *folder)
{
	size_t length = strlen(folder->path);
	mode_t mask = umask(0);
	bool made;

	umask(mask);
	while (length > 1 && folder->path[length - 1] == '/')
		length--;
	if (asprintf(&folder->temporary, "%.*s.XXXXXX", (int)length, folder->path) < 0) {
		folder->temporary = NULL;
		errno = ENOMEM;
		return false;
	}
	report_step(folder, PD_UNFINISHED_STARTS);
	made = mkdtemp(folder->temporary) != NULL;
	report_step(folder, made ? PD_UNFINISHED_EXISTS : PD_UNFINISHED_FAILED);
	if (made)
		chmod(folder->temporary, 0777 & ~mask);
	return made;
}

static void free_folder(struct pd_outfolder *folder)
{
	for (size_t i = 0; i < folder->count; i++) {
		if (folder->files[i]->fd >= 0)
			close(folder->files[i]->fd);
		pd_text_free(folder->files[i]->text);
		pd_free(folder->files[i]);
	}
	pd_free(folder->files);
	free(folder->temporary);
	pd_free(folder);
}

enum pd_status pd_outfolder_open(const char *path, const struct pd_outfile_options *options,
				 struct pd_outfolder **folder_out, struct pd_error *error)
{
	struct pd_outfolder *folder = pd_alloc(sizeof(*folder));

	if (!folder)
		return pd_fail_memory(error);
	*folder = (struct pd_outfolder){ .path = path };
	if (options)
		memcpy(&folder->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	if (pd_outfolder_is_free(path) && make_temporary(folder)) {
		*folder_out = folder;
		return PD_OK;
	}
	cannot_create(folder, errno, error);
	free_folder(folder);
	return PD_ERROR_OUTPUT;
}

// ---- files ----

static enum pd_status write_text(struct folder_file *file, struct pd_error *error)
{
	struct pd_bytes bytes = pd_text_bytes(file->text);
	const char *path = file->folder->path;

	if (pd_text_failed(file->text))
		return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s: %s", path, strerror(ENOMEM));
	if (!pd_write_all(file->fd, bytes.data, bytes.size))
		return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s: %s", path, strerror(errno));
	pd_text_clear(file->text);
	return PD_OK;
}

static bool write_large(void *self, struct pd_text *text)
{
	struct folder_file *file = self;
	struct pd_outfolder *folder = file->folder;

	(void)text;
	return folder->failure.status >= 0 && write_text(file, &folder->failure) >= 0;
}

// -1 with errno.
static int create_file(const struct pd_outfolder *folder, const char *name)
{
	char *path;
	int fd;

	if (asprintf(&path, "%s/%s", folder->temporary, name) < 0) {
		errno = ENOMEM;
		return -1;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	free(path);
	return fd;
}

static bool add_file(struct pd_outfolder *folder, const char *name)
{
	struct folder_file **files = pd_realloc(folder->files, (folder->count + 1) * sizeof(struct folder_file *));
	struct folder_file *file = files ? pd_alloc(sizeof(*file)) : NULL;

	if (files)
		folder->files = files;
	errno = ENOMEM;
	if (!file)
		return false;
	// from here on it is freed with the folder
	files[folder->count++] = file;
	*file = (struct folder_file){ .folder = folder, .text = pd_text_new(), .fd = -1 };
	if (!file->text)
		return false;
	pd_text_set_sink(file->text, write_large, file);
	file->fd = create_file(folder, name);
	return file->fd >= 0;
}

struct pd_text *pd_outfolder_file(struct pd_outfolder *folder, const char *name)
{
	if (folder->failure.status < 0)
		return NULL;
	if (add_file(folder, name))
		return folder->files[folder->count - 1]->text;
	cannot_create(folder, errno, &folder->failure);
	return NULL;
}

// ---- the end ----

enum pd_status pd_outfolder_finish(struct pd_outfolder *folder, struct pd_error *error)
{
	enum pd_status status = folder->failure.status;

	if (status < 0 && error)
		*error = folder->failure;
	for (size_t i = 0; i < folder->count && status >= 0; i++)
		status = write_text(folder->files[i], error);
	if (status >= 0 && rename(folder->temporary, folder->path) != 0)
		status = cannot_create(folder, errno, error);
	if (status < 0)
		pd_remove_tree(folder->temporary);
	report_step(folder, PD_UNFINISHED_DONE);
	free_folder(folder);
	return status;
}

void pd_outfolder_abort(struct pd_outfolder *folder)
{
	if (!folder)
		return;
	pd_remove_tree(folder->temporary);
	report_step(folder, PD_UNFINISHED_DONE);
	free_folder(folder);
}
