/* SPDX-License-Identifier: MIT */
#include "base/text/number_list.h"

#include <stdlib.h>

bool pd_list_is_right(const char *list)
{
	for (;; list++) {
		char *end;
		uint64_t first = *list >= '0' && *list <= '9' ? strtoull(list, &end, 10) : UINT64_MAX, last = first;

		if (first > UINT32_MAX)
			return false;
		if (*end == '-')
			last = end[1] >= '0' && end[1] <= '9' ? strtoull(end + 1, &end, 10) : UINT64_MAX;
		if (last < first || last > UINT32_MAX || (*end && *end != ','))
			return false;
		if (!*end)
			return true;
		list = end;
	}
}

bool pd_list_has(const char *list, uint64_t number)
{
	while (*list >= '0' && *list <= '9') {
		char *end;
		uint64_t first = strtoull(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoull(end + 1, &end, 10);
		if (number >= first && number <= last)
			return true;
		list = end + (*end == ',');
	}
	return false;
}
