/* SPDX-License-Identifier: MIT */
/* The samples of a selection as a recording of their own, with all they need. */
#include <perfdata/extract.h>

#include "base/error.h"
#include "base/text/text.h"
#include "view/view.h"

static enum pd_status put_bytes(void *self, const void *data, size_t size, struct pd_error *error)
{
	struct pd_viewer *view = self;

	pd_text_put(view->body, data, size);
	return view->body->failed ? pd_fail_memory(error) : PD_OK;
}

static enum pd_status open_symbols(void *self, struct pd_file *file, const struct pd_state *state,
				   struct pd_symbols **symbols_out, struct pd_error *error)
{
	struct pd_viewer_request *request = self;

	(void)file;
	*symbols_out = pd_viewer_symbols(request, state);
	if (!*symbols_out && error)
		*error = request->error;
	return *symbols_out ? PD_OK : request->error.status;
}

static enum pd_status write_part(struct pd_viewer_request *request, struct pd_extract *extract)
{
	const struct pd_writer_options options = { .size = sizeof(options),
						   .mode = PD_MODE_PIPE,
						   .packing = PD_PACK_NONE };
	struct pd_extract_result result;
	struct pd_writer *writer;
	enum pd_status status =
		pd_writer_open_put(put_bytes, request->view, "part", &options, &writer, &request->error);

	if (status < 0)
		return status;
	status = pd_extract_write(extract, writer, &result, &request->error);
	if (status < 0) {
		pd_writer_abort(writer);
		return status;
	}
	return pd_writer_finish(writer, &request->error);
}

enum pd_status pd_viewer_put_cut(struct pd_viewer_request *request)
{
	struct pd_extract_options options = {
		.size = sizeof(options), .by = PD_EXTRACT_MATCHING, .symbols = open_symbols, .self = request
	};
	struct pd_extract *extract = NULL;
	enum pd_status status = pd_viewer_select(request);

	options.select = request->selection.select;
	if (status >= 0)
		status = pd_extract_new(request->view->file, &options, &extract, &request->error);
	if (status >= 0)
		status = write_part(request, extract);
	pd_extract_free(extract);
	return status;
}
