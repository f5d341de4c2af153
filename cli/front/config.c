/* SPDX-License-Identifier: MIT */
#include "front/config.h"

#include <stdio.h>
#include <stdlib.h>

#include "front/output.h"

static void add_file(struct pd_config *config, const char *path, bool usual)
{
	struct pd_error error;

	if (pd_config_add_file(config, path, usual, &error) < 0)
		print_error("%s", error.message);
}

struct pd_config *config_load(void)
{
	const char *only = getenv("PERF_CONFIG"), *home = getenv("HOME");
	struct pd_config *config = pd_config_new();
	char *path;

	if (!config) {
		print_error("out of memory");
		return NULL;
	}
	if (only) {
		if (*only)
			add_file(config, only, false);
		return config;
	}
	add_file(config, "/etc/perfconfig", true);
	if (!home || home[0] != '/' || asprintf(&path, "%s/.perfconfig", home) < 0)
		return config;
	add_file(config, path, true);
	free(path);
	return config;
}
