/* SPDX-License-Identifier: MIT */
/* The C++ run-time library's demangler, linked statically: some fifty kilobytes, and no other library at run time. */
#include <stdlib.h>

#include "deps/deps.h"
#include "symbol/demangle.h"

// C++'s <cxxabi.h> cannot be read by C
char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status);

static char *demangle(const char *name)
{
	int status;

	return __cxa_demangle(name, NULL, NULL, &status);
}

const struct pd_demangler pd_demangler_cxx = {
	.name = "libsupc++",
	.demangle = demangle,
	.free = free,
};
