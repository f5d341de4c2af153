/* SPDX-License-Identifier: MIT */
#include "daemon/parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

// ---- the files ----

void pd_daemon_config_files(const struct pd_daemon_options *options, char path[PD_DAEMON_PATH],
			    const char *files[PD_DAEMON_FILES + 1])
{
	const char *home = options->home;
	size_t count = 0;

	if (options->config) {
		if (*options->config)
			files[count++] = options->config;
	} else {
		files[count++] = "/etc/perfconfig";
		if (home && *home == '/' && snprintf(path, PD_DAEMON_PATH, "%s/.perfconfig", home) < PD_DAEMON_PATH)
			files[count++] = path;
	}
	files[count] = NULL;
}

// What is wrong first.
static void keep_first(void *self, const char *sentence)
{
	struct pd_error *error = self;

	if (!error->message[0])
		pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s", sentence);
}

enum pd_status pd_daemon_config_load(const struct pd_daemon_options *options, struct pd_config **config_out,
				     struct pd_error *error)
{
	struct pd_error first = { .message = "" };
	struct pd_config *config = pd_config_load(options->config, options->home, keep_first, &first);

	if (!config)
		return pd_fail_memory(error);
	if (first.message[0]) {
		pd_config_free(config);
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET, "%s", first.message);
	}
	*config_out = config;
	return PD_OK;
}

enum pd_status pd_daemon_base_path(const struct pd_daemon_options *options, const struct pd_config *config,
				   char path[PD_DAEMON_PATH], struct pd_error *error)
{
	const char *base = options->base ? options->base : pd_config_get(config, "daemon.base");
	char *real;

	if (!base || !*base)
		return pd_fail(error, PD_ERROR_ARGUMENT, PD_NO_OFFSET,
			       "no base: the key daemon.base is not set, and no directory was given");
	real = realpath(base, NULL);
	if (!real)
		return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "base %s: %s", base, strerror(errno));
	if (snprintf(path, PD_DAEMON_PATH, "%s", real) >= PD_DAEMON_PATH) {
		free(real);
		return pd_fail(error, PD_ERROR_OUTPUT, PD_NO_OFFSET, "base %.100s...: the path is too long", base);
	}
	free(real);
	return PD_OK;
}

// ---- sessions ----

bool pd_daemon_session_of(const char *setting, const char **name_out, size_t *length_out)
{
	static const char before[] = "session-", after[] = ".run";
	size_t length = strlen(setting), around = strlen(before) + strlen(after);

	if (length <= around || strncmp(setting, before, strlen(before)) != 0 ||
	    strcmp(setting + length - strlen(after), after) != 0)
		return false;
	*name_out = setting + strlen(before);
	*length_out = length - around;
	return true;
}

// The next word, without its quotes, which makes it no longer; NULL at the end.
static char *next_word(char **at)
{
	char *from = *at + strspn(*at, " \t\n\r"), *word = from, *to = from;
	char quote = 0;

	if (!*from)
		return NULL;
	for (; *from && (quote || !strchr(" \t\n\r", *from)); from++) {
		if (quote ? *from == quote : *from == '\'' || *from == '"')
			quote = quote ? 0 : *from;
		else if (*from == '\\' && quote != '\'' && from[1])
			*to++ = *++from;
		else
			*to++ = *from;
	}
	*at = *from ? from + 1 : from;
	*to = '\0';
	return word;
}

bool pd_daemon_split(char *text, char ***words, size_t *capacity, size_t *count)
{
	char *word;

	while ((word = next_word(&text)) != NULL) {
		if (!PD_GROW(*words, *capacity, *count + 2))
			return false;
		(*words)[(*count)++] = word;
		(*words)[*count] = NULL;
	}
	return true;
}
