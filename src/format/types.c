/* SPDX-License-Identifier: MIT */
/* Lists of record types, as users write them. */
#include <perfdata/format.h>
#include <perfdata/text.h>

#include <stdio.h>
#include <string.h>

#include "base/error.h"

static bool find_type(const char *name, uint32_t *type_out)
{
	char long_name[80];
	uint64_t number;

	if (pd_number_parse(name, &number)) {
		*type_out = (uint32_t)number;
		return number <= UINT32_MAX;
	}
	// counts are shown without HEADER_ in front
	snprintf(long_name, sizeof(long_name), "HEADER_%s", name);
	return pd_record_type_by_name(name, type_out) || pd_record_type_by_name(long_name, type_out);
}

static enum pd_status unknown_type(const char *name, struct pd_error *error)
{
	struct pd_nearest nearest = { .word = name };
	uint32_t type;

	for (size_t i = 0; pd_record_type_at(i, &type); i++)
		pd_nearest_try(&nearest, pd_record_name(type));
	if (nearest.best)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "unknown record type '%s'; did you mean %s?",
			       name, nearest.best);
	return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "unknown record type '%s'; perfdata explain lists them",
		       name);
}

enum pd_status pd_record_types_parse(const char *list, uint32_t *types, size_t capacity, size_t *count,
				     struct pd_error *error)
{
	while (*list) {
		size_t length = strcspn(list, ",");
		char name[64];

		snprintf(name, sizeof(name), "%.*s", (int)(length < 63 ? length : 63), list);
		if (*count == capacity)
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "more than %zu types", capacity);
		if (length && !find_type(name, &types[*count]))
			return unknown_type(name, error);
		*count += length > 0;
		list += length + (list[length] == ',');
	}
	return PD_OK;
}
