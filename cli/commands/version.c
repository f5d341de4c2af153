/* SPDX-License-Identifier: MIT */
/*
 * perfdata version: which version this is and what it was built with.
 */
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

static const struct example examples[] = {
	{ "perfdata version --build", "check whether compressed files are supported" },
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

/* The libraries of perf that others look for; those that are replaced by own code have no part. */
static const struct feature {
	const char *name, *part, *macro; /* part: how the name of a library begins, NULL: own code, "": not there */
} features[] = {
	{ "dwarf", NULL, "HAVE_DWARF_SUPPORT" },
	{ "dwarf_getlocations", NULL, "HAVE_DWARF_GETLOCATIONS_SUPPORT" },
	{ "debuginfod", NULL, "HAVE_DEBUGINFOD_SUPPORT" },
	{ "libelf", NULL, "HAVE_LIBELF_SUPPORT" },
	{ "libperl", "", "HAVE_LIBPERL_SUPPORT" },
	{ "libpython", "", "HAVE_LIBPYTHON_SUPPORT" },
	{ "libslang", "", "HAVE_SLANG_SUPPORT" },
	{ "libunwind", NULL, "HAVE_LIBUNWIND_SUPPORT" },
	{ "zlib", "zlib", "HAVE_ZLIB_SUPPORT" },
	{ "lzma", "liblzma", "HAVE_LZMA_SUPPORT" },
	{ "bpf", "", "HAVE_LIBBPF_SUPPORT" },
	{ "zstd", "zstd", "HAVE_ZSTD_SUPPORT" },
	{ "libpfm4", "", "HAVE_LIBPFM" },
};

/* Libraries that are not there go by the name of their format. */
static bool has_part(const char *part)
{
	const char *name, *use;
	bool built_in;

	if (!part)
		return true;
	for (size_t i = 0; *part && (name = pd_build_part(i, &built_in, &use)) != NULL; i++)
		if (built_in && strncmp(name, part, strlen(part)) == 0)
			return true;
	return false;
}

static void print_features(struct pd_text *text)
{
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++)
		pd_text_printf(text, "%22s: [ %s ]  # %s\n", features[i].name,
			       has_part(features[i].part) ? "on " : "OFF", features[i].macro);
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
	OWN_TABLES,
	.run = run_version,
};
