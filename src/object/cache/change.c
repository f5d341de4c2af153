/* SPDX-License-Identifier: MIT */
/* Actions on the cache by their names, for lists of paths. */
#include <string.h>

#include "base/error.h"
#include "object/cache/cache.h"

struct action {
	const char *name, *done;
	enum pd_status (*run)(struct pd_build_id_cache *cache, const char *path, struct pd_error *error);
};

static enum pd_status add_path(struct pd_build_id_cache *cache, const char *path, struct pd_error *error)
{
	return pd_build_id_cache_add(cache, path, NULL, error);
}

static enum pd_status update_path(struct pd_build_id_cache *cache, const char *path, struct pd_error *error)
{
	return pd_build_id_cache_update(cache, path, NULL, error);
}

static const struct action actions[] = { { "add", "added", add_path },
					 { "remove", "removed", pd_build_id_cache_remove_file },
					 { "purge", "removed", pd_build_id_cache_remove_path },
					 { "update", "updated", update_path } };

static const struct action *action_of(const char *name)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strcmp(actions[i].name, name) == 0)
			return &actions[i];
	return NULL;
}

enum pd_status pd_build_id_cache_change(struct pd_build_id_cache *cache, const char *name, const char *paths,
					void (*done)(void *self, const char *path, const char *what,
						     const struct pd_error *error),
					void *self, struct pd_error *error)
{
	const struct action *action = action_of(name);
	struct pd_arena arena = { .limit = 0 };
	enum pd_status status = PD_OK;

	if (!action)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%s' is no action of a cache", name);
	for (const char *at = paths, *end; *at; at = end + (*end != 0)) {
		struct pd_error own;
		enum pd_status one = PD_ERROR_MEMORY;
		char *path;

		end = at + strcspn(at, ",");
		if (end == at)
			continue;
		path = pd_arena_text(&arena, at, (size_t)(end - at));
		one = path ? action->run(cache, path, &own) : pd_fail_memory(&own);
		if (path && done)
			done(self, path, one ? NULL : action->done, &own);
		if (one && !status && error)
			*error = own;
		status = status ? status : one;
	}
	pd_arena_fini(&arena);
	return status;
}
