/* SPDX-License-Identifier: MIT */
/* The inside of a view: its recording, and what requests ask of it. */
#ifndef PD_VIEW_VIEW_H
#define PD_VIEW_VIEW_H

#include <perfdata/stream.h>
#include <perfdata/viewer.h>

struct pd_viewer {
	struct pd_viewer_options options;
	struct pd_select_options wanted; // those of the options, or none
	struct pd_file *file;
	struct pd_text *data; // of the page
	struct pd_text *body; // of the last answer
	uint64_t samples_read;
	struct pd_stream *stream; // of the last records, so that the next ones need no new beginning; or NULL
	uint64_t next_record;     // that it gives
};

struct pd_export;

// What a request selects, on top of what the view shows. The strings are its own.
struct pd_viewer_selection {
	struct pd_select_options options;
	struct pd_select *select;
	char time[64];
	struct pd_text *where; // that the options have, or NULL
};

struct pd_viewer_request {
	struct pd_viewer *view;
	const struct pd_viewer_parameter *parameters;
	size_t count;
	struct pd_viewer_selection selection;
	struct pd_symbols *symbols; // opened for this request, or NULL
	struct pd_error error;
};

// ---- request.c ----

// The value of a parameter, or NULL.
const char *pd_viewer_parameter(const struct pd_viewer_request *request, const char *name);
// A number; other is the value of one that is not given. Errors: PD_ERROR_ARGUMENT.
enum pd_status pd_viewer_number(struct pd_viewer_request *request, const char *name, uint64_t other,
				uint64_t *value_out);
// Makes request->selection.select. Errors: those of pd_select_new; PD_ERROR_ARGUMENT.
enum pd_status pd_viewer_select(struct pd_viewer_request *request);
void pd_viewer_request_fini(struct pd_viewer_request *request);
// The symbols of a request, for a state; NULL and the reason in request->error if they cannot be had.
struct pd_symbols *pd_viewer_symbols(struct pd_viewer_request *request, const struct pd_state *state);

// For the options of others; self is the request.
enum pd_choice pd_viewer_choose(const void *self, const struct pd_candidate *candidate);
enum pd_status pd_viewer_ready(void *self, struct pd_window *window, struct pd_error *error);

// ---- answers: each adds to view->body ----

typedef enum pd_status pd_viewer_answer_fn(struct pd_viewer_request *request);
#define ENDPOINT(path, function, type, name) pd_viewer_answer_fn function;
#include "view/endpoints.def"

#endif
