/* SPDX-License-Identifier: MIT */
/* Names of events: given, or those of the functions that the probes are in. */
#include "probe/set.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum {
	MOST_NUMBER = 1024
};

const char *pd_probe_group(struct pd_arena *arena, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char group[PD_PROBE_NAME];
	size_t length = 0;

	while (isalnum((unsigned char)name[length]) || name[length] == '_')
		length++;
	if (length > sizeof(group) - sizeof("probe_"))
		length = sizeof(group) - sizeof("probe_");
	snprintf(group, sizeof(group), "probe_%.*s", (int)length, name);
	return pd_arena_text(arena, group, strlen(group));
}

// What an event can be called after a function: without what compilers add to its name, and other characters.
static void make_base(const char *function, bool is_return, char base[PD_PROBE_NAME])
{
	const char *name = *function == '.' ? function + 1 : function;
	size_t length = 0, most = PD_PROBE_NAME - 1 - (is_return ? sizeof("__return") - 1 : 0);

	for (; *name && length < most; name++) {
		if (length && (*name == '.' || *name == '@'))
			break;
		if (isalnum((unsigned char)*name) || *name == '_')
			base[length++] = *name;
		else if (length && base[length - 1] != '_')
			base[length++] = '_';
	}
	base[length] = 0;
}

static bool is_there(const char *existing, const char *group, const char *event)
{
	size_t length = strlen(group), size = strlen(event);

	for (const char *at = existing; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		if (strncmp(at, group, length) == 0 && at[length] == ':' &&
		    strncmp(at + length + 1, event, size) == 0 && at[length + 1 + size] == '\n')
			return true;
	return false;
}

static const char *source_of(const struct pd_probe_definition *d, const struct pd_probe_point *point)
{
	if (d->event)
		return d->event;
	if (d->function && !d->is_addr && !strpbrk(d->function, "*?["))
		return d->function;
	return point->function ? point->function : point->symbol;
}

static enum pd_status name_point(struct pd_probes *probes, const struct pd_probe_definition *d,
				 struct pd_probe_point *point, const char *existing, bool suffixed,
				 struct pd_error *error)
{
	char base[PD_PROBE_NAME], name[PD_PROBE_NAME + 16];
	const char *function = source_of(d, point);

	point->group = d->group ? d->group : probes->path ? pd_probe_group(&probes->arena, probes->path) : "probe";
	if (!point->group || !function)
		return pd_fail_memory(error);
	make_base(function, point->is_return, base);
	if (!pd_probe_is_name(base))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "'%s': no event can be called after '%s'; give it a name: EVENT=%s", d->text, function,
			       d->text);
	snprintf(name, sizeof(name), "%s%s", base, point->is_return ? "__return" : "");
	if (is_there(existing, point->group, name) && !suffixed)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET,
			       "event %s:%s is there already; remove it with --del, or give it a number with --force",
			       point->group, name);
	for (int i = 1; i < MOST_NUMBER && is_there(existing, point->group, name); i++)
		snprintf(name, sizeof(name), "%.50s_%d", base, i);
	point->event = pd_arena_text(&probes->arena, name, strlen(name));
	return point->event ? PD_OK : pd_fail_memory(error);
}

// The next ones have other names.
static bool add_names(struct pd_text *text, const struct pd_probe_point *point)
{
	pd_text_printf(text, "%s:%s\n", point->group, point->event);
	pd_text_char(text, 0);
	text->size -= text->failed ? 0 : 1;
	return !text->failed;
}

enum pd_status pd_probe_name(struct pd_probes *probes, struct pd_probe_item *item, const char *existing, bool suffixed,
			     struct pd_error *error)
{
	struct pd_text names = { .data = NULL };
	enum pd_status status = PD_OK;

	pd_text_add(&names, existing ? existing : "");
	pd_text_char(&names, 0);
	names.size -= names.failed ? 0 : 1;
	for (size_t i = 0; i < item->count && !status; i++) {
		if (names.failed)
			status = pd_fail_memory(error);
		else
			status = name_point(probes, &item->definition, &item->points[i], names.data, suffixed, error);
		// places of one function are one event, if the kernel can do that
		if (!status && !probes->features.has_same_names && !add_names(&names, &item->points[i]))
			status = pd_fail_memory(error);
		suffixed = true;
	}
	pd_free(names.data);
	return status;
}
