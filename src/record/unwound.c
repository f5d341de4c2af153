/* SPDX-License-Identifier: MIT */
/* A recording whose stacks are unwound while it is made, so that they never reach the disk. */
#include <perfdata/inject.h>
#include <perfdata/recorder.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "record/inside.h"
#include "unwind/unwinder.h"

struct unwound {
	struct pd_unwound_options options;
	struct pd_file *file;
	struct pd_symbols *symbols;
	struct pd_inject *inject;
	struct pd_writer *writer;
};

static struct pd_symbols *open_symbols(void *self, const struct pd_state *state)
{
	struct unwound *unwound = self;

	unwound->symbols = unwound->options.symbols(unwound->options.self, unwound->file, state);
	return unwound->symbols;
}

// As the recorder does it: what is there already is kept as FILE.old.
static enum pd_status keep_old(const char *path, struct pd_error *error)
{
	enum pd_status status = PD_OK;
	char *old;

	if (!path)
		return PD_OK;
	if (asprintf(&old, "%s.old", path) < 0)
		return pd_fail_memory(error);
	if (rename(path, old) < 0 && errno != ENOENT)
		status = pd_fail_system(error, errno, "%s", path);
	free(old);
	return status;
}

static enum pd_status open_writer(struct unwound *unwound, struct pd_error *error)
{
	const struct pd_writer_place place = { .size = sizeof(place),
					       .path = unwound->options.path,
					       .fd = unwound->options.fd,
					       .name = "standard output" };

	return pd_writer_open_at(&place, &unwound->options.output, &unwound->writer, error);
}

static enum pd_status record_all(struct unwound *unwound, struct pd_recorder *recorder, struct pd_error *error)
{
	const struct pd_inject_options how = {
		.size = sizeof(how),
		.build_ids = unwound->options.no_build_ids ? PD_INJECT_NO_BUILD_IDS : PD_INJECT_LIST_ALL,
		.unwind = true,
		.once = true,
		.symbols = unwound->options.symbols ? open_symbols : NULL,
		.self = unwound,
	};
	enum pd_status status = pd_recorder_open_file(recorder, NULL, &unwound->file, error);

	if (status == PD_OK)
		status = pd_inject_new(unwound->file, &how, &unwound->inject, error);
	if (status == PD_OK)
		status = open_writer(unwound, error);
	if (status == PD_OK)
		status = pd_inject_write(unwound->inject, unwound->writer, NULL, error);
	if (status >= 0)
		return pd_writer_finish(unwound->writer, error);
	pd_writer_abort(unwound->writer);
	return status;
}

// What was written is known by its file.
static void count_written(const struct unwound *unwound, struct pd_recorder *recorder, struct pd_recorded *recorded)
{
	struct stat written;

	pd_recorder_state(recorder, recorded);
	recorded->files = 1;
	if (unwound->options.path && stat(unwound->options.path, &written) == 0)
		recorded->bytes = (uint64_t)written.st_size;
}

static void report_incomplete(const struct unwound *unwound)
{
	const struct pd_unwinder *unwinder = pd_inject_unwinder(unwound->inject);
	struct pd_text *text = unwound->options.incomplete;

	if (pd_unwinder_is_complete(unwinder))
		return;
	pd_text_printf(text, "%s: ", unwound->options.path ? unwound->options.path : "standard output");
	pd_print_unwinding(unwinder, text);
}

enum pd_status pd_recorder_run_unwound(struct pd_recorder *recorder, const struct pd_unwound_options *options,
				       struct pd_recorded *recorded_out, struct pd_error *error)
{
	struct unwound unwound = { 0 };
	enum pd_status status;

	if (!options || !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_unwound_options.size is 0");
	memcpy(&unwound.options, options,
	       options->size < sizeof(unwound.options) ? options->size : sizeof(unwound.options));
	status = keep_old(options->path, error);
	if (status < 0)
		return status;
	// objects that are met for the first time take longer than a ring lasts
	recorder->has_drainer = true;
	status = record_all(&unwound, recorder, error);
	pd_recorder_end_drainer(recorder);
	if (status >= 0 && options->path)
		pd_session_feed(recorder, options->path);
	pd_session_end_feed(recorder);
	if (status >= 0)
		count_written(&unwound, recorder, recorded_out);
	if (status >= 0 && unwound.options.incomplete && pd_inject_unwinder(unwound.inject))
		report_incomplete(&unwound);
	pd_inject_free(unwound.inject);
	pd_symbols_free(unwound.symbols);
	pd_file_close(unwound.file);
	return status;
}
