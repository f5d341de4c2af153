/* SPDX-License-Identifier: MIT */
/* Records of the file as they are, for the inspector, and samples as text. */
#include <perfdata/print.h>
#include <perfdata/samples.h>

#include "base/error.h"
#include "base/text/text.h"
#include "view/view.h"

enum {
	RECORDS_MOST = 1000,
	RECORDS_USUAL = 100,
	BODY_MOST = 16 << 20 // bytes; then what follows is left for another request
};

// ---- records ----

static void close_records(struct pd_viewer *view)
{
	pd_stream_close(view->stream);
	view->stream = NULL;
	view->next_record = 0;
}

// A stream that has not passed the record yet.
static enum pd_status open_before(struct pd_viewer *view, uint64_t from, struct pd_error *error)
{
	if (view->stream && view->next_record <= from)
		return PD_OK;
	close_records(view);
	return pd_stream_open(view->file, NULL, &view->stream, error);
}

static enum pd_status put_wanted(struct pd_viewer_request *request, uint64_t from, uint64_t count, bool *at_end_out)
{
	struct pd_viewer *view = request->view;
	const struct pd_record *record;
	uint64_t put = 0;
	enum pd_status status;

	while ((status = pd_stream_next(view->stream, &record, &request->error)) == PD_OK) {
		view->next_record = record->place + 1;
		if (record->place < from)
			continue;
		if (put++)
			pd_text_char(view->body, ',');
		pd_json_record_bytes(view->body, view->stream, record);
		if (put == count || view->body->size > BODY_MOST)
			return PD_OK;
	}
	close_records(view);
	*at_end_out = status == PD_END;
	return status == PD_END ? PD_OK : status;
}

enum pd_status pd_viewer_put_records(struct pd_viewer_request *request)
{
	struct pd_text *body = request->view->body;
	uint64_t from, count;
	bool at_end = false;
	enum pd_status status = pd_viewer_number(request, "from", 0, &from);

	if (status >= 0)
		status = pd_viewer_number(request, "count", RECORDS_USUAL, &count);
	if (status >= 0 && (!count || count > RECORDS_MOST))
		status = pd_fail(&request->error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "count is from 1 to %d",
				 RECORDS_MOST);
	if (status >= 0)
		status = open_before(request->view, from, &request->error);
	if (status < 0)
		return status;
	PD_TEXT_LITERAL(body, "{\"records\":[");
	status = put_wanted(request, from, count, &at_end);
	pd_text_printf(body, "],\"end\":%s}", at_end ? "true" : "false");
	// what comes through a pipe can have one stream at a time
	if (pd_file_header(request->view->file)->mode != PD_MODE_FILE)
		close_records(request->view);
	return status;
}

// ---- samples as text ----

struct script {
	struct pd_viewer_request *request;
	uint64_t left;
};

// On one thread: the first ones by time are wanted.
static bool choose_sample(const void *self, const struct pd_samples_candidate *candidate)
{
	struct script *script = *(struct script *const *)self;
	const struct pd_candidate sample = { candidate->record, candidate->event, candidate->brief, candidate->comm };

	if (!script->left || pd_viewer_choose(script->request, &sample) != PD_CHOICE_TAKE)
		return false;
	script->left--;
	return true;
}

static enum pd_status make_ready(void *self, struct pd_window *window, struct pd_error *error)
{
	return pd_viewer_ready((*(struct script **)self)->request, window, error);
}

static enum pd_status open_symbols(void *self, struct pd_file *file, const struct pd_state *state,
				   struct pd_symbols **symbols_out, struct pd_error *error)
{
	struct script *script = *(struct script **)self;

	(void)file;
	*symbols_out = pd_viewer_symbols(script->request, state);
	if (!*symbols_out && error)
		*error = script->request->error;
	return *symbols_out ? PD_OK : script->request->error.status;
}

enum pd_status pd_viewer_put_script(struct pd_viewer_request *request)
{
	struct script script = { .request = request };
	struct script *self = &script;
	const struct pd_samples_options options = {
		.size = sizeof(options),
		.threads = 1,
		.max_stack = PD_SAMPLES_STACK,
		.choose = choose_sample,
		.ready = make_ready,
		.symbols = open_symbols,
		.self = &self,
		.no_unwind = request->view->options.no_unwind,
	};
	struct pd_samples *samples = NULL;
	enum pd_status status = pd_viewer_number(request, "count", RECORDS_USUAL, &script.left);

	if (status >= 0 && (!script.left || script.left > RECORDS_MOST))
		status = pd_fail(&request->error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "count is from 1 to %d",
				 RECORDS_MOST);
	if (status >= 0)
		status = pd_viewer_select(request);
	if (status >= 0)
		status = pd_samples_new(&options, request->view->body, &samples, &request->error);
	if (status >= 0)
		status = pd_samples_run(samples, request->view->file, &request->error);
	pd_samples_free(samples);
	return status;
}
