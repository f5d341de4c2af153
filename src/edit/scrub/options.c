/* SPDX-License-Identifier: MIT */
/* The options of a scrub: how front ends write them, and what they become. */
#include "edit/scrub/scrub.h"

#include <string.h>
#include <strings.h>

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

/* ---- the whole ---- */

static enum pd_value_class class_by_name(const char *name, size_t length)
{
	if (length == 3 && !strncasecmp(name, "dso", length))
		return PD_CLASS_PATH;
	for (int class = PD_CLASS_COMM; class <= PD_CLASS_NAME; class ++) {
		if (strlen(pd_scrub_classes[class].name) == length &&
		    !strncasecmp(pd_scrub_classes[class].name, name, length))
			return (enum pd_value_class) class;
	}
	return PD_CLASS_COUNT;
}

static enum pd_status add_pattern(struct pd_scrub *scrub, const char *pattern, struct pd_error *error)
{
	const char *equals = strchr(pattern, '=');
	enum pd_value_class class = equals ? class_by_name(pattern, (size_t)(equals - pattern)) : PD_CLASS_NONE;

	if (class == PD_CLASS_COUNT)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%.*s' is no class of names",
			       (int)(equals - pattern), pattern);
	scrub->keep[scrub->keep_count++] = (struct pd_keep_pattern){ class, equals ? equals + 1 : pattern };
	return PD_OK;
}

bool pd_scrub_knows_class(const char *keep)
{
	const char *equals = strchr(keep, '=');

	return !equals || class_by_name(keep, (size_t)(equals - keep)) != PD_CLASS_COUNT;
}

enum pd_status pd_scrub_init(struct pd_scrub *scrub, const struct pd_scrub_options *options, struct pd_error *error)
{
	enum pd_status status = PD_OK;

	if (!options || !options->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_scrub_options.size is 0");
	memcpy(&scrub->options, options, options->size < sizeof(*options) ? options->size : sizeof(*options));
	if (!scrub->options.key || !scrub->options.key_size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "there is no key");
	pd_hmac_key(&scrub->key, scrub->options.key, scrub->options.key_size);
	scrub->options.key = NULL;
	scrub->level = scrub->options.level;
	scrub->with[PD_CLASS_RAW] = scrub->options.keep_raw;
	scrub->with[PD_CLASS_REGS] = scrub->options.keep_regs;
	scrub->with[PD_CLASS_STACK] = scrub->options.keep_stack;
	scrub->with[PD_CLASS_AUX] = scrub->options.keep_aux;
	// hash tables of what comes out of the file: nobody without the key can choose what collides
	scrub->seed = pd_scrub_number_of(scrub, PD_CLASS_NONE, 0);
	for (size_t i = 0; i < PD_CLASS_COUNT; i++)
		scrub->numbers[i].seed = scrub->seed;
	scrub->text = pd_text_new();
	scrub->keep = pd_alloc((scrub->options.keep_count + 1) * sizeof(*scrub->keep));
	if (!scrub->text || !scrub->keep)
		return pd_fail_memory(error);
	for (size_t i = 0; i < scrub->options.keep_count && status >= 0; i++)
		status = add_pattern(scrub, scrub->options.keep[i], error);
	return status;
}

void pd_scrub_fini(struct pd_scrub *scrub)
{
	for (size_t i = 0; i < PD_CLASS_COUNT; i++)
		pd_u64_map_fini(&scrub->numbers[i]);
	for (size_t i = 0; i < PD_SPACE_COUNT; i++)
		pd_free(scrub->spaces[i].ranges);
	pd_free(scrub->cpus);
	pd_free(scrub->keep);
	pd_free(scrub->names.items);
	pd_index_fini(&scrub->names.index);
	pd_arena_fini(&scrub->names.strings);
	pd_arena_fini(&scrub->arena);
	pd_arena_fini(&scrub->feature_arena);
	pd_text_free(scrub->text);
}
