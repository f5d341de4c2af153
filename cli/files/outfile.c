/* SPDX-License-Identifier: MIT */
#include "files/outfile.h"

#include "front/cli.h"
#include "files/unfinished.h"

#include <string.h>

int outfile_open(struct outfile *file, const char *path, struct output *standard, const char *input)
{
	const struct pd_outfile_options options = {
		.size = sizeof(options), .input = input, .unfinished = unfinished_note, .self = &file->unfinished
	};
	struct pd_error error;
	enum pd_status status;

	memset(file, 0, sizeof(*file));
	file->out = standard;
	if (!path || !strcmp(path, "-"))
		return CODE_OK;
	file->out = &file->own;
	status = pd_outfile_open(path, &options, &file->file, &error);
	if (status < 0)
		return print_failure(status == PD_ERROR_ARGUMENT ? CODE_USAGE : CODE_OUTPUT, "%s", error.message);
	if (!output_init(&file->own, pd_outfile_fd(file->file))) {
		pd_outfile_abort(file->file);
		return print_failure(CODE_OUTPUT, "%s: out of memory", path);
	}
	file->own.progress = standard->progress;
	file->own.name = path;
	return CODE_OK;
}

int outfile_close(struct outfile *file, int code)
{
	bool wanted = code_is_usable(code);
	struct pd_error error;
	int failure;

	if (!file->file)
		return code;
	if (wanted)
		output_finish(&file->own);
	failure = file->own.failure;
	output_fini(&file->own);
	if (!wanted || failure) {
		pd_outfile_abort(file->file);
		return wanted ? CODE_OUTPUT : code;
	}
	return pd_outfile_finish(file->file, &error) < 0 ? print_failure(CODE_OUTPUT, "%s", error.message) : code;
}
