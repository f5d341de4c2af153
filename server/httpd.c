/* SPDX-License-Identifier: MIT */
#include "server/httpd.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

struct httpd httpd;

/* What a program that is linked with it asks for. */
static const char library_name[] = "libmicrohttpd.so.12";

static bool find_call(void *library, const char *name, void *function_out)
{
	void *address = dlsym(library, name);

	memcpy(function_out, &address, sizeof(address));
	return address;
}

enum pd_status httpd_load(struct pd_error *error)
{
	void *library = dlopen(library_name, RTLD_NOW | RTLD_LOCAL);
	bool found = library;

#define HTTPD_CALL(name) found = found && find_call(library, "MHD_" #name, &httpd.name);
	HTTPD_CALLS(HTTPD_CALL)
#undef HTTPD_CALL
	if (found)
		return PD_OK;
	if (error) {
		*error = (struct pd_error){ .status = PD_ERROR_UNSUPPORTED, .offset = PD_NO_OFFSET };
		snprintf(error->message, sizeof(error->message), "a server needs libmicrohttpd: %s", dlerror());
	}
	return PD_ERROR_UNSUPPORTED;
}
