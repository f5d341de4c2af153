/* SPDX-License-Identifier: MIT */
/*
 * Options of the commands that resolve symbols.
 */
#ifndef CLI_SYMBOL_OPTIONS_H
#define CLI_SYMBOL_OPTIONS_H

#include "front/cli.h"

struct symbol_options {
	const char *symfs;
	const char *vmlinux;
	const char *kallsyms;
	struct option_list debug_paths;
	const char *buildid_dir;
	struct option_list archives;
	const char *index_dir;
	bool no_index;
	bool no_symbols;
	bool no_demangle;
	bool short_names, no_short_names;
	bool no_inline;
	bool no_jitdump;
	bool debuginfod;
	struct option_number debuginfod_limit; /* MiB */
};

/* Lines for the options table of a command whose values are struct type with such a member. */
#define SYMBOL_OPTIONS(type, member)                                                                                                             \
	OPTION("symfs", 0, STRING, "DIR", offsetof(type, member.symfs),                                                                          \
	       "look up recorded files below DIR instead of /", GROUP_SYMBOLS),                                                                  \
		OPTION("sysroot", 0, STRING, "DIR", offsetof(type, member.symfs), "same as --symfs", GROUP_SYMBOLS),                             \
		OPTION("vmlinux", 'k', STRING, "FILE", offsetof(type, member.vmlinux),                                                           \
		       "kernel image to read symbols from", GROUP_SYMBOLS),                                                                      \
		OPTION("kallsyms", 0, STRING, "FILE", offsetof(type, member.kallsyms),                                                           \
		       "kernel symbols, such as a copy of /proc/kallsyms", GROUP_SYMBOLS),                                                       \
		OPTION("debug-path", 0, LIST, "DIR", offsetof(type, member.debug_paths),                                                         \
		       "search DIR for debug files instead of /usr/lib/debug; may be repeated", GROUP_SYMBOLS),                                  \
		OPTION("buildid-dir", 0, STRING, "DIR", offsetof(type, member.buildid_dir),                                                      \
		       "perf's build-id cache (default: ~/.debug)", GROUP_SYMBOLS),                                                              \
		OPTION("archive", 0, LIST, "FILE", offsetof(type, member.archives),                                                              \
		       "tar file with objects from perf archive or perfdata pack; may be repeated", GROUP_SYMBOLS),                              \
		OPTION("index-dir", 0, STRING, "DIR", offsetof(type, member.index_dir),                                                          \
		       "where symbol tables are cached (default: ~/.cache/perfdata)", GROUP_SYMBOLS),                                            \
		OPTION("no-index", 0, FLAG, NULL, offsetof(type, member.no_index), "do not cache symbol tables",                                 \
		       GROUP_SYMBOLS),                                                                                                           \
		OPTION("no-symbols", 0, FLAG, NULL, offsetof(type, member.no_symbols),                                                           \
		       "do not open objects; functions stay unresolved", GROUP_SYMBOLS),                                                         \
		OPTION("no-demangle", 0, FLAG, NULL, offsetof(type, member.no_demangle),                                                         \
		       "show mangled names of functions", GROUP_SYMBOLS),                                                                        \
		OPTION("short-names", 0, FLAG, NULL, offsetof(type, member.short_names),                                                         \
		       "std::string for std::__cxx11::basic_string<char, ...> and the like (default for flame, top, doctor, and on a terminal)", \
		       GROUP_SYMBOLS),                                                                                                           \
		OPTION("no-short-names", 0, FLAG, NULL, offsetof(type, member.no_short_names),                                                   \
		       "C++ names in full, as perf prints them", GROUP_SYMBOLS),                                                                 \
		OPTION("no-inline", 0, FLAG, NULL, offsetof(type, member.no_inline), "do not show inlined functions",                            \
		       GROUP_SYMBOLS),                                                                                                           \
		OPTION("no-jitdump", 0, FLAG, NULL, offsetof(type, member.no_jitdump),                                                           \
		       "do not read jit-PID.dump files, only perf-PID.map", GROUP_SYMBOLS),                                                      \
		OPTION("debuginfod", 0, FLAG, NULL, offsetof(type, member.debuginfod),                                                           \
		       "fetch missing debug files from the servers in DEBUGINFOD_URLS", GROUP_SYMBOLS),                                          \
		OPTION("debuginfod-limit", 0, NUMBER, "MIB", offsetof(type, member.debuginfod_limit),                                            \
		       "largest file to fetch, in MiB (default: 2048)", GROUP_SYMBOLS)

/* Symbols for a file and the state of its processes. short_names says whether C++ names are short if the options do not. Says what is wrong
 * and returns NULL then. */
struct pd_symbols *symbols_open(const struct symbol_options *options, struct pd_file *file,
				const struct pd_state *state, bool short_names);

#endif
