/* SPDX-License-Identifier: MIT */
// Lists of system calls: "open*,close", or "!futex".
#include <string.h>

#include "pairs/lines/lines.h"

// A star stands for anything. It takes as few letters as it can, and one more each time the rest does not fit.
static bool fits(const char *pattern, const char *end, const char *name)
{
	const char *star = NULL, *tried = NULL;

	while (*name) {
		if (pattern < end && *pattern == '*') {
			star = pattern++;
			tried = name;
		} else if (pattern < end && *pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star + 1;
			name = ++tried;
		} else {
			return false;
		}
	}
	while (pattern < end && *pattern == '*')
		pattern++;
	return pattern == end;
}

bool pd_call_is_wanted(const char *list, const char *name)
{
	bool except = list && *list == '!';

	if (!list)
		return true;
	for (const char *at = list + except;; at++) {
		const char *end = at + strcspn(at, ",");

		if (fits(at, end, name))
			return !except;
		if (!*end)
			return except;
		at = end;
	}
}

bool pd_call_is_known(enum pd_arch arch, bool is_64_bit, const char *item)
{
	for (uint64_t number = 0; number < PD_CALLS_KNOWN; number++) {
		const char *name = pd_syscall_name(arch, is_64_bit, number);

		if (name && pd_call_is_wanted(item, name))
			return true;
	}
	return false;
}
