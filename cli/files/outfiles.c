/* SPDX-License-Identifier: MIT */
#include "files/outfiles.h"

#include "front/cli.h"
#include "files/unfinished.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *path_of(const char *output, const char *name)
{
	const char *mark = strstr(output, "%s");
	size_t front = mark ? (size_t)(mark - output) : strlen(output);
	size_t size = strlen(output) + strlen(name) + sizeof("/.data");
	char *path = malloc(size);

	if (path)
		snprintf(path, size, "%.*s%s%s%s", (int)front, output,
			 mark || (front && output[front - 1] == '/') ? "" : "/", name, mark ? mark + 2 : ".data");
	return path;
}

bool outfiles_add(struct outfiles *files, const char *name)
{
	char **paths = realloc(files->paths, (files->count + 1) * sizeof(*paths));

	if (paths) {
		files->paths = paths;
		paths[files->count] = path_of(files->output, name);
		if (paths[files->count]) {
			files->count++;
			return true;
		}
	}
	return print_error("out of memory");
}

static int create_directory(struct outfiles *files)
{
	struct stat status;

	if (strstr(files->output, "%s") || stat(files->output, &status) == 0)
		return CODE_OK;
	unfinished_begin();
	files->made_directory = mkdir(files->output, 0777) == 0;
	if (files->made_directory)
		files->directory = unfinished_add(files->output, UNFINISHED_IF_EMPTY);
	unfinished_end();
	if (files->made_directory)
		return CODE_OK;
	return print_failure(CODE_OUTPUT, "%s: cannot create: %s", files->output, strerror(errno));
}

int outfiles_begin(struct outfiles *files)
{
	struct stat status;

	for (size_t i = 0; i < files->count; i++) {
		if (lstat(files->paths[i], &status) == 0)
			return print_failure(CODE_OUTPUT, "%s: already exists; nothing is written", files->paths[i]);
	}
	return create_directory(files);
}

void outfiles_end(struct outfiles *files, int code)
{
	unfinished_done(files->directory);
	files->directory = NULL;
	if (files->made_directory && code != CODE_OK)
		rmdir(files->output);
}

void outfiles_free(struct outfiles *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->paths[i]);
	free(files->paths);
}
