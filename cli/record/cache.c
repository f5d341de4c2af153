/* SPDX-License-Identifier: MIT */
/* Keeps the objects of a new recording in perf's build-id cache, where the user named one. */
#include "record/options.h"
#include "options/symbol_options.h"

#include <perfdata/objects.h>

#include <stdlib.h>
#include <string.h>

/* perf does this always. Here a copy of each program is made only for those who asked for a cache. */
static bool is_wanted(const struct pd_config *config)
{
	const char *configured = pd_config_get(config, "record.build-id");

	if (configured)
		return !strcmp(configured, "cache");
	return getenv("PERF_BUILDID_DIR") != NULL;
}

void record_cache_objects(const char *path, bool all, const struct pd_config *config)
{
	char directory[BUILD_ID_DIRECTORY_SIZE];
	struct pd_error error;
	const char *name = is_wanted(config) ? build_id_directory(directory) : NULL;

	if (name && pd_objects_cache(path, all, name, &error) < 0)
		print_error("objects are not kept (-N keeps none): %s", error.message);
}
