/* SPDX-License-Identifier: MIT */
/*
 * Options of the commands that show functions, and making symbols of them.
 */
#ifndef CLI_SYMBOL_OPTIONS_H
#define CLI_SYMBOL_OPTIONS_H

#include "cli.h"

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
	bool no_inline;
	bool no_jitdump;
	bool debuginfod;
};

/* Lines for the options table of a command whose values are struct type with such a member. */
#define SYMBOL_OPTIONS(type, member)                                                               \
	{ "symfs", 0, OPTION_STRING, "DIR", offsetof(type, member.symfs),                          \
	  "look for the recorded files below DIR in place of /" },                                 \
	{ "sysroot", 0, OPTION_STRING, "DIR", offsetof(type, member.symfs), "the same" },          \
	{ "vmlinux", 'k', OPTION_STRING, "FILE", offsetof(type, member.vmlinux),                   \
	  "image of the kernel, for its symbols" },                                                \
	{ "kallsyms", 0, OPTION_STRING, "FILE", offsetof(type, member.kallsyms),                   \
	  "symbols of the kernel, such as a copy of /proc/kallsyms" },                             \
	{ "debug-path", 0, OPTION_LIST, "DIR", offsetof(type, member.debug_paths),                 \
	  "look for debug files below DIR in place of /usr/lib/debug; may be repeated" },          \
	{ "buildid-dir", 0, OPTION_STRING, "DIR", offsetof(type, member.buildid_dir),              \
	  "perf's cache of objects; ~/.debug if not given" },                                      \
	{ "archive", 0, OPTION_LIST, "FILE", offsetof(type, member.archives),                      \
	  "tar file with objects, as perf archive makes it, or a bundle; may be repeated" },       \
	{ "index-dir", 0, OPTION_STRING, "DIR", offsetof(type, member.index_dir),                  \
	  "where tables of symbols are kept; ~/.cache/perfdata if not given" },                    \
	{ "no-index", 0, OPTION_FLAG, NULL, offsetof(type, member.no_index),                       \
	  "keep no tables of symbols" },                                                           \
	{ "no-symbols", 0, OPTION_FLAG, NULL, offsetof(type, member.no_symbols),                   \
	  "open no objects: functions are not known" },                                            \
	{ "no-demangle", 0, OPTION_FLAG, NULL, offsetof(type, member.no_demangle),                 \
	  "names of functions as the linker has them" },                                           \
	{ "no-inline", 0, OPTION_FLAG, NULL, offsetof(type, member.no_inline),                     \
	  "leave out functions that were inlined" },                                               \
	{ "no-jitdump", 0, OPTION_FLAG, NULL, offsetof(type, member.no_jitdump),                   \
	  "do not read jit-PID.dump, only perf-PID.map" },                                         \
	{                                                                                          \
		"debuginfod", 0, OPTION_FLAG, NULL, offsetof(type, member.debuginfod),             \
			"fetch what is not found here from the servers of DEBUGINFOD_URLS"         \
	}

/* Symbols for a file and its world. Says what is wrong and returns NULL then. */
struct pd_symbols *symbols_open(const struct symbol_options *options, struct pd_file *file,
				const struct pd_world *world);

#endif
