/* SPDX-License-Identifier: MIT */
/*
 * Configurations. Each key that is set has its value under its name, and once; a key that is changed has the new value, and no other one
 * has another. What names sessions of a daemon is split into words.
 */
#include <perfdata/config.h>

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "walk.h"

#ifdef HAVE_DAEMON
#include "daemon/parts.h"
#endif

enum {
	MOST_CHANGED = 4
};

static void check_keys(const struct pd_config *config)
{
	const char *name, *value;

	for (size_t i = 0; (name = pd_config_at(config, i, &value)) != NULL && i < 100; i++) {
		REQUIRE(strchr(name, '.'));
		REQUIRE(pd_config_get(config, name) == value);
	}
}

static bool is_same(const struct pd_config *config, const char *name, const char *wanted)
{
	const char *value = pd_config_get(config, name);

	return value && strcmp(value, wanted) == 0;
}

// All but one key are as before.
static void compare(const struct pd_config *config, const struct pd_config *other, const char *changed)
{
	const char *name, *value;

	for (size_t i = 0; (name = pd_config_at(config, i, &value)) != NULL && i < 100; i++)
		REQUIRE(strcmp(name, changed) == 0 || is_same(other, name, value));
}

static void change(const struct pd_config *config, const char *text, const char *name, const char *value)
{
	struct pd_text *changed = pd_text_new();
	struct pd_config *other = pd_config_new();
	struct pd_error error;
	enum pd_status status;

	REQUIRE(changed && other);
	status = pd_config_change("file", text, name, value, changed, &error);
	REQUIRE(status == PD_OK || status == PD_ERROR_ARGUMENT);
	if (status == PD_OK) {
		pd_text_printf(changed, "%c", 0);
		REQUIRE(pd_config_add(other, "file", (const char *)pd_text_bytes(changed).data, &error) == PD_OK);
		REQUIRE(is_same(other, name, value));
		compare(config, other, name);
	}
	pd_config_free(other);
	pd_text_free(changed);
}

static void check_sessions(const struct pd_config *config)
{
#ifdef HAVE_DAEMON
	const char *setting, *run, *name;
	size_t length;

	for (size_t i = 0; (setting = pd_config_at(config, i, &run)) != NULL; i++) {
		char *copy = strdup(run), **words = NULL;
		size_t capacity = 0, count = 0;

		REQUIRE(copy);
		if (pd_daemon_session_of(setting, &name, &length))
			REQUIRE(length && name[length] == '.');
		REQUIRE(pd_daemon_split(copy, &words, &capacity, &count));
		REQUIRE(!count || !words[count]);
		pd_free(words);
		free(copy);
	}
#else
	(void)config;
#endif
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pd_config *config = pd_config_new();
	char *text = malloc(size + 1);
	struct pd_error error;
	const char *name, *value;
	enum pd_status status;

	REQUIRE(text && config);
	memcpy(text, data, size);
	text[size] = 0;
	status = pd_config_add(config, "file", text, &error);
	REQUIRE(status == PD_OK || (status == PD_ERROR_ARGUMENT && !strncmp(error.message, "file:", 5)));
	check_keys(config);
	check_sessions(config);
	for (size_t i = 0; status == PD_OK && i < MOST_CHANGED && (name = pd_config_at(config, i, &value)) != NULL; i++)
		change(config, text, name, "a # \"b\"\\ ");
	if (status == PD_OK)
		change(config, text, "daemon.base", "/x");
	pd_config_free(config);
	free(text);
	return 0;
}
