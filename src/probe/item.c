/* SPDX-License-Identifier: MIT */
/* What all that finds places needs: options, debug information, and the list of places. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "probe/set.h"

enum {
	MOST_PLACES = 128
};

enum pd_status pd_probe_take_options(const struct pd_probe_options *options, struct pd_probe_options *out,
				     struct pd_error *error)
{
	*out = (struct pd_probe_options){ .size = sizeof(*out) };
	if (options && !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "options without a size");
	if (options)
		memcpy(out, options, options->size < sizeof(*out) ? options->size : sizeof(*out));
	out->size = sizeof(*out);
	return PD_OK;
}

const char *pd_probe_absolute(struct pd_arena *arena, const struct pd_probe_options *options, const char *path)
{
	char real[PATH_MAX];

	if (!options->symfs && realpath(path, real))
		path = real;
	return pd_arena_text(arena, path, strlen(path));
}

enum pd_status pd_probe_need_information(const struct pd_probes *probes, const char *what, struct pd_error *error)
{
	if (probes->debug.dwarf)
		return PD_OK;
	if (probes->path)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
			       "'%s': %s: the file has no debug information (-g), and no debug file was found", what,
			       probes->path);
	return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
		       "'%s': no image of the kernel was found, or the file has no debug information; see --vmlinux",
		       what);
}

enum pd_status pd_probe_item_add(struct pd_probes *probes, struct pd_probe_item *item,
				 const struct pd_probe_point *point, struct pd_error *error)
{
	size_t most = probes->options.most ? probes->options.most : MOST_PLACES;

	if (item->count >= most)
		return pd_fail(error, PD_ERROR_LIMIT, PD_NO_OFFSET, "'%s': more than %zu places; see --max-probes",
			       item->definition.text, most);
	if (!PD_GROW(item->points, item->capacity, item->count + 1))
		return pd_fail_memory(error);
	item->points[item->count++] = *point;
	return PD_OK;
}
