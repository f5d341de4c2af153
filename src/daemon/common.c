/* SPDX-License-Identifier: MIT */
/* What all parts of a daemon need: the time, strings, and warnings. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "daemon/parts.h"

uint64_t pd_daemon_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * PD_DAEMON_SECOND_MS + (uint64_t)now.tv_nsec / 1000000;
}

char *pd_daemon_copy(const char *string, size_t length)
{
	char *copy = pd_alloc(length + 1);

	return copy ? memcpy(copy, string, length) : NULL;
}

void pd_daemon_warn(const struct pd_daemon_options *options, const char *format, ...)
{
	char sentence[1200];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	if (options->warn)
		options->warn(options->self, sentence);
}
