/* SPDX-License-Identifier: MIT */
/* Options of the commands that resolve symbols. */
#ifndef CLI_SYMBOL_OPTIONS_H
#define CLI_SYMBOL_OPTIONS_H

#include "files/input.h"

struct symbol_options {
	struct pd_symbols_options how;
	struct option_list debug_paths, archives;
	bool no_index;
	bool short_names, no_short_names;
	bool debuginfod;
	uint64_t debuginfod_mib; /* 0: not given */
};
extern const struct option_group symbol_group;

enum {
	BUILD_ID_DIRECTORY_SIZE = 4096
};

/* A path in the folder that a variable names; NULL if it names none. */
const char *in_home(const char *variable, const char *suffix, char path[BUILD_ID_DIRECTORY_SIZE]);
/* perf's build-id cache: that of the environment, else ~/.debug; NULL if there is no home. */
const char *build_id_directory(char path[BUILD_ID_DIRECTORY_SIZE]);

/* Symbols for a file and the state of its processes. short_names says whether C++ names are short if the options do not. Says what is wrong
 * and returns NULL then. */
struct pd_symbols *symbols_open(const struct symbol_options *options, struct pd_file *file,
				const struct pd_state *state, bool short_names);

/* The values of commands that print something about the kernel begin with these. */
struct symbol_values {
	struct input_options input;
	struct symbol_options symbols;
};
/* For options of the library; self is the struct input of such a command. */
struct pd_symbols *symbols_of_input(void *self, const struct pd_state *state);

/* The last options of such a command, and their end. */
#define PRINT_OPTIONS                                                                                        \
	GROUP(json_option, how.json), GROUP(input_group, shared.input), GROUP(symbol_group, shared.symbols), \
	{                                                                                                    \
		0                                                                                            \
	}

#endif
