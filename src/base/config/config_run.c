/* SPDX-License-Identifier: MIT */
/* What perf config does: keys are printed and set, word by word. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/config/config.h"

enum {
	MOST_PATH = 4096
};

struct run {
	struct pd_text *text;
	const struct pd_config *config;
	const char *path; // of the file that keys are set in; NULL: there is none
	pd_warn_fn *warn;
	void *self;
};

// The file that a key is set in; NULL if there is none.
static const char *file_of(const struct pd_config_place *place, char path[MOST_PATH])
{
	const char *home = place->home;

	if (place->system)
		return "/etc/perfconfig";
	if (place->only && *place->only && !place->user)
		return place->only;
	if (!home || home[0] != '/' || snprintf(path, MOST_PATH, "%s/.perfconfig", home) >= MOST_PATH)
		return NULL;
	return path;
}

static enum pd_status print_key(const struct run *run, const char *name, struct pd_error *error)
{
	const char *value = pd_config_get(run->config, name);

	if (!strchr(name, '.'))
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "'%s' is not the name of a key: section.key",
			       name);
	if (!value)
		return pd_fail(error, PD_ERROR_NO_MATCH, PD_NO_OFFSET, "%s is not set", name);
	pd_text_printf(run->text, "%s=%s\n", name, value);
	return PD_OK;
}

static enum pd_status set_key(const struct run *run, const char *word, struct pd_error *error)
{
	const char *equals = strchr(word, '=');
	char *name = pd_alloc((size_t)(equals - word) + 1);
	enum pd_status status;

	if (!name)
		return pd_fail_memory(error);
	memcpy(name, word, (size_t)(equals - word));
	if (run->path)
		status = pd_config_change_file(run->path, name, equals + 1, error);
	else
		status = pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "no file to set a key in: HOME is not set");
	pd_free(name);
	// nothing else can be a reason than that the file cannot be written
	if (status == PD_ERROR_SYSTEM && error)
		error->status = PD_ERROR_OUTPUT;
	return status == PD_ERROR_SYSTEM ? PD_ERROR_OUTPUT : status;
}

static enum pd_status run_words(const struct run *run, const char *const *words, size_t count, struct pd_error *error)
{
	enum pd_status first = PD_OK;
	struct pd_error own;

	for (size_t i = 0; i < count; i++) {
		enum pd_status status = strchr(words[i], '=') ? set_key(run, words[i], &own) :
								print_key(run, words[i], &own);

		// scripts ask whether a key is set
		if (status < 0 && status != PD_ERROR_NO_MATCH && run->warn)
			run->warn(run->self, own.message);
		if (status < 0 && first == PD_OK && error)
			*error = own;
		first = first == PD_OK ? status : first;
	}
	return first;
}

static enum pd_status run_with(const struct run *run, const char *const *words, size_t count, struct pd_error *error)
{
	const char *name, *value;

	if (count)
		return run_words(run, words, count, error);
	for (size_t i = 0; (name = pd_config_at(run->config, i, &value)) != NULL; i++)
		pd_text_printf(run->text, "%s=%s\n", name, value);
	return PD_OK;
}

// The keys of one file.
static enum pd_status run_file(struct run *run, const char *const *words, size_t count, struct pd_error *error)
{
	struct pd_config *config = pd_config_new();
	struct pd_error own;
	enum pd_status status = config ? pd_config_add_file(config, run->path, true, &own) : pd_fail_memory(&own);

	if (status < 0) {
		if (run->warn)
			run->warn(run->self, own.message);
		if (error)
			*error = own;
	} else {
		run->config = config;
		status = run_with(run, words, count, error);
	}
	pd_config_free(config);
	return status;
}

enum pd_status pd_config_run(struct pd_text *text, const struct pd_config *config, const struct pd_config_place *place,
			     const char *const *words, size_t count, pd_warn_fn *warn, void *self,
			     struct pd_error *error)
{
	char path[MOST_PATH];
	struct run run = { .text = text, .config = config, .warn = warn, .self = self };

	if (!place || !place->size)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "pd_config_place.size is not set");
	run.path = file_of(place, path);
	if ((place->system || place->user) && run.path)
		return run_file(&run, words, count, error);
	return run_with(&run, words, count, error);
}
