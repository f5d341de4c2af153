/* SPDX-License-Identifier: MIT */
/* Sums of a selection: rows of a report, and the code of a function. */
#include <perfdata/annotate.h>
#include <perfdata/report.h>
#include <perfdata/samples.h>
#include <perfdata/summary.h>

#include "base/error.h"
#include "view/view.h"

static struct pd_symbols *symbols_of(void *self, const struct pd_state *state)
{
	return pd_viewer_symbols(self, state);
}

// Reads and names; `how` says by what.
static enum pd_status read_profile(struct pd_viewer_request *request, struct pd_profile_options *how,
				   struct pd_profile **profile_out)
{
	enum pd_status status;

	how->size = sizeof(*how);
	how->threads = request->view->options.threads;
	how->choose = pd_viewer_choose;
	how->ready = pd_viewer_ready;
	how->symbols = symbols_of;
	how->self = request;
	how->no_unwind = request->view->options.no_unwind;
	status = pd_profile_read(request->view->file, how, profile_out, &request->error);
	if (status < 0)
		return status;
	if (!pd_profile_entry_count(*profile_out))
		return pd_fail(&request->error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "no samples match");
	if (!pd_viewer_symbols(request, pd_profile_state(*profile_out)))
		return request->error.status;
	return pd_profile_name(*profile_out, request->symbols, &request->error);
}

enum {
	ROWS_USUAL = 1000 // each address without a function is one
};

// The rows of a report are put as JSON or as text.
typedef enum pd_status put_fn(struct pd_report *report, struct pd_text *text, struct pd_error *error);

static enum pd_status put_report(struct pd_viewer_request *request, put_fn *put)
{
	struct pd_report_options options = { .size = sizeof(options),
					     .sort = pd_viewer_parameter(request, "sort"),
					     .max_stack = PD_SAMPLES_STACK };
	struct pd_profile_options how = { 0 };
	struct pd_report *report = NULL;
	struct pd_profile *profile = NULL;
	uint64_t rows;
	enum pd_status status = pd_viewer_number(request, "rows", ROWS_USUAL, &rows);

	if (status >= 0)
		status = pd_viewer_select(request);
	if (status >= 0) {
		pd_report_select(&options, request->selection.select);
		status = pd_report_new(request->view->file, &options, &report, &request->error);
	}
	if (status >= 0) {
		pd_report_ask(report, &how);
		status = read_profile(request, &how, &profile);
	}
	if (status >= 0)
		status = pd_report_build(report, request->view->file, profile, request->symbols, &request->error);
	if (status >= 0 && rows)
		pd_report_narrow(report, "", rows);
	if (status >= 0)
		status = put(report, request->view->body, &request->error);
	pd_report_free(report);
	pd_profile_free(profile);
	return status;
}

enum pd_status pd_viewer_put_report(struct pd_viewer_request *request)
{
	return put_report(request, pd_report_json);
}

static enum pd_status put_text(struct pd_report *report, struct pd_text *text, struct pd_error *error)
{
	return pd_report_text(report, NULL, text, error);
}

enum pd_status pd_viewer_put_report_text(struct pd_viewer_request *request)
{
	return put_report(request, put_text);
}

enum pd_status pd_viewer_put_info(struct pd_viewer_request *request)
{
	const struct pd_viewer *view = request->view;
	const struct pd_summary_options options = { .size = sizeof(options) };
	struct pd_summary *summary;
	enum pd_status status = pd_summary_read(view->file, &options, &summary, &request->error);

	// what was read up to an error is shown
	if (summary)
		pd_print_summary(view->body, summary, view->options.name ? view->options.name : "perf.data");
	pd_summary_free(summary);
	return summary ? PD_OK : status;
}

// Functions of one object, by its short name or path.
static bool has_place(const void *self, const struct pd_place *place)
{
	return pd_select_has_place(((const struct pd_viewer_request *)self)->selection.select, place);
}

enum pd_status pd_viewer_put_annotate(struct pd_viewer_request *request)
{
	struct pd_annotate_options options = { .size = sizeof(options),
					       .symbol = pd_viewer_parameter(request, "symbol"),
					       .filter = request };
	const char *object = pd_viewer_parameter(request, "object");
	struct pd_profile_options how = { 0 };
	struct pd_annotate *annotate = NULL;
	struct pd_profile *profile = NULL;
	enum pd_status status;

	if (!options.symbol)
		return pd_fail(&request->error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "symbol is missing");
	status = pd_viewer_select(request);
	options.has_place = object || (status >= 0 && pd_select_by_place(request->selection.select)) ? has_place : NULL;
	if (status >= 0)
		status = pd_annotate_new(&options, &annotate, &request->error);
	if (status >= 0) {
		pd_annotate_ask(annotate, &how);
		status = read_profile(request, &how, &profile);
	}
	if (status >= 0)
		status = pd_annotate_build(annotate, request->view->file, profile, request->symbols, &request->error);
	if (status >= 0)
		status = pd_annotate_json(annotate, request->view->body, &request->error);
	pd_annotate_free(annotate);
	pd_profile_free(profile);
	return status;
}
