/* SPDX-License-Identifier: MIT */
/* The features of perf that depend on how it was built, as other programs look for them. */
#include <perfdata/base.h>

#include <string.h>

// part: how the name of a library begins; NULL: own code takes its place; "": it is not there.
static const struct {
	const char *name, *part, *macro;
} features[] = {
	{ "dwarf", NULL, "HAVE_DWARF_SUPPORT" },
	{ "dwarf_getlocations", NULL, "HAVE_DWARF_GETLOCATIONS_SUPPORT" },
	{ "debuginfod", NULL, "HAVE_DEBUGINFOD_SUPPORT" },
	{ "libelf", NULL, "HAVE_LIBELF_SUPPORT" },
	{ "libperl", "", "HAVE_LIBPERL_SUPPORT" },
	{ "libpython", NULL, "HAVE_LIBPYTHON_SUPPORT" },
	{ "libslang", "", "HAVE_SLANG_SUPPORT" },
	{ "libunwind", NULL, "HAVE_LIBUNWIND_SUPPORT" },
	{ "zlib", "zlib", "HAVE_ZLIB_SUPPORT" },
	{ "libtraceevent", NULL, "HAVE_LIBTRACEEVENT" },
	{ "lzma", "liblzma", "HAVE_LZMA_SUPPORT" },
	{ "bpf", "", "HAVE_LIBBPF_SUPPORT" },
	{ "zstd", "zstd", "HAVE_ZSTD_SUPPORT" },
	{ "libpfm4", "", "HAVE_LIBPFM" },
};

// Libraries that are not there go by the name of their format.
static bool has_part(const char *part)
{
	const char *name;
	bool built_in;

	if (!part)
		return true;
	for (size_t i = 0; *part && (name = pd_build_part(i, &built_in, NULL)) != NULL; i++)
		if (built_in && strncmp(name, part, strlen(part)) == 0)
			return true;
	return false;
}

const char *pd_build_feature(size_t index, bool *there_out, const char **macro_out)
{
	if (index >= sizeof(features) / sizeof(features[0]))
		return NULL;
	*there_out = has_part(features[index].part);
	*macro_out = features[index].macro;
	return features[index].name;
}
