/* SPDX-License-Identifier: MIT */
/* The data of the page, made once when a recording is opened. */
#include <perfdata/export.h>

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "view/view.h"

static struct pd_symbols *symbols_of(void *self, const struct pd_state *state)
{
	return pd_viewer_symbols(self, state);
}

static bool show_progress(void *self, uint64_t done, uint64_t total)
{
	const struct pd_viewer_options *options = &((struct pd_viewer_request *)self)->view->options;

	return !options->progress || options->progress(options->self, done, total);
}

static bool has_place(const void *self, const struct pd_place *place)
{
	return pd_select_has_place(((const struct pd_viewer_request *)self)->selection.select, place);
}

static enum pd_status read_data(struct pd_viewer_request *request)
{
	struct pd_viewer *view = request->view;
	const struct pd_export_options options = {
		.size = sizeof(options),
		.format = "page",
		.name = view->options.name,
		.choose = pd_viewer_choose,
		.choose_place = pd_select_by_place(request->selection.select) ? has_place : NULL,
		.ready = pd_viewer_ready,
		.progress = show_progress,
		.symbols = symbols_of,
		.self = request,
		.no_unwind = view->options.no_unwind,
		.record_numbers = !view->options.alone,
	};
	struct pd_export *export_;
	enum pd_status status = pd_export_new(&options, view->data, &export_, &request->error);

	if (status < 0)
		return status;
	status = pd_export_run(export_, view->file, &request->error);
	view->samples_read = pd_export_result(export_).samples_read;
	pd_export_free(export_);
	return status;
}

static enum pd_status start(struct pd_viewer *view, struct pd_error *error)
{
	struct pd_viewer_request request = { .view = view };
	enum pd_status status;

	view->data = pd_text_new();
	view->body = pd_text_new();
	if (!view->data || !view->body)
		return pd_fail_memory(error);
	status = pd_viewer_select(&request);
	if (status >= 0 && !view->options.no_data)
		status = read_data(&request);
	pd_viewer_request_fini(&request);
	if (status < 0 && error)
		*error = request.error;
	return status;
}

enum pd_status pd_viewer_new(struct pd_file *file, const struct pd_viewer_options *options, struct pd_viewer **view_out,
			     struct pd_error *error)
{
	struct pd_viewer *view;
	enum pd_status status;

	*view_out = NULL;
	if (!options || !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "options have no size");
	view = pd_alloc(sizeof(*view));
	if (!view)
		return pd_fail_memory(error);
	memcpy(&view->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	view->file = file;
	if (view->options.select)
		view->wanted = *view->options.select;
	// as commands keep them, they may lack it
	view->wanted.size = sizeof(view->wanted);
	status = start(view, error);
	if (status >= 0 || status == PD_ERROR_NO_MATCH)
		*view_out = view;
	else
		pd_viewer_free(view);
	return status;
}

void pd_viewer_free(struct pd_viewer *view)
{
	if (!view)
		return;
	pd_stream_close(view->stream);
	pd_text_free(view->data);
	pd_text_free(view->body);
	pd_free(view);
}

struct pd_bytes pd_viewer_data(const struct pd_viewer *view)
{
	return pd_text_bytes(view->data);
}

uint64_t pd_viewer_samples_read(const struct pd_viewer *view)
{
	return view->samples_read;
}

enum pd_status pd_viewer_put_data(struct pd_viewer_request *request)
{
	if (request->view->options.no_data)
		return pd_fail(&request->error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "the view has no data");
	return PD_OK;
}

enum pd_status pd_viewer_put_page(struct pd_viewer_request *request)
{
	const struct pd_viewer *view = request->view;

	return pd_viewer_page(view->body, view->options.name ? view->options.name : "perf.data", NULL, 0,
			      &request->error);
}
