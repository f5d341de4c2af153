/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define STRING(x) #x
#define VERSION(major, minor, patch) STRING(major) "." STRING(minor) "." STRING(patch)

const char *pd_version(void)
{
	return VERSION(PD_VERSION_MAJOR, PD_VERSION_MINOR, PD_VERSION_PATCH);
}

const char *pd_status_name(enum pd_status status)
{
	switch (status) {
	case PD_OK:
		return "ok";
	case PD_END:
		return "end";
	case PD_ERROR_MEMORY:
		return "memory";
	case PD_ERROR_SYSTEM:
		return "system";
	case PD_ERROR_FORMAT:
		return "format";
	case PD_ERROR_LIMIT:
		return "limit";
	case PD_ERROR_ARGUMENT:
		return "argument";
	case PD_ERROR_UNSUPPORTED:
		return "unsupported";
	case PD_ERROR_STOPPED:
		return "stopped";
	case PD_ERROR_OUTPUT:
		return "output";
	case PD_ERROR_NO_MATCH:
		return "no match";
	case PD_ERROR_NO_SAMPLES:
		return "no samples";
	}
	return "unknown";
}

enum pd_status pd_fail(struct pd_error *error, enum pd_status status, uint64_t offset, const char *format, ...)
{
	va_list args;

	if (!error)
		return status;
	error->status = status;
	error->os_errno = 0;
	error->offset = offset;
	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	return status;
}

enum pd_status pd_fail_system(struct pd_error *error, int os_errno, const char *format, ...)
{
	va_list args;
	size_t used;

	if (!error)
		return PD_ERROR_SYSTEM;
	error->status = PD_ERROR_SYSTEM;
	error->os_errno = os_errno;
	error->offset = PD_NO_OFFSET;
	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	used = strlen(error->message);
	snprintf(error->message + used, sizeof(error->message) - used, ": %s", strerror(os_errno));
	return PD_ERROR_SYSTEM;
}

enum pd_status pd_fail_memory(struct pd_error *error)
{
	return pd_fail(error, PD_ERROR_MEMORY, PD_NO_OFFSET, "no memory");
}
