/* SPDX-License-Identifier: MIT */
/* Parameters of a request: numbers, and which samples are meant. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text/text.h"
#include "view/view.h"

const char *pd_viewer_parameter(const struct pd_viewer_request *request, const char *name)
{
	for (size_t i = 0; i < request->count; i++)
		if (strcmp(request->parameters[i].name, name) == 0)
			return request->parameters[i].value;
	return NULL;
}

enum pd_status pd_viewer_number(struct pd_viewer_request *request, const char *name, uint64_t other,
				uint64_t *value_out)
{
	const char *value = pd_viewer_parameter(request, name);

	*value_out = other;
	if (!value || pd_number_parse(value, value_out))
		return PD_OK;
	return pd_fail(&request->error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s is no number", name);
}

// A range as the options of commands have it.
static enum pd_status select_time(struct pd_viewer_request *request)
{
	struct pd_viewer_selection *selection = &request->selection;
	uint64_t from_ns, to_ns;
	enum pd_status status = pd_viewer_number(request, "from_ns", 0, &from_ns);

	if (status >= 0)
		status = pd_viewer_number(request, "to_ns", UINT64_MAX, &to_ns);
	if (status < 0 || (!from_ns && to_ns == UINT64_MAX))
		return status;
	snprintf(selection->time, sizeof(selection->time), "%" PRIu64 ".%09u,%" PRIu64 ".%09u", from_ns / 1000000000,
		 (unsigned)(from_ns % 1000000000), to_ns / 1000000000, (unsigned)(to_ns % 1000000000));
	if (to_ns == UINT64_MAX)
		strchr(selection->time, ',')[1] = 0;
	selection->options.time = selection->time;
	return PD_OK;
}

// A list stands for the lines of a file if it is the name of one: a page has no business there.
static bool names_file(const char *list)
{
	return strstr(list, "file://") != NULL;
}

static enum pd_status refuse_cgroups(struct pd_viewer_request *request)
{
	return pd_fail(&request->error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "cgroup is no list of numbers and none");
}

// Numbers of cgroups, separated by commas: a part of a condition for each. "none" stands for samples without one.
static enum pd_status add_cgroups(struct pd_viewer_request *request, struct pd_text *where, const char *list)
{
	for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		const size_t length = strcspn(at, ",");
		char item[24];
		uint64_t number;

		if (length >= sizeof(item))
			return refuse_cgroups(request);
		memcpy(item, at, length);
		item[length] = 0;
		if (at != list)
			pd_text_add(where, " || ");
		if (strcmp(item, "none") == 0)
			pd_text_add(where, "!(cgroup >= 0)");
		else if (pd_number_parse(item, &number))
			pd_text_printf(where, "cgroup == %" PRIu64, number);
		else
			return refuse_cgroups(request);
	}
	return PD_OK;
}

// A condition on top of the one that the view has.
static enum pd_status select_cgroups(struct pd_viewer_request *request)
{
	struct pd_viewer_selection *selection = &request->selection;
	const char *list = pd_viewer_parameter(request, "cgroup"), *before = selection->options.where;
	struct pd_text *where;
	enum pd_status status;

	if (!list)
		return PD_OK;
	where = selection->where = pd_text_new();
	if (!where)
		return pd_fail_memory(&request->error);
	if (before)
		pd_text_printf(where, "(%s) && ", before);
	pd_text_char(where, '(');
	status = add_cgroups(request, where, list);
	pd_text_add(where, ")");
	pd_text_char(where, 0);
	selection->options.where = (const char *)pd_text_bytes(where).data;
	return status >= 0 && pd_text_failed(where) ? pd_fail_memory(&request->error) : status;
}

enum pd_status pd_viewer_select(struct pd_viewer_request *request)
{
	struct pd_select_options *options = &request->selection.options;
	const struct {
		const char *name;
		const char **option;
	} lists[] = {
		{ "event", &options->event }, { "comm", &options->comms }, { "pid", &options->pid },
		{ "tid", &options->tid },     { "cpu", &options->cpu },    { "object", &options->dsos },
	};

	*options = request->view->wanted;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const char *value = pd_viewer_parameter(request, lists[i].name);

		if (value && names_file(value))
			return pd_fail(&request->error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s is no list of names",
				       lists[i].name);
		if (value)
			*lists[i].option = value;
	}
	if (select_time(request) < 0 || select_cgroups(request) < 0)
		return request->error.status;
	return pd_select_new(options, &request->selection.select, &request->error);
}

void pd_viewer_request_fini(struct pd_viewer_request *request)
{
	pd_select_free(request->selection.select);
	pd_text_free(request->selection.where);
	pd_symbols_free(request->symbols);
}

struct pd_symbols *pd_viewer_symbols(struct pd_viewer_request *request, const struct pd_state *state)
{
	const struct pd_viewer_options *options = &request->view->options;

	if (request->symbols)
		return request->symbols;
	if (options->symbols) {
		request->symbols = options->symbols(options->self, request->view->file, state);
		if (!request->symbols)
			pd_fail(&request->error, PD_ERROR_STOPPED, PD_NO_OFFSET, "the symbols cannot be opened");
	} else if (pd_symbols_new(request->view->file, state, NULL, &request->symbols, &request->error) < 0) {
		request->symbols = NULL;
	}
	return request->symbols;
}

enum pd_choice pd_viewer_choose(const void *self, const struct pd_candidate *candidate)
{
	return pd_select_choose(((const struct pd_viewer_request *)self)->selection.select, candidate);
}

enum pd_status pd_viewer_ready(void *self, struct pd_window *window, struct pd_error *error)
{
	struct pd_viewer_request *request = self;

	return pd_select_ready(request->selection.select, request->view->file, window, error);
}
