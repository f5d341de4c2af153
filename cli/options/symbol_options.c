/* SPDX-License-Identifier: MIT */
/* Symbols by the options of a command. Directories that are not given are those of the user. */
#include "options/symbol_options.h"

#include <perfdata/debuginfod.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef VALUES
#define VALUES struct symbol_options

static const struct option lines[] = {
	GROUP(symfs_option, how.symfs),
	STRING("sysroot", 0, "DIR", how.symfs, "same as --symfs"),
	STRING("vmlinux", 'k', "FILE", how.vmlinux, "kernel image to read symbols from"),
	STRING("kallsyms", 0, "FILE", how.kallsyms, "kernel symbols, such as a copy of /proc/kallsyms"),
	OPTION("debug-path", 0, LIST, "DIR", debug_paths,
	       "search DIR for debug files instead of /usr/lib/debug; may be repeated"),
	STRING("buildid-dir", 0, "DIR", how.build_id_cache, "perf's build-id cache (default: ~/.debug)"),
	OPTION("archive", 0, LIST, "FILE", archives,
	       "tar file with objects from perf archive or perfdata pack; may be repeated"),
	STRING("index-dir", 0, "DIR", how.index, "where symbol tables are cached (default: ~/.cache/perfdata)"),
	FLAG("no-index", 0, no_index, "do not cache symbol tables"),
	BITS("no-symbols", 0, how.flags, PD_SYMBOLS_NO_FILES, "do not open objects; functions stay unresolved"),
	BITS("no-demangle", 0, how.flags, PD_SYMBOLS_RAW_NAMES, "show mangled names of functions"),
	BITS("demangle-kernel", 0, how.flags, PD_SYMBOLS_KERNEL_NAMES, "demangle the names of kernel functions, too"),
	BITS("ignore-vmlinux", 0, how.flags, PD_SYMBOLS_NO_VMLINUX,
	     "no names from an image of the kernel, not even that of --vmlinux; only from lists of its symbols"),
	FLAG("short-names", 0, short_names,
	     "std::string for std::__cxx11::basic_string<char, ...> and the like (default for flame, top, doctor, and on a terminal)"),
	FLAG("no-short-names", 0, no_short_names, "C++ names in full, as perf prints them"),
	BITS("no-inline", 0, how.flags, PD_SYMBOLS_NO_INLINE, "do not show inlined functions"),
	BITS("no-jitdump", 0, how.flags, PD_SYMBOLS_NO_JITDUMP, "do not read jit-PID.dump files, only perf-PID.map"),
	FLAG("debuginfod", 0, debuginfod, "fetch missing debug files from the servers in DEBUGINFOD_URLS"),
	INTEGER("debuginfod-limit", 0, "MIB", debuginfod_mib, "largest file to fetch, in MiB (default: 2048)"),
	{ 0 },
};

const struct option_group symbol_group = { HEADING_SYMBOLS, lines };

enum {
	PATH_SIZE = BUILD_ID_DIRECTORY_SIZE
};

const char *in_home(const char *variable, const char *suffix, char path[PATH_SIZE])
{
	const char *home = getenv(variable);
	int n;

	if (!home || home[0] != '/')
		return NULL;
	n = snprintf(path, PATH_SIZE, "%s/%s", home, suffix);
	return n > 0 && n < PATH_SIZE ? path : NULL;
}

const char *build_id_directory(char path[PATH_SIZE])
{
	const char *named = getenv("PERF_BUILDID_DIR");

	return named && *named ? named : in_home("HOME", ".debug", path);
}

static const char *index_of(const struct symbol_options *options, char path[PATH_SIZE])
{
	const char *index = options->how.index;

	if (options->no_index)
		return NULL;
	if (!index)
		index = in_home("XDG_CACHE_HOME", "perfdata", path);
	return index ? index : in_home("HOME", ".cache/perfdata", path);
}

/* Opened once, for all symbols of a run. */
static struct pd_debuginfod *servers;

static void warn_of_servers(void *self, const char *sentence)
{
	(void)self;
	print_error("--debuginfod: %s", sentence);
}

static bool open_servers(const struct symbol_options *options)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	uint64_t mib = options->debuginfod_mib;
	struct pd_error error;

	if (servers)
		return true;
	if (!urls || !urls[strspn(urls, " ")])
		snprintf(error.message, sizeof(error.message), "DEBUGINFOD_URLS names no server");
	else if (pd_debuginfod_open(mib < UINT64_MAX >> 20 ? mib << 20 : UINT64_MAX, warn_of_servers, NULL, &servers,
				    &error) == PD_OK)
		return true;
	warn_of_servers(NULL, error.message);
	return false;
}

struct pd_symbols *symbols_open(const struct symbol_options *options, struct pd_file *file,
				const struct pd_state *state, bool short_names)
{
	char cache[PATH_SIZE], index[PATH_SIZE], archive[PATH_SIZE];
	struct pd_symbols_options own = options->how;
	struct pd_symbols *symbols = NULL;
	struct pd_error error;

	own.size = sizeof(own);
	if (options->short_names || (short_names && !options->no_short_names))
		own.flags |= PD_SYMBOLS_SHORT_NAMES;
	if (!own.build_id_cache)
		own.build_id_cache = build_id_directory(cache);
	own.debug_paths = options->debug_paths.items;
	own.debug_path_count = options->debug_paths.count;
	own.archives = options->archives.items;
	own.archive_count = options->archives.count;
	own.spare_archive = pd_archive_of_recording(pd_file_name(file), archive, sizeof(archive));
	own.index = index_of(options, index);
	if (options->debuginfod && !open_servers(options))
		return NULL;
	if (options->debuginfod) {
		own.fetch = pd_debuginfod_fetch;
		own.fetch_self = servers;
	}
	if (pd_symbols_new(file, state, &own, &symbols, &error) == PD_OK)
		return symbols;
	print_error("%s", error.message);
	return NULL;
}

struct pd_symbols *symbols_of_input(void *self, const struct pd_state *state)
{
	const struct input *input = self;

	return symbols_open(&((const struct symbol_values *)input->call->values)->symbols, input->file, state, false);
}
