/* SPDX-License-Identifier: MIT */
/* Where tracefs is mounted. */
#include "record/event/events.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

char *pd_tracefs_find(void)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[64];

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(path, sizeof(path), "%s/events", places[i]);
		if (access(path, R_OK) == 0)
			return strdup(places[i]);
	}
	return NULL;
}
