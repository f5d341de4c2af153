/* SPDX-License-Identifier: MIT */
/* From a request to its answer: the path is looked up as a whole, no name is made of it. */
#include <perfdata/json.h>

#include <string.h>

#include "base/error.h"
#include "base/text/text.h"
#include "view/view.h"

static const struct endpoint {
	const char *path;
	pd_viewer_answer_fn *put;
	const char *type, *file_name;
} endpoints[] = {
#define ENDPOINT(path, function, type, file_name) { path, function, type, file_name },
#include "view/endpoints.def"
};

static const struct endpoint *find_endpoint(const char *path)
{
	for (size_t i = 0; i < sizeof(endpoints) / sizeof(endpoints[0]); i++)
		if (strcmp(endpoints[i].path, path) == 0)
			return &endpoints[i];
	return NULL;
}

static unsigned code_of(enum pd_status status)
{
	if (status == PD_ERROR_NO_MATCH)
		return 404;
	return status == PD_ERROR_ARGUMENT ? 400 : 500;
}

static void refuse(struct pd_viewer *view, unsigned code, const char *why, struct pd_viewer_answer *answer)
{
	struct pd_json json = { .text = view->body };

	pd_text_clear(view->body);
	pd_json_open(&json, NULL, '{');
	pd_json_string(&json, "error", why);
	pd_json_close(&json, '}');
	*answer = (struct pd_viewer_answer){ .code = code, .type = "application/json" };
}

enum pd_status pd_viewer_answer(struct pd_viewer *view, const char *path, const struct pd_viewer_parameter *parameters,
				size_t count, struct pd_viewer_answer *answer_out, struct pd_error *error)
{
	struct pd_viewer_request request = { .view = view, .parameters = parameters, .count = count };
	const struct endpoint *endpoint = find_endpoint(path);
	struct pd_viewer_answer answer = { .code = 200 };
	enum pd_status status = PD_OK;

	pd_text_clear(view->body);
	if (endpoint) {
		status = endpoint->put(&request);
		answer.type = endpoint->type;
		answer.file_name = endpoint->file_name;
	}
	pd_viewer_request_fini(&request);
	if (status == PD_ERROR_MEMORY || view->body->failed)
		return pd_fail_memory(error);
	if (!endpoint)
		refuse(view, 404, "there is no such thing", &answer);
	else if (status < 0)
		refuse(view, code_of(status), request.error.message, &answer);
	answer.body = endpoint && endpoint->put == pd_viewer_put_data && status >= 0 ? pd_text_bytes(view->data) :
										       pd_text_bytes(view->body);
	*answer_out = answer;
	return view->body->failed ? pd_fail_memory(error) : PD_OK;
}
