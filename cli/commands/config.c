/* SPDX-License-Identifier: MIT */
/* perfdata config: reads and sets keys of perf's configuration files. The library does it (perfdata/config.h). */
#include "front/cli.h"

#include <perfdata/config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	PATH_SIZE = 4096
};

struct values {
	bool list, system, user;
};

static const struct option options[] = {
	FLAG("list", 'l', list, "print all keys that are set"),
	FLAG("system", 0, system, "only /etc/perfconfig"),
	FLAG("user", 0, user, "only ~/.perfconfig"),
	{ 0 },
};

/* The file that a key is set in; NULL if there is none. */
static const char *file_of(const struct values *values, char path[PATH_SIZE])
{
	const char *only = getenv("PERF_CONFIG"), *home = getenv("HOME");

	if (values->system)
		return "/etc/perfconfig";
	if (only && *only && !values->user)
		return only;
	if (!home || home[0] != '/' || snprintf(path, PATH_SIZE, "%s/.perfconfig", home) >= PATH_SIZE)
		return NULL;
	return path;
}

static int print_key(const struct call *call, const struct pd_config *config, const char *name)
{
	const char *value = pd_config_get(config, name);

	if (!strchr(name, '.'))
		return print_failure(CODE_USAGE, "'%s' is not the name of a key: section.key", name);
	if (value)
		pd_text_printf(call->out->text, "%s=%s\n", name, value);
	return value ? CODE_OK : CODE_NOTHING;
}

static int set_key(const char *path, const char *word)
{
	const char *equals = strchr(word, '=');
	char *name = strndup(word, (size_t)(equals - word));
	struct pd_error error;
	enum pd_status status;

	if (!name || !path) {
		free(name);
		print_error(path ? "out of memory" : "no file to set a key in: HOME is not set");
		return path ? CODE_OUTPUT : CODE_USAGE;
	}
	status = pd_config_change_file(path, name, equals + 1, &error);
	free(name);
	if (status == PD_OK)
		return CODE_OK;
	print_error("%s", error.message);
	return status == PD_ERROR_ARGUMENT ? CODE_USAGE : CODE_OUTPUT;
}

static void print_all(const struct call *call, const struct pd_config *config)
{
	const char *name, *value;

	for (size_t i = 0; (name = pd_config_at(config, i, &value)) != NULL; i++)
		pd_text_printf(call->out->text, "%s=%s\n", name, value);
}

static int run_words(const struct call *call, const struct pd_config *config)
{
	char path[PATH_SIZE];
	int code = CODE_OK;

	for (size_t i = 0; i < call->word_count; i++) {
		const char *word = call->words[i];
		int own = strchr(word, '=') ? set_key(file_of(call->values, path), word) :
					      print_key(call, config, word);

		code = code != CODE_OK ? code : own;
	}
	return code;
}

/* The keys of one file, or of all. */
static int run_with(const struct call *call, const struct pd_config *config)
{
	if (call->word_count)
		return run_words(call, config);
	print_all(call, config);
	return CODE_OK;
}

static int run_config(const struct call *call)
{
	const struct values *values = call->values;
	struct pd_config *config;
	struct pd_error error;
	char path[PATH_SIZE];
	const char *name = file_of(values, path);
	int code = CODE_UNREADABLE;

	if (values->list && call->word_count)
		return print_failure(CODE_USAGE, "--list prints all keys; unexpected argument '%s'", call->words[0]);
	if ((!values->system && !values->user) || !name)
		return run_with(call, call->config);
	config = pd_config_new();
	if (config && pd_config_add_file(config, name, true, &error) == PD_OK)
		code = run_with(call, config);
	else
		print_error("%s", config ? error.message : "out of memory");
	pd_config_free(config);
	return code;
}

const struct command cmd_config = {
	.usage = "[-l] [--system | --user] [SECTION.KEY[=VALUE]...]",
	.text = "Print keys of perf's configuration, or set them. /etc/perfconfig is read first, then ~/.perfconfig; or only the file that "
		"the environment variable PERF_CONFIG names. A key is set in that file, else in ~/.perfconfig. All else of the "
		"file stays as it is, comments too.\n\n"
		"perfdata obeys pager.COMMAND, color.ui, record.compression-level, record.build-id and buildid.dir; other keys are "
		"those of perf.",
	OPTIONS(options),
	EXAMPLES({ "perfdata config -l", "print what is set" },
		 { "perfdata config record.compression-level=3", "compress recordings from now on" },
		 { "perfdata config pager.report=cat", "send reports through no pager" }),
	.max_words = SIZE_MAX,
	.run = run_config,
};
