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

static enum pd_status add_objects(const char *path, bool all, struct pd_build_id_cache *cache, struct pd_error *error)
{
	const struct pd_objects_options options = { .size = sizeof(options), .only_hits = !all };
	struct pd_objects *objects;
	struct pd_file *file;
	enum pd_status status = pd_file_open(path, NULL, &file, error);

	if (status < 0)
		return status;
	status = pd_objects_read(file, &options, &objects, error);
	if (status == PD_OK) {
		pd_objects_add_to_cache(objects, cache);
		pd_objects_free(objects);
	}
	pd_file_close(file);
	return status;
}

void record_cache_objects(const char *path, bool all, const struct pd_config *config)
{
	char directory[BUILD_ID_DIRECTORY_SIZE];
	struct pd_build_id_cache *cache;
	struct pd_error error;
	const char *name = is_wanted(config) ? build_id_directory(directory) : NULL;
	enum pd_status status;

	if (!name)
		return;
	status = pd_build_id_cache_open(name, &cache, &error);
	if (status == PD_OK) {
		status = add_objects(path, all, cache, &error);
		pd_build_id_cache_close(cache);
	}
	if (status < 0)
		print_error("objects are not kept in %s: %s", name, error.message);
}
