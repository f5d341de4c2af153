/* SPDX-License-Identifier: MIT */
/* perfdata version: which version this is and what it was built with. */
#include "front/cli.h"

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

static void print_features(struct pd_text *text)
{
	const char *name, *macro;
	bool there;

	for (size_t i = 0; (name = pd_build_feature(i, &there, &macro)) != NULL; i++)
		pd_text_printf(text, "%22s: [ %s ]  # %s\n", name, there ? "on " : "OFF", macro);
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
		print_features(text);
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
