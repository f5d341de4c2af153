/* SPDX-License-Identifier: MIT */
/* How levels and kinds of data are spelled, for front ends. */
#include "edit/scrub/scrub.h"

#include <string.h>

static const char *const level_names[] = { "names", "addresses", "all" };

const char *pd_scrub_level_name(enum pd_scrub_level level)
{
	return (size_t)level < sizeof(level_names) / sizeof(level_names[0]) ? level_names[level] : NULL;
}

bool pd_scrub_level_parse(const char *name, enum pd_scrub_level *level_out)
{
	for (size_t i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++) {
		if (strcmp(name, level_names[i]) != 0)
			continue;
		*level_out = (enum pd_scrub_level)i;
		return true;
	}
	return false;
}

enum pd_status pd_scrub_keep_data_parse(const char *list, struct pd_scrub_options *options, struct pd_error *error)
{
	const struct {
		const char *name;
		bool *keep;
	} words[] = { { "raw", &options->keep_raw },
		      { "regs", &options->keep_regs },
		      { "stack", &options->keep_stack },
		      { "aux", &options->keep_aux } };
	const size_t count = sizeof(words) / sizeof(words[0]);

	while (*list) {
		size_t size = strcspn(list, ","), i = 0;

		while (i < count && (strlen(words[i].name) != size || strncmp(words[i].name, list, size) != 0))
			i++;
		if (i == count)
			return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
				       "'%.*s' is not one of raw, regs, stack, aux", (int)size, list);
		*words[i].keep = true;
		list += size + (list[size] == ',');
	}
	return PD_OK;
}
