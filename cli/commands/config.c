/* SPDX-License-Identifier: MIT */
/* perfdata config: reads and sets keys of perf's configuration files. The library does it (perfdata/config.h). */
#include "front/cli.h"

#include <perfdata/config.h>

#include <stdlib.h>

struct values {
	bool list, system, user;
};

static const struct option options[] = {
	FLAG("list", 'l', list, "print all keys that are set"),
	FLAG("system", 0, system, "only /etc/perfconfig"),
	FLAG("user", 0, user, "only ~/.perfconfig"),
	{ 0 },
};

static int run_config(const struct call *call)
{
	const struct values *values = call->values;
	const struct pd_config_place place = { sizeof(place), getenv("PERF_CONFIG"), getenv("HOME"), values->system,
					       values->user };

	if (values->list && call->word_count)
		return print_failure(CODE_USAGE, "--list prints all keys; unexpected argument '%s'", call->words[0]);
	return code_of(pd_config_run(call->out->text, call->config, &place, call->words, call->word_count,
				     print_warning, NULL, NULL));
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
