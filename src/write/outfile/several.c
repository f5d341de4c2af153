/* SPDX-License-Identifier: MIT */
/* Paths of several files, none of which is there yet, and the folder that they are in. */
#include <perfdata/outfile.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

struct pd_outfiles {
	struct pd_outfile_options options;
	const char *output;
	char **paths;
	size_t count;
	bool has_made; // the folder
};

enum pd_status pd_outfiles_new(const char *output, const struct pd_outfile_options *options,
			       struct pd_outfiles **files_out, struct pd_error *error)
{
	struct pd_outfiles *files = pd_alloc(sizeof(*files));

	if (!files)
		return pd_fail_memory(error);
	*files = (struct pd_outfiles){ .output = output };
	if (options)
		memcpy(&files->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	*files_out = files;
	return PD_OK;
}

void pd_outfiles_free(struct pd_outfiles *files)
{
	if (!files)
		return;
	for (size_t i = 0; i < files->count; i++)
		pd_free(files->paths[i]);
	pd_free(files->paths);
	pd_free(files);
}

// ---- paths ----

static char *path_of(const char *output, const char *name)
{
	const char *mark = strstr(output, "%s");
	size_t front = mark ? (size_t)(mark - output) : strlen(output);
	size_t size = strlen(output) + strlen(name) + sizeof("/.data");
	char *path = pd_alloc(size);

	if (path)
		snprintf(path, size, "%.*s%s%s%s", (int)front, output,
			 mark || (front && output[front - 1] == '/') ? "" : "/", name, mark ? mark + 2 : ".data");
	return path;
}

enum pd_status pd_outfiles_add(struct pd_outfiles *files, const char *name, struct pd_error *error)
{
	char **paths = pd_realloc(files->paths, (files->count + 1) * sizeof(char *));

	if (!paths)
		return pd_fail_memory(error);
	files->paths = paths;
	paths[files->count] = path_of(files->output, name);
	if (!paths[files->count])
		return pd_fail_memory(error);
	files->count++;
	return PD_OK;
}

const char *pd_outfiles_at(const struct pd_outfiles *files, size_t index)
{
	return index < files->count ? files->paths[index] : NULL;
}

// ---- the folder ----

static void report_step(const struct pd_outfiles *files, enum pd_unfinished step)
{
	if (files->options.unfinished)
		files->options.unfinished(files->options.self, step, files->output);
}

static enum pd_status make_folder(struct pd_outfiles *files, struct pd_error *error)
{
	struct stat status;
	int number;

	if (strstr(files->output, "%s") || stat(files->output, &status) == 0)
		return PD_OK;
	report_step(files, PD_UNFINISHED_STARTS);
	files->has_made = mkdir(files->output, 0777) == 0;
	number = errno;
	report_step(files, files->has_made ? PD_UNFINISHED_FOLDER : PD_UNFINISHED_FAILED);
	if (files->has_made)
		return PD_OK;
	return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s: cannot create: %s", files->output, strerror(number));
}

enum pd_status pd_outfiles_begin(struct pd_outfiles *files, struct pd_error *error)
{
	struct stat status;

	for (size_t i = 0; i < files->count; i++) {
		if (lstat(files->paths[i], &status) == 0)
			return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "%s: already exists; nothing is written",
				       files->paths[i]);
	}
	return make_folder(files, error);
}

void pd_outfiles_end(struct pd_outfiles *files, bool done)
{
	if (!files->has_made)
		return;
	report_step(files, PD_UNFINISHED_DONE);
	if (!done)
		rmdir(files->output);
	files->has_made = false;
}
