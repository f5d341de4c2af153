/* SPDX-License-Identifier: MIT */
/* Filters of names: "!_* & !*@plt | main". & holds before |. */
#include "probe/set.h"

#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

static size_t trim(const char **at, const char *end)
{
	while (*at < end && isspace((unsigned char)**at))
		(*at)++;
	while (end > *at && isspace((unsigned char)end[-1]))
		end--;
	return (size_t)(end - *at);
}

static bool matches_one(const char *at, const char *end, const char *name)
{
	size_t length = trim(&at, end);
	bool negative = false;
	char pattern[256];

	while (length && *at == '!') {
		negative = !negative;
		at++;
		length = trim(&at, at + length - 1);
	}
	if (!length || length >= sizeof(pattern))
		return negative;
	memcpy(pattern, at, length);
	pattern[length] = 0;
	return (fnmatch(pattern, name, 0) == 0) != negative;
}

static bool matches_all(const char *at, const char *end, const char *name)
{
	while (at <= end) {
		const char *stop = memchr(at, '&', (size_t)(end - at));

		stop = stop ? stop : end;
		if (!matches_one(at, stop, name))
			return false;
		at = stop + 1;
	}
	return true;
}

bool pd_probe_filter(const char *filter, const char *name)
{
	for (const char *at = filter;;) {
		const char *stop = at + strcspn(at, "|");

		if (matches_all(at, stop, name))
			return true;
		if (!*stop)
			return false;
		at = stop + 1;
	}
}
