/* SPDX-License-Identifier: MIT */
/* Symbols out of the recording alone, nothing of this machine: the same allocations each time. */
#ifndef PD_TEST_NO_FILES_H
#define PD_TEST_NO_FILES_H

#include <perfdata/symbol.h>

// Whose symbols are opened, and those; to be freed by who asks for them.
struct opened {
	struct pd_file *file;
	struct pd_symbols *symbols;
};

static inline struct pd_symbols *open_symbols(void *self, const struct pd_state *state)
{
	const struct pd_symbols_options options = { .size = sizeof(options), .flags = PD_SYMBOLS_NO_FILES };
	struct opened *opened = self;

	if (pd_symbols_new(opened->file, state, &options, &opened->symbols, NULL) < 0)
		opened->symbols = NULL;
	return opened->symbols;
}

#endif
