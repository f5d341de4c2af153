/* SPDX-License-Identifier: MIT */
/* perfdata version: which version this is and what it was built with. */
#include "front/cli.h"

#include <string.h>

struct values {
	bool build, options;
};

static const struct option options[] = {
	FLAG("build", 0, build, "also print the compiler and the optional libraries"),
	FLAG("build-options", 0, options, "also print which features of perf are there, as perf version does"),
	{ 0 },
};

static const char *compiler(void)
{
#if defined(__clang__)
	return "clang " __clang_version__;
#elif defined(__GNUC__)
	return "gcc " __VERSION__;
#else
	return "unknown compiler";
#endif
}

/* One, or all; false if there is none of this name, or it is off. */
static bool print_features(struct pd_text *text, const char *wanted, size_t length)
{
	const char *name, *macro;
	bool there, found = false;

	for (size_t i = 0; (name = pd_build_feature(i, &there, &macro)) != NULL; i++) {
		if (wanted && (strncmp(name, wanted, length) != 0 || name[length]))
			continue;
		found |= there;
		if (text)
			pd_text_printf(text, "%22s: [ %s ]  # %s\n", name, there ? "on " : "OFF", macro);
	}
	return found;
}

static int run_version(const struct call *call)
{
	const struct values *values = call->values;
	struct pd_text *text = call->out->text;
	const char *name;
	const char *use;
	bool built_in;

	pd_text_printf(text, "perfdata %s\n", pd_version());
	if (values->options)
		print_features(text, NULL, 0);
	if (!values->build)
		return CODE_OK;
	pd_text_printf(text, "%-10s  %s\n", "compiler", compiler());
	for (size_t i = 0; (name = pd_build_part(i, &built_in, &use)) != NULL; i++)
		pd_text_printf(text, "%-10s  %s: %s\n", name, built_in ? "yes" : "no", use);
	return CODE_OK;
}

const struct command cmd_version = {
	.usage = "[OPTION]...",
	.text = "Print the version of perfdata and libperfdata.",
	OPTIONS(options),
	EXAMPLES({ "perfdata version --build", "check whether compressed files are supported" }),
	.run = run_version,
};

/* ---- check feature ---- */

struct feature_values {
	bool quiet;
};
#undef VALUES
#define VALUES struct feature_values

static const struct option feature_options[] = {
	FLAG("quiet", 'q', quiet, "print nothing: the exit code says it"),
	{ 0 },
};

static int run_check_feature(const struct call *call)
{
	const struct feature_values *values = call->values;
	int code = call->word_count ? CODE_OK : print_failure(CODE_USAGE, "name one or more features");

	for (const char *at = call->word_count ? call->words[0] : ""; *at; at += strspn(at, ",")) {
		size_t length = strcspn(at, ",");

		if (!print_features(values->quiet ? NULL : call->out->text, at, length))
			code = CODE_NOTHING;
		at += length;
	}
	return code;
}

const struct command cmd_check_feature = {
	.usage = "[-q] NAME[,NAME]...",
	.text = "Print whether features of perf are there, as perf check feature does. perfdata version --build-options lists them.",
	OPTIONS(feature_options),
	EXAMPLES({ "perfdata check feature -q zstd && echo yes", "ask in a script" }),
	.max_words = 1,
	.run = run_check_feature,
};
