/* SPDX-License-Identifier: MIT */
/* What a store asks of a library that speaks HTTP. A file in deps fills it. */
#ifndef PD_STORE_KINDS_HTTP_H
#define PD_STORE_KINDS_HTTP_H

#include <perfdata/text.h>

struct pd_http_request {
	const char *url;
	const char *const *headers; // "Name: value", ends with NULL
	const void *body;           // it is a POST
	size_t size;
	size_t limit; // bytes of the answer that are kept; what is more is left out
};

// NULL functions: it is not built in.
struct pd_http {
	const char *name;
	// A connection, or several. Errors: PD_ERROR_UNSUPPORTED: the library cannot be loaded; PD_ERROR_MEMORY.
	enum pd_status (*open)(void **http_out, struct pd_error *error);
	// PD_OK: there is an answer, with its code. Errors: PD_ERROR_OUTPUT: there was none, another time there may be; PD_ERROR_MEMORY.
	enum pd_status (*post)(void *http, const struct pd_http_request *request, struct pd_text *answer,
			       long *code_out, struct pd_error *error);
	void (*close)(void *http);
};

extern const struct pd_http pd_http_curl;

#endif
