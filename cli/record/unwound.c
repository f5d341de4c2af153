/* SPDX-License-Identifier: MIT */
#include "record/unwound.h"

#include "files/analysis.h"
#include "options/symbol_options.h"

#include <perfdata/inject.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unwound {
	struct pd_file *file;
	struct pd_symbols *symbols;
	struct pd_inject *inject;
	struct pd_writer *writer;
};

static struct pd_symbols *open_symbols(void *self, const struct pd_state *state)
{
	const struct symbol_options options = { 0 };
	struct unwound *unwound = self;

	unwound->symbols = symbols_open(&options, unwound->file, state, false);
	return unwound->symbols;
}

/* As the recorder does it: what is there already is kept as FILE.old. */
static bool keep_old(const char *path)
{
	size_t size = strlen(path) + sizeof(".old");
	char *old = malloc(size);
	bool done = false;

	if (old) {
		snprintf(old, size, "%s.old", path);
		done = rename(path, old) == 0 || errno == ENOENT;
	}
	free(old);
	return done || print_error("%s: %s", path, strerror(errno));
}

static enum pd_status open_writer(struct unwound *unwound, const struct pd_recorder_options *options,
				  struct pd_error *error)
{
	const struct pd_writer_place place = {
		.size = sizeof(place), .path = options->path, .fd = options->fd, .name = "standard output"
	};

	return pd_writer_open_at(&place, &options->output, &unwound->writer, error);
}

static enum pd_status record_all(struct unwound *unwound, struct pd_recorder *recorder,
				 const struct pd_recorder_options *options, struct pd_error *error)
{
	bool build_ids = options->session.build_ids != PD_BUILD_IDS_NONE;
	const struct pd_inject_options how = {
		.size = sizeof(how),
		.build_ids = build_ids ? PD_INJECT_LIST_ALL : PD_INJECT_NO_BUILD_IDS,
		.unwind = true,
		.once = true,
		.symbols = open_symbols,
		.self = unwound,
	};
	enum pd_status status = pd_recorder_open_file(recorder, NULL, &unwound->file, error);

	if (status == PD_OK)
		status = pd_inject_new(unwound->file, &how, &unwound->inject, error);
	if (status == PD_OK)
		status = open_writer(unwound, options, error);
	if (status == PD_OK)
		status = pd_inject_write(unwound->inject, unwound->writer, NULL, error);
	if (status < 0) {
		pd_writer_abort(unwound->writer);
		return status;
	}
	return pd_writer_finish(unwound->writer, error);
}

int record_unwound(struct pd_recorder *recorder, const struct pd_recorder_options *options, bool quiet)
{
	struct unwound unwound = { 0 };
	struct pd_error error;
	enum pd_status status;
	int code = CODE_OK;

	if (options->path && !keep_old(options->path))
		return CODE_OUTPUT;
	status = record_all(&unwound, recorder, options, &error);
	if (status < 0)
		code = print_failure(CODE_OUTPUT, "%s", error.message);
	else if (!quiet)
		unwinding_report(options->path ? options->path : "standard output", pd_inject_unwinder(unwound.inject));
	pd_inject_free(unwound.inject);
	pd_symbols_free(unwound.symbols);
	pd_file_close(unwound.file);
	return code;
}
